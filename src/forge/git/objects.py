"""Reads and writes git objects. What it has read once it keeps: objects never change."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

import pygit2
from pygit2.enums import Option

from forge.git import commits, pack, paths, trees
from forge.git.command import Git
from forge.git.errors import RepositoryUnreadable, RevisionMissing
from forge.git.pack import RawObject
from forge.git.values import EMPTY_TREE, Commit, CommitId, Entry, Kind, ObjectId

V = TypeVar("V")
K = TypeVar("K")

# A few bytes of trees can name each other into billions of files; nobody works on such a repository.
MAX_FILES = 5_000_000
MAX_LISTED_BYTES = 1 << 30
MAX_DEPTH = 256
_USUAL_FILES = frozenset({b"100644", b"100755", b"120000"})

# Refs are only as durable as the sync of their file and folder; objects have their own synced packs.
pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)


class Cache(Generic[K, V]):
    """The values used last, within a budget of weight."""

    def __init__(self, budget: int, weigh: Callable[[V], int]) -> None:
        self._budget = budget
        self._weigh = weigh
        self._weight = 0
        self._values: OrderedDict[K, V] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        value = self._values.get(key)
        if value is not None:
            try:
                self._values.move_to_end(key)
            except KeyError:  # another thread dropped it just now; the value is still right
                return value
        return value

    def put(self, key: K, value: V) -> None:
        weight = self._weigh(value)
        if weight > self._budget // 4:
            return
        with self._lock:
            if key in self._values:
                return
            self._values[key] = value
            self._weight += weight
            while self._weight > self._budget:
                _, dropped = self._values.popitem(last=False)
                self._weight -= self._weigh(dropped)


class Extent(NamedTuple):
    """What is below a folder, folders and submodules counted too: how many, how long their paths, how deep."""

    entries: int
    size: int
    height: int


class Objects:
    """The objects of one repository, shared by all its branches."""

    def __init__(self, git_dir: Path, common_dir: Path) -> None:
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.objects_dir = common_dir / "objects"
        self.scratch = common_dir / "forge" / "tmp"
        self.git = Git(git_dir)
        self.reopen()
        self._blobs: Cache[ObjectId, bytes] = Cache(96 << 20, len)
        self._trees: Cache[ObjectId, dict[str, Entry]] = Cache(1 << 20, lambda t: len(t) + 1)
        self._paths: Cache[ObjectId, list[str]] = Cache(4 << 20, lambda t: len(t) + 1)
        self._extents: Cache[ObjectId, Extent] = Cache(1 << 20, lambda _: 1)
        self._raw: Cache[ObjectId, list[trees.RawEntry]] = Cache(1 << 20, lambda t: len(t) + 1)
        self._folded: Cache[ObjectId, dict[str, set[str]]] = Cache(1 << 20, lambda t: len(t) + 1)
        self._commits: Cache[CommitId, Commit] = Cache(20_000, lambda _: 1)

    def reopen(self) -> None:
        """Forget what libgit2 knows of packs; after a repack an old handle stays slow."""
        self.handle = pygit2.Repository(str(self.git_dir))
        self._odb = self.handle.odb

    def read(self, oid: ObjectId | CommitId) -> RawObject:
        try:
            kind, data = self._odb.read(oid)
        except (KeyError, pygit2.GitError, OSError):
            # Somebody may have repacked between our look-up and our read.
            self.reopen()
            try:
                kind, data = self._odb.read(oid)
            except KeyError as e:
                raise _missing(oid) from e
            except (pygit2.GitError, OSError) as e:
                raise RepositoryUnreadable(
                    f"Object {oid} cannot be read: {e}", hint="Run `git fsck` on the repository."
                ) from e
        return RawObject(int(kind), data)

    def has(self, oid: ObjectId | CommitId) -> bool:
        return oid in self.handle

    def blob(self, oid: ObjectId) -> bytes:
        data = self._blobs.get(oid)
        if data is None:
            data = self.read(oid).data
            self._blobs.put(oid, data)
        return data

    def raw_tree(self, oid: ObjectId) -> list[trees.RawEntry]:
        raw = self._raw.get(oid)
        if raw is None:
            raw = [] if oid == EMPTY_TREE else trees.parsed(self.read(oid).data, oid)
            self._raw.put(oid, raw)
        return raw

    def tree(self, oid: ObjectId) -> Mapping[str, Entry]:
        """The names directly in a folder, in git's order."""
        names = self._trees.get(oid)
        if names is None:
            names = {trees.decode(raw[1]): trees.entry(raw) for raw in self.raw_tree(oid)}
            self._trees.put(oid, names)
        return names

    def spellings(self, tree: ObjectId, folded: str) -> frozenset[str]:
        """Names in a folder that a careless file system takes for the one folded to `folded`."""
        known = self._folded.get(tree)
        if known is None:
            known = {}
            for name in self.tree(tree):
                known.setdefault(paths.folded(name), set()).add(name)
            self._folded.put(tree, known)
        return frozenset(known.get(folded, ()))

    def commit(self, oid: CommitId) -> Commit:
        found = self._commits.get(oid)
        if found is None:
            kind, raw = self.read(oid)
            if kind != Kind.COMMIT:
                raise RevisionMissing(f"{oid} is not a commit.", hint="Name a commit or a branch.")
            found = commits.decoded(oid, raw)
            self._commits.put(oid, found)
        return found

    def entry(self, tree: ObjectId, path: str) -> Entry | None:
        """What `path` names below `tree`: a file, a folder, a submodule, or nothing."""
        *folders, name = path.split("/")
        for folder in folders:
            step = self.tree(tree).get(folder)
            if step is None or not step.is_tree:
                return None
            tree = step.id
        return self.tree(tree).get(name)

    def paths(self, tree: ObjectId) -> list[str]:
        """Every file below `tree`, in git's order. Kept by folder: after a change only its folders are read again."""
        known = self._paths.get(tree)
        if known is None:
            self._refuse_bomb(tree)
            known = self._listed(tree)
        return known

    def _listed(self, tree: ObjectId) -> list[str]:
        known = self._paths.get(tree)
        if known is not None:
            return known
        found: list[str] = []
        for mode, raw_name, oid in self.raw_tree(tree):
            name = raw_name.decode("utf-8", "surrogateescape")
            if mode in _USUAL_FILES:
                found.append(name)
            elif trees.is_tree(mode):
                prefix = name + "/"
                found += [prefix + path for path in self._listed(ObjectId(oid.hex()))]
            elif not trees.is_submodule(mode):  # that is no file of this repository
                found.append(name)
        self._paths.put(tree, found)
        return found

    def files(self, tree: ObjectId) -> Iterator[tuple[str, Entry]]:
        """Every file and submodule below `tree` with its entry, sorted as git sorts."""
        self._refuse_bomb(tree)
        folders = [("", iter(self.tree(tree).items()))]
        while folders:
            prefix, rest = folders[-1]
            for name, entry in rest:
                if entry.is_tree:
                    folders.append((f"{prefix}{name}/", iter(self.tree(entry.id).items())))
                    break
                yield prefix + name, entry
            else:
                folders.pop()

    def _refuse_bomb(self, tree: ObjectId) -> None:
        """Count before listing: what a list would take is known without making it."""
        self._extent(tree, 0)

    def _extent(self, tree: ObjectId, depth: int) -> Extent:
        known = self._extents.get(tree)
        if known is None:
            if depth > MAX_DEPTH:
                raise _bomb()
            raw = self.raw_tree(tree)
            entries, size, height = len(raw), sum(map(len, map(itemgetter(1), raw))), 0
            for mode, name, oid in [entry for entry in raw if entry[0] not in _USUAL_FILES]:
                if trees.is_tree(mode):
                    below = self._extent(ObjectId(oid.hex()), depth + 1)
                    entries += below.entries
                    size += below.size + below.entries * (len(name) + 1)
                    height = max(height, below.height + 1)
            known = Extent(entries, size, height)
            self._extents.put(tree, known)
        if known.entries > MAX_FILES or known.size > MAX_LISTED_BYTES or depth + known.height > MAX_DEPTH:
            raise _bomb()
        return known

    @contextmanager
    def writing(self, new: Mapping[ObjectId, RawObject]) -> Iterator[None]:
        """`new` is durable inside the block; move the branch there. Later a gc may take what no ref needs."""
        if not new:
            yield
            return
        with pack.written(self.objects_dir, self.scratch, new):
            yield
        for oid, (kind, data) in new.items():
            if kind == Kind.BLOB:
                self._blobs.put(oid, data)
            elif kind == Kind.TREE:
                self._raw.put(oid, trees.parsed(data))


def _bomb() -> RepositoryUnreadable:
    return RepositoryUnreadable(
        f"The tree is nested deeper than {MAX_DEPTH} folders or has more than {MAX_FILES:,} files.",
        hint="This looks like a repository made to exhaust memory; Forge does not list it.",
    )


def _missing(oid: str) -> RevisionMissing:
    return RevisionMissing(
        f"Object {oid} is not in the repository.",
        hint="In a partial or shallow clone, fetch it first: git fetch --unshallow or git fetch --refetch.",
    )
