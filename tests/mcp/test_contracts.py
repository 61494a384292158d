"""Contracts and papers through MCP and `/api/mcp`: shapes, resolution, sessions, refusals."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forge.app.access.identity import LOCAL, share
from forge.app.projects.contracts import edit_contract, pin_contracts
from forge.app.projects.project_access import create_project
from forge.contracts.governance import governance_text
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.templates import template
from tests.conftest import MakeRepo
from tests.support.api_server import LOCAL_KEY, House, opened
from tests.support.mcp_client import Agent, at_server, in_process

pytestmark = [pytest.mark.req("C-10"), pytest.mark.xdist_group("mcp-http")]
NEWER = template(Kind.STACK).replace("# TaskFlow", "# Newer")


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


@pytest.fixture
def project(house: House) -> str:
    """With all contracts but `ui`, pinned, and then a newer `stack`."""
    made = house.call(create_project(house.shop, LOCAL, "Garden planner"))
    for kind in ORDER:
        if kind is not Kind.UI:
            edit_contract(house.shop, LOCAL, made.id, kind, template(kind), expected="")
    assert pin_contracts(house.shop, LOCAL, made.id).batch == 1
    edit_contract(house.shop, LOCAL, made.id, "stack", NEWER, expected=None)
    return made.id


async def told(agent: Agent, tool: str, **arguments: Any) -> Any:
    return json.loads(await agent.call(tool, **arguments))


@pytest.mark.asyncio
async def test_contracts_are_read_in_the_shapes_that_agents_expect(house: House, project: str) -> None:
    async with at_server(house.url, LOCAL_KEY, f"?toolsets=contracts&project={project}") as agent:
        summary = await told(agent, "forge_get_summary")
        assert summary["project"] == project
        assert summary["layers"] == ["routers", "services", "repos", "clients"]
        assert len(summary["invariants"]) == 2
        listed = (await told(agent, "forge_list_contracts"))["contracts"]
        assert [each["name"] for each in listed] == [*ORDER, "builder_contract", "auditor_prompt"]
        assert listed[2] == {
            "name": "stack",
            "file": "stack.md",
            "format": "markdown",
            "version": 2,
            "size": len(NEWER),
            "source": "project",
        }
        context = await told(agent, "forge_get_project_context")
        assert context["project"] == {"id": project, "name": "Garden planner", "status": "brain_dump"}
        assert (context["latest_batch"], context["build_count"]) == (1, 1)
        assert set(context["contracts"][0]) == {"contract_type", "version", "size_chars", "updated_at"}
        assert (await told(agent, "forge_list_project_contracts"))["items"] == context["contracts"]
        one = await told(agent, "forge_get_project_contract", contract_type="stack")
        expected = {"version": 2, "contract_type": "stack", "project_id": project, "source": "project"}
        assert one == {"content": NEWER, **expected}
        window = await told(agent, "forge_get_phase_window", phase_number=3)
        assert window["content"].startswith("## Phase 3 — ")
        assert "## Phase 2" not in window["content"]
        assert "forge_get_phase_window" in await agent.refused("forge_get_contract", name="phases")
        for number in (-1, 4, 99):
            assert "no phase" in await agent.refused("forge_get_phase_window", phase_number=number)
        for name in ("builder_contract", "auditor_prompt"):
            governance = await told(agent, "forge_get_contract", name=name)
            assert (governance["content"], governance["source"]) == (governance_text(name), "template")
        assert "builder_contract" in await agent.refused("forge_get_contract", name="nothing")


def test_the_rules_for_builders_are_short() -> None:
    assert len(governance_text("builder_contract").encode()) <= 3000


@pytest.mark.asyncio
async def test_a_build_reads_pinned_contracts_then_the_project_then_templates(house: House, project: str) -> None:
    async with at_server(house.url, LOCAL_KEY, "?toolsets=contracts") as agent:
        made = await told(agent, "forge_set_session", project_id=project, build_id=f"{project}@1", user_id="local")
        sessions = {"pinned": made["session"], "project": project, "template": None}
        for source, session in sessions.items():
            given = {"session": session} if session else {}
            stack = await told(agent, "forge_get_contract", name="stack", **given)
            assert stack["source"] == source
            assert (stack["content"] == NEWER) == (source == "project")
            assert (await told(agent, "forge_get_contract", name="ui", **given))["source"] == "template"
            window = await told(agent, "forge_get_phase_window", phase_number=0, **given)
            assert window["source"] == source
        held = await told(agent, "forge_get_build_contracts", build_id=f"{project}@1", types=["stack"])
        assert held["batch"] == 1
        assert held["contracts"] == [{"contract_type": "stack", "content": template(Kind.STACK)}]
        assert "no build" in await agent.refused("forge_get_build_contracts", build_id=project)
        refused = await agent.refused("forge_set_session", project_id=project, user_id="somebody")
        assert "the person whose key you use" in refused
        assert "no build" in await agent.refused("forge_set_session", project_id=project, build_id=f"{project}@7")


@pytest.mark.asyncio
async def test_the_scratchpad_keeps_notes_and_what_was_read(house: House, project: str) -> None:
    async with at_server(house.url, LOCAL_KEY, f"?toolsets=contracts&project={project}") as agent:
        await agent.call("forge_scratchpad", operation="write", key="decisions", value="SQLite")
        await agent.call("forge_scratchpad", operation="append", key="decisions", value="no ORM")
        await agent.call("forge_get_contract", name="stack")
        await agent.call("forge_get_contract", name="stack")
        await agent.call("forge_get_phase_window", phase_number=0)
    async with at_server(house.url, LOCAL_KEY, f"?toolsets=contracts&project={project}") as agent:
        assert await told(agent, "forge_scratchpad", operation="list") == {"keys": ["contracts_read", "decisions"]}
        assert (await told(agent, "forge_scratchpad", operation="read", key="decisions"))["value"] == "SQLite\nno ORM"
        noted = await told(agent, "forge_scratchpad", operation="read", key="contracts_read")
        assert noted["value"] == "stack\nphases/0"
        in_build = {"operation": "list", "session": f"session~{project}@1"}
        assert await told(agent, "forge_scratchpad", **in_build) == {"keys": []}
        assert "needs `value`" in await agent.refused("forge_scratchpad", operation="write", key="a")
        assert "no key" in await agent.refused("forge_scratchpad", operation="read", key="other")
        assert "not a key" in await agent.refused("forge_scratchpad", operation="read", key="../x")
        refused = await agent.refused("forge_scratchpad", operation="write", key="contracts_read", value="none")
        assert "Use another key" in refused


@pytest.mark.asyncio
async def test_papers_and_the_notepad(house: House, project: str) -> None:
    with house.client() as client:
        client.put(f"/api/projects/{project}/note", json={"text": "Ask Ana about the fees."})
    async with at_server(house.url, LOCAL_KEY, f"?toolsets=papers&project={project}") as agent:
        stored = await told(agent, "forge_store_artifact", key="scout/dossier.md", content="# Found\n", pinned=True)
        assert stored == {"key": "scout/dossier.md", "size": 8, "expires": None}
        assert await agent.call("forge_get_artifact", key="scout/dossier.md") == "# Found\n"
        assert (await told(agent, "forge_get_artifact"))["items"] == [stored]
        assert "no paper" in await agent.refused("forge_get_artifact", key="other")
        assert await agent.call("forge_read_notepad") == "Ask Ana about the fees."


@pytest.mark.asyncio
async def test_a_reader_reads_the_scratchpad_and_writes_nothing(house: House, project: str) -> None:
    key = house.user("eve")
    query = f"?toolsets=contracts,papers&project={project}"
    async with at_server(house.url, key, query) as agent:
        there = await agent.refused("forge_get_contract", name="stack")
        assert there == (await agent.refused("forge_get_contract", name="stack", session="x")).replace(
            "'x'", f"{project!r}"
        )
        build = await agent.refused("forge_get_build_contracts", build_id=f"{project}@1")
        assert build.replace(project, "P") == (await agent.refused("forge_get_build_contracts", build_id="P@1"))
    share(house.shop, LOCAL, "project", project, "eve", right="read")
    async with at_server(house.url, key, query) as agent:
        assert "contracts_read" not in await agent.call("forge_scratchpad", operation="list")
        refused = await agent.refused("forge_scratchpad", operation="write", key="a", value="b")
        assert "shared with you for reading" in refused
        assert await agent.call("forge_read_notepad") == "The notepad is empty."


def test_programs_read_the_same_over_plain_http(house: House, project: str) -> None:
    with house.client() as client:
        context = client.get(f"/api/mcp/context/{project}").json()
        assert context["project"] == {"id": project, "name": "Garden planner", "status": "brain_dump"}
        one = client.get(f"/api/mcp/context/{project}/stack").json()
        assert one["source"] == "project"
        assert client.get(f"/api/mcp/context/{project}/ui").json()["source"] == "template"
        refused = client.get(f"/api/mcp/context/{project}/phases")
        assert (refused.status_code, refused.json()["code"]) == (422, "phases_whole")
        held = client.get(f"/api/mcp/build/{project}@1/contracts", params={"types": ["stack", "ui"]}).json()
        assert [each["contract_type"] for each in held["contracts"]] == ["stack"]
        assert client.get(f"/api/mcp/build/{project}@9/contracts").json()["code"] == "build_missing"
    with house.client(house.user("eve")) as client:
        for address in (f"context/{project}", f"context/{project}/stack", f"build/{project}@1/contracts"):
            assert client.get(f"/api/mcp/{address}").status_code == 404


@pytest.mark.asyncio
async def test_without_a_project_the_templates_are_there(make_repo: MakeRepo) -> None:
    async with in_process(make_repo(), "contracts") as agent:
        summary = await told(agent, "forge_get_summary")
        assert summary["project"] is None
        assert (await told(agent, "forge_get_contract", name="blueprint"))["content"] == template(Kind.BLUEPRINT)
        assert "Name a project" in await agent.refused("forge_scratchpad", operation="list")
        assert "Name a project" in await agent.refused("forge_get_project_context")
