"""Trees made to do harm: nothing is written outside, the rest is there, and what was left out is noted and kept."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from forge.errors import ForgeError
from forge.git import Repository, WorkInProgressVFS
from forge.git.errors import RepositoryUnreadable, RevisionMissing
from forge.git.materialize import bulk, stat_index, wanted, writer
from forge.git.materialize.directory import MaterializedDirectory, materialize
from forge.git.materialize.links import complaints
from forge.git.materialize.slots import Slot
from forge.git.objects.raw_object import RawObject, object_id
from forge.git.values import Entry, Mode, ObjectId, ObjectKind
from forge.git.workspace.commit_vfs import GitCommitVFS
from tests.conftest import Git, MakeRepo
from tests.git import worlds
from tests.git.hostile_trees import CONTENT, HOSTILE, hostile_tree

pytestmark = pytest.mark.req("G-04", "X-04", "X-06")

BROKEN = {"folder that is missing", "file that is missing", "name twice", "blob as folder"}
"""The repository itself lacks an object or has a wrong one: nothing sensible can be shown."""


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    worlds.git(tmp_path, "init", "-q", "--bare", "repo.git")
    return tmp_path / "repo.git"


Open = Callable[[GitCommitVFS | WorkInProgressVFS], AbstractContextManager[MaterializedDirectory]]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    yield lambda view: materialize(view.objects, view, root=tmp_path / "cache", key="k")
    # Folders nested very deeply pytest itself could not remove.
    subprocess.run(["rm", "-rf", str(tmp_path / "cache")], check=True)


def files_below(place: Path) -> set[str]:
    """Everything but folders, without following anything."""
    found: set[str] = set()
    for folder, folders, names in os.walk(place):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        found |= {str(Path(folder, name).relative_to(place)) for name in [*names, *links]}
    return found


def view_of(place: Path, tree: str) -> Repository:
    worlds.commit(place, tree, branch="main")
    return Repository.open(place)


@pytest.mark.parametrize("how", ["by our writer", "by git", "later"])
@pytest.mark.parametrize("kind", sorted(HOSTILE.keys() - BROKEN))
def test_a_hostile_tree_is_materialised_as_far_as_it_is_harmless(
    bare: Path, opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, how: str
) -> None:
    monkeypatch.setattr(bulk, "WORTH_IT", 0 if how == "by git" else 10**9)
    if how == "later":
        repo = view_of(bare, worlds.tree(bare, [(b"100644", b"old", worlds.blob(bare, b"old"))]))
        with opened(repo.workspace("main")):
            pass
    evil = hostile_tree(bare, kind)
    repo = view_of(bare, worlds.tree(bare, [(b"40000", b"evil", evil), *worlds_entries(bare, kind)]))
    before = files_below(tmp_path)
    workspace = repo.workspace("main")
    with opened(workspace) as directory:
        assert (directory / "evil/zz-file").read_bytes() == CONTENT
        new = files_below(tmp_path) - before
        assert all(path.startswith("cache/") for path in new)
        inside = files_below(directory.path)
        assert not {path for path in inside if ".git" in path.lower().split("/")[:-1]}
        assert directory.collect_changes() == ()
        assert workspace.pending == {}
        (directory / "evil/zz-file").write_text("changed")
        assert [change.path for change in directory.collect_changes()] == ["evil/zz-file"]
    assert {path for path in files_below(tmp_path) - before if not path.startswith("cache/")} == set()


def worlds_entries(place: Path, kind: str) -> list[tuple[bytes, bytes, str]]:
    blob = worlds.blob(place, CONTENT)
    return [(b"100644", f"top-{kind}".replace("/", "-").encode(), blob)]


NOTED = ["dot dot", "dot git", "slash in a name", "up and out", "mode 0", "long name", "folder as symlink"]


@pytest.mark.parametrize("kind", NOTED)
def test_what_is_left_out_is_noted(bare: Path, opened: Open, kind: str) -> None:
    repo = view_of(bare, hostile_tree(bare, kind))
    with opened(repo.workspace("main")) as directory:
        assert directory.notes
        assert all(note.reason.startswith("left out: ") for note in directory.notes)
        assert (directory / "zz-file").exists()


@pytest.mark.parametrize("kind", sorted(BROKEN))
def test_a_repository_without_its_objects_is_reported(bare: Path, opened: Open, kind: str) -> None:
    repo = view_of(bare, hostile_tree(bare, kind))
    with (
        pytest.raises((RevisionMissing, RepositoryUnreadable)),
        opened(repo.workspace("main")),
    ):
        pass


def test_nesting_without_end_is_cut_off_and_the_rest_is_there(bare: Path, opened: Open) -> None:
    blob = worlds.blob(bare, CONTENT)
    deep, new = blob, {}
    for mode in (b"100644", *[b"40000"] * 10_000):
        raw = worlds.raw_tree([(mode, b"d", deep)])
        deep = object_id(ObjectKind.TREE, raw)
        new[deep] = RawObject(ObjectKind.TREE, raw)
    with Repository.open(bare).objects.writing(new):
        top = worlds.tree(bare, [(b"40000", b"d", deep), (b"100644", b"file", blob)])
    repo = view_of(bare, top)
    for _ in range(2):
        view = repo.commit_vfs("main")
        with opened(view) as directory:
            assert (directory / "file").read_bytes() == CONTENT
            assert any("nested too deeply" in note.reason for note in directory.notes)
            assert directory.collect_changes() == ()


def test_a_few_trees_that_unfold_into_billions_of_files_are_refused(
    bare: Path, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wanted, "MAX_FILES", 10_000)
    tree = worlds.tree(bare, [(b"100644", f"{n:03}".encode(), worlds.blob(bare, b"")) for n in range(200)])
    for _ in range(8):
        tree = worlds.tree(bare, [(b"40000", f"{n:03}".encode(), tree) for n in range(200)])
    repo = view_of(bare, tree)
    with (
        pytest.raises(ForgeError, match="files"),
        opened(repo.commit_vfs("main")),
    ):
        pass


@pytest.mark.parametrize("path", ["../victim", "d/../../victim", "d/..", "..", ".", "", "d//victim", "./victim"])
def test_no_record_however_wrong_leads_out_of_the_directory(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    (root / "d").mkdir(parents=True)
    (tmp_path / "victim").write_text("precious")
    (root / "victim").write_text("inside")
    writer.remove(root, [path], keep=())
    outcome = writer.write(root, [(path, Entry(Mode.FILE, ObjectId("0" * 40)), b"evil")])
    assert outcome.refused.keys() == {path}
    assert files_below(tmp_path) == {"victim", "root/victim"}
    assert (tmp_path / "victim").read_text() == "precious"
    assert (root / "d").is_dir()


# -- symlinks


SAFE = {
    "here": "file",
    "d/up": "../file",
    "dangling": "nowhere/at/all",
    "self-folder": ".",
    "d/root": "..",
    "chain1": "chain2",
    "chain2": "chain3",
    "chain3": "d/file",
    "through": "d/root/d/file",
    "d/e/far": "../../d/../file",
}
OUTSIDE = {
    "absolute": "/etc/passwd",
    "parent": "..",
    "d/far-up": "../../x",
    "lexical": "d/../../x",
    "zig-zag": "d/root/../x",
    "link-to-absolute": "absolute",
    "below-absolute": "absolute/x",
    "missing-then-up": "nowhere/../../x",
    "d/e/through-root": "../root/../etc",
}
CIRCLES = {"loop": "loop", "ping": "pong", "pong": "ping", "deep": "deep/deep"}


@pytest.mark.parametrize("worth_it", [0, 10**9])
def test_only_symlinks_that_stay_inside_are_made(
    make_repo: MakeRepo, opened: Open, monkeypatch: pytest.MonkeyPatch, worth_it: int
) -> None:
    monkeypatch.setattr(bulk, "WORTH_IT", worth_it)
    links = SAFE | OUTSIDE | CIRCLES
    repo = make_repo({"file": "f", "d/file": "df", "d/e/file": "e"}, symlinks=links)
    workspace = Repository.open(repo).workspace("main")
    with opened(workspace) as directory:
        made = {path for path in links if os.path.lexists(directory / path)}
        assert made == SAFE.keys()
        assert {note.path for note in directory.notes} == OUTSIDE.keys() | CIRCLES.keys()
        for path in made:
            real = os.path.realpath(directory / path)
            assert real == str(directory) or real.startswith(f"{directory}/")
        assert directory.collect_changes() == ()
    assert set(workspace.list_files()) == {"file", "d/file", "d/e/file"} | links.keys()


def test_a_symlink_is_judged_again_when_another_one_on_its_way_changes(make_repo: MakeRepo, opened: Open) -> None:
    workspace = Repository.open(
        make_repo({"d/f": "f", "x/y/f": "g"}, symlinks={"l": "s/../../f", "s": "x/y"})
    ).workspace("main")

    def made() -> set[str]:
        with opened(workspace) as directory:
            assert {note.path for note in directory.notes} == {"l", "s"} - _links(directory)
            assert directory.collect_changes() == ()
            return _links(directory)

    assert made() == {"l", "s"}
    workspace.write_bytes("s", b"d", mode=Mode.SYMLINK)
    assert made() == {"s"}
    workspace.write_bytes("s", b"/d", mode=Mode.SYMLINK)
    assert made() == set()
    workspace.discard()
    assert made() == {"l", "s"}


def _links(directory: MaterializedDirectory) -> set[str]:
    return {name for name in ("l", "s") if (directory / name).is_symlink()}


def test_links_are_judged_by_folded_names_where_case_does_not_count() -> None:
    links = {"x/Dir": "..", "x/l": "dir/../etc"}
    assert complaints(links, str) == {}
    assert complaints(links, str.lower).keys() == {"x/l"}


# -- other kinds of entries


def test_submodules_are_empty_folders_and_stay_what_they_are(make_repo: MakeRepo, git: Git, opened: Open) -> None:
    inner, outer = make_repo({"f": "f"}, name="inner"), make_repo({"g": "g"}, name="outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(outer, "commit", "-qm", "submodule")
    workspace = Repository.open(outer).workspace("main")
    for _ in range(2):
        with opened(workspace) as directory:
            assert list((directory / "sub").iterdir()) == []
            assert [note.path for note in directory.notes] == ["sub"]
            (directory / "sub/made").write_text("x")
            (directory / "g").write_text("x")
            assert [change.path for change in directory.collect_changes()] == ["g"]
            assert [note.path for note in directory.notes] == ["sub", "sub/made"]
            (directory / "sub/made").unlink()
            (directory / "sub").rmdir()
            assert directory.collect_changes() == ()
        workspace.discard()
    assert workspace.entry("sub") is not None


def test_a_file_made_where_an_entry_was_left_out_is_not_collected(make_repo: MakeRepo, opened: Open) -> None:
    workspace = Repository.open(make_repo({"f": "f"}, symlinks={"out": "/etc"})).workspace("main")
    with opened(workspace) as directory:
        (directory / "out").mkdir()
        (directory / "out/file").write_text("x")
        assert directory.collect_changes() == ()
        assert [note.path for note in directory.notes] == ["out", "out/file"]
    assert workspace.pending == {}
    assert workspace.read_bytes("out") == b"/etc"


@pytest.mark.parametrize("later", [False, True])
def test_names_that_are_one_on_this_file_system_are_written_once(
    bare: Path, opened: Open, monkeypatch: pytest.MonkeyPatch, later: bool
) -> None:
    monkeypatch.setattr(Slot, "ignores_case", property(lambda _: True))
    blob = worlds.blob(bare, CONTENT)
    inner = worlds.tree(bare, [(b"100644", b"inside", blob)])
    if later:
        repo = view_of(bare, worlds.tree(bare, [(b"100644", b"readme", blob)]))
        with opened(repo.workspace("main")):
            pass
    names = [
        (b"40000", b"Dir", inner),
        (b"100644", b"README", blob),
        (b"40000", b"dir", inner),
        (b"100644", b"readme", blob),
    ]
    repo = view_of(bare, worlds.tree(bare, names))
    workspace = repo.workspace("main")
    with opened(workspace) as directory:
        assert files_below(directory.path) == {"Dir/inside", "README"}
        assert {note.path for note in directory.notes} == {"dir", "readme"}
        assert directory.collect_changes() == ()
    assert workspace.pending == {}


# -- the index


def test_git_reads_the_index_that_forge_writes(tmp_path: Path, make_repo: MakeRepo) -> None:
    repo = make_repo({"a": "1", "b/c" + "d" * 200: "2", "é/x": "3"}, executable=["a"], symlinks={"l": "a"})
    records: dict[bytes, bytes] = {}
    wanted: set[str] = set()
    for line in subprocess.check_output(["git", "ls-files", "-s", "-z"], cwd=repo).decode().split("\0"):
        if line:
            wanted.add(line)
            facts, _, path = line.partition("\t")
            mode, oid, _ = facts.split()
            seen = stat_index.look((repo / path).lstat())
            entry = Entry(int(mode, 8), ObjectId(oid))
            records[path.encode()] = stat_index.record(path.encode(), entry, seen)
    index = tmp_path / "index"
    size = stat_index.write(index, records)
    assert size == index.stat().st_size
    assert stat_index.read(index) == records
    env = os.environ | {"GIT_INDEX_FILE": str(index)}
    listed = subprocess.check_output(["git", "ls-files", "-s", "-z"], cwd=repo, env=env).decode()
    assert {line for line in listed.split("\0") if line} == wanted
    os.utime(index)
    assert subprocess.check_output(["git", "diff-files"], cwd=repo, env=env) == b""
    index.write_bytes(index.read_bytes()[:-1] + b"x")
    with pytest.raises(stat_index.IndexDamaged):
        stat_index.read(index)


def test_a_young_file_is_certain_only_if_nothing_about_it_can_have_changed(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("f")
    seen = stat_index.look((tmp_path / "f").stat())
    second = seen.changed // 10**9 * 10**9

    def uncertain(seen: stat_index.Look, since: int, *, whole: bool = False, path: bytes = b"f") -> bool:
        records = {path: stat_index.record(path, Entry(Mode.FILE, ObjectId("0" * 40)), seen)}
        folder = os.open(tmp_path, os.O_RDONLY)
        try:
            return bool(list(stat_index.uncertain(records, folder, stat_index.Young(since, since + 10**9, whole))))
        finally:
            os.close(folder)

    assert not uncertain(seen, seen.changed + 1)
    assert uncertain(seen, seen.changed)
    assert uncertain(seen._replace(inode=seen.inode + 1), seen.changed + 1)
    assert uncertain(seen._replace(changed=second + (seen.changed + 1) % 10**9), seen.changed + 1)
    assert uncertain(seen, seen.changed + 1, path=b"gone")
    older = seen._replace(changed=seen.changed - 10**9)
    assert not uncertain(older, seen.changed + 1)  # git sees another second
    assert uncertain(older, seen.changed + 1, whole=True)
