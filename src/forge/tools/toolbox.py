"""The tools of one loop: shows the allowed ones to a model, runs a call, and turns every failure into text."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Protocol, cast, runtime_checkable

from forge.errors import ForgeError
from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools import user_tools
from forge.tools.access import ToolAccess
from forge.tools.arguments import checked
from forge.tools.edits import Snapshot, changed_paths, restore, snapshot
from forge.tools.result_text import capped
from forge.tools.tool import Inquiry, Tool, ToolFailed, ToolOutcome, ToolRetry, ToolSchema

_log = logging.getLogger(__name__)


@runtime_checkable
class Watcher(Protocol):
    """A tool that wants to know what the others changed."""

    def watch(self, vfs: WorkInProgressVFS, before: Snapshot) -> None: ...


class Toolbox:
    """Made for one loop. What `access` does not name is neither shown nor run, whoever asks for it.

    Without `files`, for a loop that has no branch: a tool that works on files is a mistake then.
    """

    def __init__(self, tools: Iterable[Tool], access: ToolAccess, *, files: bool = True) -> None:
        self._tools: dict[str, Tool] = {}
        self._schemas: dict[str, ToolSchema] = {}
        self._access = access
        self._approved: set[str] = set()
        for tool in tools:
            schema = tool.get_schema()
            name = schema["name"]
            if name in self._tools:
                raise ValueError(f"There are two tools named {name}.")
            if access.meant(name) != name:
                raise ValueError(f"{name} is a tool and cannot be another name for {access.meant(name)}.")
            if not files and getattr(tool, "needs_files", True):
                raise ValueError(f"The tool {name} works on files, and this loop has no branch.")
            self._tools[name] = tool
            self._schemas[name] = ToolSchema(access.shown(name), schema["description"], schema["parameters"])
            if access.own and isinstance(tool, user_tools.ApprovedTool):
                self._approved.add(name)
        self._watchers = [tool for tool in self._tools.values() if isinstance(tool, Watcher)]

    def schemas(self) -> tuple[ToolSchema, ...]:
        """What the model is shown, in the order the tools were given."""
        return tuple(schema for name, schema in self._schemas.items() if self._allows(name))

    def outside(self, name: str) -> bool:
        """Whether the tool has effects that a replay must not repeat: record its outcome and its changes instead."""
        return bool(getattr(self._tools.get(self._access.meant(name)), "outside", False))

    def run(self, vfs: WorkInProgressVFS | None, name: str, arguments: Json) -> ToolOutcome:
        """Run one call. Never raises; a call that failed has changed nothing."""
        before = snapshot(vfs) if vfs is not None else {}
        try:
            result = self._ran(vfs, name, arguments)
            self.applied(vfs, before, by=name)
        except (ToolRetry, ToolFailed) as e:
            return self._failed(vfs, before, str(e))
        except ForgeError as e:
            return self._failed(vfs, before, f"{e.message} {e.hint}".strip())
        except Exception as e:  # noqa: BLE001 - the tool runner: a broken tool must not end the turn
            _log.exception("The tool %s broke.", name)
            return self._failed(vfs, before, f"Internal error in {name}: {type(e).__name__}. Try another way.")
        if isinstance(result, Inquiry):
            return ToolOutcome("", asks=result)
        return ToolOutcome(capped(result))

    def applied(self, vfs: WorkInProgressVFS | None, before: Snapshot, *, by: str) -> None:
        """Take note of changes since `before`; a replay calls it after it has put a recorded call's changes there."""
        if vfs is None:
            return
        for watcher in self._watchers:
            if watcher is not self._tools.get(self._access.meant(by)):
                watcher.watch(vfs, before)

    def _ran(self, vfs: WorkInProgressVFS | None, name: str, arguments: Json) -> str | Inquiry:
        meant = self._access.meant(name)
        tool = self._tools.get(meant)
        if tool is None or not self._allows(meant):
            raise ToolFailed(self._refusal(vfs, name))
        if vfs is None and getattr(tool, "needs_files", True):
            raise ToolFailed(f"The tool {name} works on the files of a branch; there is none here.")
        result = tool.execute(cast("WorkInProgressVFS", vfs), checked(self._schemas[meant].parameters, arguments))
        return result if isinstance(result, str | Inquiry) else json.dumps(result, ensure_ascii=False, sort_keys=True)

    def _failed(self, vfs: WorkInProgressVFS | None, before: Snapshot, text: str) -> ToolOutcome:
        if vfs is not None and changed_paths(before, vfs.pending):
            restore(vfs, before)
        return ToolOutcome(capped(text), failed=True)

    def _allows(self, name: str) -> bool:
        return self._access.allows(name) or name in self._approved

    def _refusal(self, vfs: WorkInProgressVFS | None, name: str) -> str:
        known = ", ".join(schema.name for schema in self.schemas()) or "none"
        if self._access.meant(name) in self._tools:
            return f"The tool {name} is not allowed here. Allowed are: {known}."
        told = user_tools.refusal(vfs, name) if vfs is not None and isinstance(name, str) else ""
        return told or f"There is no tool {str(name)[:60]!r}. There are: {known}."
