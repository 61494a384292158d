"""The tools of one turn: shows the allowed ones to a model, runs a call, and turns every failure into text."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from forge.errors import ForgeError
from forge.git import WorkInProgressVFS
from forge.tools import user_tools
from forge.tools.arguments import checked
from forge.tools.contract import Inquiry, Json, Tool, ToolFailed, ToolOutcome, ToolRetry, ToolSchema
from forge.tools.edits import Snapshot, changed_paths, restore, snapshot
from forge.tools.rendering import capped

_log = logging.getLogger(__name__)


@runtime_checkable
class Watcher(Protocol):
    """A tool that wants to know what the others changed."""

    def watch(self, vfs: WorkInProgressVFS, before: Snapshot) -> None: ...


class Toolbox:
    """Made for one turn. What is not in `allowed` is neither shown nor run; without it, everything is."""

    def __init__(self, tools: Iterable[Tool], *, allowed: frozenset[str] | None = None) -> None:
        self._tools: dict[str, Tool] = {}
        self._schemas: dict[str, ToolSchema] = {}
        self._allowed = allowed
        for tool in tools:
            schema = tool.get_schema()
            name = schema["name"]
            if name in self._tools:
                raise ValueError(f"There are two tools named {name}.")
            self._tools[name] = tool
            self._schemas[name] = ToolSchema(name, schema["description"], schema["parameters"])
        self._watchers = [tool for tool in self._tools.values() if isinstance(tool, Watcher)]

    def schemas(self) -> tuple[ToolSchema, ...]:
        """What the model is shown, in the order the tools were given."""
        return tuple(schema for name, schema in self._schemas.items() if self._is_allowed(name))

    def outside(self, name: str) -> bool:
        """Whether the tool has effects that a replay must not repeat: record its outcome and its changes instead."""
        return bool(getattr(self._tools.get(name), "outside", False))

    def run(self, vfs: WorkInProgressVFS, name: str, arguments: Json) -> ToolOutcome:
        """Run one call. Never raises; a call that failed has changed nothing."""
        before = snapshot(vfs)
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

    def applied(self, vfs: WorkInProgressVFS, before: Snapshot, *, by: str) -> None:
        """Take note of changes since `before`; a replay calls it after it has put a recorded call's changes there."""
        for watcher in self._watchers:
            if watcher is not self._tools.get(by):
                watcher.watch(vfs, before)

    def _ran(self, vfs: WorkInProgressVFS, name: str, arguments: Json) -> str | Inquiry:
        tool = self._tools.get(name)
        if tool is None or not self._is_allowed(name):
            raise ToolFailed(self._refusal(vfs, name))
        result = tool.execute(vfs, checked(self._schemas[name].parameters, arguments))
        return result if isinstance(result, str | Inquiry) else json.dumps(result, ensure_ascii=False, sort_keys=True)

    def _failed(self, vfs: WorkInProgressVFS, before: Snapshot, text: str) -> ToolOutcome:
        if changed_paths(before, vfs.pending):
            restore(vfs, before)
        return ToolOutcome(capped(text), failed=True)

    def _is_allowed(self, name: str) -> bool:
        return self._allowed is None or name in self._allowed

    def _refusal(self, vfs: WorkInProgressVFS, name: str) -> str:
        known = ", ".join(schema.name for schema in self.schemas())
        if name in self._tools:
            return f"The tool {name} is not allowed here. Allowed are: {known}."
        told = user_tools.refusal(vfs, name) if isinstance(name, str) else ""
        return told or f"There is no tool {str(name)[:60]!r}. There are: {known}."
