"""Tools of the repository itself, `tools/*.py`: found by reading them, run only as a person approved them."""

from __future__ import annotations

import ast
import threading
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from posixpath import basename
from typing import ClassVar

from forge.errors import Conflict, ForgeError, NotFound
from forge.git import GitCommitVFS, WorkInProgressVFS
from forge.sandbox import Limits
from forge.tools.approvals import Approval, read_approvals, write_approvals
from forge.tools.builtin import NAMES
from forge.tools.contract import Json, ToolFailed
from forge.tools.imports import FOLDER, Closure, ToolUnreadable, closure, parsed
from forge.tools.isolated import TOOL_LIMITS, call, schema_of

MOST_TOOLS = 100
_FUNCTIONS = frozenset({"get_schema", "execute"})


class UserToolMissing(NotFound):
    code = "user_tool_missing"


class UserToolBroken(Conflict):
    code = "user_tool_broken"


class State(StrEnum):
    APPROVED = "approved"
    CHANGED = "changed"
    """It, or something it imports, is not what was approved."""
    NEW = "new"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class UserTool:
    """A tool of the repository as it is in a workspace, and whether it may run."""

    name: str
    path: str
    state: State
    reason: str
    hash: str = ""
    files: tuple[str, ...] = ()
    approval: Approval | None = None


def user_tools(vfs: WorkInProgressVFS) -> tuple[UserTool, ...]:
    """Every tool in `tools/`, by name, with its state. Only approvals in the base commit count."""
    approvals, problem = _approvals(vfs)
    return tuple(tool for path in _candidates(vfs) if (tool := _judged(vfs, path, approvals, problem)) is not None)


def user_tool(vfs: WorkInProgressVFS, name: str) -> UserTool | None:
    path = f"{FOLDER}/{name}.py"
    if not name.isidentifier() or not vfs.file_exists(path):
        return None
    return _judged(vfs, path, *_approvals(vfs))


def approve(vfs: WorkInProgressVFS, name: str, by: str, *, at: datetime | None = None) -> UserTool:
    """A person lets `name` run as it is now. Counts once it is committed."""
    found = user_tool(vfs, name)
    if found is None:
        raise UserToolMissing(f"There is no tool {name}.", hint=f"Tools are files in {FOLDER}/ of the repository.")
    if found.state is State.BROKEN:
        raise UserToolBroken(f"{name} cannot be approved: {found.reason}", hint="Repair it first.")
    now = closure(vfs, found.path)
    when = (at or datetime.now(UTC)).isoformat(timespec="seconds")
    write_approvals(vfs, read_approvals(vfs) | {name: Approval(now.path, now.hash, now.files, by, when)})
    return found


def revoke(vfs: WorkInProgressVFS, name: str) -> None:
    """Take an approval back, also of a tool that is gone. Counts once it is committed."""
    approvals = read_approvals(vfs)
    if name not in approvals:
        raise UserToolMissing(f"{name} is not approved.", hint="`forge tools list` shows the approved ones.")
    write_approvals(vfs, {each: approval for each, approval in approvals.items() if each != name})


def refusal(vfs: WorkInProgressVFS, name: str) -> str:
    """What a model is told that calls a tool of the repository which it was not given; nothing if there is none."""
    found = user_tool(vfs, name)
    if found is None:
        return ""
    if found.state is State.APPROVED:
        return f"The tool {name} is not available in this turn."
    if found.state is State.BROKEN:
        return f"The tool {name} ({found.path}) does not work: {found.reason}"
    return (
        f"The tool {name} ({found.path}) is {found.state} and was not run: {found.reason} A person must approve it "
        "first (`forge tools approve`); tools that change in a turn run in a later one at the earliest."
    )


class ApprovedTool:
    """An approved tool, to a toolbox like any other. Whether it is still the approved one is looked at in each call."""

    outside: ClassVar[bool] = True

    def __init__(
        self, name: str, schema: Json, *, limits: Limits = TOOL_LIMITS, cancel: threading.Event | None = None
    ) -> None:
        self._name = name
        self._schema = schema
        self._limits = limits
        self._cancel = cancel

    def get_schema(self) -> Json:
        return self._schema

    def execute(self, vfs: WorkInProgressVFS, args: Json) -> str | Json:
        found = user_tool(vfs, self._name)
        if found is None:
            raise ToolFailed(f"The tool {self._name} is gone: {FOLDER}/{self._name}.py was deleted.")
        if found.state is not State.APPROVED or found.approval is None:
            raise ToolFailed(refusal(vfs, self._name))
        return call(vfs, _approved(vfs, found), args, limits=self._limits, cancel=self._cancel)


def approved_tools(
    vfs: WorkInProgressVFS,
    schemas: MutableMapping[str, Json],
    *,
    limits: Limits = TOOL_LIMITS,
    cancel: threading.Event | None = None,
) -> tuple[tuple[ApprovedTool, ...], tuple[UserTool, ...]]:
    """The tools that may run, by name; and all tools with their states, those without a usable schema as broken.

    A schema comes from the tool itself, in the sandbox, and is kept in `schemas` by the tool's hash. Setting `cancel`
    ends a tool that is running.
    """
    ready: list[ApprovedTool] = []
    seen: list[UserTool] = []
    for found in user_tools(vfs):
        if found.state is not State.APPROVED:
            seen.append(found)
            continue
        try:
            if found.hash not in schemas:
                schemas[found.hash] = schema_of(_approved(vfs, found), limits=limits)
        except (ToolFailed, ForgeError) as e:
            seen.append(UserTool(found.name, found.path, State.BROKEN, str(e), found.hash, found.files, found.approval))
            continue
        seen.append(found)
        ready.append(ApprovedTool(found.name, schemas[found.hash], limits=limits, cancel=cancel))
    return tuple(ready), tuple(seen)


def _approved(vfs: WorkInProgressVFS, tool: UserTool) -> Closure:
    """The sources to run: read again and compared, so that what runs is what was judged."""
    sources = closure(vfs, tool.path)
    if tool.approval is None or sources.hash != tool.approval.hash:
        raise ToolFailed(f"The tool {tool.name} is not as approved.")
    return sources


def _approvals(vfs: WorkInProgressVFS) -> tuple[Mapping[str, Approval], str]:
    try:
        return read_approvals(GitCommitVFS(vfs.objects, vfs.base)), ""
    except ForgeError as e:
        return {}, e.message


def _candidates(vfs: WorkInProgressVFS) -> list[str]:
    found = [path for path in vfs.list_files(f"{FOLDER}/") if path.count("/") == 1 and path.endswith(".py")]
    names = [path for path in found if not basename(path).startswith("_")]
    return sorted(names)[:MOST_TOOLS]


def _judged(vfs: WorkInProgressVFS, path: str, approvals: Mapping[str, Approval], problem: str) -> UserTool | None:
    """The tool at `path`; None for a module that is none, such as one that others import."""
    name = basename(path).removesuffix(".py")
    try:
        if not _offers(vfs, path):
            return None
        if name in NAMES:
            raise ToolUnreadable(f"{name} is the name of a built-in tool.")
        sources = closure(vfs, path)
    except ForgeError as e:
        return UserTool(name, path, State.BROKEN, e.message)
    state, reason = _state(vfs, sources, approvals.get(name), problem)
    return UserTool(name, path, state, reason, sources.hash, tuple(sources.files), approvals.get(name))


def _offers(vfs: WorkInProgressVFS, path: str) -> bool:
    """Whether the module has both functions; one alone, or a name that no model can call, is a mistake."""
    data = vfs.read_bytes(path)
    mentions = any(name.encode() in data for name in _FUNCTIONS)
    if not mentions:
        return False
    functions = {node.name for node in parsed(data, path).body if isinstance(node, ast.FunctionDef)}
    there = functions & _FUNCTIONS
    if len(there) == 1:
        raise ToolUnreadable(f"{path} has {min(there)}() but not {min(_FUNCTIONS - there)}().")
    if there and not basename(path).removesuffix(".py").isidentifier():
        raise ToolUnreadable(f"{path} cannot be a tool: its name is not a Python identifier.")
    return bool(there)


def _state(vfs: WorkInProgressVFS, sources: Closure, approval: Approval | None, problem: str) -> tuple[State, str]:
    touched = [path for path in sources.files if path in vfs.pending]
    if approval is None:
        return State.NEW, f"{problem or 'nobody has approved it yet'}."
    if approval.hash != sources.hash or approval.path != sources.path:
        return State.CHANGED, _difference(sources.files, approval.files)
    if touched:
        return State.CHANGED, f"{', '.join(touched[:5])} changed in this turn."
    return State.APPROVED, ""


def _difference(now: Mapping[str, str], then: Mapping[str, str]) -> str:
    changed = sorted(path for path in now.keys() & then.keys() if now[path] != then[path])
    rows = [
        f"{', '.join(paths[:5])} {verb}"
        for paths, verb in (
            (changed, "changed"),
            (sorted(now.keys() - then.keys()), "came in"),
            (sorted(then.keys() - now.keys()), "went"),
        )
        if paths
    ]
    return f"since it was approved, {'; '.join(rows) or 'the way it is found changed'}."
