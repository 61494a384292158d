"""Work on a branch without a checkout: read, search, change files in a draft, run commands, commit once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.errors import InvalidInput
from forge.json_value import Json
from forge.mcp.call import Call
from forge.mcp.tool import Run, Scope, Tool

if TYPE_CHECKING:
    from forge.app.drafts.drafts import Draft, Target
    from forge.app.drafts.work import Done
    from forge.app.repositories.catalog import Repository

_DRAFT, _RUN = "draft~", "run~"
_PATIENCE = 45.0
"""Seconds until a long run answers with a handle: many clients give up after a minute."""
_BRANCHES = 30
_NAMES = {
    "read_file": "forge_read",
    "list_files": "forge_list",
    "search_replace": "forge_edit",
    "write_file": "forge_write",
    "run_command": "forge_run",
    "run_tests": "forge_run",
}
_PATH: Json = {"type": "string"}
_READ_AT: Json = {"type": "string", "description": "Draft, branch or commit. REPO:branch elsewhere."}
_WRITE_AT: Json = {"type": "string", "description": "Draft, or branch to begin one."}


@dataclass(frozen=True, slots=True)
class _Place:
    """An open repository and where in it."""

    name: str
    repo: Repository
    target: Target


async def _place(call: Call, at: str, scope: Scope) -> _Place:
    """`at` is `draft~REPO.ID`, `REPO:branch` or a branch of the usual repository."""
    from forge.app.drafts.drafts import Target  # noqa: PLC0415 - loads git, which the first answer does not need

    repository, draft, revision = call.defaults.repository, None, at or None
    if at.startswith(_DRAFT):
        repository, _, draft = at.removeprefix(_DRAFT).partition(".")
        revision = None
    elif ":" in at:
        repository, _, revision = at.partition(":")
    if "refs/forge/" in (revision or ""):
        raise InvalidInput(f"{at[:60]!r} is a ref of Forge's own.", hint="Name a branch, a commit or a draft.")
    name, repo = await call.host.repository(call.who, repository, scope)
    return _Place(name, repo, Target(draft, revision or None))


def _handle(repo: Repository, draft: Draft) -> str:
    from forge.app.repositories.catalog import id_of  # noqa: PLC0415

    return f"{_DRAFT}{id_of(repo)}.{draft.id}"


async def _read(call: Call, tool: str, arguments: Json) -> str:
    from forge.app.drafts import work  # noqa: PLC0415

    place = await _place(call, arguments.pop("at", ""), "read")
    done = await call.in_thread(lambda: work.read(place.repo, call.agent, place.target, tool, arguments))
    return _text(place, done)


async def _change(call: Call, tool: str, arguments: Json) -> str:
    from forge.app.drafts import work  # noqa: PLC0415

    place = await _place(call, arguments.pop("at"), "write")
    return _text(
        place, await call.in_thread(lambda: work.change(place.repo, call.agent, place.target, tool, arguments))
    )


def _text(place: _Place, done: Done) -> str:
    from forge.app.drafts.work import renamed  # noqa: PLC0415

    if done.failed:
        raise InvalidInput(renamed(done.text, _NAMES))
    if done.draft is None:
        return done.text
    return f"{done.text}\nDraft: {_handle(place.repo, done.draft)} for {done.draft.branch}, not committed yet."


async def _list(call: Call, arguments: Json) -> str:
    if arguments:
        return await _read(call, "list_files", arguments)
    place = await _place(call, "", "read")
    overview = await call.in_thread(lambda: _overview(call, place))
    return f"{overview}\n\n{await _read(call, 'list_files', {})}"


def _overview(call: Call, place: _Place) -> str:
    from forge.app.drafts import drafts  # noqa: PLC0415
    from forge.app.repositories.branches import listed  # noqa: PLC0415

    repo = place.repo
    newest = sorted(listed(repo), key=lambda each: (-each.time, each.name))
    names = [each.name for each in newest]
    more = f" and {len(names) - _BRANCHES} more" if len(names) > _BRANCHES else ""
    mine = [f"{_handle(repo, each)} for {each.branch}" for each in drafts.listed(repo, call.agent)]
    lines = [f"Repository {place.name}; default branch {repo.default_branch} (read-only for agents)."]
    lines.append(f"Branches, newest first: {', '.join(names[:_BRANCHES])}{more}.")
    return "\n".join([*lines, *([f"Drafts: {', '.join(mine)}."] if mine else [])])


async def _run(call: Call, arguments: Json) -> str:
    handle, doing = arguments.pop("run", None), arguments.get("command", "tests")[:100]
    if call.is_task:
        return await _ran(call, arguments)
    if handle is not None:
        job = call.jobs.find(call.owner, str(handle).removeprefix(_RUN))
    else:
        job = call.jobs.begin(call.owner, lambda _: _ran(call, arguments))
    try:
        over = await call.telling(doing, job.settled(_PATIENCE))
    except BaseException:
        if handle is None:  # the client gave up before it knew a handle
            job.cancel()
            call.jobs.forget(job)
        raise
    if not over:
        return f"Still running after {_PATIENCE:.0f} s. Call forge_run with `run` {_RUN}{job.id} to wait on."
    if handle is None:
        call.jobs.forget(job)
    text: str = job.result()
    return text


async def _ran(call: Call, arguments: Json) -> str:
    from forge.app.drafts import work  # noqa: PLC0415
    from forge.app.repositories.environments import Environments  # noqa: PLC0415
    from forge.app.sessions.sandbox_commands import TurnCommands  # noqa: PLC0415

    place = await _place(call, arguments.pop("at", ""), "run")
    commands = TurnCommands(place.repo, environments=Environments.of_person(os.environ))
    return _text(
        place,
        await call.in_thread(
            lambda: work.run(place.repo, call.agent, place.target, arguments, commands=commands),
            cancel=commands.interrupt,
        ),
    )


async def _diff(call: Call, arguments: Json) -> str:
    from forge.app.drafts import work  # noqa: PLC0415

    place = await _place(call, arguments["at"], "read")
    paths = [arguments["path"]] if "path" in arguments else []
    found = await call.in_thread(lambda: work.diff(place.repo, call.agent, place.target, paths))
    if not found.files:
        return "Nothing differs."
    names = "\n".join(f"{kind} {path}" for kind, path in found.files[:200])
    return f"{names}\n\n{found.patch}"


async def _commit(call: Call, arguments: Json) -> str:
    from forge.app.drafts import draft_commit  # noqa: PLC0415

    place = await _place(call, arguments["draft"], "write")
    draft = place.target.draft
    if draft is None:
        raise InvalidInput("`draft` must be a handle that a change returned.", hint="forge_list shows your drafts.")
    message, branch = arguments["message"], arguments.get("branch")
    done = await call.in_thread(lambda: draft_commit.commit(place.repo, call.agent, draft, message, branch=branch))
    await call.host.moved(place.repo)
    files = ", ".join(f"{kind} {path}" for kind, path in done.files[:40])
    return f"Committed {done.commit[:12]} to {done.branch}: {files}."


def _reading(tool: str) -> Run:
    async def run(call: Call, arguments: Json) -> str:
        return await _read(call, tool, arguments)

    return run


def _changing(tool: str) -> Run:
    async def run(call: Call, arguments: Json) -> str:
        return await _change(call, tool, arguments)

    return run


TOOLS = (
    Tool(
        "forge_list",
        "List files",
        "List files. Without arguments: repository, branches and your drafts too.",
        _list,
        {
            "at": _READ_AT,
            "path": {"type": "string", "description": "Only below this folder."},
            "glob": {"type": "string", "minLength": 1, "description": "Such as *.py or src/**."},
        },
    ),
    Tool(
        "forge_read",
        "Read a file",
        "Read a text file with line numbers, in pages.",
        _reading("read_file"),
        {
            "path": _PATH,
            "at": _READ_AT,
            "start_line": {"type": "integer", "minimum": 1},
            "end_line": {"type": "integer", "minimum": 1},
        },
        required=("path",),
    ),
    Tool(
        "forge_search",
        "Search files",
        "Find lines in all files: path, line number, text.",
        _reading("search"),
        {
            "pattern": {"type": "string", "minLength": 1, "maxLength": 2000},
            "at": _READ_AT,
            "regex": {"type": "boolean"},
            "ignore_case": {"type": "boolean"},
            "include": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "Globs."},
            "context": {"type": "integer", "minimum": 0, "maximum": 20},
        },
        required=("pattern",),
    ),
    Tool(
        "forge_write",
        "Write a file",
        "Create a file or replace all of it, in a draft. Returns the draft: pass it as `at` from then on.",
        _changing("write_file"),
        {"at": _WRITE_AT, "path": _PATH, "content": {"type": "string", "maxLength": 2_000_000}},
        required=("at", "path", "content"),
        scope="write",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "forge_edit",
        "Edit a file",
        "Replace an exact text that occurs once, in a draft.",
        _changing("search_replace"),
        {
            "at": _WRITE_AT,
            "path": _PATH,
            "search": {"type": "string", "minLength": 1, "description": "Without line numbers."},
            "replace": {"type": "string", "maxLength": 2_000_000},
            "all": {"type": "boolean", "description": "Every occurrence."},
        },
        required=("at", "path", "search", "replace"),
        scope="write",
        destructive=True,
    ),
    Tool(
        "forge_rename",
        "Rename a file",
        "Rename or move a file, in a draft.",
        _changing("rename_file"),
        {"at": _WRITE_AT, "path": _PATH, "new_path": _PATH},
        required=("at", "path", "new_path"),
        scope="write",
    ),
    Tool(
        "forge_delete",
        "Delete a file",
        "Delete a file, in a draft.",
        _changing("delete_file"),
        {"at": _WRITE_AT, "path": _PATH},
        required=("at", "path"),
        scope="write",
        destructive=True,
        idempotent=True,
    ),
    Tool(
        "forge_run",
        "Run a command or the tests",
        "Run a shell command on the files in a sandbox without network; without `command`, the tests. "
        "Files it changes go into the draft.",
        _run,
        {
            "at": _WRITE_AT,
            "command": {"type": "string", "minLength": 1, "maxLength": 20_000},
            "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600},
            "run": {"type": "string", "description": "Handle of a run to wait on; nothing else then."},
        },
        scope="run",
        destructive=True,
        is_long=True,
    ),
    Tool(
        "forge_diff",
        "Show changes",
        "What a draft changes, or a branch since it left the default branch.",
        _diff,
        {"at": _READ_AT, "path": {"type": "string", "description": "Only this file or folder."}},
        required=("at",),
    ),
    Tool(
        "forge_commit",
        "Commit a draft",
        "Make one commit of a draft on its branch. If the branch moved, tells what to do.",
        _commit,
        {
            "draft": {"type": "string"},
            "message": {"type": "string", "minLength": 1, "maxLength": 10_000},
            "branch": {"type": "string", "description": "A new branch instead."},
        },
        required=("draft", "message"),
        scope="write",
        idempotent=True,
    ),
)
