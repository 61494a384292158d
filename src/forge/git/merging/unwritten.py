"""Objects that exist only in memory, laid over those of the repository: a result is read before it is written."""

from __future__ import annotations

from forge.git.objects.object_store import Objects
from forge.git.objects.pack import NewObjects, RawObject
from forge.git.values import CommitId, ObjectId


class Unwritten(Objects):
    """Reads `new` first. What is parsed goes into the caches below: an id means the same bytes everywhere."""

    def __init__(self, below: Objects, new: NewObjects) -> None:
        self.__dict__.update(below.__dict__)
        self.new = new

    def read(self, oid: ObjectId | CommitId) -> RawObject:
        return self.new.get(ObjectId(oid)) or super().read(oid)

    def has(self, oid: ObjectId | CommitId) -> bool:
        return oid in self.new or super().has(oid)
