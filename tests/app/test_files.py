"""Files through the one door: pages, contents with etags, saves that never overwrite what nobody saw."""

from __future__ import annotations

import io
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.app.access.identity import LOCAL, forget_owner, record_new
from forge.app.repositories import edits, files, write
from forge.app.sessions.attachments import attach
from forge.errors import Conflict, Denied, InvalidInput, NotFound
from forge.events import BranchChanged
from forge.git import GitCommitVFS, Query, Repository, WorkInProgressVFS
from forge.git.refs.reservations import reserve
from tests.app.facade import BO, READER, Place, place, shop
from tests.conftest import Git

__all__ = ["place", "shop"]

pytestmark = pytest.mark.req("X-02")


def test_files_come_in_pages(place: Place) -> None:
    first = files.list_files(place.shop, LOCAL, place.id, limit=2)
    assert [each.path for each in first.items] == ["a.txt", "b/c.txt"]
    second = files.list_files(place.shop, LOCAL, place.id, after=first.next, limit=2)
    assert ([each.path for each in second.items], second.next) == (["b/d.txt", "picture.png"], None)
    below = files.list_files(place.shop, LOCAL, place.id, prefix="b/d")
    assert [each.path for each in below.items] == ["b/d.txt"]


_PATHS = st.lists(st.sampled_from(["a", "a.b", "a-b", "a0", "b"]), min_size=1, max_size=3).map("/".join)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return Repository.init(tmp_path_factory.mktemp("scratch"))


@settings(max_examples=40)
@given(st.sets(_PATHS, min_size=1, max_size=12), st.integers(1, 5), st.sampled_from(["", "a", "a/", "a.", "a/a", "z"]))
def test_pages_together_are_the_list_that_git_gives(
    scratch: Repository, names: set[str], limit: int, prefix: str
) -> None:
    workspace = scratch.workspace("main", base=None)
    for name in names:
        if not any(other.startswith(f"{name}/") for other in names):
            workspace.write_file(name, name)
    made, new = workspace.draft("all", scratch.signature())
    view = GitCommitVFS(scratch.objects.with_new(new), made)
    listed: list[str] = []
    while page := list(islice(files.files_after(view, prefix, listed[-1] if listed else None), limit)):
        listed += [path for path, _ in page]
    assert listed == view.list_files(prefix)


def test_a_folder_comes_in_pages_also_when_the_last_known_name_is_gone(place: Place) -> None:
    page = files.list_folder(place.shop, LOCAL, place.id, limit=1)
    assert [(each.path, each.kind) for each in page.items] == [("a.txt", "file")]
    rest = files.list_folder(place.shop, LOCAL, place.id, after=page.next)
    assert [(each.name, each.kind) for each in rest.items] == [("b", "directory"), ("picture.png", "file")]
    assert [each.name for each in files.list_folder(place.shop, LOCAL, place.id, after="aa").items] == [
        "b",
        "picture.png",
    ]
    inner = files.list_folder(place.shop, LOCAL, place.id, "b/").items
    assert [each.path for each in inner] == ["b/c.txt", "b/d.txt"]
    assert inner[0].etag == files.read_file(place.shop, LOCAL, place.id, "b/c.txt").etag


def test_a_file_is_read_with_its_etag(place: Place, git: Git) -> None:
    found = files.read_file(place.shop, LOCAL, place.id, "a.txt", branch="main")
    assert (found.text, found.mode, found.binary) == ("one\n", "100644", False)
    assert found.etag == git(place.path, "rev-parse", "main:a.txt")
    assert found.commit == git(place.path, "rev-parse", "main")
    picture = files.read_file(place.shop, LOCAL, place.id, "picture.png")
    assert (picture.binary, picture.text) == (True, None)
    with pytest.raises(NotFound):
        files.read_file(place.shop, LOCAL, place.id, "b")
    with pytest.raises(InvalidInput):
        files.read_file(place.shop, LOCAL, place.id, "a.txt", branch="main", at="HEAD")


def test_a_save_is_one_commit_that_is_told_and_audited(place: Place, git: Git) -> None:
    seen = files.read_file(place.shop, LOCAL, place.id, "a.txt")
    saved = edits.save_file(place.shop, LOCAL, place.id, "main", "a.txt", b"new\n", expected=seen.etag)
    assert saved.commit == git(place.path, "rev-parse", "main")
    assert git(place.path, "log", "-1", "--format=%s %an") == "edit: a.txt Ada Example"
    assert saved.etag == git(place.path, "rev-parse", "main:a.txt")
    assert place.told("main") == [BranchChanged("main", saved.commit, "you")]
    assert place.deeds() == ["repository.add", "file.save"]


def test_saving_the_same_again_makes_no_commit(place: Place) -> None:
    before = place.repo.resolve("main")
    saved = edits.save_file(place.shop, LOCAL, place.id, "main", "a.txt", b"one\n")
    assert (saved.changed, saved.commit, saved.operation) == (False, before, None)
    assert place.told("main") == []


def test_what_changed_since_it_was_read_is_not_overwritten(place: Place) -> None:
    seen = files.read_file(place.shop, LOCAL, place.id, "a.txt").etag
    first = edits.save_file(place.shop, LOCAL, place.id, "main", "a.txt", b"first\n", expected=seen)
    with pytest.raises(write.FileChanged) as refused:
        edits.save_file(place.shop, LOCAL, place.id, "main", "a.txt", b"second\n", expected=seen)
    assert (refused.value.code, refused.value.etag) == ("file_changed", first.etag)
    with pytest.raises(write.FileChanged):
        edits.delete_file(place.shop, LOCAL, place.id, "main", "a.txt", expected=seen)
    with pytest.raises(write.FileChanged):
        edits.rename_file(place.shop, LOCAL, place.id, "main", "a.txt", "z.txt", expected=seen)
    assert files.read_file(place.shop, LOCAL, place.id, "a.txt").data == b"first\n"


def test_a_new_file_is_made_once(place: Place) -> None:
    edits.save_file(place.shop, LOCAL, place.id, "main", "new.txt", b"1", expected=write.NEW)
    with pytest.raises(write.FileChanged):
        edits.save_file(place.shop, LOCAL, place.id, "main", "new.txt", b"2", expected=write.NEW)
    with pytest.raises(write.FileChanged) as gone:
        edits.save_file(place.shop, LOCAL, place.id, "main", "never.txt", b"2", expected="0" * 40)
    assert gone.value.etag is None


def test_files_are_renamed_deleted_and_made_executable(place: Place, git: Git) -> None:
    moved = edits.rename_file(place.shop, LOCAL, place.id, "main", "a.txt", "z.txt")
    assert moved.etag == git(place.path, "rev-parse", "main:z.txt")
    assert edits.delete_file(place.shop, LOCAL, place.id, "main", "z.txt").etag is None
    edits.save_file(place.shop, LOCAL, place.id, "main", "run.sh", b"#!", executable=True, message="script")
    assert git(place.path, "ls-tree", "--name-only", "main").split() == ["b", "picture.png", "run.sh"]
    assert git(place.path, "ls-tree", "main", "run.sh").startswith("100755")
    assert place.deeds()[1:] == ["file.rename", "file.delete", "file.save"]


def test_a_folder_moves_and_goes_as_one_commit_with_modes_and_links(place: Place, git: Git) -> None:
    edits.save_file(place.shop, LOCAL, place.id, "main", "b/run.sh", b"#!", executable=True)
    before = git(place.path, "ls-tree", "-r", "main", "b/").replace("\tb/", "\tB/")
    count = int(git(place.path, "rev-list", "--count", "main"))
    edits.rename_folder(place.shop, LOCAL, place.id, "main", "b", "B")
    assert git(place.path, "ls-tree", "-r", "main", "B/") == before
    assert git(place.path, "ls-tree", "-r", "--name-only", "main", "b/") == ""
    edits.delete_folder(place.shop, LOCAL, place.id, "main", "B")
    assert int(git(place.path, "rev-list", "--count", "main")) == count + 2
    assert place.deeds()[-2:] == ["folder.rename", "folder.delete"]


def test_a_folder_is_not_moved_over_what_is_there_nor_into_itself(place: Place) -> None:
    edits.save_file(place.shop, LOCAL, place.id, "main", "other/x.txt", b"x")
    for target in ("other", "a.txt", "a.txt/b", "picture.PNG"):
        with pytest.raises(Conflict) as refused:
            edits.rename_folder(place.shop, LOCAL, place.id, "main", "b", target)
        assert refused.value.code == "path_clash"
    with pytest.raises(InvalidInput):
        edits.rename_folder(place.shop, LOCAL, place.id, "main", "b", "b/deeper")
    with pytest.raises(NotFound):
        edits.delete_folder(place.shop, LOCAL, place.id, "main", "a.txt")


def test_folders_are_guarded_as_files_are(place: Place) -> None:
    with pytest.raises(Denied):
        edits.rename_folder(place.shop, READER, place.id, "main", "b", "c")
    with pytest.raises(Denied):
        edits.delete_folder(place.shop, READER, place.id, "main", "b")
    reserve(place.repo.common_dir, "main", "t1", "scripted")
    for change in (
        lambda: edits.rename_folder(place.shop, LOCAL, place.id, "main", "b", "c"),
        lambda: edits.delete_folder(place.shop, LOCAL, place.id, "main", "b"),
    ):
        with pytest.raises(Conflict) as refused:
            change()
        assert refused.value.code == "branch_busy"


def test_a_user_is_the_author_of_what_they_save(place: Place, git: Git) -> None:
    with pytest.raises(NotFound):
        edits.save_file(place.shop, BO, place.id, "main", "a.txt", b"x")
    forget_owner(place.shop, "repository", place.id)
    record_new(place.shop, BO, "repository", place.id)
    edits.save_file(place.shop, BO, place.id, "main", "a.txt", b"x")
    assert git(place.path, "log", "-1", "--format=%an <%ae>") == "Bo Other <bo@forge.invalid>"
    assert next(place.repo.operations()).actor.name == "Bo Other"


def test_a_branch_that_a_turn_works_on_is_left_alone(place: Place) -> None:
    reserve(place.repo.common_dir, "main", "t1", "scripted")
    with pytest.raises(Conflict) as refused:
        edits.save_file(place.shop, LOCAL, place.id, "main", "a.txt", b"x")
    assert refused.value.code == "branch_busy"


def test_without_the_scope_nothing_is_saved(place: Place) -> None:
    with pytest.raises(Denied):
        edits.save_file(place.shop, READER, place.id, "main", "a.txt", b"x")
    assert files.read_file(place.shop, READER, place.id, "a.txt").data == b"one\n"


@pytest.mark.req("G-09")
def test_a_save_goes_on_where_the_branch_moved_elsewhere(
    place: Place, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = files.read_file(place.shop, LOCAL, place.id, "a.txt").etag
    real = WorkInProgressVFS.commit
    between = ["commit -q --allow-empty -m meanwhile"]

    def commit(self: WorkInProgressVFS, *args: object, **options: object) -> object:
        if between:
            subprocess.run(["git", *between.pop().split()], cwd=place.path, check=True)
        return real(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(WorkInProgressVFS, "commit", commit)
    edits.save_file(place.shop, LOCAL, place.id, "main", "a.txt", b"mine\n", expected=seen)
    assert git(place.path, "log", "-2", "--format=%s", "main").split("\n") == ["edit: a.txt", "meanwhile"]


@pytest.mark.req("G-09")
def test_of_many_saves_of_one_file_each_sees_the_one_before(place: Place, git: Git) -> None:
    """Read, add a line, save: with etags no line is lost, whoever comes between."""

    def add(line: int) -> None:
        while True:
            seen = files.read_file(place.shop, LOCAL, place.id, "a.txt", branch="main")
            data = seen.data + b"%d\n" % line
            try:
                edits.save_file(place.shop, LOCAL, place.id, "main", "a.txt", data, expected=seen.etag)
            except write.FileChanged:
                continue
            return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(12)))
    lines = git(place.path, "show", "main:a.txt").split("\n")
    assert sorted(lines[1:], key=int) == [str(number) for number in range(12)]
    assert git(place.path, "rev-list", "--count", "main") == "13"


def test_files_attached_at_once_are_all_kept(place: Place, git: Git) -> None:
    names = [f"note-{n}.txt" for n in range(8)]

    def attached(name: str) -> str:
        return attach(place.shop, LOCAL, place.id, "main", name=name, content=io.BytesIO(name.encode())).path

    with ThreadPoolExecutor(8) as several:
        paths = list(several.map(attached, names))
    assert paths == [f"attachments/{name}" for name in names]
    assert git(place.path, "ls-tree", "--name-only", "main:attachments").split() == names


def test_saves_of_other_processes_are_no_trouble(place: Place, git: Git) -> None:
    other = Repository.open(place.path)  # nothing is shared with the one that is kept open

    def theirs(number: int) -> None:
        write.save(other, "main", f"theirs/{number}", b"x")

    def ours(number: int) -> None:
        edits.save_file(place.shop, LOCAL, place.id, "main", f"ours/{number}", b"x")

    with ThreadPoolExecutor(2) as pool:
        done = [pool.submit(each, number) for number in range(6) for each in (theirs, ours)]
        for each in done:
            each.result()
    assert len(git(place.path, "ls-tree", "-r", "--name-only", "main", "ours", "theirs").split()) == 12


def test_a_search_is_bounded(place: Place) -> None:
    found = files.search(place.shop, LOCAL, place.id, Query("t", max_matches=1, max_seconds=5))
    assert (found.matches, found.truncated) == (1, "matches")
    with pytest.raises(InvalidInput):
        files.search(place.shop, LOCAL, place.id, Query("t", max_matches=2000, max_seconds=5))
    with pytest.raises(InvalidInput):
        files.search(place.shop, LOCAL, place.id, Query("t", max_seconds=60))
