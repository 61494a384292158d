"""The words of the git core: ids, entries, people, commits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple, NewType

ObjectId = NewType("ObjectId", str)
CommitId = NewType("CommitId", str)

EMPTY_TREE = ObjectId("4b825dc642cb6eb9a060e54bf8d69288fbee4904")


class ObjectKind:
    """Object types, numbered as in a pack."""

    COMMIT = 1
    TREE = 2
    BLOB = 3


class Mode:
    """Modes of tree entries that Forge itself writes."""

    FILE = 0o100644
    EXECUTABLE = 0o100755
    SYMLINK = 0o120000
    SUBMODULE = 0o160000
    TREE = 0o040000


class Entry(NamedTuple):
    """What a name in a tree points to."""

    mode: int
    id: ObjectId

    @property
    def is_tree(self) -> bool:
        return self.mode == Mode.TREE

    @property
    def is_submodule(self) -> bool:
        return self.mode == Mode.SUBMODULE

    @property
    def is_symlink(self) -> bool:
        return self.mode == Mode.SYMLINK


class ActorKind(StrEnum):
    PERSON = "person"
    AGENT = "agent"
    BUILD = "build"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody asked for when a ref moved, as the audit shows it. `local` is the person at the machine."""

    user: str = "local"
    key: str | None = None
    """The id of the key that the request came with."""
    action: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Actor:
    """Who moves a branch. Agents and builds never move the default branch."""

    kind: ActorKind
    name: str
    turn: str | None = None
    """The work it does this for; what reserved the branch for that work may continue with it."""
    request: Request | None = field(default=None, repr=False, compare=False)
    """Recorded with each move; None where nobody said what it is for."""

    def doing(self, action: str, detail: str) -> Actor:
        """The same, for one action."""
        return replace(self, request=replace(self.request or Request(), action=action, detail=detail))


PERSON = Actor(ActorKind.PERSON, "person")


@dataclass(frozen=True, slots=True)
class Signature:
    """A name, an address and a moment, as git keeps them."""

    name: str
    email: str
    time: int = field(default_factory=lambda: int(time.time()))
    offset: int = 0
    """Minutes east of UTC."""


@dataclass(frozen=True, slots=True)
class Commit:
    id: CommitId
    tree: ObjectId
    parents: tuple[CommitId, ...]
    author: Signature
    committer: Signature
    message: str

    @property
    def subject(self) -> str:
        return self.message.split("\n", 1)[0]
