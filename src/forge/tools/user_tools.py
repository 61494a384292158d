"""Tools of the repository itself, `tools/*.py`: found by reading them, run only as a person approved them."""

from __future__ import annotations

import ast
import threading
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from posixpath import basename
from types import MappingProxyType
from typing import ClassVar

from forge.errors import Conflict, ForgeError, NotFound
from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.sandbox import Limits
from forge.tools.approval_records import UNREADABLE, ApprovalRecords, RecordedApproval
from forge.tools.approval_state import Approvals, ApprovalState
from forge.tools.approvals import Approval, ApprovalsUnreadable, read_approvals, write_approvals
from forge.tools.builtin import TAKEN
from forge.tools.imports import FOLDER, Closure, ToolUnreadable, closure, parsed
from forge.tools.isolated import TOOL_LIMITS, call, schema_of
from forge.tools.layer import FindLayer, no_layer
from forge.tools.tool import ToolFailed

__all__ = ["ApprovalState"]

MOST_TOOLS = 100
_NOTHING: Mapping[str, str] = MappingProxyType({})
_FUNCTIONS = frozenset({"get_schema", "execute"})


class UserToolMissing(NotFound):
    code = "user_tool_missing"


class UserToolBroken(Conflict):
    code = "user_tool_broken"


class ToolChanged(Conflict):
    """The tool is not what the person saw when they approved it."""

    code = "tool_changed"


@dataclass(frozen=True, slots=True)
class UserTool:
    """A tool of the repository as it is in a workspace, and whether it may run."""

    name: str
    path: str
    state: ApprovalState
    reason: str
    hash: str = ""
    files: tuple[str, ...] = ()
    approval: Approval | None = None
    """The approval that it has, or had before it changed; always one on record."""
    differs: str = ""
    """How the copy of approvals in the branch and the record differ about it."""


def user_tools(vfs: WorkInProgressVFS) -> tuple[UserTool, ...]:
    """Every tool in `tools/`, by name, with its state. Only approvals in the base commit that are on record count."""
    approvals = Approvals(vfs)
    return tuple(tool for path in _candidates(vfs) if (tool := _judged(vfs, path, approvals)) is not None)


def user_tool(vfs: WorkInProgressVFS, name: str) -> UserTool | None:
    path = f"{FOLDER}/{name}.py"
    if not name.isidentifier() or not vfs.file_exists(path):
        return None
    return _judged(vfs, path, Approvals(vfs))


@dataclass(frozen=True, slots=True)
class Approved:
    """Approvals that are in the workspace's copy and not on record yet: `record` them when the copy is committed."""

    tools: tuple[UserTool, ...]
    recorded: tuple[tuple[RecordedApproval, Closure], ...]

    def record(self, common_dir: Path) -> None:
        for approval, sources in self.recorded:
            ApprovalRecords(common_dir).keep(approval, sources.sources)


def approve(
    vfs: WorkInProgressVFS,
    names: Sequence[str],
    by: str,
    *,
    user: str = "local",
    expected: Mapping[str, str] = _NOTHING,
    at: datetime | None = None,
) -> Approved:
    """A person lets `names` run as they are now: lists them in the copy. Counts once committed and on record.

    `expected` has the hashes of what the person saw, or their beginnings, by name.
    """
    when = (at or datetime.now(UTC)).isoformat(timespec="seconds")
    found = tuple(_approvable(vfs, name, expected.get(name)) for name in names)
    wanted = [tool for tool in found if tool.state is not ApprovalState.APPROVED]
    closures = {tool.name: closure(vfs, tool.path) for tool in wanted}
    # What is on record already is listed in the same words: then the copies of two branches are one file.
    known = {name: each for name, now in closures.items() if (each := _on_record(vfs, name, now)) is not None}
    fresh = {
        name: Approval(now.path, now.hash, now.files, by, when) for name, now in closures.items() if name not in known
    }
    if closures:
        write_approvals(vfs, known | fresh)
    recorded = ((RecordedApproval(name, each, user, vfs.branch), closures[name]) for name, each in fresh.items())
    return Approved(found, tuple(recorded))


def revoke(vfs: WorkInProgressVFS, name: str, by: str, *, at: datetime | None = None) -> None:
    """Take an approval back on every branch at once, also of a tool that is gone. The copy changes when committed."""
    when = (at or datetime.now(UTC)).isoformat(timespec="seconds")
    is_listed = _is_listed(vfs, name)
    was_on_record = ApprovalRecords(vfs.objects.common_dir).revoke(name, by, when)
    if not is_listed and not was_on_record:
        raise UserToolMissing(f"{name} is not approved.", hint="`forge tools list` shows the approved ones.")
    if is_listed:
        write_approvals(vfs, {name: None})


def listed_only(vfs: WorkInProgressVFS) -> tuple[UserTool, ...]:
    """Tools that the branch lists as approved as they are now, without a record: approved by an earlier Forge, in
    another clone, or by nobody.
    """
    approvals = Approvals(vfs)
    found = (tool for tool in user_tools(vfs) if tool.state is ApprovalState.NEW)
    return tuple(tool for tool in found if _is_only_listed(approvals, tool))


def differences(vfs: WorkInProgressVFS) -> dict[str, str]:
    """How the copy of approvals in the branch and the record differ, by tool, also of tools that are gone."""
    approvals = Approvals(vfs)
    found = {tool.name: tool.differs for tool in user_tools(vfs)}
    gone = {name: approvals.difference(name, "") for name in approvals.listed if name not in found}
    return {name: text for name, text in sorted((found | gone).items()) if text}


def since_approved(vfs: WorkInProgressVFS, name: str) -> str:
    """What changed in a tool since a person approved it, as a unified diff; empty where nothing changed."""
    found = user_tool(vfs, name)
    if found is None or found.state is not ApprovalState.CHANGED or found.approval is None:
        return ""
    records = ApprovalRecords(vfs.objects.common_dir)
    then = records.find(name, found.approval.hash)
    return UNREADABLE if then is None else records.difference(then, closure(vfs, found.path).sources)


def refusal(vfs: WorkInProgressVFS, name: str) -> str:
    """What a model is told that calls a tool of the repository which it was not given; nothing if there is none."""
    found = user_tool(vfs, name)
    if found is None:
        return ""
    if found.state is ApprovalState.APPROVED:
        return f"The tool {name} is not available in this turn."
    if found.state is ApprovalState.BROKEN:
        return f"The tool {name} ({found.path}) does not work: {found.reason}"
    return (
        f"The tool {name} ({found.path}) is {found.state} and was not run: {found.reason} A person must approve it "
        "first (`forge tools approve`); tools that change in a turn run in a later one at the earliest."
    )


class ApprovedTool:
    """An approved tool, to a toolbox like any other. Whether it is still the approved one is looked at in each call."""

    outside: ClassVar[bool] = True

    def __init__(
        self,
        name: str,
        schema: Json,
        *,
        limits: Limits = TOOL_LIMITS,
        cancel: threading.Event | None = None,
        find_layer: FindLayer = no_layer,
    ) -> None:
        self._name = name
        self._schema = schema
        self._limits = limits
        self._cancel = cancel
        self._find_layer = find_layer

    def get_schema(self) -> Json:
        return self._schema

    def execute(self, vfs: WorkInProgressVFS, args: Json) -> str | Json:
        found = user_tool(vfs, self._name)
        if found is None:
            raise ToolFailed(f"The tool {self._name} is gone: {FOLDER}/{self._name}.py was deleted.")
        if found.state is not ApprovalState.APPROVED or found.approval is None:
            raise ToolFailed(refusal(vfs, self._name))
        sources = _approved(vfs, found)
        with self._find_layer(vfs) as layer:
            return call(vfs, sources, args, limits=self._limits, cancel=self._cancel, layer=layer)


def approved_tools(
    vfs: WorkInProgressVFS,
    schemas: MutableMapping[str, Json],
    *,
    limits: Limits = TOOL_LIMITS,
    cancel: threading.Event | None = None,
    find_layer: FindLayer = no_layer,
) -> tuple[tuple[ApprovedTool, ...], tuple[UserTool, ...]]:
    """The tools that may run, by name; and all tools with their states, those without a usable schema as broken.

    A schema comes from the tool itself, in the sandbox, and is kept in `schemas` by the tool's hash. Setting `cancel`
    ends a tool that is running. Tools may import packages of the layer that `find_layer` finds.
    """
    ready: list[ApprovedTool] = []
    seen: list[UserTool] = []
    for found in user_tools(vfs):
        if found.state is not ApprovalState.APPROVED:
            seen.append(found)
            continue
        try:
            if found.hash not in schemas:
                with find_layer(vfs) as layer:
                    schemas[found.hash] = schema_of(_approved(vfs, found), limits=limits, layer=layer)
        except (ToolFailed, ForgeError) as e:
            seen.append(replace(found, state=ApprovalState.BROKEN, reason=str(e)))
            continue
        seen.append(found)
        ready.append(ApprovedTool(found.name, schemas[found.hash], limits=limits, cancel=cancel, find_layer=find_layer))
    return tuple(ready), tuple(seen)


def _approved(vfs: WorkInProgressVFS, tool: UserTool) -> Closure:
    """The sources to run: read again and compared, so that what runs is what was judged."""
    sources = closure(vfs, tool.path)
    if tool.approval is None or sources.hash != tool.approval.hash:
        raise ToolFailed(f"The tool {tool.name} is not as approved.")
    return sources


def _on_record(vfs: WorkInProgressVFS, name: str, now: Closure) -> Approval | None:
    found = ApprovalRecords(vfs.objects.common_dir).find(name, now.hash)
    is_same = found is not None and found.counts and found.approval.path == now.path
    return found.approval if found is not None and is_same else None


def _is_listed(vfs: WorkInProgressVFS, name: str) -> bool:
    """Whether the copy lists it. One that cannot be read approves nothing."""
    try:
        return name in read_approvals(vfs)
    except ApprovalsUnreadable:
        return False


def _is_only_listed(approvals: Approvals, tool: UserTool) -> bool:
    is_listed = any(each.hash == tool.hash for each in approvals.listed.get(tool.name, ()))
    return is_listed and approvals.records.find(tool.name, tool.hash) is None


def _approvable(vfs: WorkInProgressVFS, name: str, expected: str | None) -> UserTool:
    found = user_tool(vfs, name)
    if found is None:
        raise UserToolMissing(f"There is no tool {name}.", hint=f"Tools are files in {FOLDER}/ of the repository.")
    if found.state is ApprovalState.BROKEN:
        raise UserToolBroken(f"{name} cannot be approved: {found.reason}", hint="Repair it first.")
    if expected is not None and not found.hash.startswith(expected):
        raise ToolChanged(
            f"{name} changed since you read it and was not approved: its hash is now {found.hash[:12]}.",
            hint=f"Read it again: `forge tools show {name}`.",
        )
    return found


def _candidates(vfs: WorkInProgressVFS) -> list[str]:
    found = [path for path in vfs.list_files(f"{FOLDER}/") if path.count("/") == 1 and path.endswith(".py")]
    names = [path for path in found if not basename(path).startswith("_")]
    return sorted(names)[:MOST_TOOLS]


def _judged(vfs: WorkInProgressVFS, path: str, approvals: Approvals) -> UserTool | None:
    """The tool at `path`; None for a module that is none, such as one that others import."""
    name = basename(path).removesuffix(".py")
    try:
        if not _offers(vfs, path):
            return None
        if name in TAKEN:
            raise ToolUnreadable(f"{name} is the name of a built-in tool.")
        sources = closure(vfs, path)
    except ForgeError as e:
        return UserTool(name, path, ApprovalState.BROKEN, e.message)
    found = approvals.standing(name, sources, vfs.pending)
    approval = found.basis.approval if found.basis else None
    return UserTool(name, path, found.state, found.reason, sources.hash, tuple(sources.files), approval, found.differs)


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
