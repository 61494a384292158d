"""All files of memory as they are now. What cannot be read is told, and the next source takes its place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from forge.memory.claims import Claim, winner
from forge.memory.encoding import Unreadable, parsed_initiative, parsed_interview
from forge.memory.notes import Notes
from forge.memory.status_files import StatusFile, followed, status_paths
from forge.memory.storage import FOLDER, Storage
from forge.memory.values import Caution, Entry, Initiative, InterviewState, NoteKind, Source, Status
from forge.memory.workflow_status import parsed_status
from forge.memory.workflows import parsed_checkpoint, parsed_completion, phase_before

INITIATIVE = Source.FILE.value
INTERVIEW = f"{FOLDER}/interview-state.json"
NOTES = Source.NOTES.value

Value = TypeVar("Value")


@dataclass(slots=True)
class Layers:
    """`broken` has the bytes of files that are damaged, `failed` the reason why a file could not be read at all."""

    initiative: Initiative | None = None
    interview: InterviewState | None = None
    notes: Notes = field(default_factory=Notes)
    status_files: list[StatusFile] = field(default_factory=list)
    broken: dict[str, bytes] = field(default_factory=dict)
    failed: dict[str, OSError] = field(default_factory=dict)
    cautions: list[Caution] = field(default_factory=list)

    def claims(self, live: Initiative | None = None) -> list[Claim]:
        """What each source says, in the order of reading; the scan is not asked."""
        told = {
            Source.SESSION: live,
            Source.FILE: self.initiative,
            Source.NOTES: noted(self.notes),
        }
        told_by_status = [each.initiative for each in self.status_files]
        every = [*told.items(), *((Source.WORKFLOW_STATUS, value) for value in told_by_status)]
        return [Claim(source, value) for source, value in every if value is not None]


def read_layers(storage: Storage, directory: Path) -> Layers:
    layers = Layers()
    layers.initiative = _parsed(storage, layers, INITIATIVE, parsed_initiative)
    layers.interview = _parsed(storage, layers, INTERVIEW, parsed_interview)
    found = [each for path in status_paths(directory) if (each := _status(storage, layers, path)) is not None]
    layers.status_files = followed(found, layers.initiative)
    layers.notes = Notes.parse(_bytes(storage, layers, NOTES) or b"")
    return layers


def noted(notes: Notes) -> Initiative | None:
    """The state of the work in MEMORY.md: by Forge's lines, else by lines that others wrote in the same words."""
    own = [value for entry in notes.entries if (value := _of_entry(entry)) is not None]
    best = winner(Claim(Source.NOTES, value) for value in own)
    return best.initiative if best else _of_lines(notes.plain)


def _status(storage: Storage, layers: Layers, path: str) -> StatusFile | None:
    found = _parsed(storage, layers, path, lambda data: StatusFile(path, parsed_status(data), data.decode()))
    if found is not None or not (path in layers.broken or path in layers.failed):
        return found
    if path == Source.WORKFLOW_STATUS.value:
        return StatusFile(path, None, "")
    layers.broken.pop(path, None)  # nothing takes its place, so its bytes need no copy
    return None


def _of_entry(entry: Entry) -> Initiative | None:
    if entry.kind is NoteKind.CHECKPOINT and (at := parsed_checkpoint(entry.text)) is not None:
        type_, context, status, outcome = at.type, at.context, Status.IN_PROGRESS, ""
        done = at.completed_phase
    elif entry.kind is NoteKind.COMPLETION and (end := parsed_completion(entry.text)) is not None:
        type_, context, status, outcome = end.type, end.context, Status.COMPLETED, end.outcome
        done = phase_before(type_, entry.phase)
    else:
        return None
    return Initiative(
        id=entry.initiative,
        title=context,
        type=type_,
        status=status,
        phase=entry.phase or (at.phase if entry.kind is NoteKind.CHECKPOINT and at else ""),
        completed_phase=done,
        context=context,
        outcome=outcome,
        updated=entry.at,
        counter=entry.counter,
    )


def _of_lines(lines: tuple[str, ...]) -> Initiative | None:
    positions = [at for line in lines if (at := parsed_checkpoint(line)) is not None]
    if not positions:
        return None
    last = positions[-1]
    over = any((end := parsed_completion(line)) and end[:2] == (last.type, last.context) for line in lines)
    return Initiative(
        id="",
        title=last.context,
        type=last.type,
        status=Status.COMPLETED if over else Status.IN_PROGRESS,
        phase=last.phase,
        completed_phase=last.completed_phase,
        context=last.context,
    )


def _parsed(storage: Storage, layers: Layers, path: str, parse: Callable[[bytes], Value]) -> Value | None:
    data = _bytes(storage, layers, path)
    if data is None:
        return None
    try:
        return parse(data)
    except Unreadable as e:
        layers.broken[path] = data
        hint = "The next source is used. `forge memory resume` keeps the damaged bytes beside and writes the file anew."
        layers.cautions.append(Caution("memory_damaged", f"{path} cannot be used: {e}.", hint))
        return None


def _bytes(storage: Storage, layers: Layers, path: str) -> bytes | None:
    try:
        return storage.read(path)
    except OSError as e:
        layers.failed[path] = e
        message = f"{path} cannot be read: {e.strerror or e}."
        layers.cautions.append(Caution("memory_unreadable", message, "Check what it is and who may read it."))
        return None
