"""`forge mcp` with a key and an address: all that the team server offers, over standard input and output."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest

from forge.app.access.identity import LOCAL, share
from forge.app.projects.contracts import edit_contract
from forge.contracts.kinds import Kind
from forge.contracts.templates import template
from tests.mcp.waiting_project import Waiting
from tests.support.api_server import House, opened
from tests.support.mcp_client import at_machine, draft_in

pytestmark = [pytest.mark.req("C-10"), pytest.mark.asyncio, pytest.mark.xdist_group("mcp-http")]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


def env_of(house: House, key: str) -> dict[str, str]:
    return {"FORGE_URL": house.url, "FORGE_KEY": key, "PATH": os.environ["PATH"], "HOME": str(house.place)}


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_two_users_work_side_by_side_and_see_nothing_of_each_other(
    house: House, tmp_path: Path, mode: str
) -> None:
    id_, secret = house.repository(), house.repository({"secret.txt": "tulips"})
    keys = {name: house.user(name) for name in ("ada", "bob")}
    for name in keys:
        share(house.shop, LOCAL, "repository", id_, name, right="write")
    share(house.shop, LOCAL, "repository", secret, "ada", right="write")
    async with (
        at_machine(tmp_path, env=env_of(house, keys["ada"]), mode=mode) as ada,
        at_machine(tmp_path, env=env_of(house, keys["bob"]), mode=mode) as bob,
    ):
        mine = draft_in(await ada.call("forge_write", at=f"{id_}:agent/a", path="a.txt", content="ada\n"))
        theirs = draft_in(await bob.call("forge_write", at=f"{id_}:agent/b", path="b.txt", content="bob\n"))
        assert "There is no draft" in await bob.refused("forge_read", at=mine, path="a.txt")
        assert "no repository" in await bob.refused("forge_read", at=f"{secret}:main", path="secret.txt")
        assert "tulips" in await ada.call("forge_read", at=f"{secret}:main", path="secret.txt")
        assert "agent/a" in await ada.call("forge_commit", draft=mine, message="a")
        assert "agent/b" in await bob.call("forge_commit", draft=theirs, message="b")
        assert "default branch" in await bob.refused("forge_write", at=f"{id_}:main", path="x", content="x")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_question_reaches_the_person_through_the_bridge(house: House, tmp_path: Path, mode: str) -> None:
    waiting = Waiting(house)
    waiting.confirm()
    messages = []

    async def fill_in(context: Any, params: Any) -> types.ElicitResult:
        del context
        messages.append(params.message)
        return types.ElicitResult(action="accept", content={"answer_1": "Confluence."})

    options = {"mode": mode, "elicitation_callback": fill_in}
    async with at_machine(tmp_path, "--toolset", "projects", env=env_of(house, waiting.key), **options) as agent:
        told = await agent.call("forge_wait_project", project=waiting.id)
    assert "Notion" in messages[0]
    assert waiting.answers == ["Confluence."]
    assert "Only the person can answer" in told


@pytest.mark.filterwarnings("ignore:resources/.* is removed as of 2026-07-28")
async def test_a_change_of_a_resource_reaches_the_client_through_the_bridge(house: House, tmp_path: Path) -> None:
    project = Waiting(house)
    edit_contract(house.shop, LOCAL, project.id, "stack", template(Kind.STACK), expected="")
    uri, heard = f"forge://project/{project.id}/contract/stack", anyio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification) and str(message.params.uri) == uri:
            heard.set()

    env = env_of(house, project.key)
    async with at_machine(tmp_path, env=env, mode="legacy", message_handler=hear) as agent:
        await agent.client.session.subscribe_resource(uri)
        await anyio.sleep(1)
        newer = template(Kind.STACK) + "\nMore.\n"
        await anyio.to_thread.run_sync(
            lambda: edit_contract(house.shop, LOCAL, project.id, "stack", newer, expected=None)
        )
        with anyio.fail_after(30):
            await heard.wait()


async def test_a_session_that_the_server_forgot_begins_anew(house: House, tmp_path: Path) -> None:
    key, id_ = house.user("ada"), house.repository()
    share(house.shop, LOCAL, "repository", id_, "ada", right="write")
    async with at_machine(tmp_path, env=env_of(house, key), mode="legacy") as agent:
        assert "README.md" in await agent.call("forge_list")
        with house.client(key) as client:
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
            assert client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        house.call(_forget(house))
        assert "README.md" in await agent.call("forge_list")


async def _forget(house: House) -> None:
    """As a restart does."""
    for route in house.app.routes:
        if getattr(route, "path", "") == "/mcp":
            route.app._loaded = None  # type: ignore[attr-defined]
