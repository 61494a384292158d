"""What a directory holds, as it was last known for certain, kept in a file beside it.

As long as anybody may be writing in the directory, marks follow the state in that file. They name every path that is
about to be written before the first of them is: after a crash nothing is believed that could be wrong.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from forge.git.materialize import stat_index
from forge.git.materialize.stat_index import Look, Young
from forge.git.objects import trees
from forge.git.process import liveness
from forge.git.values import EMPTY_TREE, Entry, ObjectId

_VERSION = 3
# From so many files on, looking at each of them costs more than writing the index anew.
_MANY = 500
# The clock of a file system stands still for some milliseconds: in that time a change does not show.
_TICK = 20_000_000


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written after the index. Without a look its content is compared each time."""

    entry: Entry
    seen: Look | None


@dataclass(slots=True)
class Held:
    tree: ObjectId = EMPTY_TREE
    own: dict[str, Entry | None] = field(default_factory=dict)
    """Files that differ from `tree`: pending ones, and what commands made and was collected."""
    links: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    """Entries of the tree that are not in the directory, and why."""
    index: str = ""
    index_bytes: int = 0
    young: Young | None = None
    """Set until the index was compared with the files in a later second than it was made in."""
    written: dict[str, Written | None] = field(default_factory=dict)
    """What was written or removed since the index was."""
    folders: dict[str, int] = field(default_factory=dict)
    """When names in a folder last changed; 0 if that cannot be told."""
    leftovers: set[str] = field(default_factory=set)
    """Paths that hold something else than they should, to be put right before the next use."""
    boot: str = ""

    @property
    def from_this_boot(self) -> bool:
        """Nothing here is synced to the disk, so a restart of the machine may have lost any of it."""
        return self.boot == this_boot()


@cache
def this_boot() -> str:
    return str(json.loads(liveness.mark_of_this_process())["boot"])


def folders_above(path: str) -> list[str]:
    """Every folder on the way to `path`, the root first."""
    return ["", *(path[:at] for at, letter in enumerate(path) if letter == "/")]


def settle(held: Held, now: int) -> None:
    """Distrust what changed so lately that a further change might not show."""
    held.written = {
        path: Written(w.entry, w.seen and settled(w.seen, now)) if w else None for path, w in held.written.items()
    }
    held.folders = {folder: settled_time(changed, now) for folder, changed in held.folders.items()}


def settled(seen: Look, now: int) -> Look | None:
    """A look that a later change is sure to differ from; a file changed a moment ago has none."""
    return seen if is_over(seen.changed, now) else None


def settled_time(changed: int, now: int) -> int:
    return changed if is_over(changed, now) else 0


def is_over(moment: int, now: int) -> bool:
    """Whether nothing can be given the time stamp `moment` any more."""
    return now - moment > _TICK


def load(file: Path) -> tuple[Held, set[str] | None] | None:
    """What is known, and the paths that an interrupted user was about to write: None if it was left in order.

    None in all: there is nothing that can be believed.
    """
    try:
        state, _, marks = file.read_bytes().partition(b"\n")
        digest, _, content = state.partition(b" ")
        if digest != _digest(content):
            return None
        fields: dict[str, Any] = json.loads(content)
        if fields.pop("version", None) != _VERSION:
            return None
        written = {
            path: Written(Entry(w[0], w[1]), Look(*w[2]) if w[2] else None) if w else None
            for path, w in fields["written"].items()
        }
        own = {path: Entry(*entry) if entry else None for path, entry in fields["own"].items()}
        young = Young(*fields["young"]) if fields["young"] else None
        held = Held(**fields | {"written": written, "own": own, "leftovers": set(fields["leftovers"]), "young": young})
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):  # torn, or of another shape
        return None
    return held, _marked(marks) if marks else None


def _marked(marks: bytes) -> set[str]:
    paths: set[str] = set()
    for line in marks.split(b"\n"):
        with suppress(ValueError):  # torn, so that nothing of it was written yet
            paths |= set(json.loads(line))
    return paths


def save(file: Path, held: Held, *, in_use: bool) -> None:
    """Record the state; `in_use` leaves a mark that says so.

    The file is written over, which costs a tenth of replacing it. Whoever finds it half written begins again.
    """
    written = {path: (*w.entry, w.seen) if w else None for path, w in held.written.items()}
    fields = {
        "version": _VERSION,
        "tree": held.tree,
        "own": held.own,
        "links": held.links,
        "skipped": held.skipped,
        "index": held.index,
        "index_bytes": held.index_bytes,
        "young": held.young,
        "written": written,
        "folders": held.folders,
        "leftovers": sorted(held.leftovers),
        "boot": this_boot(),
    }
    content = _encoded(fields)
    data = _digest(content) + b" " + content + b"\n" + (b"[]\n" if in_use else b"")
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600), "wb") as out:
        out.write(data)
        out.truncate()


def mark(file: Path, paths: Iterable[str]) -> None:
    """Say that the directory is in use from now on, and that `paths` will be written."""
    with file.open("ab") as out:
        out.write(b"\n" + _encoded(sorted(paths)))


def _encoded(content: object) -> bytes:
    """As one line."""
    return json.dumps(content, separators=(",", ":")).encode()


def _digest(content: bytes) -> bytes:
    return hashlib.sha1(content).hexdigest().encode()


def entries(held: Held, git_dir: Path) -> dict[str, Entry]:
    """Every file that the directory should hold, from the index and what came after it."""
    found = {trees.decode(path): stat_index.entry_of(r) for path, r in stat_index.read(git_dir / held.index).items()}
    for path, written in held.written.items():
        if written is None:
            found.pop(path, None)
        else:
            found[path] = written.entry
    return found


def with_index(held: Held, git_dir: Path) -> bool:
    """Take what was written since into a new index, once it is so much that the old one is of little use."""
    if held.index and len(held.written) < _MANY:
        return False
    old = held.index
    records = stat_index.read(git_dir / old) if old else {}
    for path, written in held.written.items():
        name = trees.encode(path)
        if written is None:
            records.pop(name, None)
        else:
            records[name] = stat_index.record(name, written.entry, written.seen)
    index = git_dir / f"index-{int(old.rpartition('-')[2] or 0) + 1}"
    stat_index.write(index, records)
    use_index(held, index, began=0)
    held.written = {}
    return True


def use_index(held: Held, index: Path, *, began: int) -> None:
    """Rely on a new index from now on, whose first file was written when it `began`."""
    young = stat_index.believed(index, began)
    if held.young is not None:  # what was young in the old one is so still
        young = Young(held.young.since, young.until, whole=False)
    held.young = young
    held.index, held.index_bytes = index.name, index.stat().st_size


def drop_other_indexes(held: Held, git_dir: Path) -> None:
    """Remove indexes that no saved state names any more."""
    for name in os.listdir(git_dir):
        if name.startswith("index-") and name != held.index:
            os.unlink(git_dir / name)
