"""A branch being worked on: pending changes, clashes, and the one commit they become."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.errors import InvalidInput
from forge.git import (
    BranchMissing,
    BranchMoved,
    Change,
    DirEntry,
    DirKind,
    InvalidPath,
    Mode,
    NotText,
    Repository,
    Signature,
    WorkInProgressVFS,
)
from forge.git.errors import FileMissing, NothingToCommit, PathClash, RepositoryUnreadable
from forge.git.objects.commits import decoded, message_with
from forge.git.values import CommitId
from tests.conftest import MakeRepo
from tests.git import worlds
from tests.git.worlds import AGENT

pytestmark = pytest.mark.req("G-02")

FILES = {"a.txt": "a\n", "src/one.py": "1\n", "src/two.py": "2\n", "docs/guide/intro.md": "# Hi\n", "readme": "r\n"}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = worlds.filled(tmp_path_factory.mktemp("template") / "repo.git", FILES)
    repo.create_branch("work", "main")
    return repo.git_dir


@pytest.fixture
def repo(template: Path, tmp_path: Path) -> Repository:
    return Repository.open(worlds.copied(template, tmp_path / "repo.git"))


@pytest.fixture
def space(repo: Repository) -> WorkInProgressVFS:
    return repo.workspace("work", actor=AGENT)


def committed(repo: Repository, branch: str = "work") -> dict[str, bytes]:
    vfs = repo.commit_vfs(branch)
    return {path: vfs.read_bytes(path) for path in vfs.list_files()}


# -- pending changes


def test_reads_see_pending_changes_first_and_the_branch_sees_none_of_them(
    repo: Repository, space: WorkInProgressVFS
) -> None:
    space.write_file("a.txt", "changed\n")
    space.write_file("new/file.txt", "new\n")
    space.delete_file("src/one.py")
    assert space.read_file("a.txt") == "changed\n"
    assert space.list_files() == ["a.txt", "docs/guide/intro.md", "new/file.txt", "readme", "src/two.py"]
    assert space.list_files("src/") == ["src/two.py"]
    assert not space.file_exists("src/one.py")
    with pytest.raises(FileMissing):
        space.read_file("src/one.py")
    assert [e.name for e in space.list_dir()] == ["a.txt", "docs", "new", "readme", "src"]
    assert space.list_dir("new") == (DirEntry("file.txt", DirKind.FILE, Mode.FILE),)
    assert space.pending_changes() == {
        "a.txt": Change.MODIFIED,
        "new/file.txt": Change.ADDED,
        "src/one.py": Change.DELETED,
    }
    assert committed(repo) == {path: data.encode() for path, data in FILES.items()}


def test_discard_forgets_everything(space: WorkInProgressVFS) -> None:
    before = space.list_files()
    space.write_file("a.txt", "x")
    space.write_file("deep/er/file", "x")
    space.delete_file("readme")
    space.rename_file("src/one.py", "src/1.py")
    space.discard()
    assert space.pending_changes() == {}
    assert space.list_files() == before
    assert space.read_file("a.txt") == "a\n"
    assert space.entry("deep") is None
    with pytest.raises(NothingToCommit):
        space.commit("nothing")


def test_a_workspace_that_is_dropped_leaves_nothing_behind(repo: Repository, space: WorkInProgressVFS) -> None:
    def everything() -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in repo.git_dir.rglob("*") if p.is_file()}

    before = everything()
    space.write_file("a.txt", "x")
    space.write_bytes("big.bin", os.urandom(100_000))
    space.delete_file("readme")
    assert everything() == before


@pytest.mark.parametrize(
    "there_and_back",
    [
        lambda s: (s.write_file("a.txt", "x"), s.write_file("a.txt", "a\n")),
        lambda s: (s.write_file("new", "x"), s.delete_file("new")),
        lambda s: (s.delete_file("a.txt"), s.write_file("a.txt", "a\n")),
        lambda s: (s.rename_file("a.txt", "b.txt"), s.rename_file("b.txt", "a.txt")),
        lambda s: (s.set_mode("a.txt", Mode.EXECUTABLE), s.set_mode("a.txt", Mode.FILE)),
        lambda s: (
            (s.delete_file("src/one.py"), s.delete_file("src/two.py"), s.write_file("src", "file"))
            and (s.delete_file("src"), s.write_file("src/one.py", "1\n"), s.write_file("src/two.py", "2\n"))
        ),
        lambda s: s.write_file("a.txt", "a\n"),
        lambda s: s.rename_file("a.txt", "a.txt"),
    ],
    ids=["edit", "create", "delete", "rename", "mode", "folder to file", "same text", "same name"],
)
def test_a_change_and_its_reverse_leave_nothing_pending(
    space: WorkInProgressVFS, there_and_back: Callable[[WorkInProgressVFS], object]
) -> None:
    before = space.list_files(), space.list_dir(), space.list_dir("src")
    there_and_back(space)
    assert space.pending_changes() == {}
    assert (space.list_files(), space.list_dir(), space.list_dir("src")) == before
    with pytest.raises(NothingToCommit):
        space.commit("nothing")


def test_what_a_caller_does_to_its_buffer_later_changes_nothing(repo: Repository, space: WorkInProgressVFS) -> None:
    buffer = bytearray(b"before")
    space.write_bytes("a.bin", buffer)
    buffer[:] = b"after!"
    space.commit("buffer")
    assert committed(repo)["a.bin"] == b"before"


def test_the_pending_view_cannot_be_changed_from_outside(space: WorkInProgressVFS) -> None:
    space.write_file("x", "x")
    with pytest.raises(TypeError):
        space.pending["y"] = None  # type: ignore[index]


def test_text_that_utf8_cannot_hold_is_refused(space: WorkInProgressVFS) -> None:
    with pytest.raises(NotText):
        space.write_file("x.txt", "half \ud83d of a pair")
    assert space.pending_changes() == {}


# -- files and folders in each other's way


def test_a_file_is_not_written_where_a_folder_is(space: WorkInProgressVFS) -> None:
    for path in ("src", "docs", "docs/guide"):
        with pytest.raises(PathClash, match="directory"):
            space.write_file(path, "x")
    assert space.pending_changes() == {}


def test_a_file_is_not_written_below_a_file(space: WorkInProgressVFS) -> None:
    for path in ("a.txt/x", "a.txt/deep/er/x", "src/one.py/x"):
        with pytest.raises(PathClash, match="not a folder"):
            space.write_file(path, "x")
    space.write_file("fresh", "x")
    with pytest.raises(PathClash):
        space.write_file("fresh/x", "x")
    assert list(space.pending_changes()) == ["fresh"]


def test_a_pending_folder_is_not_overwritten_by_a_file(space: WorkInProgressVFS) -> None:
    space.write_file("fresh/deep/x", "x")
    for path in ("fresh", "fresh/deep"):
        with pytest.raises(PathClash):
            space.write_file(path, "x")


def test_deleting_a_file_makes_room_for_a_folder_of_its_name(repo: Repository, space: WorkInProgressVFS) -> None:
    space.delete_file("a.txt")
    space.write_file("a.txt/inside", "x")
    assert space.list_dir("a.txt") == (DirEntry("inside", DirKind.FILE, Mode.FILE),)
    space.commit("folder")
    assert committed(repo)["a.txt/inside"] == b"x"


def test_deleting_every_file_of_a_folder_makes_room_for_a_file_of_its_name(
    repo: Repository, space: WorkInProgressVFS
) -> None:
    space.delete_file("src/one.py")
    with pytest.raises(PathClash):
        space.write_file("src", "x")
    space.delete_file("src/two.py")
    assert space.entry("src") is None
    space.write_file("src", "x")
    assert space.read_file("src") == "x"
    assert "src" in space.list_files()
    with pytest.raises(FileMissing):
        space.list_dir("src")
    space.commit("file")
    assert committed(repo)["src"] == b"x"


def test_a_file_moves_into_a_folder_of_its_own_name_and_back(repo: Repository, space: WorkInProgressVFS) -> None:
    space.rename_file("readme", "readme/index")
    assert space.list_files("readme") == ["readme/index"]
    space.rename_file("readme/index", "readme")
    assert space.pending_changes() == {}
    space.rename_file("docs/guide/intro.md", "docs")
    space.commit("up")
    assert committed(repo)["docs"] == b"# Hi\n"


def test_a_file_is_never_written_through_a_symlink(space: WorkInProgressVFS) -> None:
    space.write_bytes("link", b"src", mode=Mode.SYMLINK)
    with pytest.raises(PathClash, match="symlink"):
        space.write_file("link/one.py", "x")
    with pytest.raises(InvalidPath, match="symbolic link to src"):
        space.write_file("link", "text over a link")
    space.write_bytes("link", b"docs", mode=Mode.SYMLINK)
    assert space.read_bytes("link") == b"docs"
    space.write_bytes("link", b"a file now", mode=Mode.FILE)
    assert space.mode("link") == Mode.FILE


def test_a_submodule_is_neither_written_nor_deleted_nor_entered(make_repo: MakeRepo) -> None:
    place = make_repo({"f": "f"})
    worlds.git(place, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib/sub")
    worlds.git(place, "commit", "-qm", "sub")
    space = Repository.open(place).workspace("main")
    for attempt in (
        lambda: space.write_file("lib/sub", "x"),
        lambda: space.write_file("lib/sub/inside", "x"),
        lambda: space.write_file("lib", "x"),
        lambda: space.delete_file("lib/sub"),
        lambda: space.rename_file("lib/sub", "elsewhere"),
        lambda: space.rename_file("f", "lib/sub"),
        lambda: space.set_mode("lib/sub", Mode.EXECUTABLE),
    ):
        with pytest.raises((PathClash, FileMissing)):
            attempt()
    assert space.pending_changes() == {}


def test_the_last_file_takes_its_folders_along(repo: Repository, space: WorkInProgressVFS) -> None:
    space.delete_file("docs/guide/intro.md")
    assert space.entry("docs") is None
    with pytest.raises(FileMissing):
        space.list_dir("docs/guide")
    assert "docs" not in [e.name for e in space.list_dir()]
    space.commit("gone")
    assert repo.commit_vfs("work").entry("docs") is None


def test_deleting_every_file_commits_the_empty_tree(repo: Repository, space: WorkInProgressVFS) -> None:
    for path in space.list_files():
        space.delete_file(path)
    assert space.list_dir() == ()
    made = space.commit("all gone")
    assert repo.objects.commit(made).tree == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    space.write_file("again", "x")
    space.commit("and back")
    assert committed(repo) == {"again": b"x"}
    worlds.assert_fsck_clean(repo.git_dir)


# -- names that are one name elsewhere


@pytest.mark.parametrize(
    ("there", "twin"),
    [
        ("a.txt", "A.TXT"),
        ("src/one.py", "src/ONE.py"),
        ("src/one.py", "SRC/three.py"),
        ("docs/guide/intro.md", "docs/Guide/more.md"),
        ("caf\u00e9", "cafe\u0301"),
        ("Stra\u00dfe", "STRASSE"),
    ],
)
def test_a_twin_in_case_or_unicode_spelling_is_refused(space: WorkInProgressVFS, there: str, twin: str) -> None:
    if not space.file_exists(there):
        space.write_file(there, "x")
    before = space.pending_changes()
    with pytest.raises(PathClash, match="spelling"):
        space.write_file(twin, "x")
    with pytest.raises(PathClash, match="spelling"):
        space.rename_file("readme", twin)
    assert space.pending_changes() == before
    assert space.file_exists("readme")


def test_a_rename_may_change_only_the_case(repo: Repository, space: WorkInProgressVFS) -> None:
    space.rename_file("readme", "README")
    assert space.file_exists("README")
    assert not space.file_exists("readme")
    space.commit("louder")
    assert committed(repo)["README"] == b"r\n"
    assert "readme" not in committed(repo)


def test_a_folder_can_be_renamed_in_case_file_by_file_once_it_is_empty(space: WorkInProgressVFS) -> None:
    with pytest.raises(PathClash):
        space.rename_file("src/one.py", "Src/one.py")
    space.rename_file("docs/guide/intro.md", "Docs/guide/intro.md")
    assert [e.name for e in space.list_dir()] == ["Docs", "a.txt", "readme", "src"]


def test_twins_that_are_there_already_stay_usable(make_repo: MakeRepo) -> None:
    """Such repositories exist; nothing new is made worse, and nothing there is locked away."""
    place = make_repo({"Net/x.h": "1", "net/x.h": "2", "README": "a", "readme": "b"})
    space = Repository.open(place).workspace("main")
    space.write_file("readme", "edited")
    space.write_file("Net/new.h", "new")
    space.write_file("net/other.h", "new")
    space.delete_file("README")
    with pytest.raises(PathClash):
        space.write_file("NET/third.h", "x")
    space.commit("both live on")
    assert worlds.text(place, "ls-tree", "-r", "--name-only", "main").splitlines() == [
        "Net/new.h",
        "Net/x.h",
        "net/other.h",
        "net/x.h",
        "readme",
    ]


def test_a_twin_that_was_deleted_is_in_nobodys_way(space: WorkInProgressVFS) -> None:
    space.delete_file("a.txt")
    space.write_file("A.txt", "x")
    with pytest.raises(PathClash):
        space.write_file("a.txt", "back")
    space.write_file("fresh", "x")
    space.delete_file("fresh")
    space.write_file("FRESH", "x")


# -- renames and modes


def test_a_rename_onto_something_is_refused(space: WorkInProgressVFS) -> None:
    space.write_file("pending", "p")
    for target in ("readme", "pending", "src"):
        with pytest.raises(PathClash):
            space.rename_file("a.txt", target)
    assert list(space.pending_changes()) == ["pending"]
    with pytest.raises(FileMissing):
        space.rename_file("nope", "x")
    with pytest.raises(FileMissing):
        space.rename_file("src", "lib")


def test_a_rename_to_a_refused_name_changes_nothing(space: WorkInProgressVFS) -> None:
    space.write_file("pending", "p")
    for old in ("a.txt", "pending"):
        for bad in ("../out", ".git/config", "con", "a\nb", "", "readme/x"):
            with pytest.raises((InvalidPath, PathClash)):
                space.rename_file(old, bad)
            assert space.file_exists(old)
    assert list(space.pending_changes()) == ["pending"]


def test_a_renamed_file_keeps_content_and_mode(repo: Repository, space: WorkInProgressVFS) -> None:
    space.set_mode("a.txt", Mode.EXECUTABLE)
    space.rename_file("a.txt", "bin/a")
    space.write_bytes("new", b"\0binary")
    space.rename_file("new", "moved")
    space.rename_file("moved", "moved-again")
    assert space.read_bytes("moved-again") == b"\0binary"
    assert space.pending_changes() == {"a.txt": Change.DELETED, "bin/a": Change.ADDED, "moved-again": Change.ADDED}
    space.commit("moved")
    assert repo.commit_vfs("work").mode("bin/a") == Mode.EXECUTABLE
    assert committed(repo)["bin/a"] == b"a\n"
    assert committed(repo)["moved-again"] == b"\0binary"


def test_an_edit_keeps_the_executable_bit(repo: Repository, space: WorkInProgressVFS) -> None:
    space.set_mode("a.txt", Mode.EXECUTABLE)
    space.write_file("a.txt", "edited")
    assert space.mode("a.txt") == Mode.EXECUTABLE
    space.commit("x")
    space.write_file("a.txt", "edited again")
    space.commit("y")
    assert repo.commit_vfs("work").mode("a.txt") == Mode.EXECUTABLE
    space.set_mode("a.txt", Mode.FILE)
    assert space.pending_changes() == {"a.txt": Change.MODIFIED}


@pytest.mark.parametrize("mode", [0, 0o644, 0o100600, 0o40000, 0o160000, 0o104755, -1])
def test_no_other_mode_can_be_given_to_a_file(space: WorkInProgressVFS, mode: int) -> None:
    with pytest.raises(InvalidPath):
        space.write_bytes("x", b"x", mode=mode)
    with pytest.raises(InvalidPath):
        space.set_mode("a.txt", mode)
    assert space.pending_changes() == {}


def test_a_symlink_has_no_other_mode(space: WorkInProgressVFS) -> None:
    space.write_bytes("link", b"a.txt", mode=Mode.SYMLINK)
    with pytest.raises(InvalidPath):
        space.set_mode("link", Mode.EXECUTABLE)
    with pytest.raises(InvalidPath):
        space.set_mode("a.txt", Mode.SYMLINK)


@pytest.mark.parametrize(
    "name",
    [".gitmodules", ".GITMODULES", "sub/.gitattributes", ".gitignore", ".mailmap", "gitmod~1", "GI7EBA~1", "gi7d29~1"],
)
def test_files_that_git_reads_as_configuration_are_no_symlinks(space: WorkInProgressVFS, name: str) -> None:
    with pytest.raises(InvalidPath, match="symbolic link"):
        space.write_bytes(name, b"elsewhere", mode=Mode.SYMLINK)
    space.write_bytes("link", b"elsewhere", mode=Mode.SYMLINK)
    with pytest.raises(InvalidPath, match="symbolic link"):
        space.rename_file("link", name)
    assert list(space.pending_changes()) == ["link"]


@pytest.mark.parametrize("target", [b"", b"a\0b", b"x" * 5000])
def test_a_symlink_points_to_something_that_can_be_a_path(space: WorkInProgressVFS, target: bytes) -> None:
    with pytest.raises(InvalidPath):
        space.write_bytes("link", target, mode=Mode.SYMLINK)


# -- what an edit elsewhere must not change


@pytest.mark.req("G-03")
def test_everything_odd_survives_an_edit_elsewhere_byte_for_byte(repo: Repository) -> None:
    place = repo.git_dir
    one = worlds.blob(place, b"\r\nbinary\0\xff")
    pointer = worlds.blob(place, b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    link = worlds.blob(place, b"../../outside")
    untouched = worlds.tree(place, [(b"100664", b"group", one), (b"100644", b"latin-\xe9", one)])
    odd = [
        (b"100755", b"run.sh", one),
        (b"100664", b"group-writable", one),
        (b"100644", b"big.lfs", pointer),
        (b"120000", b"link", link),
        (b"160000", b"module", "1" * 40),
        (b"100644", b"caf\xe9", one),
        (b"100644", "nfd-e\u0301".encode(), one),
        (b"100644", b"con.txt", one),
        (b"100644", b"new\nline", one),
        (b"040000", b"padded-folder", untouched),
        (b"40000", b"folder", untouched),
    ]
    odd.sort(key=lambda e: e[1] + (b"/" if e[2] == untouched else b""))
    root = worlds.tree(place, odd)
    worlds.commit(place, root, branch="odd")

    space = repo.workspace("odd", actor=AGENT)
    space.write_file("mid/new.txt", "new\n")
    space.write_file("folder/added.txt", "added\n")
    space.commit("an edit elsewhere")

    after = worlds.stored(place, worlds.text(place, "rev-parse", "odd^{tree}"))
    for mode, name, oid in odd:
        if name != b"folder":
            assert worlds.raw_tree([(mode, name, oid)]) in after
    folder = worlds.stored(place, worlds.text(place, "rev-parse", "odd:folder"))
    assert worlds.stored(place, untouched) == folder.replace(
        worlds.raw_tree([(b"100644", b"added.txt", worlds.text(place, "rev-parse", "odd:folder/added.txt"))]), b""
    )


@pytest.mark.req("G-03")
def test_odd_files_can_be_read_edited_renamed_and_deleted(repo: Repository) -> None:
    place = repo.git_dir
    oid = worlds.blob(place, b"content")
    root = worlds.tree(
        place,
        [(b"100664", b"a\nb", oid), (b"100644", b"caf\xe9", oid), (b"100644", b"con", oid), (b"100644", b"x\\y", oid)],
    )
    worlds.commit(place, root, branch="odd")
    space = repo.workspace("odd")
    assert space.list_files() == ["a\nb", "caf\udce9", "con", "x\\y"]
    space.write_file("a\nb", "edited")
    assert space.mode("a\nb") == 0o100664
    space.rename_file("caf\udce9", "caf\u00e9")
    space.delete_file("con")
    assert [e.name for e in space.list_dir()] == ["a\nb", "caf\u00e9", "x\\y"]
    space.commit("tidy")
    assert worlds.ls_tree(place, "odd").keys() == {b"a\nb", "caf\u00e9".encode(), b"x\\y"}


# -- commits


def test_a_commit_is_one_commit_on_the_branch_and_the_workspace_goes_on_from_it(
    repo: Repository, space: WorkInProgressVFS
) -> None:
    base = space.base
    made = space.commit("wip", allow_empty=True)
    space.write_file("x", "1")
    then = space.commit("second")
    assert [space.base, repo.resolve("work"), repo.resolve("work~1"), repo.resolve("work~2")] == [
        then,
        then,
        made,
        base,
    ]
    assert space.pending_changes() == {}
    assert space.read_file("x") == "1"
    assert space.last_operation is not None
    assert space.last_operation.actor == AGENT
    worlds.assert_fsck_clean(repo.git_dir)


def test_author_trailers_and_time_are_what_git_shows(repo: Repository, space: WorkInProgressVFS) -> None:
    space.write_file("x", "1")
    author = Signature("\u00c9lodie O'Neil", "elodie@example.org", 1_600_000_000, -330)
    space.commit("subject\n\nbody", author=author, trailers={"Build-Cycle": "42", "Co-authored-by": "A <a@b.c>"})
    shown = worlds.text(
        repo.git_dir, "log", "-1", "--format=%an|%ae|%ad|%s|%(trailers:key=Build-Cycle,valueonly)", "--date=raw", "work"
    )
    assert shown.splitlines()[0] == "\u00c9lodie O'Neil|elodie@example.org|1600000000 -0530|subject|42"
    message = worlds.text(repo.git_dir, "log", "-1", "--format=%B", "work")
    assert message.strip() == "subject\n\nbody\n\nBuild-Cycle: 42\nCo-authored-by: A <a@b.c>"


def test_without_an_author_the_commit_is_by_who_git_is_configured_for(
    repo: Repository, space: WorkInProgressVFS
) -> None:
    worlds.git(repo.git_dir, "config", "user.name", "Grace Hopper")
    worlds.git(repo.git_dir, "config", "user.email", "grace@example.org")
    space.write_file("x", "1")
    before = int(time.time())
    made = repo.objects.commit(space.commit("subject"))
    assert (made.author.name, made.author.email) == ("Grace Hopper", "grace@example.org")
    assert made.committer == made.author
    assert before <= made.author.time <= time.time()


def test_a_name_in_another_encoding_in_gits_settings_is_no_reason_to_fail(
    repo: Repository, space: WorkInProgressVFS
) -> None:
    with (repo.git_dir / "config").open("ab") as config:
        config.write(b"[user]\n\tname = Andr\xe9\n\temail = andr\xe9@example.org\n")
    repo = Repository.open(repo.git_dir)
    space = repo.workspace("work")
    space.write_file("x", "1")
    assert repo.objects.commit(space.commit("subject")).author.name.startswith("Andr")
    worlds.assert_fsck_clean(repo.git_dir)


HEADER_BREAKERS = [
    "A\nparent " + "1" * 40,
    "A> 0 +0000\ncommitter Eve <eve@x",
    "A\r\n\r\nx",
    "A\0B",
    "<>",
    "",
    " ",
    "...",
    "A\x1b[31m",
    "\ud800",
    "caf\udce9",
    "A <b> c",
    "\u202egnp",
]


@pytest.mark.req("X-06")
@pytest.mark.parametrize("bad", HEADER_BREAKERS)
def test_no_name_or_address_can_write_into_the_commit_header(
    repo: Repository, space: WorkInProgressVFS, bad: str
) -> None:
    base = space.base
    space.write_file("x", "1")
    made = space.commit("subject", author=Signature(bad, bad, 1_700_000_000, 0))
    raw = worlds.stored(repo.git_dir, made)
    head = raw.split(b"\n\n")[0].split(b"\n")
    assert [line.split(b" ")[0] for line in head] == [b"tree", b"parent", b"author", b"committer"]
    assert head[1] == f"parent {base}".encode()
    assert raw.endswith(b"\n\nsubject\n")
    worlds.assert_fsck_clean(repo.git_dir)


@pytest.mark.parametrize(
    ("when", "zone"), [(-5, 0), (1 << 70, 0), (0, 100_000), (1, -100_000), (1_700_000_000, 14 * 60)]
)
def test_no_moment_makes_a_commit_that_git_cannot_read(
    repo: Repository, space: WorkInProgressVFS, when: int, zone: int
) -> None:
    space.write_file("x", "1")
    space.commit("subject", author=Signature("A", "a@b.c", when, zone))
    worlds.assert_fsck_clean(repo.git_dir)


@given(st.text(alphabet="ab \t\r\n\x0b\u2028#", max_size=30))
@settings(max_examples=40)
def test_a_message_is_cleaned_up_as_git_does_it(message: str) -> None:
    gits = subprocess.run(["git", "stripspace"], input=message.encode(), capture_output=True, check=True).stdout
    if gits:
        assert message_with(message).encode() == gits
    else:
        with pytest.raises(InvalidInput):
            message_with(message)


@pytest.mark.parametrize("message", ["", " ", "\n\n", "\t\n \r\n", "a\0b", "\0"])
def test_an_empty_message_or_one_with_nul_is_refused_and_nothing_is_lost(
    repo: Repository, space: WorkInProgressVFS, message: str
) -> None:
    space.write_file("x", "1")
    with pytest.raises(InvalidInput) as refused:
        space.commit(message)
    assert refused.value.hint
    assert list(space.pending_changes()) == ["x"]
    assert repo.resolve("work") == repo.resolve("main")


def test_half_a_character_in_a_message_does_not_cost_the_commit(repo: Repository, space: WorkInProgressVFS) -> None:
    space.write_file("x", "1")
    space.commit("cut \ud83d off caf\udce9", trailers={"Note": "cut \ud83d too"})
    assert worlds.text(repo.git_dir, "log", "-1", "--format=%s", "work") == "cut ? off caf?"
    worlds.assert_fsck_clean(repo.git_dir)


@pytest.mark.parametrize(
    "trailers",
    [
        {"": "x"},
        {"Two words": "x"},
        {"A:B": "x"},
        {"A\nB": "x"},
        {"-x": "x"},
        {"Ok": ""},
        {"Ok": " "},
        {"Ok": "a\nInjected: b"},
        {"Ok": "a\r"},
        {"Ok": "a\0"},
        {"\u00e9": "x"},
    ],
)
def test_a_trailer_is_one_line_under_a_plain_name(space: WorkInProgressVFS, trailers: dict[str, str]) -> None:
    space.write_file("x", "1")
    with pytest.raises(InvalidInput):
        space.commit("subject", trailers=trailers)
    assert list(space.pending_changes()) == ["x"]


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    "reason",
    [
        'a\n{"id": "forged", "moves": []}\r\0\x1b \ud800 \udce9',
        "a\0b\tc\x1b[2J \ud800 \udce9",
        "a" * 100_000,
        "\n",
        "\x0b",
    ],
    ids=["lines", "controls", "long", "newline", "tab"],
)
def test_a_reason_cannot_forge_lines_of_the_reflog_or_the_operation_log(
    repo: Repository, space: WorkInProgressVFS, reason: str
) -> None:
    worlds.git(repo.git_dir, "config", "core.logAllRefUpdates", "always")
    repo = Repository.open(repo.git_dir)
    space = repo.workspace("work", actor=AGENT)
    count = len(list(repo.operations()))
    space.write_file("x", "1")
    made = space.commit("subject", reason=reason)
    assert repo.resolve("work") == made
    operations = list(repo.operations())
    assert len(operations) == count + 1
    assert operations[0].reason == reason
    reflog = worlds.git(repo.git_dir, "reflog", "show", "work", ok=(0,)).splitlines()
    assert len(reflog) == 1
    worlds.assert_fsck_clean(repo.git_dir)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"garbage",
        b"tree nothex\n\nmessage",
        b"tree " + b"1" * 40 + b"\nparent zz\nauthor x\ncommitter \xff\n\n\xff\xfe",
        b"tree " + b"1" * 40 + b"\nauthor A <a> 99999999999999999999999 +999999999\nencoding a\0b\n\nx",
        b"tree " + b"1" * 40 + b"\nauthor" + b" " * 300_000 + b"x\nencoding undefined\n\nx",
        b"tree " + b"1" * 40 + b"\nauthor A <a> 1 +0000\nencoding idna\n\n" + b"\xc3\xa9" * 70,
    ],
)
def test_any_bytes_called_a_commit_are_read_or_refused_quickly(raw: bytes) -> None:
    start = time.process_time()
    refused = worlds.refusal(lambda: decoded(CommitId("0" * 40), raw))
    if refused is None:
        commit = decoded(CommitId("0" * 40), raw)
        assert len(commit.tree) == 40
        commit.subject.encode()
    else:
        assert isinstance(refused, RepositoryUnreadable)
        assert "fsck" in refused.hint
    assert time.process_time() - start < 2


# -- when the branch moves underneath


@pytest.mark.req("G-09")
def test_a_branch_that_moved_is_never_overwritten_and_the_pending_changes_stay(
    repo: Repository, space: WorkInProgressVFS
) -> None:
    other = repo.workspace("work", actor=AGENT)
    space.write_file("mine", "1")
    other.write_file("theirs", "2")
    theirs = other.commit("theirs first")
    with pytest.raises(BranchMoved) as moved:
        space.commit("mine second")
    assert moved.value.code == "branch_moved"
    assert moved.value.hint
    assert repo.resolve("work") == theirs
    assert space.read_file("mine") == "1"
    space.catch_up()
    assert space.read_file("theirs") == "2"
    space.commit("mine second")
    assert committed(repo).keys() == {*FILES, "mine", "theirs"}


@pytest.mark.req("G-09")
def test_catching_up_refuses_when_the_same_file_changed_and_keeps_everything(
    repo: Repository, space: WorkInProgressVFS
) -> None:
    other = repo.workspace("work", actor=AGENT)
    space.write_file("a.txt", "mine")
    space.write_file("new", "mine")
    other.write_file("a.txt", "theirs")
    other.commit("theirs")
    base = space.base
    with pytest.raises(BranchMoved, match=r"a\.txt"):
        space.catch_up()
    assert (space.base, space.read_file("a.txt"), space.read_file("new")) == (base, "mine", "mine")


@pytest.mark.req("G-09")
@pytest.mark.parametrize(
    ("mine", "theirs"),
    [("new/file", "new"), ("new", "new/file"), ("new/file", "NEW/other"), ("New", "new"), ("a/b/c", "a/b")],
)
def test_catching_up_never_buries_what_others_added_in_the_way(
    repo: Repository, space: WorkInProgressVFS, mine: str, theirs: str
) -> None:
    other = repo.workspace("work", actor=AGENT)
    space.write_file(mine, "mine")
    other.write_file(theirs, "theirs")
    other.commit("theirs")
    base = space.base
    with pytest.raises(BranchMoved):
        space.catch_up()
    assert space.base == base
    assert space.read_file(mine) == "mine"
    assert list(space.pending_changes()) == [mine]
    assert committed(repo)[theirs] == b"theirs"


@pytest.mark.req("G-09")
def test_a_branch_that_was_deleted_is_not_made_again_out_of_the_pending_changes(
    repo: Repository, space: WorkInProgressVFS
) -> None:
    space.write_file("new", "mine")
    worlds.git(repo.git_dir, "update-ref", "-d", "refs/heads/work")
    with pytest.raises(BranchMoved):
        space.commit("mine")
    with pytest.raises(BranchMissing):
        space.catch_up()
    assert space.read_file("new") == "mine"
    assert "work" not in worlds.branches(repo.git_dir)


@pytest.mark.req("G-09", "X-04")
def test_a_file_renamed_before_catching_up_is_stored_whole_on_another_history(
    repo: Repository, space: WorkInProgressVFS
) -> None:
    """After a forced move its content is reachable from nowhere else, so it must go into the new commit's pack."""
    place = repo.git_dir
    space.rename_file("a.txt", "b.txt")
    space.write_file("a.txt", "a\n")
    orphan = worlds.commit(place, worlds.tree(place, [(b"100644", b"z", worlds.blob(place, b"z"))]))
    worlds.git(place, "update-ref", "refs/heads/work", orphan)
    space.catch_up()
    for ref in worlds.refs(place):
        worlds.git(place, "update-ref", *([ref, orphan] if ref.startswith("refs/heads/") else ["-d", ref]))
    worlds.git(place, "gc", "-q", "--prune=now")
    space.commit("on the other history")
    assert worlds.git(place, "show", "work:b.txt") == b"a\n"
    worlds.assert_fsck_clean(place)


@pytest.mark.req("G-09")
def test_the_first_commit_of_a_branch_loses_a_race_like_any_other(tmp_path: Path) -> None:
    repo = Repository.init(tmp_path / "new", bare=True)
    one, two = repo.workspace("main"), repo.workspace("main")
    one.write_file("one", "1")
    two.write_file("two", "2")
    first = one.commit("one")
    with pytest.raises(BranchMoved):
        two.commit("two")
    assert repo.resolve("main") == first
    two.catch_up()
    two.commit("two")
    assert committed(repo, "main").keys() == {"one", "two"}


def test_a_workspace_needs_a_branch_that_exists(repo: Repository) -> None:
    with pytest.raises(BranchMissing) as missing:
        repo.workspace("nowhere")
    assert missing.value.code == "branch_missing"
    assert missing.value.hint


def test_many_files_in_one_commit_are_all_there(repo: Repository, space: WorkInProgressVFS) -> None:
    files = {f"d{n % 7}/s{n % 11}/f{n}.txt": f"{n}\n" for n in range(500)}
    for path, data in files.items():
        space.write_file(path, data)
    space.commit("many")
    assert {p: d.decode() for p, d in committed(repo).items() if p in files} == files
    assert (
        worlds.text(repo.git_dir, "ls-tree", "-r", "--name-only", "work").splitlines()
        == repo.commit_vfs("work").list_files()
    )
