"""Applies one change to a directory's memory under its lock, and holds on to what L1 could not take."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from forge.memory import changes
from forge.memory.claims import Claim, winner
from forge.memory.layers import Layers, read_layers
from forge.memory.read_order import together, with_scan
from forge.memory.status_files import written_to
from forge.memory.values import Caution, Entry, Initiative, InterviewState, Source
from forge.memory.write_order import Writer, unsaved

if TYPE_CHECKING:
    from forge.memory.reconcile import Resolved
    from forge.memory.storage import Storage

Change = Callable[[Initiative | None], changes.Changed]


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """What became of an event. `saved`: it is on the disk. `changed`: false for a step that was taken before."""

    initiative: Initiative | None
    changed: bool
    saved: bool
    warnings: tuple[Caution, ...] = ()


@dataclass(frozen=True, slots=True)
class Resumed:
    """The state of the work. `source` was right; `brought_up` are the files that were not and now are."""

    initiative: Initiative | None
    source: Source | None
    brought_up: tuple[str, ...] = ()
    warnings: tuple[Caution, ...] = ()


class Keeper:
    """`live` and `live_interview` are what could not be saved: as good as L1 for as long as this object lives."""

    def __init__(self, directory: Path, storage: Storage, clock: Callable[[], datetime]) -> None:
        self._directory = directory
        self._storage = storage
        self._clock = clock
        self._writer = Writer(storage)
        self.live: Initiative | None = None
        self.live_interview: InterviewState | None = None

    def layers(self) -> Layers:
        """Everything as it is now, damaged bytes put aside. Only under the lock."""
        layers = read_layers(self._storage, self._directory)
        self._writer.keep_broken(layers)
        return layers

    def known(self, layers: Layers) -> Initiative | None:
        told = {Source.SESSION: self.live, Source.FILE: layers.initiative}
        best = winner(Claim(source, value) for source, value in told.items() if value is not None)
        if best is None:
            return None
        # Another program keeps neither an id nor a counter.
        latest = max((claim.initiative.counter for claim in layers.claims()), default=0)
        value = best.initiative
        return replace(value, id=value.id or self.new_id(), counter=value.counter or latest)

    def apply(self, layers: Layers, change: Change, step: str | None, *, recover: bool = True) -> UpdateResult:
        old = self.known(layers) or (self._recovered(layers) if recover else None)
        key = changes.step_key(step)
        if old is not None and key and key in old.steps:
            value, changed = old, False
            saved = self.live is None or self._save(layers, value)
        else:
            value, changed = changes.stamped(change(old), now=self.now(), step=key), True
            saved = self._save(layers, value)
        value, saved = self._settle(layers, value, saved=saved)
        return self.result(layers, value, changed=changed, saved=saved)

    def add_line(self, layers: Layers, entry: Entry) -> UpdateResult:
        """Where there is no initiative, a line goes to MEMORY.md alone."""
        self._writer.check_required(layers)
        taken = bool(entry.step) and any(each.step == entry.step for each in layers.notes.entries)
        saved = taken or self._writer.lines(layers, (entry,))
        return self.result(layers, None, changed=not taken and saved, saved=saved)

    def apply_interview(
        self, layers: Layers, change: Callable[[InterviewState], InterviewState], step: str | None
    ) -> UpdateResult:
        old = self.live_interview or layers.interview or InterviewState()
        taken = bool(step) and changes.step_key(step) in old.steps
        if taken and self.live_interview is None:
            return self.result(layers, self.known(layers), changed=False, saved=True)
        saved = self._save_interview(layers, old if taken else change(old))
        return self.result(layers, self.known(layers), changed=not taken, saved=saved)

    def bring_up(self, layers: Layers, found: Resolved) -> Resumed:
        layers.cautions += found.cautions
        value, saved = found.truth, True
        if value != layers.initiative:
            saved = self._save(layers, value)
        value, saved = self._settle(layers, value, saved=saved)
        if self.live_interview is not None:
            self._save_interview(layers, self.live_interview)
        late = {
            Source.FILE: not saved,
            Source.NOTES: bool(value.owed.entries),
            Source.WORKFLOW_STATUS: value.owed.workflow_status,
        }
        places = {Source.WORKFLOW_STATUS: tuple(file.path for file in written_to(layers.status_files, value))}
        written = tuple(
            path for source in found.behind if not late.get(source) for path in places.get(source, (source.value,))
        )
        return Resumed(value, found.source, written, self.warnings(layers.cautions))

    def result(self, layers: Layers, value: Initiative | None, *, changed: bool, saved: bool) -> UpdateResult:
        return UpdateResult(value, changed, saved, self.warnings(layers.cautions))

    def warnings(self, told: Sequence[Caution]) -> tuple[Caution, ...]:
        """What was told, and in every answer that something is still not saved."""
        pending = self.live is not None or self.live_interview is not None
        return (*told, unsaved()) if pending and not any(each.prominent for each in told) else tuple(told)

    def now(self) -> datetime:
        now = self._clock().astimezone(UTC)
        return now.replace(microsecond=now.microsecond // 1000 * 1000)  # as precise as the files

    def new_id(self) -> str:
        return f"{self.now():%Y%m%d}-{secrets.token_hex(2)}"

    def _save(self, layers: Layers, value: Initiative) -> bool:
        saved = self._writer.initiative(layers, value)
        self.live = None if saved else value
        if saved:
            layers.initiative = value
        return saved

    def _save_interview(self, layers: Layers, value: InterviewState) -> bool:
        saved = self._writer.interview(layers, value)
        self.live_interview = None if saved else value
        return saved

    def _settle(self, layers: Layers, value: Initiative, *, saved: bool) -> tuple[Initiative, bool]:
        """Write below L1, then note in L1 that nothing is owed: a line that a person deletes does not come back."""
        left = self._writer.settle(layers, value)
        if left == value.owed:
            return value, saved
        value = replace(value, owed=left)
        if saved:
            return value, self._save(layers, value)
        self.live = value
        return value, False

    def _recovered(self, layers: Layers) -> Initiative | None:
        claims = with_scan(layers.claims(), self._directory)
        if not claims:
            return None
        value = together(claims[0], claims[1:])
        layers.cautions.append(Caution("memory_rebuilt", f"The state was rebuilt from {claims[0].source.value}."))
        return value if value.id else replace(value, id=self.new_id())
