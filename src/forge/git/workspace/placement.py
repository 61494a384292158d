"""Where a file may be put: what is in its way, which names are one on other machines, what may be a link."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from forge.git.errors import InvalidPath, PathClash
from forge.git.workspace import paths
from forge.git.workspace.commit_vfs import dir_entry

if TYPE_CHECKING:
    from forge.git.values import Entry
    from forge.git.workspace.pending import PendingChanges

# git fsck refuses these as symlinks, also under the short names that NTFS gives them: they would let a checkout
# read a file outside as configuration.
_NEVER_LINKS = re.compile(
    r"\.(gitmodules|gitattributes|gitignore|mailmap)|(gitmod|gitatt|gitign|mailma)~[1-4]"
    r"|(gi7e|gi7d|gi25|maba)[0-9a-f]{0,2}~[0-9]+",
    re.IGNORECASE,
)


def writable(changes: PendingChanges, path: str) -> Entry | None:
    """What is at `path` now, if a file may be written there."""
    old = changes.entry(path)
    if old is not None:
        if old.is_tree or old.is_submodule:
            kind = dir_entry("", old).kind
            raise PathClash(f"{path} is a {kind}.", hint="Choose another name for the file.")
        return old
    paths.checked(path)
    folder = ""
    for name in path.split("/"):
        here = f"{folder}/{name}" if folder else name
        found = changes.entry(here)
        if found is None:
            _refuse_twin(changes, folder, name)
        elif not found.is_tree:
            raise PathClash(f"{here} is a {dir_entry('', found).kind}, not a folder.", hint="Rename it first.")
        folder = here
    return None


def refuse_taken(changes: PendingChanges, path: str) -> None:
    if writable(changes, path) is not None:
        raise PathClash(f"{path} exists already.", hint="Delete it first or choose another name.")


def refuse_link(path: str, target: bytes) -> None:
    refuse_link_name(path)
    if not target or b"\0" in target or len(target) > paths.MAX_PATH_BYTES:
        raise InvalidPath(f"{path} cannot point to {target[:40]!r}.", hint="Give a path that exists.")


def refuse_link_name(path: str) -> None:
    if _NEVER_LINKS.fullmatch(path.rpartition("/")[2]):
        raise InvalidPath(f"{path} cannot be a symbolic link.", hint="Write it as a plain file.")


def _refuse_twin(changes: PendingChanges, folder: str, name: str) -> None:
    """Names that differ only in case or Unicode spelling are one file on many machines."""
    for twin in changes.spellings(folder, paths.folded(name)) - {name}:
        if changes.entry(f"{folder}/{twin}" if folder else twin) is not None:
            raise PathClash(
                f"{name} differs from {twin} only in spelling; many machines keep only one of them.",
                hint=f"Use {twin}, or rename that first.",
            )
