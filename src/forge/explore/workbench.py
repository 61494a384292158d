"""The state of an exploration in the hands of one turn: changed by tools in memory, written as one commit later.

The same calls on the same state give the same result, so a turn that is replayed after a crash rebuilds its changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from forge.errors import ForgeError
from forge.explore.register import LINE, Register
from forge.json_value import Json
from forge.projects import state
from forge.tools.arguments import checked
from forge.tools.tool import FunctionTool, ToolRetry

_KEPT_CHANGES = 200
_KEPT_HISTORY = 50
_PASSAGE = re.compile(r"D[1-9][0-9]{0,6}")
_ASSUMPTION = re.compile(r"\bA[1-9][0-9]*\b")


@dataclass(frozen=True, slots=True)
class Change:
    """One recorded change: which tool, what it did, and why."""

    tool: str
    summary: str
    reason: str
    by: str
    turn: int
    time: str
    subjects: tuple[str, ...] = ()

    def to_json(self) -> Json:
        return {
            "tool": self.tool,
            "summary": self.summary,
            "reason": self.reason,
            "by": self.by,
            "turn": self.turn,
            "time": self.time,
            "subjects": list(self.subjects),
        }


@dataclass(frozen=True, slots=True)
class Done:
    """What a tool did: what the model reads, and the ids that it was done to."""

    text: str
    subjects: tuple[str, ...] = ()


Handler = Callable[["Workbench", Json], Done]


@dataclass(frozen=True, slots=True)
class StateTool:
    name: str
    description: str
    parameters: Json
    handler: Handler


@dataclass(frozen=True, slots=True)
class Call:
    """A call that was carried out; `made` is the assumption that the model was told of."""

    tool: str
    arguments: Json
    made: str = ""


@dataclass(slots=True)
class Workbench:
    values: dict[str, Any]
    """The values of `state.json`; this copy is changed. The register is put back by `saved`."""
    turn: int = 0
    """How many messages the person has sent: the number in a source id such as `T3`."""
    by: str = "explorer"
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    line: float = LINE
    documents: frozenset[str] = frozenset()
    """Ids of passages that may be cited."""
    files: dict[str, str] = field(default_factory=dict)
    """Artifacts by their type."""
    context: dict[str, str] = field(default_factory=dict)
    """Changes of the team context."""
    calls: list[Call] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    _register: Register | None = None

    @classmethod
    def of(cls, saved: state.SavedState, **options: Any) -> Workbench:
        copied = {key: deepcopy(saved.values[key]) for key in ("document_skeleton", "routing_context", "org_context")}
        return cls({**saved.values, **copied}, turn=turns_of(saved.values), **options)

    def saved(self) -> dict[str, Any]:
        """The values as `state.json` keeps them."""
        if self._register is not None:
            self.values["assumption_register"] = self._register.to_json()
            self.values["assumption_counter"] = self._register.counter
        return self.values

    # Parts of the state, whatever a person's hand edits left of them

    @property
    def register(self) -> Register:
        if self._register is None:
            saved, counter = self.values.get("assumption_register"), self.values.get("assumption_counter")
            self._register = Register.from_json(saved, counter)
        return self._register

    @register.setter
    def register(self, new: Register) -> None:
        self._register = new

    @property
    def skeleton(self) -> dict[str, Any]:
        return self._part("document_skeleton")

    @property
    def routing(self) -> dict[str, Any]:
        return self._part("routing_context")

    def items(self, part: dict[str, Any], name: str) -> list[Any]:
        """A list of the state that can be appended to."""
        value = part.get(name)
        if not isinstance(value, list):
            value = part[name] = []
        return value

    def group(self, name: str) -> dict[str, Any]:
        value = self.skeleton.get(name)
        if not isinstance(value, dict):
            value = self.skeleton[name] = {}
        return value

    def _part(self, name: str) -> dict[str, Any]:
        value = self.values.get(name)
        if not isinstance(value, dict):
            value = self.values[name] = state.defaults()[name]
        return value

    @property
    def citations(self) -> dict[str, dict[str, Any]]:
        """Passages that were shown, by the id under which they are cited: `place` and `turn` of each."""
        kept = self.routing.get("citations")
        found = kept.items() if isinstance(kept, dict) else ()
        return {id_: each for id_, each in found if isinstance(each, dict) and _PASSAGE.fullmatch(str(id_))}

    @property
    def source(self) -> str:
        """Where what is noted now came from."""
        return f"T{self.turn}" if self.turn else ""

    # Changes

    def apply(self, tool: StateTool, arguments: Json) -> str:
        """Do it, or raise `ToolRetry` with what to do instead; then nothing was changed."""
        given = checked(tool.parameters, arguments)
        before = self._snapshot()
        try:
            done = tool.handler(self, given)
        except (ToolRetry, ForgeError) as e:
            self.values, self._register, self.files, self.context = before
            if isinstance(e, ForgeError):
                raise ToolRetry(f"{e.message} {e.hint}".strip()) from e
            raise
        self._record(tool.name, done, str(given.get("reason", "")))
        made = done.subjects[0] if tool.name == "register_assumption" else ""
        self.calls.append(Call(tool.name, dict(arguments), made))
        return done.text

    def _snapshot(self) -> tuple[dict[str, Any], Register | None, dict[str, str], dict[str, str]]:
        parts = {key: deepcopy(self.values[key]) for key in ("document_skeleton", "routing_context")}
        return {**self.values, **parts}, self._register, dict(self.files), dict(self.context)

    def _record(self, tool: str, done: Done, reason: str) -> None:
        stamp = self.now.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        change = Change(tool, done.text, reason, self.by, self.turn, stamp, done.subjects)
        self.changes.append(change)
        kept = self.items(self.routing, "changes")
        kept.append(change.to_json())
        del kept[:-_KEPT_CHANGES]
        touched = [id_ for id_ in done.subjects if id_ in self.register.assumptions]
        if touched:
            self._note_history(change, touched)

    def _note_history(self, change: Change, ids: list[str]) -> None:
        entry = {key: value for key, value in change.to_json().items() if key != "subjects"}
        changed = dict(self.register.assumptions)
        for id_ in ids:
            now = changed[id_]
            as_is = {"status": now.status, "confidence": now.confidence, "impact": now.impact}
            changed[id_] = replace(now, history=(*now.history, {**entry, **as_is})[-_KEPT_HISTORY:])
        self.register = replace(self.register, assumptions=changed)

    def function_tools(self, tools: Mapping[str, StateTool]) -> tuple[FunctionTool, ...]:
        """As a loop runs them."""

        def bound(tool: StateTool) -> FunctionTool:
            return FunctionTool(tool.name, tool.description, tool.parameters, lambda args: self.apply(tool, args))

        return tuple(bound(tool) for tool in tools.values())


def turns_of(values: Mapping[str, Any]) -> int:
    messages = values.get("messages")
    said = messages if isinstance(messages, list) else []
    return sum(1 for each in said if isinstance(each, dict) and each.get("role") == "user")


def replayed(
    bench: Workbench, calls: Sequence[Call], tools: Mapping[str, StateTool]
) -> tuple[tuple[str, ...], Mapping[str, str]]:
    """The calls of a turn on the state as it is now: a person may have changed it meanwhile.

    An assumption that gets another id than the model was told is renamed in the calls after it. Gives what could not
    be done any more, and the new name of each one that has one.
    """
    names: dict[str, str] = {}
    refused: list[str] = []
    for call in calls:
        try:
            bench.apply(tools[call.tool], renamed(call.arguments, names))
        except ToolRetry as e:
            refused.append(f"{call.tool}: {e}")
            continue
        made = bench.calls[-1].made
        if made != call.made:
            names[call.made] = made
    return tuple(refused), names


def renamed(arguments: Json, names: Mapping[str, str]) -> Json:
    if not names:
        return arguments
    text = json.dumps(arguments, ensure_ascii=False)
    changed: Json = json.loads(_ASSUMPTION.sub(lambda found: names.get(found[0], found[0]), text))
    return changed
