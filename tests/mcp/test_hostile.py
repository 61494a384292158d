"""Hostile calls over HTTP: none breaks the server, none tells or changes what is somebody else's."""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from mcp.shared.exceptions import MCPError

from forge.app.access.identity import LOCAL, server_secret, share
from forge.app.access.users import list_keys, new_key, revoke_key
from forge.app.projects.contracts import edit_contract
from forge.app.projects.lookup import project_for
from forge.app.projects.project_access import create_project
from forge.contracts.kinds import Kind
from forge.contracts.templates import template
from forge.json_value import Json
from forge.mcp.toolsets import chosen
from tests.conftest import MakeRepo
from tests.support.api_server import House, opened
from tests.support.mcp_client import at_server
from tests.support.mcp_fuzz import calls

pytestmark = [pytest.mark.req("C-10"), pytest.mark.xdist_group("mcp-http")]
CALLS = int(os.environ.get("FORGE_TEST_MCP_CALLS", "400"))
"""5,000 in the long form: FORGE_TEST_MCP_CALLS=5000."""
SECRET = "the tulips of the north"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


def state_of(places: list[Path]) -> dict[str, str]:
    return {
        str(file): hashlib.sha256(file.read_bytes()).hexdigest()
        for place in places
        for file in sorted(place.rglob("*"))
        if file.is_file()
    }


def sent(client: httpx.Client, name: str, arguments: Json) -> tuple[int, Json]:
    """As JSON that has every character escaped, which no library of a client would send."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": name, "arguments": arguments, "_meta": meta}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {
        "Accept": "application/json, text/event-stream",
        "Content-Type": "application/json",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    answer = client.post("/mcp?toolsets=all", content=body, headers=headers)
    if "event-stream" not in answer.headers.get("content-type", ""):
        return answer.status_code, answer.json()
    frames = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    return answer.status_code, frames[-1]


@pytest.mark.timeout(1800)
def test_hostile_calls_tell_nothing_change_nothing_and_break_nothing(house: House) -> None:
    repository = house.repository({"README.md": SECRET, "beds/north.md": SECRET})
    made = house.call(create_project(house.shop, LOCAL, "Garden"))
    edit_contract(house.shop, LOCAL, made.id, "stack", template(Kind.STACK) + SECRET, expected="")
    places = [house.place / "repository-1", project_for(house.shop, LOCAL, made.id).directory]
    before = state_of(places)
    known = [repository, f"{repository}:main", made.id, f"{made.id}@1", f"session~{made.id}", "README.md", "stack"]
    outcomes = {"answered": 0, "refused": 0, "protocol": 0}
    key = house.user("eve")
    # One repository and one project of her own, so that calls get past the question whose it is.
    share(house.shop, LOCAL, "repository", house.repository(), "eve", right="write")
    own = house.call(create_project(house.shop, LOCAL, "Own")).id
    share(house.shop, LOCAL, "project", own, "eve", right="write")
    known += [own, f"session~{own}", "agent/eve", "agent/eve"]
    with house.client(key) as client:
        for name, arguments in calls(chosen(["all"]), known, CALLS, seed=23):
            status, found = sent(client, name, arguments)
            told = f"{name} {arguments}: {status} {found}"[:2000]
            assert status < 500, told
            assert SECRET not in str(found), told
            assert str(house.place) not in str(found), told
            if "error" in found:
                outcomes["protocol"] += 1
                assert found["error"]["message"].strip(), told
                continue
            (content,) = found["result"]["content"]
            outcomes["refused" if found["result"].get("isError") else "answered"] += 1
            assert content["text"].strip(), told
            assert "Internal error" not in content["text"], told
    assert min(outcomes.values()) > CALLS / 100, outcomes
    assert state_of(places) == before


@pytest.mark.asyncio
async def test_a_revoked_key_ends_at_once(house: House) -> None:
    house.user("ada")
    made = new_key(house.shop, LOCAL, server_secret(house.shop.settings.data_dir), "ada")
    async with at_server(house.url, made.text) as agent:
        assert "template" in await agent.call("forge_get_contract", name="stack")
        revoke_key(house.shop, LOCAL, made.key.id)
        house.gate.look_again()
        with pytest.raises(MCPError):
            await agent.call("forge_get_contract", name="stack")
    assert [each.revoked is not None for each in list_keys(house.shop, LOCAL) if each.id == made.key.id] == [True]


BARE = """
import asyncio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def main():
    server = Server("bare")
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

asyncio.run(main())
"""
HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},'
    b'"clientInfo":{"name":"pytest","version":"1"}}}\n'
)


def first_answer(command: list[str]) -> float:
    begun = time.perf_counter()
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(HELLO)
        process.stdin.flush()
        assert b"serverInfo" in process.stdout.readline()
        seconds = time.perf_counter() - begun
        process.stdin.close()
        process.wait(20)
    return seconds


def test_the_first_answer_takes_at_most_half_more_than_a_bare_server(make_repo: MakeRepo) -> None:
    forge = [str(Path(sys.executable).parent / "forge"), "-C", str(make_repo()), "mcp"]
    first_answer(forge)
    pairs = [(first_answer(forge), first_answer([sys.executable, "-c", BARE])) for _ in range(3)]
    ratio = statistics.median(ours for ours, _ in pairs) / statistics.median(bare for _, bare in pairs)
    assert ratio <= 1.5, pairs
