"""What may follow which words of the command line: the tables that `forge --help` shows, for scripts of shells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import typer

from forge.cli.main import GROUPS
from forge.cli.terminal.parser import Command, Group

_BY_METAVAR = {
    "BRANCH": "branches",
    "COMMIT": "revisions",
    "DIR": "folders",
    "FILE": "files",
    "PATH": "files",
    "PROJECT": "projects",
    "REV": "revisions",
    "SCOPE": "=read,write,run,admin",
    "STATUS": "=in_progress,blocked,completed,archived",
}
_BY_PLACE = {
    "blame PATH": "paths",
    "branch fork SOURCE": "branches",
    "branch rename OLD": "branches",
    "config get NAME": "settings",
    "config set NAME": "settings",
    "config show NAME": "settings",
    "context add FILE": "paths",
    "context remove FILE": "paths",
    "diff NEW": "revisions",
    "diff OLD": "revisions",
    "diff PATH": "paths",
    "file delete PATH": "paths",
    "file list PREFIX": "paths",
    "file rename NEW": "paths",
    "file rename OLD": "paths",
    "file save PATH": "paths",
    "file show PATH": "paths",
    "log PATH": "paths",
    "memory start TYPE": "=APEX,DEBUG,BRAINSTORM,FORGE",
    "merge SOURCE": "revisions",
    "prompts diff NAME": "prompts",
    "prompts edit NAME": "prompts",
    "prompts reset NAME": "prompts",
    "prompts show NAME": "prompts",
    "project new TYPE": "=plan,code",
    "run TYPE": "=plan,code",
}
"""Where the word alone does not tell."""


@dataclass(frozen=True, slots=True)
class Flag:
    """`kind` is what its value is: a fixed list of words after `=`, a kind that the script knows, empty for anything;
    None where it takes none.
    """

    names: tuple[str, ...]
    kind: str | None
    about: str


@dataclass(frozen=True, slots=True)
class Node:
    """What may follow after the words of `path`."""

    path: str
    words: tuple[tuple[str, str], ...] = ()
    flags: tuple[Flag, ...] = ()
    arguments: tuple[str, ...] = ()
    """The kind of each; the last one may come again."""


def nodes() -> tuple[Node, ...]:
    """The same tables that `forge --help` shows."""
    every = [(name, entry) for group in GROUPS.values() for name, entry in group.items()]
    words = (*((name, entry.summary) for name, entry in every), ("help", "explain a command"))
    found = [Node("", words, (Flag(("-V", "--version"), None, "Show the version"),))]
    for name, entry in every:
        found += _below(name, typer.main.get_command(import_module(f"forge.cli.commands.{entry.module}").app))
    return tuple(found)


def _below(path: str, command: object) -> Iterator[Node]:
    if isinstance(command, Group):
        yield Node(path, tuple((word, _first(part.help)) for word, part in command.commands.items()))
        for word, part in command.commands.items():
            yield from _below(f"{path} {word}", part)
    elif isinstance(command, Command):
        flags = tuple(
            Flag(
                tuple(sorted((*option.opts, *option.secondary_opts), key=len)),
                None if option.is_flag else _kind(path, option),
                _first(option.help),
            )
            for option in command.options()
            if not option.hidden
        )
        kinds = [_kind(path, argument) for argument in command.arguments()]
        ends = [""] if kinds and command.arguments()[-1].nargs == 1 else []
        yield Node(path, (), flags, (*kinds, *ends))


def _kind(path: str, parameter: Any) -> str:
    annotation = parameter.type_descriptor.annotation
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, Enum):
            return "=" + ",".join(str(each.value) for each in kind)
        if isinstance(kind, type) and issubclass(kind, Path):
            return "files"
    word = str(parameter.metavar or "").removesuffix("...").strip("[]").rpartition("_")[2]
    return _BY_PLACE.get(f"{path} {word}", _BY_METAVAR.get(word, ""))


def _first(text: str | None) -> str:
    return (text or "").partition("\n")[0].partition(". ")[0].rstrip(".")
