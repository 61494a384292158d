"""The `forge` command: finds the module of a command, runs it, and turns errors into exit codes."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import NamedTuple


class Command(NamedTuple):
    module: str
    summary: str


GROUPS: dict[str, dict[str, Command]] = {
    "Work on branches": {
        "branch": Command("branch", "list, make, fork, rename, rewind and delete branches"),
        "file": Command("file", "list, read, search, save, rename and delete files on a branch"),
        "exec": Command("execute", "run a command on a branch, in a sandbox"),
    },
    "Look at history": {
        "log": Command("log", "commits, newest first"),
        "diff": Command("diff", "what changed between two commits"),
        "graph": Command("graph", "commits and branches as a drawing"),
        "blame": Command("blame", "who wrote which line"),
    },
    "Bring work together": {
        "merge": Command("merge", "merge a branch into another, or preview it"),
        "rebase": Command("rebase", "put a branch onto another commit, or preview it"),
        "cherry-pick": Command("cherry_pick", "copy commits onto a branch, or preview it"),
        "undo": Command("undo", "take back what Forge did last"),
    },
    "Look after Forge": {
        "doctor": Command("doctor", "check the repository, git and the sandbox"),
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}

USAGE = """\
Usage: forge [-C DIR] [--json] COMMAND [ARGS]...

From a brain dump to a sealed git branch. Every change is a commit on a branch, made without a
checkout; your uncommitted work, your index and your stash stay as they are; every move can be undone.
"""
OPTIONS = """\
Options, before or after the command:
  -C DIR        work on the repository at DIR
  --json        one JSON document on standard output, everything else on standard error
  --version     show the version
  --help        show this; `forge COMMAND --help` explains a command

Exit codes: 0 done · 1 error · 2 usage · 3 stopped by a limit · 4 a person must decide (conflicts)
            5 refused by policy · 130 interrupted
"""


def main(argv: list[str] | None = None) -> None:
    """Entry point of the installed `forge` command."""
    args = list(sys.argv[1:] if argv is None else argv)
    shared, rest = _shared_options(args)
    if not rest or rest[0] in ("--help", "-h", "help"):
        print(_overview())  # noqa: T201 - before any command there is no output channel
        raise SystemExit(0)
    if rest[0] in ("--version", "-V"):
        from forge import __version__  # noqa: PLC0415

        print(f"forge {__version__}")  # noqa: T201
        raise SystemExit(0)
    if rest[0] not in COMMANDS:
        raise SystemExit(_unknown(rest[0]))
    from forge.cli.running import run  # noqa: PLC0415 - the parser is loaded only when a command runs

    module = import_module(f"forge.cli.{COMMANDS[rest[0]].module}")
    raise SystemExit(run(module.app, rest[0], rest[1:], shared))


def _shared_options(args: list[str]) -> tuple[dict[str, str], list[str]]:
    """Split off `-C DIR` and `--json`, wherever they stand before a `--`; every command takes them."""
    found: dict[str, str] = {}
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--":
            return found, [*rest, word, *words]
        if word == "-C":
            found["directory"] = next(words, "")
        elif word == "--json":
            found["json"] = "yes"
        else:
            rest.append(word)
    return found, rest


def _overview() -> str:
    width = max(map(len, COMMANDS)) + 2
    parts = [USAGE]
    for title, commands in GROUPS.items():
        rows = [f"  {name:<{width}}{command.summary}" for name, command in commands.items()]
        parts.append("\n".join([f"{title}:", *rows]) + "\n")
    return "\n".join([*parts, OPTIONS])


def _unknown(word: str) -> int:
    from difflib import get_close_matches  # noqa: PLC0415

    near = get_close_matches(word, COMMANDS, 1)
    guess = f" Did you mean `forge {near[0]}`?" if near else ""
    print(f"forge: there is no command {word!r}.{guess}\nRun `forge --help`.", file=sys.stderr)  # noqa: T201
    return 2
