"""Tools and models through the one door."""

from __future__ import annotations

import pytest

from forge.app.access.identity import LOCAL
from forge.app.sessions import tools
from forge.errors import Denied, NotFound
from forge.events import BranchChanged
from tests.app.facade import BO, READER, Place, place, shop

__all__ = ["place", "shop"]

pytestmark = pytest.mark.req("X-02")

TOOL = """\
def get_schema():
    return {"name": "greet", "description": "Greets.", "parameters": {"type": "object", "properties": {}}}


def execute(vfs, args):
    return "hello"
"""


@pytest.fixture
def with_tool(place: Place) -> Place:
    files = place.repo.workspace("main")
    files.write_file("tools/greet.py", TOOL)
    files.commit("a tool")
    return place


def states(place: Place) -> dict[str, tuple[str, str | None]]:
    own = tools.list_tools(place.shop, LOCAL, place.id, "main").own
    return {tool.name: (tool.state, tool.approved_by) for tool in own}


def test_a_tool_is_approved_and_revoked_by_commits(with_tool: Place) -> None:
    assert states(with_tool) == {"greet": ("new", None)}
    approved = tools.approve_tool(with_tool.shop, LOCAL, with_tool.id, "main", "greet")
    assert approved.commit == with_tool.repo.resolve("main")
    assert states(with_tool) == {"greet": ("approved", "Ada Example <ada@example.org>")}
    assert tools.approve_tool(with_tool.shop, LOCAL, with_tool.id, "main", "greet").hash == approved.hash
    revoked = tools.revoke_tool(with_tool.shop, LOCAL, with_tool.id, "main", "greet")
    assert states(with_tool) == {"greet": ("new", None)}
    assert with_tool.told("main")[-1] == BranchChanged("main", revoked.commit, "you")
    assert with_tool.deeds()[-2:] == ["tool.approve", "tool.revoke"]


def test_what_may_not_be_approved_is_not(with_tool: Place) -> None:
    with pytest.raises(NotFound):
        tools.approve_tool(with_tool.shop, LOCAL, with_tool.id, "main", "nothing")
    with pytest.raises(NotFound):
        tools.approve_tool(with_tool.shop, BO, with_tool.id, "main", "greet")
    with pytest.raises(Denied):
        tools.approve_tool(with_tool.shop, READER, with_tool.id, "main", "greet")
    assert states(with_tool) == {"greet": ("new", None)}


def test_built_in_tools_are_described(place: Place) -> None:
    built_in = tools.list_tools(place.shop, LOCAL, place.id, "main").built_in
    assert {"read_file", "write_file"} <= {tool.name for tool in built_in}
    assert all(tool.description for tool in built_in)


def test_models_tell_who_can_answer_and_never_a_key(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret-of-nobody")
    found = tools.models(place.shop, LOCAL)
    assert "builtin" in {provider.name for provider in found.providers if provider.usable}
    assert "sk-ant-secret" not in repr(found)
