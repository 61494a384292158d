"""Diffs and patches, held against git's own on random trees and on the odd cases one by one."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from forge.errors import ForgeError
from forge.git.errors import InvalidPath, RepositoryUnreadable
from forge.git.history.diff import ChangeKind, FileChange, diff
from forge.git.history.patch import hunks, patch_text, quoted, unquoted
from forge.git.objects.object_store import Objects
from forge.git.objects.raw_object import NewObjects, RawObject, object_id
from forge.git.objects.tree_diff import changed_entries
from forge.git.objects.trees import encode, rewrite, serialized
from forge.git.values import EMPTY_TREE, Entry, Mode, ObjectId, ObjectKind

pytestmark = pytest.mark.req("G-08")

Files = dict[str, tuple[int, bytes]]


class Repo:
    """A bare repository and trees in it made of plain dictionaries."""

    def __init__(self, path: Path) -> None:
        self.path = path
        subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)
        self.objects = Objects(path, path)

    def git(self, *args: str, stdin: bytes = b"", **env: str) -> bytes:
        done = subprocess.run(
            ["git", "-c", "core.quotePath=false", f"--git-dir={self.path}", *args],
            input=stdin,
            capture_output=True,
            check=False,
            env={**os.environ, **env},
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def tree(self, files: Files) -> ObjectId:
        new: NewObjects = {}
        entries: dict[str, Entry | None] = {}
        for path, (mode, data) in files.items():
            if mode == Mode.SUBMODULE:
                entries[path] = Entry(mode, ObjectId(data.decode()))
                continue
            blob = object_id(ObjectKind.BLOB, data)
            new[blob] = RawObject(ObjectKind.BLOB, data)
            entries[path] = Entry(mode, blob)
        tree, made = rewrite(self.objects.raw_tree, EMPTY_TREE, entries)
        with self.objects.writing(new | made):
            return tree

    def applied(self, old: ObjectId, patch: bytes, *options: str) -> str:
        """The tree that `git apply` makes of `old`."""
        index = str(self.path / "an-index")
        Path(index).unlink(missing_ok=True)
        self.git("read-tree", old, GIT_INDEX_FILE=index)
        self.git("apply", "--cached", "--whitespace=nowarn", *options, stdin=patch, GIT_INDEX_FILE=index)
        return self.git("write-tree", "--missing-ok", GIT_INDEX_FILE=index).decode().strip()


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "r.git")


NAMES = [
    "a",
    "b.py",
    "lib/c",
    "lib/deep/er/d",
    "with space",
    "ünï",
    'quo"te',
    "tab\there",
    "new\nline",
    "back\\slash",
    "\udcff\udcfe",
]


def some_lines(rng: random.Random, count: int = 30) -> list[bytes]:
    return [b"%d %s\n" % (rng.randrange(10**6), rng.choice([b"alpha", b"beta", b"}"])) for _ in range(count)]


def random_file(rng: random.Random) -> tuple[int, bytes]:
    mode = rng.choice([Mode.FILE] * 6 + [Mode.EXECUTABLE, Mode.SYMLINK, Mode.SUBMODULE])
    if mode == Mode.SUBMODULE:
        return mode, b"%040x" % rng.randrange(1, 16**40)
    if mode == Mode.SYMLINK:
        return mode, rng.choice([b"a", b"lib/c", b"nowhere"])
    content = b"".join(some_lines(rng, rng.randrange(0, 40)))
    if rng.random() < 0.2:
        content = b"\0" + content
    # Versions of git differ in whether such a last line counts for similarity, so it must not weigh much.
    if rng.random() < 0.3 and len(content) > 300:
        content += b"no newline at the end"
    return mode, content


def edited(rng: random.Random, file: tuple[int, bytes]) -> tuple[int, bytes]:
    mode, content = file
    if mode in (Mode.SUBMODULE, Mode.SYMLINK):
        return random_file(rng)
    lines = content.splitlines(keepends=True)
    for _ in range(rng.randrange(0, 5)):
        at = rng.randrange(len(lines) + 1)
        lines[at : at + rng.randrange(2)] = some_lines(rng, rng.randrange(3))
    return rng.choice([mode, mode, mode, Mode.EXECUTABLE, Mode.FILE]), b"".join(lines)


def clashes(files: Files, path: str) -> bool:
    return any(path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in files)


def random_pair(rng: random.Random) -> tuple[Files, Files]:
    old: Files = {}
    for number in range(rng.randrange(1, 40)):
        path = rng.choice(NAMES) + (str(number) if rng.random() < 0.8 else "")
        if not clashes(old, path):
            old[path] = random_file(rng)
    new = dict(old)
    for path in list(old):
        roll = rng.random()
        if roll < 0.15:
            del new[path]
        elif roll < 0.35:
            file = new.pop(path)
            target = rng.choice(["moved/", "lib/", ""]) + path.rpartition("/")[2] + rng.choice(["", ".x"])
            if not clashes(new, target) and target not in new:
                new[target] = edited(rng, file) if rng.random() < 0.5 else file
        elif roll < 0.6:
            new[path] = edited(rng, new[path])
        elif roll < 0.65:
            new[path] = random_file(rng)
    return old, new


def git_raw(repo: Repo, old: str, new: str, *options: str) -> list[tuple[str, ...]]:
    """Rows of (status letter, old mode, new mode, old id, new id, old path, new path)."""
    fields = (
        repo.git("diff-tree", "-r", "-z", "--raw", *options, old, new).decode("utf-8", "surrogateescape").split("\0")
    )
    rows = []
    while len(fields) > 1:
        meta = fields.pop(0).lstrip(":").split()
        path = fields.pop(0)
        other = fields.pop(0) if meta[4][0] in "RC" else path
        rows.append((meta[4][0], *meta[:4], path, other))
    return rows


LETTER = {
    ChangeKind.ADDED: "A",
    ChangeKind.MODIFIED: "M",
    ChangeKind.DELETED: "D",
    ChangeKind.RENAMED: "R",
    ChangeKind.COPIED: "C",
    ChangeKind.TYPE_CHANGED: "T",
}


def as_raw(change: FileChange) -> tuple[str, ...]:
    modes = tuple(f"{entry.mode:06o}" if entry else "000000" for entry in (change.old, change.new))
    ids = tuple(entry.id if entry else "0" * 40 for entry in (change.old, change.new))
    return (
        LETTER[change.kind],
        *modes,
        *ids,
        change.path if change.old_path is None else change.old_path,
        change.path,
    )


def git_counts(repo: Repo, old: str, new: str) -> dict[str, tuple[str, str]]:
    fields = (
        repo.git("diff-tree", "-r", "-z", "--numstat", "-M", old, new).decode("utf-8", "surrogateescape").split("\0")
    )
    counts = {}
    while len(fields) > 1:
        added, deleted, path = fields.pop(0).split("\t", 2)
        if not path:
            fields.pop(0)
            path = fields.pop(0)
        counts[path] = (added, deleted)
    return counts


@pytest.mark.parametrize("seed", range(25))
def test_files_renames_and_counts_of_random_trees_are_those_of_git(repo: Repo, seed: int) -> None:
    before, after = random_pair(random.Random(seed))
    old, new = repo.tree(before), repo.tree(after)
    changes = diff(repo.objects, old, new)
    assert [as_raw(change) for change in changes] == git_raw(repo, old, new, "-M")
    copies = diff(repo.objects, old, new, copies=True, counts=False)
    assert [as_raw(change) for change in copies] == git_raw(repo, old, new, "-C")
    counts = git_counts(repo, old, new)
    for change in changes:
        shown = ("-", "-") if change.binary else (str(change.additions), str(change.deletions))
        assert shown == counts[change.path], change
    assert [as_raw(c) for c in diff(repo.objects, old, new, renames=False)] == git_raw(repo, old, new, "--no-renames")


@pytest.mark.parametrize("seed", range(25))
def test_patches_of_random_trees_are_taken_by_git_apply_forward_and_back(repo: Repo, seed: int) -> None:
    before, after = random_pair(random.Random(1000 + seed))
    old, new = repo.tree(before), repo.tree(after)
    changes = diff(repo.objects, old, new, counts=False)
    patch = b"".join(patch_text(repo.objects, change) for change in changes)
    if patch:
        assert repo.applied(old, patch) == new
        assert repo.applied(new, patch, "-R") == old


def test_a_file_that_becomes_a_folder_goes_and_its_files_come(repo: Repo) -> None:
    old = repo.tree({"a": (Mode.FILE, b"x"), "a.txt": (Mode.FILE, b"y"), "a0": (Mode.FILE, b"z")})
    new = repo.tree({"a/b": (Mode.FILE, b"1"), "a/c/d": (Mode.FILE, b"2"), "a0": (Mode.FILE, b"z")})
    found = [(path, was is not None, now is not None) for path, was, now in changed_entries(repo.objects, old, new)]
    assert found == [("a", True, False), ("a.txt", True, False), ("a/b", False, True), ("a/c/d", False, True)]
    back = [path for path, _, _ in changed_entries(repo.objects, new, old)]
    assert back == ["a", "a.txt", "a/b", "a/c/d"]


def test_no_tree_and_the_empty_tree_are_the_same(repo: Repo) -> None:
    tree = repo.tree({"a": (Mode.FILE, b"x")})
    assert list(changed_entries(repo.objects, None, tree)) == list(changed_entries(repo.objects, EMPTY_TREE, tree))
    assert list(changed_entries(repo.objects, None, EMPTY_TREE)) == []
    assert diff(repo.objects, None, None) == ()


def test_only_given_paths_are_compared_and_taken_literally(repo: Repo) -> None:
    old = repo.tree(
        {"a/x": (Mode.FILE, b"1"), "a*": (Mode.FILE, b"2"), "ab": (Mode.FILE, b"3"), "f": (Mode.FILE, b"4")}
    )
    new = repo.tree(
        {"a/x": (Mode.FILE, b"9"), "a*": (Mode.FILE, b"9"), "ab": (Mode.FILE, b"9"), "f/g": (Mode.FILE, b"9")}
    )

    def shown(*paths: str) -> list[str]:
        return [change.path for change in diff(repo.objects, old, new, paths=paths)]

    assert shown("a*") == ["a*"]
    assert shown("a/", "a/x") == ["a/x"]
    assert shown("f") == ["f", "f/g"]
    assert shown("nothing") == []
    with pytest.raises(InvalidPath):
        shown("../a")


def test_a_file_in_two_new_places_is_a_rename_and_a_copy_when_copies_are_wanted(repo: Repo) -> None:
    text = b"".join(some_lines(random.Random(1)))
    old = repo.tree({"one": (Mode.FILE, text), "two": (Mode.FILE, text[::-1])})
    new = repo.tree(
        {
            "a/one": (Mode.FILE, text),
            "z/one": (Mode.FILE, text + b"more\n"),
            "two": (Mode.FILE, text[::-1] + b"!"),
            "twin": (Mode.FILE, text[::-1]),
        }
    )
    changes = diff(repo.objects, old, new, copies=True)
    assert [as_raw(change) for change in changes] == git_raw(repo, old, new, "-C")
    assert {change.path: change.kind for change in changes} == {
        "a/one": ChangeKind.COPIED,
        "twin": ChangeKind.COPIED,
        "two": ChangeKind.MODIFIED,
        "z/one": ChangeKind.RENAMED,
    }
    patch = b"".join(patch_text(repo.objects, change) for change in changes)
    assert repo.applied(old, patch) == new


def test_similarity_is_the_share_of_kept_bytes_as_git_counts_it(repo: Repo) -> None:
    lines = some_lines(random.Random(3), 100)
    old = repo.tree({"a": (Mode.FILE, b"".join(lines))})
    new = repo.tree({"b": (Mode.FILE, b"".join(lines[:80] + some_lines(random.Random(4), 20)))})
    (change,) = diff(repo.objects, old, new)
    letter = repo.git("diff-tree", "-r", "-M", "--name-status", old, new).split()[0]
    assert change.similarity is not None
    assert abs(change.similarity - int(letter[1:])) <= 1
    assert 70 < change.similarity < 90


def test_a_binary_file_is_marked_and_has_no_hunks(repo: Repo) -> None:
    old = repo.tree({"x": (Mode.FILE, b"text\n")})
    new = repo.tree({"x": (Mode.FILE, b"te\0xt\n")})
    (change,) = diff(repo.objects, old, new)
    assert (change.binary, change.additions, change.deletions) == (True, 0, 0)
    assert hunks(repo.objects, change) == ()
    assert patch_text(repo.objects, change, binary=False).endswith(b"Binary files a/x and b/x differ\n")


def test_hunks_number_their_lines_and_keep_missing_newlines(repo: Repo) -> None:
    old = repo.tree({"x": (Mode.FILE, b"1\n2\n3\n4\n5\n")})
    new = repo.tree({"x": (Mode.FILE, b"1\n2\n3\r\n4\n5")})
    (change,) = diff(repo.objects, old, new)
    (hunk,) = hunks(repo.objects, change, context=1)
    assert (hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count) == (2, 4, 2, 4)
    assert [tuple(line) for line in hunk.lines] == [
        (" ", 2, 2, b"2\n"),
        ("-", 3, None, b"3\n"),
        ("+", None, 3, b"3\r\n"),
        (" ", 4, 4, b"4\n"),
        ("-", 5, None, b"5\n"),
        ("+", None, 5, b"5"),
    ]


def test_a_patch_reads_as_git_writes_it(repo: Repo) -> None:
    old = repo.tree({"a file": (Mode.FILE, b"one\ntwo\n"), "gone": (Mode.FILE, b"x"), "run": (Mode.FILE, b"y\n")})
    new = repo.tree({"a file": (Mode.FILE, b"one\n2\n"), "empty": (Mode.FILE, b""), "run": (Mode.EXECUTABLE, b"y\n")})
    changes = diff(repo.objects, old, new)
    own = b"".join(patch_text(repo.objects, change) for change in changes)
    assert own == repo.git("diff-tree", "-p", "--full-index", "-M", old, new)


@pytest.mark.parametrize("name", [b"plain", "ünï".encode(), b'"', b"a\nb\tc\\d", b"\x00\x01\x7f\xff", b'"x'])
def test_quoting_a_path_is_undone_by_unquoting(name: bytes) -> None:
    assert unquoted(quoted(name)) == name


@pytest.mark.req("X-06")
def test_trees_that_name_each_other_without_end_are_refused(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forge.git.objects.tree_diff.MAX_FILES", 20_000)  # the real limit takes a minute to reach
    deep: NewObjects = {}
    below = EMPTY_TREE
    deep[below] = RawObject(ObjectKind.TREE, b"")
    for _ in range(600):
        raw = serialized([(b"40000", b"d", bytes.fromhex(below))])
        below = object_id(ObjectKind.TREE, raw)
        deep[below] = RawObject(ObjectKind.TREE, raw)
    wide: NewObjects = {}
    bomb = EMPTY_TREE
    for _ in range(12):
        raw = serialized([(b"40000", b"%02d" % n, bytes.fromhex(bomb)) for n in range(40)])
        bomb = object_id(ObjectKind.TREE, raw)
        wide[bomb] = RawObject(ObjectKind.TREE, raw)
    with repo.objects.writing(deep | wide):
        pass
    with pytest.raises(RepositoryUnreadable):
        list(changed_entries(repo.objects, None, below))
    with pytest.raises(RepositoryUnreadable):
        list(changed_entries(repo.objects, bomb, None))


@pytest.mark.req("X-06")
def test_trees_with_doubled_and_hostile_names_are_survived(repo: Repo) -> None:
    blob = object_id(ObjectKind.BLOB, b"x")
    raw = b"".join(
        b"%s %s\0%s" % (mode, name, bytes.fromhex(oid))
        for mode, name, oid in [
            (b"100644", b"..", blob),
            (b"100644", b".git", blob),
            (b"100664", b"a", blob),
            (b"040000", b"a", EMPTY_TREE),
            (b"100644", b"b/c", blob),
            (b"100644", b"twice", "1" * 40),
            (b"100644", b"twice", blob),
        ]
    )
    tree = object_id(ObjectKind.TREE, raw)
    new = {
        tree: RawObject(ObjectKind.TREE, raw),
        blob: RawObject(ObjectKind.BLOB, b"x"),
        EMPTY_TREE: RawObject(ObjectKind.TREE, b""),
    }
    with repo.objects.writing(new):
        pass
    other = repo.tree({"twice": (Mode.FILE, b"x")})
    assert [path for path, _, _ in changed_entries(repo.objects, other, tree)] == ["..", ".git", "b/c"]


def test_a_mode_that_git_takes_for_equal_is_no_change(repo: Repo) -> None:
    blob = object_id(ObjectKind.BLOB, b"x")
    odd = b"100664 a\0" + bytes.fromhex(blob)
    plain = b"100644 a\0" + bytes.fromhex(blob)
    ids = [object_id(ObjectKind.TREE, raw) for raw in (odd, plain)]
    with repo.objects.writing({ids[0]: RawObject(ObjectKind.TREE, odd), ids[1]: RawObject(ObjectKind.TREE, plain)}):
        pass
    assert diff(repo.objects, ids[0], ids[1]) == ()
    assert repo.git("diff-tree", "-r", ids[0], ids[1]) == b""


def test_a_missing_blob_is_reported_as_a_forge_error(repo: Repo) -> None:
    old = repo.tree({"a": (Mode.FILE, b"x")})
    absent = Entry(Mode.FILE, object_id(ObjectKind.BLOB, b"not stored"))
    new, made = rewrite(repo.objects.raw_tree, old, {"a": absent})
    with repo.objects.writing(made):
        pass
    assert [change.path for change in diff(repo.objects, old, new, counts=False)] == ["a"]
    with pytest.raises(ForgeError):
        diff(repo.objects, old, new)


def test_the_cost_goes_with_the_change_and_not_with_the_repository(repo: Repo) -> None:
    files = {f"d{n % 100}/s{n % 7}/f{n}": (Mode.FILE, b"%d" % n) for n in range(20_000)}
    old = repo.tree(files)
    new, made = rewrite(
        repo.objects.raw_tree, old, {"d1/s1/f1": Entry(Mode.EXECUTABLE, object_id(ObjectKind.BLOB, b"1"))}
    )
    with repo.objects.writing(made):
        pass
    cold = Objects(repo.path, repo.path)
    read: list[str] = []
    raw_tree = cold.raw_tree
    cold.raw_tree = lambda oid: (read.append(oid), raw_tree(oid))[1]  # type: ignore[method-assign]
    assert [change.path for change in diff(cold, old, new, counts=False)] == ["d1/s1/f1"]
    assert len(read) == 6  # three folders on each side


def test_a_thousand_moved_and_edited_files_are_paired_in_seconds(repo: Repo) -> None:
    rng = random.Random(5)
    texts = [b"".join(some_lines(rng, 40)) for _ in range(400)]
    old = repo.tree({f"old/{n}": (Mode.FILE, text) for n, text in enumerate(texts)})
    new = repo.tree({f"new/x{n}": (Mode.FILE, text + b"one more\n") for n, text in enumerate(texts)})
    started = time.perf_counter()
    changes = diff(repo.objects, old, new)
    assert time.perf_counter() - started < 20
    assert [(c.kind, c.old_path) for c in changes] == [
        (ChangeKind.RENAMED, f"old/{change.path.removeprefix('new/x')}") for change in changes
    ]
    assert encode(changes[0].path) == b"new/x0"
