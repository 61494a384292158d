"""Reading a commit through the virtual file system: content, kinds, folders, and that nothing can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from forge.git import VFS, DirEntry, DirKind, GitCommitVFS, InvalidPath, Mode, NotText, Repository
from forge.git.errors import FileMissing, ReadOnlyView, RevisionMissing
from tests.conftest import MakeRepo, write_files
from tests.git import worlds

pytestmark = pytest.mark.req("G-02", "G-03")

SUBMODULE = "1" * 40

CONTENTS = {
    "plain.txt": b"one\ntwo\n",
    "crlf.txt": b"one\r\ntwo\r\n",
    "mixed.txt": b"one\r\ntwo\nthree\r",
    "no-end.txt": b"no newline at the end",
    "bom.txt": b"\xef\xbb\xbfwith a mark\n",
    "empty.txt": b"",
    "only-newlines.txt": b"\n\n\n",
    "accents.txt": "na\u00efve \U0001f600\n".encode(),
    "form-feed.txt": b"a\x0cb\x1b[0m\n",
}
NOT_TEXT = {
    "image.png": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
    "latin.txt": "caf\u00e9\n".encode("latin-1"),
    "utf16.txt": "hello\n".encode("utf-16"),
    "cut.txt": "\u20ac".encode()[:2],
    "surrogate.txt": b"\xed\xa0\x80",
}


OTHERS = {"bin/run": b"#!/bin/sh\n", "src/a/deep.py": b"x = 1\n", "src.c": b"", "src-old/y": b"y"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all tests here: they read."""
    place = worlds.template(tmp_path_factory.mktemp("template"), CONTENTS | NOT_TEXT | OTHERS)
    links = {"link": "plain.txt", "src/out": "../../etc/passwd", "dirlink": "src"}
    write_files(place, {}, executable=(), symlinks=links)
    (place / "bin/run").chmod(0o755)
    worlds.git(place, "add", "--all")
    worlds.git(place, "update-index", "--add", "--cacheinfo", f"160000,{SUBMODULE},vendor/lib")
    worlds.git(place, "commit", "-qm", "with links and a submodule")
    return place


@pytest.fixture
def repo(place: Path) -> Repository:
    return Repository.open(place)


@pytest.fixture(params=["commit", "workspace"])
def vfs(request: pytest.FixtureRequest, repo: Repository) -> VFS:
    """Both ways to read; a workspace without changes shows what its commit shows."""
    return repo.commit_vfs("main") if request.param == "commit" else repo.workspace("main")


@pytest.mark.parametrize("path", CONTENTS)
def test_text_comes_back_exactly_as_it_was_stored(vfs: VFS, path: str) -> None:
    assert vfs.read_bytes(path) == CONTENTS[path]
    assert vfs.read_file(path).encode() == CONTENTS[path]


@pytest.mark.parametrize("path", NOT_TEXT)
def test_what_is_no_text_is_refused_as_text_and_readable_as_bytes(vfs: VFS, path: str) -> None:
    with pytest.raises(NotText, match=path) as refused:
        vfs.read_file(path)
    assert refused.value.code == "not_text"
    assert "bytes" in refused.value.hint
    assert vfs.read_bytes(path) == NOT_TEXT[path]


def test_a_nul_far_into_a_text_is_not_taken_for_binary(repo: Repository) -> None:
    """git looks at the first 8,000 bytes; so do we, and the text is kept whole."""
    space = repo.workspace("main")
    space.write_bytes("late.txt", b"a" * 9000 + b"\0")
    assert space.read_file("late.txt").endswith("\0")


def test_a_symlink_reads_as_where_it_points_and_is_never_followed(vfs: VFS) -> None:
    assert vfs.read_bytes("link") == b"plain.txt"
    assert vfs.read_bytes("src/out") == b"../../etc/passwd"
    with pytest.raises(FileMissing):
        vfs.read_bytes("dirlink/a/deep.py")
    assert not vfs.file_exists("dirlink/a/deep.py")


def test_modes_are_those_git_has(vfs: VFS) -> None:
    modes = {path: vfs.mode(path) for path in ("plain.txt", "bin/run", "link", "vendor/lib", "src")}
    assert modes == {
        "plain.txt": Mode.FILE,
        "bin/run": Mode.EXECUTABLE,
        "link": Mode.SYMLINK,
        "vendor/lib": Mode.SUBMODULE,
        "src": Mode.TREE,
    }
    with pytest.raises(FileMissing):
        vfs.mode("nowhere")


def test_the_list_of_files_is_gits_list_without_submodules(vfs: VFS, place: Path) -> None:
    gits = [p.decode() for p in worlds.ls_tree(place, "main") if p != b"vendor/lib"]
    assert vfs.list_files() == gits


@pytest.mark.parametrize(
    "prefix", ["src", "src/", "src/a", "src/a/", "src/a/deep.py", "s", "b", "nope", "nope/x", "src.c/"]
)
def test_a_prefix_selects_by_the_beginning_of_the_path(vfs: VFS, prefix: str) -> None:
    assert vfs.list_files(prefix) == [path for path in vfs.list_files() if path.startswith(prefix)]


def test_changing_a_returned_list_changes_nothing_else(vfs: VFS) -> None:
    before = vfs.list_files()
    vfs.list_files().clear()
    vfs.list_files("src/").append("forged")
    assert vfs.list_files() == before


def test_a_folder_lists_what_is_directly_in_it_in_gits_order(vfs: VFS) -> None:
    assert vfs.list_dir("src") == (
        DirEntry("a", DirKind.DIRECTORY, Mode.TREE),
        DirEntry("out", DirKind.SYMLINK, Mode.SYMLINK),
    )
    assert vfs.list_dir("src/") == vfs.list_dir("src")
    root = vfs.list_dir()
    assert root == vfs.list_dir("")
    names = [entry.name for entry in root]
    assert names[-6:] == ["src-old", "src.c", "src", "surrogate.txt", "utf16.txt", "vendor"]
    assert vfs.list_dir("vendor") == (DirEntry("lib", DirKind.SUBMODULE, Mode.SUBMODULE),)


@pytest.mark.parametrize("path", ["plain.txt", "link", "nope", "vendor/lib", "src/nope", "dirlink"])
def test_what_is_no_folder_cannot_be_listed(vfs: VFS, path: str) -> None:
    with pytest.raises(FileMissing, match="folder"):
        vfs.list_dir(path)


@pytest.mark.parametrize("path", ["/", "//", "..", "src/..", "a//b", ".git", "src/.GIT", "\0"])
def test_a_path_that_leads_elsewhere_is_refused_alike_in_both_views(vfs: VFS, path: str) -> None:
    with pytest.raises(InvalidPath):
        vfs.list_dir(path)
    with pytest.raises(InvalidPath):
        vfs.read_bytes(path)
    assert not vfs.file_exists(path)


@pytest.mark.parametrize("path", ["src", "vendor/lib", "vendor"])
def test_a_folder_or_submodule_is_no_file(vfs: VFS, path: str) -> None:
    assert not vfs.file_exists(path)
    with pytest.raises(FileMissing, match=r"not a file"):
        vfs.read_bytes(path)


def test_a_missing_file_is_said_to_be_missing(vfs: VFS) -> None:
    with pytest.raises(FileMissing, match=r"src/nope\.py") as missing:
        vfs.read_file("src/nope.py")
    assert missing.value.code == "file_missing"
    assert missing.value.hint
    assert vfs.entry("plain.txt/below") is None


def test_a_commit_cannot_be_written(repo: Repository) -> None:
    vfs = repo.commit_vfs("main")
    for write in (
        lambda: vfs.write_file("a", "x"),
        lambda: vfs.write_bytes("a", b"x"),
        lambda: vfs.write_bytes("plain.txt", b"x", mode=Mode.EXECUTABLE),
        lambda: vfs.delete_file("plain.txt"),
        lambda: vfs.rename_file("plain.txt", "b"),
        lambda: vfs.set_mode("plain.txt", Mode.EXECUTABLE),
    ):
        with pytest.raises(ReadOnlyView) as refused:
            write()
        assert refused.value.code == "read_only_view"
        assert "workspace" in refused.value.hint
    assert vfs.read_bytes("plain.txt") == CONTENTS["plain.txt"]


@pytest.mark.req("G-08")
def test_any_commit_shows_its_own_files_for_ever(place: Path, tmp_path: Path) -> None:
    place = worlds.copied(place, tmp_path / "copy")
    repo = Repository.open(place)
    old = repo.commit_vfs("main~1")
    worlds.git(place, "rm", "-q", "plain.txt")
    worlds.git(place, "commit", "-qm", "gone")
    worlds.git(place, "tag", "-a", "v1", "-m", "annotated", "main~1")
    assert old.read_bytes("plain.txt") == CONTENTS["plain.txt"]
    assert not repo.commit_vfs("main").file_exists("plain.txt")
    assert repo.commit_vfs("v1").file_exists("plain.txt")
    assert repo.commit_vfs(str(repo.resolve("v1"))[:10]).file_exists("plain.txt")


def test_an_empty_repository_reads_as_empty(tmp_path: Path) -> None:
    repo = Repository.init(tmp_path / "new")
    space = repo.workspace("main")
    assert space.list_files() == []
    assert space.list_dir() == ()
    assert GitCommitVFS(repo.objects, None).list_files() == []
    with pytest.raises(RevisionMissing):
        repo.commit_vfs("HEAD")


def test_an_lfs_pointer_reads_as_the_pointer_it_is(make_repo: MakeRepo) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345\n"
    place = make_repo({"big.bin": pointer, ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
    assert Repository.open(place).commit_vfs("main").read_bytes("big.bin") == pointer
