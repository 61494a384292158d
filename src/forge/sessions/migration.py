"""A branch of the first format takes the second: `.forge/session.json` gets the bytes that it has on every branch.

Its turns stay where they are. What only the old file said, the active files and the sums, goes into a file of its own.
"""

from __future__ import annotations

from forge.git import WorkInProgressVFS
from forge.git.objects.object_store import Objects
from forge.git.values import CommitId
from forge.sessions.conversation import read_head
from forge.sessions.layout import HEAD_PATH, POINTER
from forge.sessions.marks import Marks
from forge.sessions.saved_marks import write_saved
from forge.sessions.turn_files import state_of


def has_first_format(objects: Objects, commit: CommitId | None) -> bool:
    """Whether `.forge/session.json` is one that another branch may have with other bytes."""
    return state_of(objects, commit).first_format


def take_second_format(vfs: WorkInProgressVFS) -> bool:
    """Make it pending, where the branch has the first format. What cannot be read stays as it is and is reported."""
    if not has_first_format(vfs.objects, vfs.base):
        return False
    head = read_head(vfs)
    if head.last is not None or head.active_files:
        write_saved(vfs, vfs, head.ref, Marks(add=head.active_files), head)
    vfs.write_record(HEAD_PATH, POINTER)
    return True
