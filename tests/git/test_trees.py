"""Trees parsed and rewritten: what nobody touched stays byte for byte, and the result is git's own tree."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygit2.enums import ObjectType

from forge.git.errors import RepositoryUnreadable
from forge.git.objects.object_store import Objects
from forge.git.objects.trees import entry, is_tree, parsed, rewrite, serialized
from forge.git.values import EMPTY_TREE, Entry, Mode, ObjectId
from tests.git import worlds

pytestmark = pytest.mark.req("G-02", "G-03")

A, B, C = (ObjectId(digit * 40) for digit in "abc")


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    worlds.git(tmp_path, "init", "-q", "--bare", "bare.git")
    return tmp_path / "bare.git"


def gits_tree(bare: Path, files: Mapping[str, Entry]) -> str:
    """The tree that git makes of an index with these entries."""
    rows = b"".join(f"{e.mode:o} {e.id}\t{path}".encode() + b"\0" for path, e in files.items())
    index = str(bare / "scratch-index")
    worlds.git(bare, "update-index", "-z", "--index-info", stdin=rows, GIT_INDEX_FILE=index)
    made = worlds.text(bare, "write-tree", "--missing-ok", GIT_INDEX_FILE=index)
    os.unlink(index)
    return made


def memory_tree(files: Mapping[str, Entry], base: ObjectId = EMPTY_TREE) -> tuple[ObjectId, dict[ObjectId, bytes]]:
    made, new = rewrite(lambda _: [], base, files)
    return made, {oid: raw.data for oid, raw in new.items()}


NAMES = st.sampled_from(["a", "b", "a.c", "a-b", "a0", "A", "lib", "lib.c", "lib-x", "\u00e9", "\U0001f600", "z"])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
MODES = st.sampled_from([Mode.FILE, Mode.EXECUTABLE, Mode.SYMLINK, Mode.SUBMODULE])
ENTRIES = st.builds(Entry, MODES, st.sampled_from([A, B, C]))


def without_clashes(files: Mapping[str, Entry]) -> dict[str, Entry]:
    folders = {"/".join(path.split("/")[:n]) for path in files for n in range(1, path.count("/") + 1)}
    return {path: e for path, e in files.items() if path not in folders}


@given(st.dictionaries(PATHS, ENTRIES, max_size=12), st.dictionaries(PATHS, st.none() | ENTRIES, max_size=8))
@settings(max_examples=25)
def test_a_rewritten_tree_is_the_tree_git_makes(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, Entry], changes: dict[str, Entry | None]
) -> None:
    bare = tmp_path_factory.mktemp("rewrite")
    worlds.git(bare, "init", "-q", "--bare", ".")
    old = without_clashes(before)
    after = without_clashes(old | {p: e for p, e in changes.items() if e is not None})
    for path, new in changes.items():
        if new is None:
            after.pop(path, None)
    wanted: dict[str, Entry | None] = {path: None for path in old if path not in after}
    wanted |= {path: e for path, e in after.items() if old.get(path) != e}

    base, made = memory_tree(old)
    result, _ = rewrite(lambda oid: parsed(made.get(oid, b"")), base, wanted)

    assert base == (gits_tree(bare, old) if old else EMPTY_TREE)
    assert result == (gits_tree(bare, after) if after else EMPTY_TREE)


def test_only_the_folders_above_a_change_are_new() -> None:
    files = {f"{top}/{sub}/f": Entry(Mode.FILE, A) for top in "abc" for sub in "xyz"}
    base, made = memory_tree(files)
    _, new = rewrite(lambda oid: parsed(made[oid]), base, {"a/x/f": Entry(Mode.FILE, B)})
    assert len(new) == 3  # the root, a, a/x


def test_entries_nobody_touched_are_written_back_byte_for_byte(bare: Path) -> None:
    odd = [
        (b"100664", b"group-writable", A),
        (b"0100644", b"padded", A),
        (b"120000", b"link", B),
        (b"160000", b"module", C),
        (b"100755", b"run", A),
        (b"100644", b"caf\xe9-latin", A),
        (b"100644", b"tab\tand\nnewline", A),
        (b"040000", b"zero-padded-folder", B),
    ]
    odd.sort(key=lambda e: e[1] + (b"/" if e[0] == b"040000" else b""))
    base = worlds.tree(bare, odd)
    objects = Objects(bare, bare)
    result, new = rewrite(objects.raw_tree, base, {"n.txt": Entry(Mode.FILE, A)})
    assert [e for e in parsed(new[result].data) if e[1] != b"n.txt"] == parsed(worlds.raw_tree(odd))


def test_a_folder_sorts_as_if_its_name_ended_in_a_slash() -> None:
    names = [(b"40000", b"a", b"\1" * 20), (b"100644", b"a.c", b"\1" * 20), (b"100644", b"a-c", b"\1" * 20)]
    assert [e[1] for e in parsed(serialized([*names]))] == [b"a-c", b"a.c", b"a"]


def test_removing_the_last_file_removes_its_folders() -> None:
    base, made = memory_tree({"a/b/c/f": Entry(Mode.FILE, A), "g": Entry(Mode.FILE, A)})
    result, _ = rewrite(lambda oid: parsed(made[oid]), base, {"a/b/c/f": None})
    assert result == memory_tree({"g": Entry(Mode.FILE, A)})[0]


def test_removing_every_file_gives_the_empty_tree() -> None:
    base, made = memory_tree({"a/b": Entry(Mode.FILE, A)})
    result, new = rewrite(lambda oid: parsed(made[oid]), base, {"a/b": None})
    assert result == EMPTY_TREE
    assert new[EMPTY_TREE].data == b""


@pytest.mark.parametrize(
    "changes",
    [{"a": None, "a/b": Entry(Mode.FILE, B)}, {"a/b": Entry(Mode.FILE, B), "a": None}],
    ids=["delete first", "write first"],
)
def test_a_file_gives_way_to_a_folder_of_its_name(changes: dict[str, Entry | None]) -> None:
    base, made = memory_tree({"a": Entry(Mode.FILE, A)})
    result, _ = rewrite(lambda oid: parsed(made[oid]), base, changes)
    assert result == memory_tree({"a/b": Entry(Mode.FILE, B)})[0]


@pytest.mark.parametrize(
    "changes",
    [{"a/b": None, "a": Entry(Mode.FILE, B)}, {"a": Entry(Mode.FILE, B), "a/b": None}],
    ids=["delete first", "write first"],
)
def test_a_folder_gives_way_to_a_file_of_its_name(changes: dict[str, Entry | None]) -> None:
    base, made = memory_tree({"a/b": Entry(Mode.FILE, A)})
    result, _ = rewrite(lambda oid: parsed(made[oid]), base, changes)
    assert result == memory_tree({"a": Entry(Mode.FILE, B)})[0]


@pytest.mark.parametrize(
    "raw",
    [
        b"garbage",
        b"100644 name-without-end",
        b"100644 short\0" + b"\1" * 19,
        b"100644 \0" + b"\1" * 20,
        b"100644 good\0" + b"\1" * 20 + b"rest",
        b"rest100644 good\0" + b"\1" * 20,
        b" good\0" + b"\1" * 20,
        b"100648 good\0" + b"\1" * 20,
        b"-100644 good\0" + b"\1" * 20,
        b"100644  \0" + b"\1" * 19,
        # The id ends in a digit: a parser that searches for the next entry would take it for a mode.
        b"100644 \0" + b"\1" * 19 + b"1" + b"100644 good\0" + b"\1" * 20,
    ],
)
def test_a_malformed_tree_is_never_read_in_part(raw: bytes) -> None:
    """Half a tree, committed again, would lose the other half."""
    with pytest.raises(RepositoryUnreadable) as broken:
        parsed(raw)
    assert "fsck" in broken.value.hint


def test_a_malformed_tree_is_named_in_the_error(bare: Path) -> None:
    oid = worlds.literal(bare, ObjectType.TREE, b"100644 short\0abc")
    with pytest.raises(RepositoryUnreadable, match=oid):
        Objects(bare, bare).tree(oid)


def test_a_folder_with_one_name_twice_is_not_rewritten(bare: Path) -> None:
    """Which of the two is meant nobody can know, so none is dropped."""
    twice = worlds.tree(bare, [(b"100644", b"same", A), (b"100644", b"same", B)])
    objects = Objects(bare, bare)
    with pytest.raises(RepositoryUnreadable, match="same"):
        rewrite(objects.raw_tree, twice, {"other": Entry(Mode.FILE, A)})


def test_a_folder_with_one_name_twice_is_kept_when_the_change_is_elsewhere(bare: Path) -> None:
    twice = worlds.tree(bare, [(b"100644", b"same", A), (b"40000", b"same", B)])
    root = worlds.tree(bare, [(b"40000", b"twice", twice)])
    objects = Objects(bare, bare)
    result, new = rewrite(objects.raw_tree, root, {"other": Entry(Mode.FILE, A)})
    assert (b"40000", b"twice", bytes.fromhex(twice)) in parsed(new[result].data)


@pytest.mark.parametrize("mode", [b"40000", b"040000", b"0040000", b"40755", b"040644"])
def test_a_folder_is_a_folder_whatever_its_lower_mode_bits(mode: bytes) -> None:
    assert is_tree(mode)
    assert entry((mode, b"x", bytes.fromhex(A))).is_tree


@pytest.mark.parametrize("mode", [b"100644", b"100755", b"120000", b"160000", b"0", b"4", b"400000", b"140000"])
def test_nothing_else_is_a_folder(mode: bytes) -> None:
    assert not is_tree(mode)
    assert not entry((mode, b"x", bytes.fromhex(A))).is_tree


@given(st.binary(max_size=200))
@settings(max_examples=300)
def test_any_bytes_are_a_tree_in_full_or_not_at_all(raw: bytes) -> None:
    try:
        entries = parsed(raw)
    except RepositoryUnreadable:
        return
    assert b"".join(b"%s %s\0%s" % e for e in entries) == raw
