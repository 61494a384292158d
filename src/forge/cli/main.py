"""The `forge` command: finds the module of a command, runs it, and gives its exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import NamedTuple

from forge.cli.entry import interrupted
from forge.cli.terminal import streams


class Command(NamedTuple):
    module: str
    summary: str


GROUPS: dict[str, dict[str, Command]] = {
    "Begin here": {
        "demo": Command("demo", "watch an idea become a tested branch; no model, no key"),
        "serve": Command("serve", "the web interface, the API and the worker, until Ctrl-C"),
        "models": Command("models", "who can answer: providers, keys, agent programs"),
        "doctor": Command("doctor", "check what Forge needs, and what to do where something is wrong"),
    },
    "From an idea to a deliverable": {
        "run": Command("run", "take an idea in a file all the way, or to your first decision"),
        "project": Command("project", "projects: new, say, distill, confirm, status, resume, …"),
        "explore": Command("explore", "find out what the problem is: ask, assumptions, brief"),
        "contracts": Command("contracts", "what a build is held to: list, generate, edit, check, history, …"),
        "board": Command("board", "projects by phase, with times and rounds"),
        "notes": Command("notes", "your note on a project, which its agents read too: show, edit"),
        "memory": Command("memory", "what is remembered across sessions: show, add, status, resume"),
    },
    "Work with agents": {
        "chat": Command("chat", "say what you want on a branch and let an agent do it"),
        "session": Command("session", "conversations: show, list, fork, rewind, cancel a turn"),
        "context": Command("context", "files that an agent has before it: show, add, remove"),
        "tools": Command("tools", "what agents can do: list, approve, revoke"),
        "mcp": Command("mcp", "let other agents (claude, codex, …) work through Forge, by MCP"),
        "cost": Command("cost", "tokens and dollars by branch, day or model"),
    },
    "Work on branches": {
        "branch": Command("branch", "list, make, fork, rename, rewind and delete branches"),
        "file": Command("file", "list, read, search, save, rename and delete files on a branch"),
        "test": Command("test", "run the tests of a branch, in a sandbox; set the command that runs them"),
        "tests": Command("tests", "show or set the command that `forge test` runs"),
        "env": Command("environment", "what a branch needs to run: show, setup, shell, clear"),
        "exec": Command("execute", "run a command on a branch, in a sandbox"),
    },
    "Look at history": {
        "log": Command("log", "commits, newest first"),
        "diff": Command("diff", "what changed between two commits"),
        "graph": Command("graph", "commits and branches as a drawing"),
        "show": Command("show", "one commit and what it changed"),
        "blame": Command("blame", "who wrote which line"),
    },
    "Bring work together": {
        "merge": Command("merge", "merge a branch into another, or preview it"),
        "rebase": Command("rebase", "put a branch onto another commit, or preview it"),
        "cherry-pick": Command("cherry_pick", "copy commits onto a branch, or preview it"),
        "undo": Command("undo", "take back what Forge did last"),
        "export": Command("export", "a branch without its conversations, to give away"),
        "push": Command("push", "send a branch to a remote, with its conversation or without it"),
    },
    "Look after Forge": {
        "config": Command("config", "settings: show, get, set, check"),
        "prompts": Command("prompts", "the prompts that agents get: list, show, edit, diff, reset"),
        "plugins": Command("plugins", "which plugins are loaded, and what each brings"),
        "notify": Command("notify", "notifications: send a test message"),
        "completion": Command("completion", "words for bash, zsh or fish to complete"),
    },
    "Share a server": {
        "user": Command("user", "people who share this server: add, list, disable"),
        "key": Command("key", "forge-keys for programs and people: new, list, revoke"),
        "worker": Command("worker", "a further process that runs what waits"),
    },
}
COMMANDS = {name: command for group in GROUPS.values() for name, command in group.items()}

USAGE = """\
Usage: forge [-C DIR] [--json] COMMAND [ARGS]...
       forge                      serve, and open the repository here in the browser

From a brain dump to a sealed git branch. Every change is a commit on a branch, made without a
checkout; your uncommitted work, your index and your stash stay as they are; every move can be undone.
"""
OPTIONS = """\
Options, before or after the command:
  -C DIR        work on the repository at DIR
  --json        one JSON document on standard output, everything else on standard error
  --no-pager    print long output at once instead of showing it in your pager
  --direct      let agents work in this process, even beside a server (or FORGE_DIRECT=1)
  -V, --version show the version
  -h, --help    show this; `forge COMMAND --help` explains a command

Exit codes: 0 done · 1 error · 2 usage
            3 stopped by a limit (exec, a turn) or halted by a guard (projects)
            4 a person must decide: conflicts, questions, a confirmation or review
            5 refused by policy · 130 interrupted"""


class Shared(NamedTuple):
    """The options that every command takes. No directory: `-C` stands at the end, without one."""

    directory: str | None
    json: bool
    no_pager: bool
    direct: bool


def main(argv: list[str] | None = None) -> None:
    """The `forge` command; ends the process with its exit code."""
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        streams.prepare()
        work = _work(args)
    except KeyboardInterrupt:  # while modules were loading
        work = partial(interrupted, args)
    try:
        code = work()
    except KeyboardInterrupt:  # once more, while the first one was told
        code = 130
    raise SystemExit(code)


def _work(args: list[str]) -> Callable[[], int]:
    """What is to be done, with everything loaded that it begins with; gives the exit code."""
    shared, rest = _shared_options(args)
    name = rest[0] if rest else ""
    if name == "help":
        rest = [*rest[1:], "--help"]
        name = rest[0]
    if shared.directory is None:
        return _wrong(shared, "-C needs a directory.", "forge -C DIR COMMAND")
    if name in ("-h", "--help"):
        return partial(_printed, shared, _document("help", _overview()) if shared.json else _overview())
    if name in ("-V", "--version"):
        return partial(_printed, shared, _version(shared))
    if not (name or shared.json):
        name, rest = "serve", ["serve", "--open"]
    if name not in COMMANDS:
        return _unknown(shared, name)
    from forge.cli.terminal.session import Session, run  # noqa: PLC0415 - the parser is loaded only when a command runs

    module = import_module(f"forge.cli.commands.{COMMANDS[name].module}")
    session = Session(directory=shared.directory, json=shared.json, direct=shared.direct, no_pager=shared.no_pager)
    return partial(run, module.app, name, rest[1:], session)


def _shared_options(args: list[str]) -> tuple[Shared, list[str]]:
    """Split off the options that every command takes, wherever they stand before a `--`."""
    directory: str | None = "."
    json = direct = no_pager = False
    rest: list[str] = []
    words = iter(args)
    for word in words:
        if word == "-C":
            directory = next(words, None)
        elif word == "--json":
            json = True
        elif word == "--no-pager":
            no_pager = True
        elif word == "--direct":
            direct = True
        elif word == "--":
            rest += [word, *words]
        else:
            rest.append(word)
    return Shared(directory, json, no_pager, direct), rest


def _overview() -> str:
    width = max(map(len, COMMANDS)) + 2
    parts = [USAGE]
    for title, commands in GROUPS.items():
        rows = [f"  {name:<{width}}{command.summary}" for name, command in commands.items()]
        parts.append("\n".join([f"{title}:", *rows]) + "\n")
    return "\n".join([*parts, OPTIONS])


def _version(shared: Shared) -> str:
    from forge import __version__  # noqa: PLC0415

    return _document("version", __version__) if shared.json else f"forge {__version__}"


def _document(key: str, text: str) -> str:
    import json  # noqa: PLC0415 - only programs need it

    return json.dumps({key: text})


def _printed(shared: Shared, text: str) -> int:
    try:
        print(text, flush=True)  # noqa: T201 - before any command there is no output channel
    except OSError as e:
        from forge.cli.terminal.session import Session, undelivered  # noqa: PLC0415

        return undelivered(Session(json=shared.json).output, e)
    return 0


def _unknown(shared: Shared, word: str) -> Callable[[], int]:
    if not word:
        return _wrong(shared, "There is no command.", "Run `forge --help`.")
    if word.startswith("-"):
        return _wrong(shared, f"There is no option {word}.", "`forge --help` shows all options and commands.")
    from difflib import get_close_matches  # noqa: PLC0415

    near = get_close_matches(word, COMMANDS, 1)
    guess = f"Did you mean `forge {near[0]}`? " if near else ""
    return _wrong(shared, f"There is no command {word!r}.", f"{guess}`forge --help` shows all commands.")


def _wrong(shared: Shared, message: str, hint: str) -> Callable[[], int]:
    from forge.cli.terminal.session import BadUsage, Session, failed  # noqa: PLC0415

    return partial(failed, Session(json=shared.json).output, BadUsage(message, hint=hint))


if __name__ == "__main__":
    main()
