"""The toolbox: what is shown, what is allowed, how arguments are checked, and that failures become text."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from forge.git import Repository, StorageFailed, WorkInProgressVFS
from forge.json_value import Json
from forge.tools.access import ToolAccess
from forge.tools.builtin import NAMES
from forge.tools.commands import Runner
from forge.tools.registry import builtin_tools
from forge.tools.result_text import RESULT_BYTES
from forge.tools.tool import FunctionTool
from forge.tools.toolbox import Toolbox
from forge.tools.user_tools import ApprovedTool
from tests.support.toolboxes import open_toolbox
from tests.tools.conftest import Bench

NewBench = Callable[..., Bench]

pytestmark = pytest.mark.req("G-11")


class Odd:
    """A tool that writes and then does what it is told."""

    def __init__(self, then: Callable[[], Any]) -> None:
        self._then = then

    def get_schema(self) -> Json:
        return {"name": "odd", "description": "Odd.", "parameters": {"type": "object", "properties": {}}}

    def execute(self, vfs: WorkInProgressVFS, args: Json) -> Any:
        vfs.write_file("odd.txt", "x")
        vfs.delete_file("README.md")
        vfs.rename_file("config.json", "c.json")
        return self._then()


def raising(error: BaseException) -> Callable[[], Any]:
    def then() -> Any:
        raise error

    return then


def test_schemas_are_strict_complete_and_in_a_fixed_order(bench: NewBench) -> None:
    schemas = bench().box.schemas()
    assert tuple(schema.name for schema in schemas) == NAMES
    for schema in schemas:
        assert schema.parameters["additionalProperties"] is False
        assert schema.parameters["type"] == "object"
        assert 20 < len(schema.description) < 420


def test_only_commands_have_effects_that_must_not_be_repeated(bench: NewBench) -> None:
    box = bench().box
    assert [name for name in NAMES if box.outside(name)] == ["run_command", "run_tests"]
    assert not box.outside("no_such_tool")


def test_a_tool_that_is_not_allowed_is_neither_shown_nor_run(bench: NewBench) -> None:
    b = bench()
    b.box = Toolbox(builtin_tools(None), ToolAccess(frozenset({"read_file", "search"})))
    assert [schema.name for schema in b.box.schemas()] == ["read_file", "search"]
    assert "not allowed here. Allowed are: read_file, search." in b.no("write_file", path="x", content="y")
    assert "There is no tool 'rm'" in b.no("rm", path="x")


@pytest.mark.parametrize(
    ("tool", "arguments", "complaint"),
    [
        ("read_file", {}, "`path` is missing; it must be a string"),
        ("read_file", {"path": 5}, "`path` must be a string, not an integer"),
        ("read_file", {"path": "a", "lines": 3}, "`lines` is not an argument; known are path, start_line, end_line"),
        ("read_file", {"path": "a", "start_line": 0}, "`start_line` must be at least 1"),
        ("read_file", {"path": "a", "start_line": True}, "`start_line` must be an integer, not a boolean"),
        ("read_file", {"path": "a", "start_line": "3"}, "`start_line` must be an integer, not a string"),
        ("read_file", {"path": None}, "`path` must be a string, not null"),
        ("search", {"pattern": "a", "include": "*.py"}, "`include` must be an array, not a string"),
        ("search", {"pattern": "a", "include": [1]}, "`include[0]` must be a string"),
        ("search", {"pattern": "a", "limit": 10_000}, "`limit` must be at least 1 and at most 500"),
        ("search", {"pattern": ""}, "`pattern` is empty"),
        ("update_context", {"add": [{"file": "a"}]}, "`add[0].path` is missing"),
        (
            "run_command",
            {"command": "ls", "timeout_seconds": 9_999},
            "`timeout_seconds` must be at least 1 and at most",
        ),
    ],
)
def test_wrong_arguments_are_named_field_by_field(
    bench: NewBench, tool: str, arguments: dict[str, Any], complaint: str
) -> None:
    assert complaint in bench().no(tool, **arguments)


def test_arguments_that_are_no_object_are_refused(bench: NewBench) -> None:
    b = bench()
    for arguments in (None, [], "x", 5):
        done = b.box.run(b.vfs, "list_files", arguments)  # type: ignore[arg-type]
        assert done.failed
        assert "must be an object" in done.text


def test_whole_floats_pass_as_integers(bench: NewBench) -> None:
    assert "lines 2-3" in bench().ok("read_file", path="README.md", start_line=2.0, end_line=3.0)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ZeroDivisionError("secret detail"), "Internal error in odd: ZeroDivisionError. Try another way."),
        (RecursionError(), "Internal error in odd: RecursionError. Try another way."),
        (StorageFailed("The disk is full.", hint="Make room."), "The disk is full. Make room."),
    ],
)
def test_a_tool_that_breaks_half_way_has_changed_nothing(
    bench: NewBench, error: Exception, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    b = bench()
    b.ok("write_file", path="before.txt", content="kept")
    b.ok("rename_file", path="src/names.py", new_path="src/n.py")
    b.box = open_toolbox([Odd(raising(error))])
    tree = b.vfs.list_files()
    before = {path: state and state.entry for path, state in b.vfs.pending.items()}
    with caplog.at_level(logging.CRITICAL):
        done = b.run("odd")
    assert done.failed
    assert done.text == said
    assert b.vfs.list_files() == tree
    assert {path: state and state.entry for path, state in b.vfs.pending.items()} == before


def test_an_interrupt_is_not_swallowed(bench: NewBench) -> None:
    b = bench()
    b.box = open_toolbox([Odd(raising(KeyboardInterrupt()))])
    with pytest.raises(KeyboardInterrupt):
        b.run("odd")


def test_values_come_as_json_long_texts_are_cut_and_broken_unicode_is_mended(bench: NewBench) -> None:
    b = bench()
    b.box = open_toolbox([Odd(lambda: {"b": 1, "a": "ü"})])
    assert b.ok("odd") == '{"a": "ü", "b": 1}'
    b = Bench(b.repo, b.repo.workspace("work", actor=b.vfs.actor), open_toolbox([Odd(lambda: "ü" * 100_000)]))
    text = b.ok("odd")
    assert len(text.encode()) <= RESULT_BYTES
    assert "[Cut here: 200,000 bytes in all" in text
    b = Bench(b.repo, b.repo.workspace("work", actor=b.vfs.actor), open_toolbox([Odd(lambda: "a\udcffb")]))
    assert b.ok("odd") == "a?b"


def test_two_tools_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="two tools named odd"):
        open_toolbox([Odd(list), Odd(list)])


class Schemed(Odd):
    """A tool with these parameters that does nothing."""

    def __init__(self, **properties: Json) -> None:
        super().__init__(lambda: "done")
        self._properties = properties

    def get_schema(self) -> Json:
        return {"name": "odd", "description": "Odd.", "parameters": {"type": "object", "properties": self._properties}}

    def execute(self, vfs: WorkInProgressVFS, args: Json) -> Any:
        return "done"


def test_the_whole_of_json_schema_counts(bench: NewBench) -> None:
    b = bench()
    b.box = open_toolbox(
        [
            Schemed(
                either={"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]},
                never={"not": {"const": 1}},
                one={"$ref": "#/properties/either"},
            )
        ]
    )
    assert b.ok("odd", either=[1], never=2, one="x") == "done"
    assert "`either[0]` must be an integer" in b.no("odd", either=["a"])
    assert "`never`: " in b.no("odd", never=1)
    assert "`one`: 5 is not valid under any" in b.no("odd", one=5)


def test_a_schema_fetches_nothing_and_tries_no_pattern(bench: NewBench, caplog: pytest.LogCaptureFixture) -> None:
    b = bench()
    b.box = open_toolbox([Schemed(far={"$ref": "http://127.0.0.1:9/schema.json"})])
    with caplog.at_level(logging.CRITICAL):
        assert "Internal error in odd: _WrappedReferencingError" in b.no("odd", far=1)
    b.box = open_toolbox([Schemed(slow={"type": "string", "pattern": "^(a|a)*$"})])
    assert b.ok("odd", slow="a" * 60 + "!") == "done"


def test_a_profile_s_other_names_are_shown_and_run(bench: NewBench) -> None:
    b = bench()
    aliases = (("list_directory", "list_files"), ("edit_file", "search_replace"), ("search_code", "search"))
    b.box = Toolbox(builtin_tools(None), ToolAccess(frozenset({"list_files", "search_replace"}), aliases))
    assert [schema.name for schema in b.box.schemas()] == ["list_directory", "edit_file"]
    assert b.ok("list_directory") == b.ok("list_files")
    b.ok("edit_file", path="README.md", search="#", replace="##")
    b.ok("list_files")
    assert "not allowed here. Allowed are: list_directory, edit_file." in b.no("search_code", pattern="x")
    assert "not allowed here" in b.no("search", pattern="x")


def test_another_name_cannot_hide_a_tool() -> None:
    aliases = (("write_file", "read_file"),)
    with pytest.raises(ValueError, match="write_file is a tool and cannot be another name for read_file"):
        Toolbox(builtin_tools(None), ToolAccess(frozenset({"read_file"}), aliases))


def test_an_alias_of_a_command_has_effects_that_must_not_be_repeated(
    bench: NewBench, runner_for: Callable[[Repository], Runner]
) -> None:
    tools = builtin_tools(runner_for(bench().repo))
    box = Toolbox(tools, ToolAccess(frozenset({"run_command"}), (("shell", "run_command"),)))
    assert box.outside("shell")


def test_without_a_branch_only_tools_that_need_no_files_are_taken() -> None:
    double = FunctionTool("double", "Double it.", {"type": "object"}, lambda args: {"n": args["n"] * 2})
    box = Toolbox([double], ToolAccess(frozenset({"double"})), files=False)
    assert box.run(None, "double", {"n": 2}).text == '{"n": 4}'
    assert "Internal error in double: KeyError" in box.run(None, "double", {}).text
    with pytest.raises(ValueError, match="read_file works on files"):
        Toolbox(builtin_tools(None), ToolAccess(frozenset({"read_file"})), files=False)
    with_files = Toolbox(builtin_tools(None), ToolAccess(frozenset({"read_file"})))
    assert "there is none here" in with_files.run(None, "read_file", {"path": "a"}).text


def test_approved_tools_of_the_repository_need_a_profile_that_allows_them(bench: NewBench) -> None:
    schema = {"name": "mine", "description": "Mine.", "parameters": {"type": "object"}}
    tools = (*builtin_tools(None), ApprovedTool("mine", schema))
    vfs = bench().vfs
    for own in (True, False):
        box = Toolbox(tools, ToolAccess(frozenset({"read_file"}), own=own))
        assert [each.name for each in box.schemas()] == (["read_file", "mine"] if own else ["read_file"])
        refused = "not allowed here" in box.run(vfs, "mine", {}).text
        assert refused is not own
