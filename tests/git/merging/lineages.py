"""Generated histories to merge: small trees full of edits, renames, moved folders, links, submodules and clashes."""

from __future__ import annotations

import itertools
import random
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from forge.git import CommitId, Signature
from tests.git import worlds

Files = dict[str, tuple[int, bytes]]
"""Mode and content by path; of a submodule the id."""

COMMITTER = Signature("Ada Example", "ada@example.org", 1_700_000_000)

_FOLDERS = ("", "a/", "a/b/", "c/", "d/e/", "d/")
_NAMES = ("x", "y", "z", "w.txt", "k")
_FILE, _EXECUTABLE, _LINK, _SUBMODULE = 0o100644, 0o100755, 0o120000, 0o160000
_TEXTS = (_FILE, _EXECUTABLE)


class Author:
    """Makes a first tree and changes it, the same way for the same seed."""

    def __init__(self, seed: int | str, *, sessions: bool = False, submodules: bool = True) -> None:
        self.random = random.Random(seed)
        self._sessions = sessions
        self._submodules = submodules

    def first(self) -> Files:
        files: Files = {}
        for _ in range(self.random.randrange(4, 14)):
            self._put(files, self._path(), (_FILE, self._content()))
        if self.random.random() < 0.3:
            self._put(files, "link", (_LINK, b"a/x"))
        if self._submodules and self.random.random() < 0.2:
            self._put(files, "sub", (_SUBMODULE, self._commit()))
        if self._sessions:
            self._put(files, ".forge/session.json", (_FILE, self._lines(4)))
            self._put(files, ".forge/session/00/1.json", (_FILE, self._lines(4)))
        return files

    def changed(self, files: Files, times: int) -> Files:
        files = dict(files)
        for _ in range(times):
            work = sorted(path for path in files if not path.startswith(".forge/"))
            if work:
                change = self.random.choices(_CHANGES, _WEIGHTS)[0]
                change(self, files, self.random.choice(work))
            else:
                self._put(files, "x", (_FILE, self._content()))
            if self._sessions and self.random.random() < 0.6:
                self._talk(files)
        return files

    def joined(self, one: Files, other: Files) -> Files:
        """Some merge of two trees; where they clash, the first one's file."""
        files = dict(one)
        for path, entry in other.items():
            self._put(files, path, entry)
        return files

    def _edit(self, files: Files, path: str) -> None:
        mode, data = files[path]
        if mode == _SUBMODULE:
            files[path] = (mode, self._commit())
        elif mode == _LINK:
            files[path] = (mode, self.random.choice((b"c/x", b"d/y")))
        else:
            files[path] = (mode, self._edited(data))

    def _delete(self, files: Files, path: str) -> None:
        del files[path]

    def _add(self, files: Files, _: str) -> None:
        self._put(files, self._path() + self.random.choice(("", "2")), (_FILE, self._content()))

    def _copy(self, files: Files, path: str) -> None:
        self._put(files, self._path() + "c", files[path])

    def _rename(self, files: Files, path: str) -> None:
        to = self._path() + self.random.choice(("", "2", "3"))
        if to in files:
            return
        mode, data = files.pop(path)
        if mode in _TEXTS and self.random.random() < 0.4:
            data = self._edited(data)
        if not self._put(files, to, (mode, data)):
            files[path] = (mode, data)

    def _move_folder(self, files: Files, path: str) -> None:
        if "/" not in path:
            return
        source = path.split("/", maxsplit=1)[0] if self.random.random() < 0.5 else path.rpartition("/")[0]
        to = self.random.choice(("n", "m/o", "c", "a", "q"))
        if to == source or to.startswith(f"{source}/") or source.startswith(f"{to}/"):
            return
        for old in [p for p in files if p.startswith(f"{source}/")]:
            entry = files.pop(old)
            new = to + old.removeprefix(source)
            if new in files or not self._put(files, new, entry):
                files[old] = entry

    def _switch_mode(self, files: Files, path: str) -> None:
        mode, data = files[path]
        if mode in _TEXTS:
            files[path] = (mode ^ 0o111, data)

    def _switch_kind(self, files: Files, path: str) -> None:
        kinds = [(_LINK, b"target"), (_FILE, self._content()), (_SUBMODULE, self._commit())]
        files[path] = self.random.choice(kinds if self._submodules else kinds[:2])

    def _into_folder(self, files: Files, path: str) -> None:
        entry = files.pop(path)
        self._put(files, f"{path}/{self.random.choice(_NAMES)}", entry)

    def _instead_of_folder(self, files: Files, path: str) -> None:
        if "/" in path:
            entry, folder = files[path], path.rpartition("/")[0]
            for below in [p for p in files if p.startswith(f"{folder}/")]:
                del files[below]
            self._put(files, folder, entry)

    def _talk(self, files: Files) -> None:
        choice = self.random.random()
        if choice < 0.5:
            self._put(files, ".forge/session.json", (_FILE, self._lines(3)))
        elif choice < 0.9:
            name = f"{self.random.randrange(3):02}/{self.random.randrange(1000)}.json"
            self._put(files, f".forge/session/{name}", (_FILE, self._lines(2)))
        else:
            for turn in [p for p in files if p.startswith(".forge/session/")]:
                del files[turn]

    def _put(self, files: Files, path: str, entry: tuple[int, bytes]) -> bool:
        parts = path.split("/")
        above = any("/".join(parts[:depth]) in files for depth in range(1, len(parts)))
        if above or any(other.startswith(f"{path}/") for other in files):
            return False
        files[path] = entry
        return True

    def _path(self) -> str:
        return self.random.choice(_FOLDERS) + self.random.choice(_NAMES)

    def _commit(self) -> bytes:
        return b"%040x" % self.random.randrange(1, 9)

    def _lines(self, count: int) -> bytes:
        return "".join(f"line {self.random.randrange(1000)}\n" for _ in range(count)).encode()

    def _content(self) -> bytes:
        choice = self.random.random()
        if choice < 0.08:
            return b""
        if choice < 0.16:
            return self.random.randbytes(60) + b"\0"
        return self._lines(self.random.randrange(3, 16))

    def _edited(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        place, choice = self.random.randrange(len(lines)), self.random.random()
        if choice < 0.4:
            lines[place] = b"edited %d" % self.random.randrange(100)
        elif choice < 0.7:
            lines.insert(place, b"new %d" % self.random.randrange(100))
        elif len(lines) > 1:
            del lines[place]
        return b"\n".join(lines)


_WEIGHTED = {
    Author._edit: 28,
    Author._delete: 8,
    Author._add: 12,
    Author._rename: 14,
    Author._switch_mode: 6,
    Author._switch_kind: 5,
    Author._move_folder: 12,
    Author._into_folder: 5,
    Author._instead_of_folder: 4,
    Author._copy: 5,
}
_CHANGES, _WEIGHTS = tuple(_WEIGHTED), tuple(_WEIGHTED.values())


class Lineage:
    """Commits on branches, collected first and given to git in one go."""

    def __init__(self) -> None:
        self._stream: list[bytes] = []
        self._count = 0

    def commit(
        self,
        branch: str,
        files: Files,
        *parents: int,
        message: bytes = b"change\n",
        author: bytes = b"Bob <bob@example.org>",
        time: int | None = None,
    ) -> int:
        """A commit of `files` on top of `parents`; the number it is known by here."""
        self._count += 1
        time = self._count + 1_600_000_000 if time is None else time
        put = self._stream.append
        put(b"commit refs/heads/%s\nmark :%d\n" % (branch.encode(), self._count))
        put(b"author %s %d +0230\ncommitter Carl <carl@example.org> %d -0500\n" % (author, time, time))
        put(b"data %d\n%s\n" % (len(message), message))
        for word, parent in zip([b"from", *[b"merge"] * len(parents)], parents, strict=False):
            put(b"%s :%d\n" % (word, parent))
        put(b"deleteall\n")
        for path, (mode, data) in files.items():
            if mode == _SUBMODULE:
                put(b"M 160000 %s %s\n" % (data, path.encode()))
            else:
                put(b"M %o inline %s\ndata %d\n%s\n" % (mode, path.encode(), len(data), data))
        put(b"\n")
        return self._count

    def write(self, directory: Path) -> list[CommitId]:
        """Ids of the commits by their numbers; the first number is 1."""
        marks = directory / "marks"
        worlds.git(directory, "fast-import", "--quiet", f"--export-marks={marks}", stdin=b"".join(self._stream))
        pairs = (line.split() for line in marks.read_text().splitlines())
        found = {int(mark[1:]): CommitId(oid) for mark, oid in pairs}
        return [CommitId(""), *(found[number] for number in range(1, self._count + 1))]


class GitVerdict(NamedTuple):
    """What `git merge-tree` says about one pair."""

    clean: bool
    tree: str
    paths: frozenset[str]
    """The files in conflict."""


def git_verdicts(directory: Path, pairs: Sequence[tuple[str, str]]) -> list[GitVerdict | None]:
    """One verdict a pair; None where git itself aborts, as 2.39 does on some renamed and retyped files."""
    lines = "".join(f"{ours} {theirs}\n" for ours, theirs in pairs).encode()
    command = ["git", "merge-tree", "--write-tree", "--stdin", "--no-messages", "-z"]
    done = subprocess.run(command, cwd=directory, input=lines, capture_output=True, check=False)
    if done.returncode == -signal.SIGABRT:
        if len(pairs) == 1:
            return [None]
        middle = len(pairs) // 2
        return git_verdicts(directory, pairs[:middle]) + git_verdicts(directory, pairs[middle:])
    assert done.returncode == 0, done.stderr
    fields = iter(done.stdout.split(b"\0"))
    verdicts: list[GitVerdict | None] = []
    for _ in pairs:
        clean, tree = next(fields) == b"1", next(fields).decode()
        rows = itertools.takewhile(bool, fields)
        verdicts.append(GitVerdict(clean, tree, frozenset(row.partition(b"\t")[2].decode() for row in rows)))
    return verdicts
