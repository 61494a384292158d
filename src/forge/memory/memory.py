"""Memory of one directory: every event goes to L1 first, then below; every answer carries what a person should know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from forge.errors import InvalidInput
from forge.memory import changes
from forge.memory.errors import InitiativeActive, InitiativeMissing
from forge.memory.layers import read_layers
from forge.memory.read_order import Recalled, recalled
from forge.memory.reconcile import resolved
from forge.memory.storage import Directory, Storage
from forge.memory.update import Change, Keeper, Resumed, UpdateResult
from forge.memory.values import Confidence, Entry, Initiative, Milestone, NoteKind, Status, one_line
from forge.memory.workflows import first_phase
from forge.sessions.redaction import Redactor

_MOST = 200
_PREVIOUS = 50


class Memory:
    """`step` names an event: the same step a second time changes nothing, but finishes what a crash left half-done."""

    def __init__(
        self,
        directory: Path,
        *,
        storage: Storage | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        redactor: Redactor | None = None,
    ) -> None:
        self._directory = directory
        self._storage = storage or Directory(directory)
        self._redactor = redactor or Redactor()
        self._keeper = Keeper(directory, self._storage, now)

    def start(
        self,
        title: str,
        type: str,  # noqa: A002 - the name that the files have
        context: str = "",
        *,
        milestones: Sequence[Milestone] = (),
        step: str | None = None,
    ) -> UpdateResult:
        """Begin an initiative; the one before must be over."""
        new = Initiative(
            id=self._keeper.new_id(),
            title=self._text(title, _MOST),
            type=type,
            phase=first_phase(type),
            context=self._text(context, _MOST),
            milestones=tuple(milestones),
            milestone=milestones[0].id if milestones else "",
            created=self._keeper.now(),
        )
        if not new.title:
            raise InvalidInput("An initiative needs a title.", hint="Say in a few words what it is about.")
        with self._storage.locked():
            layers = self._keeper.layers()
            earlier = [claim.initiative.id for claim in layers.claims() if claim.initiative.id]
            return self._keeper.apply(layers, lambda old: _followed(old, new, earlier), step, recover=False)

    def advance(self, done: str, next: str, context: str | None = None, *, step: str | None = None) -> UpdateResult:  # noqa: A002
        """One phase is done and another begins: a major transition, with its line in MEMORY.md.

        With `git-commit` or `x-archive` the workflow ends, and the line is its completion.
        """
        about = None if context is None else self._text(context, _MOST)
        return self._change(changes.advanced(done, next, about), step)

    def milestone_started(self, id: str, title: str = "", *, total: int = 0, step: str | None = None) -> UpdateResult:  # noqa: A002
        """Begin a milestone of `total` tasks; a new one if there is none with this id."""
        return self._change(changes.milestone_started(one_line(id, _MOST), self._text(title, _MOST), total), step)

    def task_completed(self, milestone: str, *, step: str | None = None) -> UpdateResult:
        return self._change(changes.task_completed(one_line(milestone, _MOST)), step)

    def milestone_completed(self, id: str, *, step: str | None = None) -> UpdateResult:  # noqa: A002
        return self._change(changes.milestone_completed(one_line(id, _MOST)), step)

    def change_status(self, status: Status, *, reason: str = "", step: str | None = None) -> UpdateResult:
        """For `completed` the reason is the outcome that is written down."""
        if status is Status.COMPLETED:
            return self.complete(reason, step=step)
        return self._change(changes.status_changed(status, self._text(reason, _MOST)), step)

    def complete(self, outcome: str, *, step: str | None = None) -> UpdateResult:
        return self._change(changes.completed(self._text(outcome, 2 * _MOST) or "done"), step)

    def learn(self, text: str, *, step: str | None = None) -> UpdateResult:
        """Keep a pattern, preference or lesson. It is never folded away."""
        return self._line(NoteKind.LEARNING, self._text(text), step)

    def delegate(self, text: str, *, step: str | None = None) -> UpdateResult:
        """Note that a sub-agent was given something to do."""
        return self._line(NoteKind.DELEGATION, self._text(text, _MOST), step)

    def confidence(self, topic: str, value: float, source: str, *, step: str | None = None) -> UpdateResult:
        """How sure `source` is of a topic now, from 0 to 1."""
        name = self._text(topic, _MOST)
        if not name or not 0 <= value <= 1:
            hint = "Name the topic and give a number from 0 to 1."
            raise InvalidInput(f"{value} for {topic!r} is no confidence in a topic.", hint=hint)
        added = Confidence(float(value), self._text(source, _MOST), self._keeper.now())
        key = changes.step_key(step)
        with self._storage.locked():
            layers = self._keeper.layers()
            return self._keeper.apply_interview(
                layers, lambda old: changes.confidence_added(old, name, added, step=key), step
            )

    def read(self, session: Initiative | None = None) -> Recalled:
        """What is remembered; writes nothing. `session` is what a live session knows already."""
        found = recalled(read_layers(self._storage, self._directory), self._directory, session or self._keeper.live)
        return replace(
            found,
            interview=self._keeper.live_interview or found.interview,
            warnings=self._keeper.warnings(found.warnings),
        )

    def resume(self, session: Initiative | None = None) -> Resumed:
        """Find out which source is right and bring the others up to it."""
        with self._storage.locked():
            layers = self._keeper.layers()
            live, id_ = session or self._keeper.live, self._keeper.new_id()
            found = resolved(layers, self._directory, live, new_id=id_, now=self._keeper.now())
            if found is None:
                return Resumed(None, None, warnings=self._keeper.warnings(layers.cautions))
            return self._keeper.bring_up(layers, found)

    def _line(self, kind: NoteKind, text: str, step: str | None) -> UpdateResult:
        if not text:
            raise InvalidInput("There is nothing to remember.", hint="Give the text.")
        with self._storage.locked():
            layers = self._keeper.layers()
            if self._keeper.known(layers) is None:
                entry = Entry(kind, text, self._keeper.now(), step=changes.step_key(step))
                return self._keeper.add_line(layers, entry)
            return self._keeper.apply(layers, _on_some(changes.line_added(kind, text)), step)

    def _change(self, act: changes.Act, step: str | None) -> UpdateResult:
        with self._storage.locked():
            return self._keeper.apply(self._keeper.layers(), _on_some(act), step)

    def _text(self, text: str, most: int | None = None) -> str:
        return one_line(self._redactor.text(text), most)


def _on_some(act: changes.Act) -> Change:
    def change(value: Initiative | None) -> changes.Changed:
        if value is None:
            raise InitiativeMissing("Nothing is known of an initiative here.", hint="Start one: `forge memory start`.")
        return act(value)

    return change


def _followed(old: Initiative | None, new: Initiative, earlier: list[str]) -> changes.Changed:
    """Steps and counter continue from one initiative to the next: both belong to the directory."""
    if old is None:
        return changes.Changed(replace(new, previous=tuple(dict.fromkeys(earlier))), sync=True)
    if not old.status.over:
        hint = "Complete it first; `forge memory status` shows it."
        raise InitiativeActive(f"“{old.title}” is {old.status.value} in this directory.", hint=hint)
    previous = tuple(dict.fromkeys([*old.previous, *earlier, old.id]))[-_PREVIOUS:]
    new = replace(new, previous=previous, steps=old.steps, owed=old.owed, counter=old.counter)
    return changes.Changed(new, sync=True)
