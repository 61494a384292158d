"""The documentation tells what the program does: commands in docs/cli.md, error codes in docs/errors.md."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import forge
from forge.cli.main import COMMANDS, GROUPS
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.reference import MARK, updated
from forge.cli.terminal.session import Exit, exit_code
from forge.errors import ForgeError

DOCS = Path(__file__).parents[2] / "docs"
CLI, ERRORS = (DOCS / "cli.md").read_text(), (DOCS / "errors.md").read_text()


def test_the_reference_is_up_to_date() -> None:
    assert MARK in CLI
    assert updated(CLI) == CLI, "run: python -m forge.cli.terminal.reference docs/cli.md"


def test_what_people_wrote_above_the_reference_stays() -> None:
    assert updated("# Mine\n").startswith(f"# Mine\n\n{MARK}\n")
    assert updated(f"# Mine\n\n{MARK}\n\nold") == updated("# Mine\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_module_and_a_place_in_the_reference(name: str) -> None:
    module = import_module(f"forge.cli.commands.{COMMANDS[name].module}")
    assert isinstance(module.app, Commands)
    assert f"\n### forge {name}\n" in CLI
    assert sum(name in group for group in GROUPS.values()) == 1


def error_classes(family: type[ForgeError]) -> Iterator[type[ForgeError]]:
    for each in family.__subclasses__():
        yield each
        yield from error_classes(each)


@pytest.fixture(scope="module")
def errors() -> dict[str, type[ForgeError]]:
    for module in pkgutil.walk_packages(forge.__path__, "forge."):
        import_module(module.name)
    ours = [each for each in error_classes(ForgeError) if each.__module__.startswith("forge.")]
    by_code = {each.code: each for each in ours}
    assert len(by_code) == len(set(ours)), "two errors share a code"
    return by_code


def test_every_error_code_is_documented_and_nothing_else(errors: dict[str, type[ForgeError]]) -> None:
    documented = re.findall(r"^\| `(\w+)`", ERRORS, re.MULTILINE)
    assert sorted(documented) == sorted(errors)


def test_every_documented_error_has_a_meaning_a_remedy_and_the_right_exit_code(
    errors: dict[str, type[ForgeError]],
) -> None:
    for section in ERRORS.split("\n## ")[1:]:
        usual = int(re.findall(r"exit code (\d+)", section.splitlines()[0])[0])
        special = {code: int(number) for code, number in re.findall(r"`(\w+)` (\d)[;)]", section.splitlines()[0])}
        for row in re.findall(r"^\| `.*", section, re.MULTILINE):
            code, meaning, remedy = (cell.strip() for cell in row.strip("|").split(" | "))
            code = code.split("`")[1]
            assert meaning
            assert remedy
            assert exit_code(errors[code]("")) == special.get(code, usual), code


def test_every_exit_code_is_documented() -> None:
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", CLI, re.MULTILINE)] == list(Exit)
