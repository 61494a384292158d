"""What the entries of a tree hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pygit2

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.values import Entry

# git looks this far for a NUL when it decides whether a file is text.
_LOOK = 8000
# Nobody reads a difference of this size, and comparing it line by line takes many times its memory.
MAX_TEXT = 32 << 20


@dataclass(frozen=True, slots=True)
class Contents:
    objects: Objects

    def data(self, entry: Entry | None) -> bytes:
        if entry is None:
            return b""
        if entry.is_submodule:
            return b"Subproject commit %s\n" % entry.id.encode()
        return self.objects.blob(entry.id)

    def size(self, entry: Entry) -> int:
        """The length of `data(entry)`, mostly without reading it."""
        if entry.is_submodule:
            return len(self.data(entry))
        try:
            return int(self.objects.handle.odb.read_header(entry.id)[1])
        except (KeyError, pygit2.GitError, OSError):  # packs may just have been replaced; a read looks again
            return len(self.objects.blob(entry.id))

    def is_binary(self, entry: Entry | None) -> bool:
        """As git sees it without attributes: a NUL near the start; or too large to compare as text."""
        if entry is None or entry.is_submodule:
            return False
        return self.size(entry) > MAX_TEXT or b"\0" in self.data(entry)[:_LOOK]
