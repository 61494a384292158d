"""`undo_edit`: takes back the last edit of a file in this turn. It watches the edits that its toolbox makes."""

from __future__ import annotations

from dataclasses import dataclass

from forge.git import WorkInProgressVFS
from forge.json_value import Json
from forge.tools.edits import FileState, Snapshot, changed_paths, put, snapshot, state_in
from forge.tools.places import is_internal, refuse_internal, spelled
from forge.tools.tool import ToolFailed, ToolRetry


@dataclass(slots=True)
class _Edit:
    before: dict[str, FileState | None]
    after: dict[str, FileState | None]

    @property
    def is_rename(self) -> bool:
        """A file went and the same came elsewhere: half of that taken back would lose or double it."""
        gone = [state for path, state in self.before.items() if state and self.after[path] is None]
        came = [state for path, state in self.after.items() if state and self.before[path] is None]
        return len(self.before) == 2 and len(gone) == 1 and gone == came


class UndoEdit:
    """The history lives as long as the turn's toolbox; running the turn's calls again builds it anew."""

    def __init__(self) -> None:
        self._edits: list[_Edit] = []

    def get_schema(self) -> Json:
        return {
            "name": "undo_edit",
            "description": (
                "Take back the last edit of a file made in this turn, by whichever tool; call again for the one before "
                "it. Also brings back a deleted file and takes back a rename."
            ),
            "parameters": {
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
                "additionalProperties": False,
            },
        }

    def watch(self, vfs: WorkInProgressVFS, before: Snapshot) -> None:
        """Remember what changed since `before`."""
        after = snapshot(vfs)
        paths = [path for path in changed_paths(before, after) if not is_internal(path)]
        if paths:
            old = {path: state_in(vfs, before, path) for path in paths}
            self._edits.append(_Edit(old, {path: state_in(vfs, after, path) for path in paths}))

    def execute(self, vfs: WorkInProgressVFS, args: Json) -> str:
        path = spelled(vfs, args["path"])
        refuse_internal(path)
        edit = next((edit for edit in reversed(self._edits) if path in edit.before), None)
        if edit is None:
            raise ToolRetry(f"{path} was not edited in this turn.{self._others()}")
        paths = list(edit.before) if edit.is_rename else [path]
        now = snapshot(vfs)
        moved = [each for each in paths if state_in(vfs, now, each) != edit.after[each]]
        if moved:
            raise ToolFailed(f"{path} cannot be taken back: {', '.join(moved)} changed since. Undo that first.")
        put(vfs, {each: edit.before[each] for each in paths})
        for each in paths:
            del edit.before[each], edit.after[each]
        return f"Took back the last edit: {', '.join(self._told(vfs, each) for each in paths)}."

    def _told(self, vfs: WorkInProgressVFS, path: str) -> str:
        left = sum(path in edit.before for edit in self._edits)
        state = "is as before it" if vfs.file_exists(path) else "is gone again"
        return f"{path} {state}" + (f" ({left} earlier left)" if left else "")

    def _others(self) -> str:
        paths = sorted({path for edit in self._edits for path in edit.before})
        return f" Edited were: {', '.join(paths[:20])}." if paths else " Nothing was edited yet."
