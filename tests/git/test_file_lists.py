"""Lists of many folders, and the git process that reads them: the same files, however they are read."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from pygit2.enums import ObjectType

from forge.git import Repository
from forge.git.errors import RepositoryUnreadable, RevisionMissing
from forge.git.objects import file_lists, object_reader
from forge.git.objects.object_reader import read_many
from forge.git.objects.object_store import Objects
from forge.git.objects.raw_object import RawObject
from forge.git.values import EMPTY_TREE, ObjectId, ObjectKind
from tests.git import worlds
from tests.git.worlds import AGENT

pytestmark = pytest.mark.req("G-02", "X-04")

MANY = 2 * file_lists._FEW
SUB = "5" * 40


@pytest.fixture
def place(tmp_path: Path) -> Path:
    worlds.git(tmp_path, "init", "-q", "--bare", "repo.git")
    return tmp_path / "repo.git"


def plain(place: Path, count: int) -> list[ObjectId]:
    """Folders with nothing but files, each with others."""
    blob = worlds.blob(place, b"text")
    modes = (b"100644", b"100755", b"120000")
    return [worlds.tree(place, [(mode, b"%s-%d" % (mode, n), blob) for mode in modes]) for n in range(count)]


def odd(place: Path) -> list[ObjectId]:
    """Folders that a list must be careful with."""
    blob = worlds.blob(place, b"text")
    below = worlds.tree(place, [(b"100644", b"deep", blob)])
    names = (b"caf\xe9", b"\xe2\x82", "schön ☃".encode(), b"a\nb", b"100644 x", b"x/y")
    return [
        EMPTY_TREE,
        worlds.tree(place, [(b"100644", name, blob) for name in names]),
        worlds.tree(place, [(b"100664", b"old mode", blob), (b"160000", b"sub", SUB)]),
        worlds.tree(place, [(b"160000", b"sub", SUB)]),
        worlds.tree(place, [(b"40000", b"empty", EMPTY_TREE), (b"40755", b"\xff", below)]),
        worlds.tree(place, [(b"100644", b"a", blob), (b"40000", b"a.d", below), (b"100644", b"b", blob)]),
    ]


def root_of(place: Path, folders: list[ObjectId]) -> ObjectId:
    literally = worlds.tree(place, [(b"40000", b"%04d" % n, oid) for n, oid in enumerate(folders)])
    return worlds.tree(place, [(b"40000", b"all", literally), (b"100644", b"last", worlds.blob(place, b"text"))])


def by_git(place: Path, tree: ObjectId) -> list[str]:
    rows = worlds.ls_tree(place, tree).items()
    return [path.decode("utf-8", "surrogateescape") for path, head in rows if not head.startswith(b"160000")]


def objects_of(place: Path) -> Objects:
    return Objects(place, place)


@pytest.mark.parametrize("count", [3, MANY], ids=["few", "many"])
def test_the_list_is_gits_list_whatever_the_folders_hold(place: Path, count: int) -> None:
    worlds.tree(place, [])
    tree = root_of(place, [*plain(place, count), *odd(place)])
    objects = objects_of(place)
    listed = objects.paths(tree)
    assert listed == by_git(place, tree)
    assert len(listed) > 3 * count
    assert objects.paths(tree) == listed
    assert [path for path, entry in objects.files(tree) if not entry.is_submodule] == listed
    fresh = objects_of(place)
    assert [path for path, entry in fresh.files(tree) if not entry.is_submodule] == listed
    assert fresh.paths(tree, "x/") == [f"x/{path}" for path in listed]


def test_a_folder_without_files_has_an_empty_list(place: Path) -> None:
    worlds.tree(place, [])
    assert objects_of(place).paths(EMPTY_TREE) == []
    assert objects_of(place).paths(worlds.tree(place, [(b"160000", b"sub", SUB)])) == []


def test_a_change_among_many_folders_is_seen(place: Path) -> None:
    worlds.commit(place, root_of(place, plain(place, MANY)), branch="main")
    repo = Repository.open(place)
    repo.create_branch("work", "main")
    space = repo.workspace("work", actor=AGENT)
    before = space.list_files()
    space.write_file("all/0007/new", "x")
    space.delete_file("all/0009/100644-9")
    commit = space.commit("two changes")
    after = repo.commit_vfs(commit).list_files()
    assert after == by_git(place, repo.objects.commit(commit).tree)
    assert set(after) ^ set(before) == {"all/0007/new", "all/0009/100644-9"}
    assert repo.commit_vfs("main").list_files() == before


def test_one_lost_folder_among_many_is_named(place: Path) -> None:
    tree = root_of(place, [*plain(place, MANY), ObjectId("1" * 40)])
    with pytest.raises(RevisionMissing, match="1111"):
        objects_of(place).paths(tree)


def test_one_malformed_folder_among_many_is_refused(place: Path) -> None:
    broken = worlds.literal(place, ObjectType.TREE, b"100644 file\0short")
    with pytest.raises(RepositoryUnreadable, match="malformed"):
        objects_of(place).paths(root_of(place, [*plain(place, MANY), broken]))
    text = worlds.blob(place, b"no tree at all")
    with pytest.raises(RepositoryUnreadable, match="malformed"):
        objects_of(place).paths(root_of(place, [*plain(place, MANY), text]))


@pytest.mark.req("X-04")
def test_a_folder_with_other_content_than_its_id_says_is_not_used_for_commits(place: Path) -> None:
    blob = worlds.blob(place, b"text")
    below = worlds.tree(place, [(b"100644", b"deep", blob)])
    mixed = worlds.tree(place, [(b"40000", b"d", below), (b"100644", b"true", blob)])
    forged = worlds.raw_tree([(b"40000", b"d", below), (b"100644", b"forged", blob)])
    file = place / "objects" / mixed[:2] / mixed[2:]
    file.chmod(0o644)
    file.write_bytes(zlib.compress(b"tree %d\0" % len(forged) + forged))
    with pytest.raises(RepositoryUnreadable):
        objects_of(place).paths(root_of(place, [*plain(place, MANY), mixed]))


# -- the reader


def ids_of(place: Path) -> list[ObjectId]:
    return [*(worlds.blob(place, b"%d\n" % n * n) for n in range(300)), *plain(place, 3)]


def stored(place: Path, ids: list[ObjectId]) -> list[RawObject]:
    objects = objects_of(place)
    return [objects.read(oid) for oid in ids]


def test_objects_come_in_the_order_asked_for_and_as_often(place: Path) -> None:
    ids = ids_of(place)
    asked = [*reversed(ids), *ids[:5], *ids[:5]]
    assert list(read_many(objects_of(place), asked)) == stored(place, asked)
    assert list(read_many(objects_of(place), [])) == []


def test_a_commit_and_a_tag_are_told_from_other_objects(place: Path) -> None:
    commit = worlds.commit(place, worlds.tree(place, []))
    tag = worlds.literal(place, ObjectType.TAG, b"object %s\ntype commit\ntag t\n\nm\n" % commit.encode())
    assert [kind for kind, _ in read_many(objects_of(place), [ObjectId(commit), tag])] == [ObjectKind.COMMIT, 4]


def test_what_is_not_there_is_said_at_its_place(place: Path) -> None:
    ids = ids_of(place)
    reading = read_many(objects_of(place), [*ids[:2], ObjectId("1" * 40), *ids[2:]])
    assert [next(reading), next(reading)] == stored(place, ids[:2])
    with pytest.raises(RevisionMissing):
        next(reading)


@pytest.mark.parametrize("instead", [["false"], ["head", "-c", "20"]], ids=["ends at once", "ends within an answer"])
def test_when_git_gives_up_the_rest_is_read_without_it(
    place: Path, monkeypatch: pytest.MonkeyPatch, instead: list[str]
) -> None:
    ids = ids_of(place)
    monkeypatch.setattr(object_reader, "arguments", lambda *_: instead)
    assert list(read_many(objects_of(place), ids)) == stored(place, ids)


def test_git_ends_when_nobody_reads_on(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    start = object_reader._started

    def starting(objects: Objects, ids: Sequence[ObjectId]) -> subprocess.Popen[bytes]:
        started.append(start(objects, ids))
        return started[-1]

    monkeypatch.setattr(object_reader, "_started", starting)
    ids = [worlds.blob(place, b"%d" % n * 100_000) for n in range(30)]
    reading = read_many(objects_of(place), ids)
    next(reading)
    assert started[0].poll() is None
    reading.close()
    assert started[0].returncode is not None


def test_lists_of_which_only_the_last_few_are_kept_are_right_on_every_commit(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lists, "_LARGE", 100)
    monkeypatch.setattr(file_lists, "_KEPT_LARGE_BYTES", 8_000)
    repo = Repository.open(place)
    workspace = repo.workspace("main")
    for number in range(30):
        workspace.write_file(f"src/folder-{number % 3}/file-{number}.txt", "text\n")
    commits = [workspace.commit("first")]
    for number in range(8):
        workspace.write_file(f"src/folder-{number % 3}/new-{number}.txt", "text\n")
        commits.append(workspace.commit("next"))
    for commit in (*commits, *reversed(commits), *commits):
        expected = worlds.git(place, "ls-tree", "-r", "--name-only", str(commit)).decode().split()
        assert repo.commit_vfs(str(commit)).list_files() == expected
