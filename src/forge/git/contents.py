"""What the entries of a tree hold, whether the blob is in the repository or still pending."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pygit2

from forge.git.objects import Objects
from forge.git.pending import Pending
from forge.git.values import Entry, ObjectId

# git looks this far for a NUL when it decides whether a file is text.
_LOOK = 8000
# Nobody reads a difference of this size, and comparing it line by line takes many times its memory.
MAX_TEXT = 32 << 20


@dataclass(frozen=True, slots=True)
class Contents:
    objects: Objects
    unwritten: Mapping[ObjectId, bytes] = field(default_factory=dict)
    """Blobs that only a workspace knows so far."""

    @classmethod
    def of(cls, objects: Objects, pending: Mapping[str, Pending | None] | None = None) -> Contents:
        files = (pending or {}).values()
        return cls(objects, {file.id: file.data for file in files if file and file.data is not None})

    def data(self, entry: Entry | None) -> bytes:
        if entry is None:
            return b""
        if entry.is_submodule:
            return b"Subproject commit %s\n" % entry.id.encode()
        found = self.unwritten.get(entry.id)
        return self.objects.blob(entry.id) if found is None else found

    def size(self, entry: Entry) -> int:
        """The length of `data(entry)`, mostly without reading it."""
        if entry.is_submodule or entry.id in self.unwritten:
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
