"""Writes the list of commands in `docs/cli.md` from the commands: `python -m forge.cli.terminal.reference FILE`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

import typer

from forge.cli.main import GROUPS
from forge.cli.terminal.parser import Command, Group, argument_name, option_help, option_name

MARK = "<!-- From here on written by `python -m forge.cli.terminal.reference docs/cli.md`. -->"


def updated(document: str) -> str:
    """The document with the part below the mark written anew; what is above is for people to write."""
    head = document.partition(MARK)[0].rstrip()
    return f"{head}\n\n{MARK}\n\n{reference()}"


def reference() -> str:
    return "\n".join(_groups())


def _groups() -> Iterator[str]:
    for title, commands in GROUPS.items():
        yield f"## {title}\n"
        for name, entry in commands.items():
            command = typer.main.get_command(import_module(f"forge.cli.commands.{entry.module}").app)
            yield from _described(f"forge {name}", command)


def _described(name: str, command: object) -> Iterator[str]:
    if isinstance(command, Group):
        yield f"### {name}\n"
        yield f"{command.help}\n"
        for word, part in command.commands.items():
            yield from _described(f"{name} {word}", part)
    elif isinstance(command, Command):
        level = "###" if name.count(" ") == 1 else "####"
        yield f"{level} {name}\n"
        yield f"```\n{' '.join([name, *command.usage()])}\n```\n"
        yield f"{command.help}\n"
        rows = [(argument_name(argument), argument.help or "") for argument in command.arguments()]
        rows += [(option_name(option), option_help(option)) for option in command.options()]
        if rows:
            yield _table(rows)


def _table(rows: Sequence[tuple[str, str]]) -> str:
    lines = ["| | |", "|---|---|"]
    lines += [f"| `{name}` | {text} |" for name, text in rows]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_text(updated(file.read_text()))
