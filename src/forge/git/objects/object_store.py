"""Reads and writes git objects. What it has read once it keeps: objects never change."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pygit2
from pygit2.enums import Option

from forge.git.errors import RepositoryUnreadable, RevisionMissing
from forge.git.objects import commits, pack, trees
from forge.git.objects.cache import Cache
from forge.git.objects.file_lists import FileLists
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.process.git_command import Git
from forge.git.values import EMPTY_TREE, Commit, CommitId, Entry, ObjectId, ObjectKind
from forge.git.workspace import paths

_MB = 1 << 20
_ENTRY, _RAW_ENTRY, _FOLDED = 300, 200, 380
"""Bytes that a name in a folder takes: ready to use, as git has it, as a careless file system takes it."""
_COMMIT = 900
"""Bytes beside the message."""
_REPAIR = "`git fsck` tells what needs it; fetch it from a remote or copy it from another clone."
_KEPT_BY_LIBRARY = 8 * _MB
_HELD_SECONDS = 30.0
"""Then libgit2 lets go of its packs. It keeps up to 16 MB of each, of what other objects in it are the difference to:
good for whoever reads many at once, and only more and more memory for whoever reads one now and then."""


class Objects:
    """The objects of one repository, shared by all its branches."""

    def __init__(self, git_dir: Path, common_dir: Path) -> None:
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.objects_dir = common_dir / "objects"
        self.scratch = common_dir / "forge" / "tmp"
        self.git = Git(git_dir)
        # Its own check of what it read takes longer than the reading; `read` does it in a fifth of the time.
        pygit2.option(Option.ENABLE_STRICT_HASH_VERIFICATION, False)
        # What is read again is kept here, as values that are ready to use.
        pygit2.option(Option.SET_CACHE_MAX_SIZE, _KEPT_BY_LIBRARY)
        self.handle = pygit2.Repository(str(self.git_dir))
        # A handle refers to itself, so Python lets go of it, and of its packs, much later than of this.
        weakref.finalize(self, self.handle.free).atexit = False
        self._letting_go = threading.Lock()
        self._odb: pygit2.Odb | None = self.handle.odb
        self._held_since = time.monotonic()
        self._blobs: Cache[ObjectId, bytes] = Cache(8 * _MB, len)
        # The folders of a repository with 100,000 files.
        self._trees: Cache[ObjectId, dict[str, Entry]] = Cache(40 * _MB, lambda tree: len(tree) * _ENTRY)
        self._lists = FileLists()
        # The next commit on a branch needs the folders of the last one, and few others.
        self._raw: Cache[ObjectId, list[trees.RawEntry]] = Cache(6 * _MB, lambda tree: len(tree) * _RAW_ENTRY)
        self._met: Cache[ObjectId, bool] = Cache(_MB, lambda _: 0)
        self._folded: Cache[ObjectId, dict[str, set[str]]] = Cache(8 * _MB, lambda tree: len(tree) * _FOLDED)
        self._commits: Cache[CommitId, Commit] = Cache(2 * _MB, lambda commit: len(commit.message) + _COMMIT)

    def let_go_of_packs(self) -> None:
        """Forget what libgit2 knows and keeps of packs; after a repack it would still look into those that are gone.

        Who has one open at this moment shares it with all others, so nobody may: a new handle beside the old one would
        take over all that was kept.
        """
        with self._letting_go:
            self._held_since = time.monotonic()
            self._odb = None
            self.handle.free()
            self._odb = self.handle.odb

    @property
    def config(self) -> pygit2.Config:
        """As git is configured now."""
        # pygit2 lets other threads run while libgit2 looks for it, and one may let go of it just then. All else that is
        # asked of the handle runs undisturbed.
        with self._letting_go:
            return self.handle.config

    def _read(self, oid: ObjectId | CommitId) -> tuple[int, bytes]:
        if time.monotonic() - self._held_since > _HELD_SECONDS:
            self.let_go_of_packs()
        odb = self._odb
        return (self.handle.odb if odb is None else odb).read(oid)

    def read(self, oid: ObjectId | CommitId) -> RawObject:
        try:
            kind, data = self._read(oid)
        except (KeyError, pygit2.GitError, OSError):
            # Somebody may have repacked between our look-up and our read.
            self.let_go_of_packs()
            try:
                kind, data = self._read(oid)
            except KeyError as e:
                raise _missing(oid) from e
            except (pygit2.GitError, OSError) as e:
                raise RepositoryUnreadable(f"Object {oid} is damaged and cannot be read.", hint=_REPAIR) from e
        if object_id(int(kind), data) != oid:
            raise RepositoryUnreadable(f"Object {oid} is damaged: its content is not what its name says.", hint=_REPAIR)
        return RawObject(int(kind), data)

    def has(self, oid: ObjectId | CommitId) -> bool:
        """Whether it is there and can be read."""
        with suppress(pygit2.GitError):
            if oid in self.handle:
                return True
        # Somebody may have repacked just now.
        self.let_go_of_packs()
        with suppress(pygit2.GitError):
            return oid in self.handle
        return False

    def blob(self, oid: ObjectId) -> bytes:
        data = self._blobs.get(oid)
        if data is None:
            data = self.read(oid).data
            self._blobs.put(oid, data)
        return data

    def raw_tree(self, oid: ObjectId) -> list[trees.RawEntry]:
        raw = self._raw.get(oid)
        if raw is None:
            raw = self.keep_tree(oid, b"" if oid == EMPTY_TREE else self.read(oid).data)
        return raw

    def keep_tree(self, oid: ObjectId, data: bytes) -> list[trees.RawEntry]:
        """The entries of a tree that was read, kept for the next who asks."""
        raw = trees.parsed(data, oid)
        self._raw.put(oid, raw)
        return raw

    def tree(self, oid: ObjectId) -> Mapping[str, Entry]:
        """The names directly in a folder, in git's order."""
        names = self._trees.get(oid)
        if names is None:
            names = trees.entries(self.raw_tree(oid))
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
            if kind != ObjectKind.COMMIT:
                raise RevisionMissing(f"{oid} is not a commit.", hint="Name a commit or a branch.")
            found = commits.decoded(oid, raw)
            self._commits.put(oid, found)
        return found

    def entry(self, tree: ObjectId, path: str) -> Entry | None:
        """What `path` names below `tree`: a file, a folder, a submodule, or nothing."""
        *folders, name = path.split("/")
        for folder in folders:
            step = self._named(tree, folder)
            if step is None or not step.is_tree:
                return None
            tree = step.id
        return self._named(tree, name)

    def _named(self, tree: ObjectId, name: str) -> Entry | None:
        names = self._trees.get(tree)
        if names is None and self._met.get(tree) is None:
            # Most folders of a branch that is written to are asked once and never again: no names are kept of those.
            self._met.put(tree, True)
            wanted = trees.encode(name)
            # From the end: of a name that a broken tree has twice, the names that are kept have the last one, too.
            return next((trees.entry(raw) for raw in reversed(self.raw_tree(tree)) if raw[1] == wanted), None)
        return (self.tree(tree) if names is None else names).get(name)

    def paths(self, tree: ObjectId, prefix: str = "") -> list[str]:
        """Every file below `tree`, in git's order, with `prefix` before its path."""
        return self._lists.paths(self, tree, prefix)

    def refuse_bomb(self, tree: ObjectId) -> None:
        """Raise if a list of what is below `tree` would exhaust memory."""
        self._lists.refuse_bomb(self, tree)

    def files(self, tree: ObjectId) -> Iterator[tuple[str, Entry]]:
        """Every file and submodule below `tree` with its entry, sorted as git sorts."""
        self.refuse_bomb(tree)
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

    def with_new(self, new: NewObjects) -> Unwritten:
        """These objects and `new`, which are only in memory: a result is read before it is written."""
        return Unwritten(self, new)

    @contextmanager
    def writing(self, new: Mapping[ObjectId, RawObject]) -> Iterator[None]:
        """`new` is durable inside the block; move the branch there. Later a gc may take what no ref needs."""
        if not new:
            yield
            return
        with pack.written(self.objects_dir, self.scratch, new):
            yield
        for oid, (kind, data) in new.items():
            if kind == ObjectKind.BLOB:
                self._blobs.put(oid, data)
            elif kind == ObjectKind.TREE:
                self._raw.put(oid, trees.parsed(data))
            else:
                self._commits.put(CommitId(oid), commits.decoded(CommitId(oid), data))


class Unwritten(Objects):
    """Reads `new` first. What is parsed goes into the caches below: an id means the same bytes everywhere."""

    def __init__(self, below: Objects, new: NewObjects) -> None:
        self.__dict__.update(below.__dict__)
        self.new = new

    def read(self, oid: ObjectId | CommitId) -> RawObject:
        return self.new.get(ObjectId(oid)) or super().read(oid)

    def has(self, oid: ObjectId | CommitId) -> bool:
        return oid in self.new or super().has(oid)


def _missing(oid: str) -> RevisionMissing:
    return RevisionMissing(
        f"Object {oid} is not in the repository.",
        hint="In a partial or shallow clone, fetch it first: git fetch --unshallow or git fetch --refetch. "
        "Elsewhere the repository is damaged: `git fsck` tells what is missing.",
    )
