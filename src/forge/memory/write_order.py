"""The order of writing: L1 whole and first, then WORKFLOW-STATUS.yaml and MEMORY.md. What fails is told."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from forge.memory.encoding import initiative_text, interview_text
from forge.memory.layers import INITIATIVE, INTERVIEW, NOTES, Layers
from forge.memory.status_files import written_to
from forge.memory.storage import FOLDER, Storage
from forge.memory.values import Caution, Entry, Initiative, InterviewState, Owed
from forge.memory.workflow_status import status_text

UNSAVED = "memory_unsaved"
_TOO_LONG = Caution(
    "notes_too_long",
    "MEMORY.md is longer than 200 lines or 25 KB, and there is nothing left to fold in it.",
    "Programs read only its beginning: shorten your own text or the learnings.",
)


class Writer:
    """Writes on one storage. Says only once that L2 cannot be written, and each time that L1 cannot."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._said: set[str] = set()

    def keep_broken(self, layers: Layers) -> None:
        """Put damaged bytes beside, under the first free name, before anything takes their place."""
        for path, data in layers.broken.items():
            try:
                beside = self._free_name(path, data)
                if self._storage.read(beside) is None:
                    self._storage.write(beside, data)
            except OSError as e:
                layers.failed[path] = e  # it must not be overwritten then
            else:
                layers.cautions.append(Caution("memory_kept_aside", f"The damaged bytes of {path} are in {beside}."))

    def initiative(self, layers: Layers, value: Initiative) -> bool:
        """Write L1. Whether it is saved."""
        old = layers.initiative
        if old is not None and old.id and old.id != value.id:
            kept = f"{FOLDER}/initiatives/{quote(old.id, safe='')}.json"
            if not self._required(layers, kept, initiative_text(old)):
                return False
        return self._required(layers, INITIATIVE, initiative_text(value))

    def check_required(self, layers: Layers) -> None:
        """Tell that L1 cannot be written, where nothing has to be written to it just now."""
        if (error := self._storage.obstacle(FOLDER)) is not None:
            layers.cautions.append(unsaved(error))

    def interview(self, layers: Layers, value: InterviewState) -> bool:
        return self._required(layers, INTERVIEW, interview_text(value))

    def settle(self, layers: Layers, value: Initiative) -> Owed:
        """Write what is owed below L1. Gives what could not be written."""
        owed = value.owed
        if owed.workflow_status:
            done = [
                self._optional(layers, file.path, status_text(value, file.before).encode())
                for file in written_to(layers.status_files, value)
            ]
            owed = replace(owed, workflow_status=not all(done))
        return owed if not owed.entries or not self.lines(layers, owed.entries) else replace(owed, entries=())

    def lines(self, layers: Layers, entries: tuple[Entry, ...]) -> bool:
        """Add lines to MEMORY.md, except those that a crash left there already."""
        new = [entry for entry in entries if entry not in layers.notes.entries]
        if not new:
            return True
        notes = layers.notes.with_entries(new)
        if not self._optional(layers, NOTES, notes.encode()):
            return False
        layers.notes = notes
        if not notes.fits():
            layers.cautions.append(_TOO_LONG)
        return True

    def _required(self, layers: Layers, path: str, text: str) -> bool:
        error = self._failure(layers, path, text.encode())
        if error is not None and not any(each.prominent for each in layers.cautions):
            layers.cautions.append(unsaved(error))
        return error is None

    def _optional(self, layers: Layers, path: str, data: bytes) -> bool:
        error = self._failure(layers, path, data)
        if error is None:
            self._said.discard(path)
        elif path not in self._said:
            self._said.add(path)
            layers.cautions.append(_unavailable(path, error))
        return error is None

    def _failure(self, layers: Layers, path: str, data: bytes) -> OSError | None:
        if path in layers.failed:  # what could not be read must not be replaced
            return layers.failed[path]
        try:
            self._storage.write(path, data)
        except OSError as e:
            return e
        return None

    def _free_name(self, path: str, data: bytes) -> str:
        number = 1
        while (there := self._storage.read(f"{path}.broken-{number}")) is not None and there != data:
            number += 1
        return f"{path}.broken-{number}"


def unsaved(error: OSError | None = None) -> Caution:
    why = f" ({error.strerror or error})" if error else ""
    return Caution(
        UNSAVED,
        f"ERROR: Cannot write state files — workflow state will not persist{why}.",
        f"Make {FOLDER}/ writable; the next change is then saved with everything before it.",
        prominent=True,
    )


def _unavailable(path: str, error: OSError) -> Caution:
    why = error.strerror or str(error)
    if path == NOTES:
        message = f"Auto-memory unavailable — learnings will not persist ({NOTES}: {why})."
        return Caution("notes_unavailable", message, "Work goes on. Make it writable; open lines are added then.")
    return Caution("workflow_status_unavailable", f"{path} cannot be written ({why}).", "Work goes on.")
