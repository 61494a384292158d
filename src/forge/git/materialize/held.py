"""What a directory holds, as it was last known for certain, kept in a file beside it.

As long as anybody may be writing in the directory a second file is there as a mark. It names every path that is about
to be written before the first of them is: after a crash nothing is believed that could be wrong.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from forge.git import process, trees
from forge.git.materialize import stat_index
from forge.git.materialize.stat_index import Look
from forge.git.values import EMPTY_TREE, Entry, ObjectId

_VERSION = 2
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
    return str(json.loads(process.mark_of_this_process())["boot"])


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
    return seen if now - seen.changed > _TICK else None


def settled_time(changed: int, now: int) -> int:
    return changed if now - changed > _TICK else 0


def load(file: Path) -> Held | None:
    """None: there is nothing that can be believed."""
    try:
        fields: dict[str, Any] = json.loads(file.read_bytes())
        if fields.pop("version", None) != _VERSION:
            return None
        written = {
            path: Written(Entry(w[0], w[1]), Look(*w[2]) if w[2] else None) if w else None
            for path, w in fields["written"].items()
        }
        own = {path: Entry(*entry) if entry else None for path, entry in fields["own"].items()}
        return Held(**fields | {"written": written, "own": own, "leftovers": set(fields["leftovers"])})
    except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):  # torn, or of another shape
        return None


def save(file: Path, held: Held) -> None:
    """Replace the file at once, so that a reader finds the old or the new state."""
    written = {path: (*w.entry, w.seen) if w else None for path, w in held.written.items()}
    fields = {
        "version": _VERSION,
        "tree": held.tree,
        "own": held.own,
        "links": held.links,
        "skipped": held.skipped,
        "index": held.index,
        "index_bytes": held.index_bytes,
        "written": written,
        "folders": held.folders,
        "leftovers": sorted(held.leftovers),
        "boot": this_boot(),
    }
    _replace(file, fields)


def mark(file: Path, paths: Iterable[str]) -> None:
    """Say that the directory is in use from now on, and that `paths` will be written."""
    _replace(file, sorted(paths))


def marked(file: Path) -> set[str] | None:
    """The paths that whoever used the directory last was about to write; None if it was left in order."""
    try:
        return set(json.loads(file.read_bytes()))
    except FileNotFoundError:
        return None
    except ValueError:
        return set()


def _replace(file: Path, content: object) -> None:
    beside = file.with_name(f"{file.name}.new")
    beside.write_text(json.dumps(content, separators=(",", ":")))
    os.replace(beside, file)


def entries(held: Held, git_dir: Path) -> dict[str, Entry]:
    """Every file that the directory should hold, from the index and what came after it."""
    found = {trees.decode(path): stat_index.entry_of(r) for path, r in stat_index.read(git_dir / held.index).items()}
    for path, written in held.written.items():
        if written is None:
            found.pop(path, None)
        else:
            found[path] = written.entry
    return found


def with_index(held: Held, git_dir: Path, now: int) -> bool:
    """Take what was written since into a new index, once it is so much that the old one is of little use."""
    if held.index and len(held.written) < _MANY:
        return False
    old = held.index
    records = stat_index.read(git_dir / old) if old else {}
    _take(records, held.written, now)
    held.index = f"index-{int(old.rpartition('-')[2] or 0) + 1}"
    held.index_bytes = stat_index.write(git_dir / held.index, records)
    held.written = {}
    return True


def _take(records: dict[bytes, bytes], written: Mapping[str, Written | None], now: int) -> None:
    for path, file in written.items():
        name = trees.encode(path)
        if file is None:
            records.pop(name, None)
        else:
            records[name] = stat_index.record(name, file.entry, file.seen, now)


def drop_other_indexes(held: Held, git_dir: Path) -> None:
    """Remove indexes that no saved state names any more."""
    for name in os.listdir(git_dir):
        if name.startswith("index-") and name != held.index:
            os.unlink(git_dir / name)
