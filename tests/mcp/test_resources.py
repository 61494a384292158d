"""Resources, prompts and subscriptions over MCP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourceUpdated

from forge.app.access.identity import LOCAL
from forge.app.projects.contracts import edit_contract
from forge.app.projects.lookup import project_for
from forge.app.projects.project_access import create_project
from forge.contracts.governance import governance_text
from forge.contracts.kinds import Kind
from forge.contracts.templates import template
from tests.conftest import MakeRepo
from tests.support.api_server import LOCAL_KEY, House, opened
from tests.support.mcp_client import Agent, at_server, in_process

pytestmark = [pytest.mark.req("C-10"), pytest.mark.asyncio, pytest.mark.xdist_group("mcp-http")]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house


@pytest.fixture
def project(house: House) -> str:
    made = house.call(create_project(house.shop, LOCAL, "Garden planner"))
    edit_contract(house.shop, LOCAL, made.id, "stack", template(Kind.STACK), expected="")
    return made.id


async def text_of(agent: Agent, uri: str) -> str:
    (found,) = (await agent.client.read_resource(uri)).contents
    assert isinstance(found, types.TextResourceContents)
    return found.text


async def test_contracts_documents_and_rules_are_resources(house: House, project: str) -> None:
    directory = project_for(house.shop, LOCAL, project).directory
    (directory / "docs").mkdir(exist_ok=True)
    (directory / "docs/plan.md").write_text("# Plan\n")
    async with at_server(house.url, LOCAL_KEY, f"?project={project}") as agent:
        listed = {each.name: each.uri for each in (await agent.client.list_resources()).resources}
        assert listed["stack"] == f"forge://project/{project}/contract/stack"
        assert listed["plan.md"] == f"forge://project/{project}/document/plan.md"
        assert await text_of(agent, listed["stack"]) == template(Kind.STACK)
        assert await text_of(agent, f"forge://project/{project}/plan") == "# Plan\n"
        assert await text_of(agent, "forge://rules/builder_contract") == governance_text("builder_contract")
        assert len((await agent.client.list_resource_templates()).resource_templates) == 5


async def test_the_conversation_of_a_branch_is_a_resource(make_repo: MakeRepo) -> None:
    repo = make_repo()
    async with in_process(repo) as agent:
        assert (await text_of(agent, f"forge://session/{repo.name}/main")).startswith("# main\n")


@pytest.mark.parametrize(
    "uri",
    [
        "forge://project/{secret}/contract/stack",
        "forge://project/{secret}/plan",
        "forge://project/{secret}/document/..%2F..%2Fstate.json",
        "forge://session/{secret}/main",
        "forge://rules/../../etc/passwd",
        "file:///etc/passwd",
        "forge://",
    ],
)
async def test_what_is_missing_or_anothers_is_the_same_error(house: House, project: str, uri: str) -> None:
    async with at_server(house.url, house.user("eve")) as agent:
        told = []
        for secret in (project, "20260101-0000"):
            with pytest.raises(MCPError, match="There is no resource") as failed:
                await text_of(agent, uri.format(secret=secret))
            assert failed.value.error.code == types.INVALID_PARAMS
            told.append(failed.value.error.message.replace(secret, "ID"))
        assert told[0] == told[1]


async def test_a_client_that_listens_is_told_of_a_new_version(house: House, project: str) -> None:
    uri, other = (f"forge://project/{project}/contract/{name}" for name in ("stack", "manifesto"))
    async with at_server(house.url, LOCAL_KEY, mode="2026-07-28") as agent:
        async with agent.client.listen(resource_subscriptions=[uri, other]) as events:
            await anyio.sleep(0.2)
            newer = template(Kind.STACK) + "\nMore.\n"
            await anyio.to_thread.run_sync(
                lambda: edit_contract(house.shop, LOCAL, project, "stack", newer, expected=None)
            )
            with anyio.fail_after(10):
                event = await anext(aiter(events))
        assert event == ResourceUpdated(uri=uri)


@pytest.mark.filterwarnings("ignore:resources/.* is removed as of 2026-07-28")
async def test_a_client_of_the_older_generation_subscribes_and_unsubscribes(house: House, project: str) -> None:
    uri, other = (f"forge://project/{project}/contract/{name}" for name in ("stack", "manifesto"))
    told: list[str] = []
    heard = anyio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            told.append(str(message.params.uri))
            heard.set()

    async def edit(more: str) -> None:
        newer = f"{template(Kind.STACK)}\n{more}\n"
        await anyio.to_thread.run_sync(lambda: edit_contract(house.shop, LOCAL, project, "stack", newer, expected=None))

    async with at_server(house.url, LOCAL_KEY, mode="legacy", message_handler=hear) as agent:
        session = agent.client.session
        await session.subscribe_resource(uri)
        await session.subscribe_resource(uri)
        with pytest.raises(MCPError, match="There is no resource"):
            await session.subscribe_resource(other)
        await anyio.sleep(0.5)
        await edit("More.")
        with anyio.fail_after(20):
            await heard.wait()
        await session.unsubscribe_resource(uri)
        await edit("Still more.")
        await anyio.sleep(1)
    assert told == [uri]


async def test_prompts_name_the_project_the_branch_and_the_contract(house: House, project: str) -> None:
    async with at_server(house.url, LOCAL_KEY) as agent:
        names = [each.name for each in (await agent.client.list_prompts()).prompts]
        assert names == ["continue_project", "review_branch", "write_contract"]
        given = {
            "continue_project": ({"project": project}, "brain_dump"),
            "review_branch": ({"branch": "agent/fix"}, governance_text("auditor_prompt")),
            "write_contract": ({"type": "stack", "project": project}, template(Kind.STACK)),
        }
        for name, (arguments, expected) in given.items():
            (message,) = (await agent.client.get_prompt(name, arguments)).messages
            assert isinstance(message.content, types.TextContent)
            assert expected in message.content.text
        for name, wrong in (("review_branch", {}), ("review_branch", {"branch": "a", "x": "y"}), ("nothing", {})):
            with pytest.raises(MCPError, match="prompt"):
                await agent.client.get_prompt(name, wrong)
