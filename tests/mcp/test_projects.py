"""Projects and memory through MCP: read, told something, remembered; decisions stay with the person."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL
from forge.app.projects.project_access import create_project
from tests.support.api_server import House, opened
from tests.support.mcp_client import at_server

pytestmark = [pytest.mark.asyncio, pytest.mark.xdist_group("mcp-http")]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


@pytest.mark.req("X-02")
async def test_an_agent_reads_a_project_and_tells_it_something(house: House) -> None:
    made = house.call(create_project(house.shop, LOCAL, "Garden planner"))
    async with at_server(house.url, "a-secret-of-this-test-alone", "?toolsets=projects") as agent:
        assert f"{made.id}  Garden planner" in await agent.call("forge_list_projects")
        assert '"phase":"brain_dump"' in await agent.call("forge_get_project", project=made.id)
        assert "no document" in await agent.call("forge_read_document", project=made.id)
        assert "There is no document" in await agent.refused("forge_read_document", project=made.id, name="../x.md")
        await agent.call("forge_message_project", project=made.id, text="It must know when to water tulips.")
    with house.client() as client:
        said = [each["content"] for each in client.get(f"/api/projects/{made.id}/messages").json()["items"]]
    assert "[pytest] It must know when to water tulips." in said


@pytest.mark.req("M-07")
async def test_an_agent_reads_and_writes_memory(house: House) -> None:
    made = house.call(create_project(house.shop, LOCAL, "Garden planner"))
    query = f"?toolsets=memory&project={made.id}"
    async with at_server(house.url, "a-secret-of-this-test-alone", query) as agent:
        await agent.call("forge_write_memory", kind="learning", text="Tulips need little water.")
        await agent.call("forge_write_memory", kind="delegation", text="scout: find a calendar")
        text = await agent.call("forge_read_memory")
        assert "Learnings: Tulips need little water." in text
        assert "Delegations: scout: find a calendar" in text
        assert "needs `done` and `next`" in await agent.refused("forge_write_memory", kind="checkpoint", text="x")
        assert "initiative" in await agent.refused("forge_write_memory", kind="completion", text="done")


@pytest.mark.req("W-10")
async def test_an_agent_adds_to_an_exploration_reads_it_and_accepts_nothing(house: House) -> None:
    made = house.call(create_project(house.shop, LOCAL, "Depot orders", agent="builtin"))
    with house.client() as client:
        body = {"text": "Our dispatchers lose two hours a day because they copy orders by hand.", "about": "problem"}
        assert client.post(f"/api/projects/{made.id}/messages", json=body).status_code == 202
    async with at_server(house.url, "a-secret-of-this-test-alone", f"?toolsets=explore&project={made.id}") as agent:
        heard = await agent.call("forge_explore_message", text="We want to build a dashboard. Anna Berg decides.")
        assert "A1 registered: A dashboard would solve the problem" in heard
        assert '"id":"A1"' in await agent.call("forge_explore", view="assumptions")
        assert "Anna Berg" in await agent.call("forge_explore", view="map")
        assert '"next":"Say yes to go on with Discover' in await agent.call("forge_explore", view="next")
        assert "There is no brief" in await agent.call("forge_explore", view="brief")
        await agent.call("forge_explore_message", text="yes")
        assert '"mode_title":"Gathering"' in await agent.call("forge_explore")
