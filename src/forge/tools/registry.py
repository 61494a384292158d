"""Every built-in tool, made for one turn, in the order in which models see them."""

from __future__ import annotations

from typing import cast

from forge.json_value import Json
from forge.tools.builtin import (
    ask_user,
    check_syntax,
    delete_file,
    get_lines,
    grep_open,
    list_files,
    need_decision,
    read_file,
    rename_file,
    search,
    search_replace,
    update_context,
    write_file,
)
from forge.tools.builtin.run_command import RunCommand
from forge.tools.builtin.run_tests import RunTests
from forge.tools.builtin.undo_edit import UndoEdit
from forge.tools.commands import Runner
from forge.tools.suites.record import Records
from forge.tools.tool import Tool

_MODULES = (
    read_file,
    list_files,
    search,
    get_lines,
    write_file,
    search_replace,
    delete_file,
    rename_file,
    update_context,
    grep_open,
    check_syntax,
)
_COMMANDS = (RunCommand, RunTests)


def builtin_tools(
    runner: Runner | None, *, test_command: str | None = None, records: Records | None = None, asks: bool = False
) -> tuple[Tool, ...]:
    """Made for one turn: without a runner, those that need no command; with `asks`, those that need a person.

    `records` are the test runs that are not run again.
    """
    modules = tuple(cast("Tool", module) for module in _MODULES)
    commands: tuple[Tool, ...] = (RunCommand(runner), RunTests(runner, test_command, records)) if runner else ()
    asking = (cast("Tool", ask_user), cast("Tool", need_decision)) if asks else ()
    return (*modules, UndoEdit(), *commands, *asking)


def schemas() -> tuple[Json, ...]:
    """Of every one of them, also of those that a turn has only with a sandbox, or with a person who can answer."""
    return (*(tool.get_schema() for tool in builtin_tools(None, asks=True)), *(each.get_schema() for each in _COMMANDS))
