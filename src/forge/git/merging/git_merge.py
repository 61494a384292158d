"""Asks git to merge trees, in a git directory of its own: what git writes on the way never reaches the repository."""

from __future__ import annotations

import os
import re
import signal
import tempfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING

import pygit2

from forge.git.errors import InvalidPath
from forge.git.objects import commits, trees
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.process import disk
from forge.git.process.git_command import Git
from forge.git.values import CommitId, Entry, Mode, ObjectId, ObjectKind, Signature
from forge.git.workspace import paths

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects

_KINDS = {b"commit": ObjectKind.COMMIT, b"tree": ObjectKind.TREE, b"blob": ObjectKind.BLOB}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_NOBODY = Signature("Forge", "forge@localhost", 0)
# Some versions of git abort where a file replaces a folder that the other side moved, unless told not to follow it.
_ABORTED = -signal.SIGABRT
_NOT_FOLLOWING = ("-c", "merge.directoryRenames=false")
_MEMORY = "/dev/shm"  # noqa: S108 - the folder made in it is private to this user
_ROOM = 512 << 20
_ID = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class Message:
    """What git says about some paths: a kind such as `CONFLICT (contents)`, and a sentence."""

    paths: tuple[str, ...]
    kind: str
    text: str


Stages = dict[str, dict[int, Entry]]
"""For each path in conflict, what base (1), ours (2) and theirs (3) have there."""


@dataclass(frozen=True, slots=True)
class GitMerge:
    tree: ObjectId
    clean: bool
    stages: Stages
    messages: tuple[Message, ...]


@contextmanager
def asking_git(objects: Objects) -> Iterator[GitMerger]:
    """A merger whose traces are gone when the block ends."""
    with disk.reporting():
        place = tempfile.TemporaryDirectory(prefix="forge-merge-", dir=_in_memory())
    with place as folder:
        yield GitMerger(objects, Path(folder))


def _in_memory() -> str | None:
    """A folder that costs no disk access, where there is one with room to spare."""
    try:
        room = os.statvfs(_MEMORY)
    except OSError:
        return None
    enough = room.f_bavail * room.f_frsize >= _ROOM
    return _MEMORY if enough and os.access(_MEMORY, os.W_OK) else None


class GitMerger:
    """A private git directory with the repository's settings, reading its objects and keeping new ones apart."""

    def __init__(self, objects: Objects, folder: Path) -> None:
        self.new: NewObjects = {}
        """Every object that git has made so far."""
        self._objects = objects
        self._dir = folder
        self._work_tree = folder / "files0"
        self._shows = 0
        self._given: set[ObjectId] = set()
        self._git = Git(self._dir)
        with disk.reporting():
            self._prepare()

    def merge(self, ours: CommitId, theirs: CommitId, names: tuple[str, str]) -> GitMerge:
        """Merge two commits; `names` are what the sides are called in conflict markers."""
        with disk.reporting():
            labels = self._label((ours, theirs), names)
        # Exit code 1 says that there are conflicts.
        command = ("merge-tree", "--write-tree", "-z", "--messages", *labels)
        done = self._run(*command, ok=(0, 1, _ABORTED))
        if done.returncode == _ABORTED:
            done = self._run(*_NOT_FOLLOWING, *command, ok=(0, 1))
        with disk.reporting():
            self._take_in()
        return _merge(done.stdout, clean=done.returncode == 0)

    def merge_trees(self, base: ObjectId, ours: ObjectId, theirs: ObjectId, names: tuple[str, str]) -> GitMerge:
        """Merge trees by way of three commits that nobody will see again."""
        with disk.reporting():
            root = self._give_commit(base)
            sides = self._give_commit(ours, root), self._give_commit(theirs, root)
        return self.merge(*sides, names)

    def conflicts(self, ours: CommitId, theirs: Sequence[CommitId]) -> list[tuple[bool, Stages]]:
        """Whether each of `theirs` merges cleanly into `ours`, and the paths in conflict, by one process."""
        lines = "".join(f"{ours} {their}\n" for their in theirs).encode()
        command = ("merge-tree", "--write-tree", "--stdin", "--no-messages", "-z")
        done = self._run(*command, stdin=lines, ok=(0, _ABORTED))
        if done.returncode == _ABORTED:
            if len(theirs) > 1:
                middle = len(theirs) // 2
                return self.conflicts(ours, theirs[:middle]) + self.conflicts(ours, theirs[middle:])
            done = self._run(*_NOT_FOLLOWING, *command, stdin=lines)
        fields = iter(done.stdout.split(b"\0"))
        found = []
        for _ in theirs:
            clean = next(fields) == b"1"
            next(fields)  # the tree
            found.append((clean, _stages(fields)))
        return found

    def give(self, objects: NewObjects) -> None:
        """Let git read objects that are not in the repository."""
        with disk.reporting():
            for oid, (kind, data) in objects.items():
                if oid not in self._given:
                    self._given.add(oid)
                    file = self._dir / "objects" / oid[:2] / oid[2:]
                    file.parent.mkdir(exist_ok=True)
                    file.write_bytes(zlib.compress(b"%s %d\0" % (_NAMES[kind], len(data)) + data, 1))

    def show_attributes(self, ours: ObjectId, changed: Iterable[str]) -> None:
        """Put our `.gitattributes` where git looks for them, for every path that can take part."""
        folders = {"", *(folder for path in changed for folder in above(path))}
        self._shows += 1
        self._work_tree = self._dir / f"files{self._shows}"
        with disk.reporting():
            self._work_tree.mkdir()
            for folder in folders:
                path = f"{folder}/.gitattributes".removeprefix("/")
                found = self._objects.entry(ours, path)
                if found is not None and found.mode in (Mode.FILE, Mode.EXECUTABLE) and _is_plain(path):
                    file = self._work_tree / path
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(self._objects.blob(found.id))

    def _prepare(self) -> None:
        common = self._objects.common_dir
        settings = [common / "config", self._objects.git_dir / "config.worktree"]
        includes = "".join(f"\tpath = {_quoted(file)}\n" for file in settings if file.exists())
        for name in ("objects", "refs", self._work_tree.name):
            (self._dir / name).mkdir()
        (self._dir / "HEAD").write_text("ref: refs/heads/nothing\n")
        (self._dir / "config").write_bytes(os.fsencode(f"[core]\n\trepositoryformatversion = 0\n[include]\n{includes}"))
        if (common / "shallow").exists():
            (self._dir / "shallow").symlink_to(common / "shallow")
        if (common / "info/attributes").exists():
            (self._dir / "info").symlink_to(common / "info")

    def _run(self, *args: str, stdin: bytes = b"", ok: Sequence[int] = (0,)) -> CompletedProcess[bytes]:
        env = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(self._objects.objects_dir)}
        return self._git.run(*args, stdin=stdin, ok=ok, env=env, work_tree=self._work_tree)

    def _label(self, sides: tuple[CommitId, CommitId], names: tuple[str, str]) -> list[str]:
        """Names for `sides` that git resolves here and prints; the ids themselves where a name will not do."""
        labels = list(sides)
        if _distinct(*names) and all(_can_be_ref(name) for name in names):
            labels = [CommitId(name) for name in names]
            rows = "".join(f"{side} refs/heads/{name}\n" for side, name in zip(sides, names, strict=True))
            (self._dir / "packed-refs").write_bytes(trees.encode(rows))
        return [str(label) for label in labels]

    def _give_commit(self, tree: ObjectId, parent: CommitId | None = None) -> CommitId:
        raw = commits.encoded(tree, [parent] if parent else [], _NOBODY, _NOBODY, f"{len(self._given)}\n")
        oid = object_id(ObjectKind.COMMIT, raw)
        self.give({oid: RawObject(ObjectKind.COMMIT, raw)})
        return CommitId(oid)

    def _take_in(self) -> None:
        for folder in os.scandir(self._dir / "objects"):
            if len(folder.name) != 2:
                continue
            for file in os.scandir(folder.path):
                oid = ObjectId(folder.name + file.name)
                if oid not in self._given and _ID.fullmatch(oid):
                    self._given.add(oid)
                    head, _, data = zlib.decompress(Path(file.path).read_bytes()).partition(b"\0")
                    self.new[oid] = RawObject(_KINDS[head.split(b" ")[0]], data)


def above(path: str) -> Iterator[str]:
    """The folders that `path` is in, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _is_plain(path: str) -> bool:
    """Whether a hostile tree cannot lead us out of the folder by this path."""
    try:
        return max(map(len, trees.encode(paths.readable(path)).split(b"/"))) <= paths.MAX_NAME_BYTES
    except InvalidPath:
        return False


def _distinct(one: str, other: str) -> bool:
    """Whether git cannot take one name for the other."""
    return not any(a in (b, f"heads/{b}", f"refs/heads/{b}") for a, b in ((one, other), (other, one)))


def _can_be_ref(name: str) -> bool:
    if _ID.fullmatch(name) or name in ("HEAD", "@") or name.startswith("-"):
        return False
    with suppress(UnicodeEncodeError):
        name.encode()
        return bool(pygit2.reference_is_valid_name(f"refs/heads/{name}"))
    return False


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{text}"'


def _merge(output: bytes, *, clean: bool) -> GitMerge:
    fields = iter(output.split(b"\0"))
    tree = ObjectId(next(fields).decode())
    stages = _stages(fields)
    messages = []
    # After the last message git may print advice that has no place in the format.
    while (count := next(fields, b"")).isdigit():
        about = tuple(trees.decode(next(fields)) for _ in range(int(count)))
        kind, text = next(fields).decode(), trees.decode(next(fields)).strip()
        messages.append(Message(about, kind, text))
    return GitMerge(tree, clean, stages, tuple(messages))


def _stages(fields: Iterable[bytes]) -> Stages:
    """Read `<mode> <id> <stage>TAB<path>` up to an empty field."""
    found: Stages = {}
    for field in fields:
        if not field:
            break
        facts, _, path = field.partition(b"\t")
        mode, oid, stage = facts.decode().split(" ")
        found.setdefault(trees.decode(path), {})[int(stage)] = Entry(int(mode, 8), ObjectId(oid))
    return found
