"""A git object as bytes: its kind, its content and the id that follows from both."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from forge.git.values import ObjectId


class RawObject(NamedTuple):
    kind: int
    data: bytes


NewObjects = dict[ObjectId, RawObject]

_NAMES = {1: b"commit", 2: b"tree", 3: b"blob"}


def object_id(kind: int, data: bytes) -> ObjectId:
    return ObjectId(hashlib.sha1(b"%s %d\0" % (_NAMES[kind], len(data)) + data).hexdigest())
