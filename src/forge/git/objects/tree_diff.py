"""What differs between two trees, found by looking only into folders whose ids differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forge.git.errors import RepositoryUnreadable
from forge.git.objects import trees
from forge.git.objects.trees import MAX_DEPTH, MAX_FILES
from forge.git.values import Entry, ObjectId

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

ChangedEntry = tuple[str, Entry | None, Entry | None]
"""Path, what it was, what it is; None where the file was or is not there."""

# A folder sorts as if its name ended in a slash; the flag keeps it apart from a file named like that.
_Name = tuple[bytes, bool]
_Step = tuple[bytes, bool, int, Entry | None, Entry | None]


def changed_entries(objects: Objects, old_tree: ObjectId | None, new_tree: ObjectId | None) -> Iterator[ChangedEntry]:
    """Every file, symlink and submodule that differs, in git's order of paths; None stands for no tree.

    A file that becomes a folder shows as the file going and the files of the folder coming.
    """
    steps = _inside(objects, b"", 0, old_tree, new_tree)
    seen = 0
    while steps:
        seen += 1
        path, is_tree, depth, old, new = steps.pop()
        if not is_tree:
            yield trees.decode(path), old, new
            continue
        if depth > MAX_DEPTH or seen > MAX_FILES:
            raise _bomb()
        steps += _inside(objects, path + b"/", depth, old and old.id, new and new.id)


def _inside(
    objects: Objects, prefix: bytes, depth: int, old_tree: ObjectId | None, new_tree: ObjectId | None
) -> list[_Step]:
    """The names that differ directly in two folders, the first one last, as a stack wants them."""
    if old_tree == new_tree:
        return []
    old_raw = objects.raw_tree(old_tree) if old_tree else []
    new_raw = objects.raw_tree(new_tree) if new_tree else []
    names = {name for _, name, _ in set(old_raw).symmetric_difference(new_raw)}
    old, new = _by_name(old_raw, names), _by_name(new_raw, names)
    steps: list[_Step] = []
    for key, is_tree in sorted(old.keys() | new.keys(), reverse=True):
        before, after = old.get((key, is_tree)), new.get((key, is_tree))
        if before != after:  # equal where only the spelling of a mode differs
            steps.append((prefix + (key[:-1] if is_tree else key), is_tree, depth + 1, before, after))
    return steps


def _by_name(raw: list[trees.RawEntry], names: set[bytes]) -> dict[_Name, Entry]:
    # Of two entries with one name, which git never writes, the last one counts everywhere in Forge.
    last = {entry[1]: entry for entry in raw if entry[1] in names}
    return {
        (name + b"/", True) if trees.is_tree(entry[0]) else (name, False): trees.entry(entry)
        for name, entry in last.items()
    }


def _bomb() -> RepositoryUnreadable:
    return RepositoryUnreadable(
        f"The trees differ in more than {MAX_FILES:,} places or below {MAX_DEPTH} folders.",
        hint="This looks like a repository made to exhaust memory; Forge does not compare it.",
    )
