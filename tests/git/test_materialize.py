"""Directories for commands hold what the view holds, cost the difference, and are never wrong after a crash."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from forge.git import Repository, StorageFailed, WorkInProgressVFS
from forge.git.materialize import bulk, manifest, stat_index, writer
from forge.git.materialize.budget import Budget
from forge.git.materialize.collect import CollectionLimits
from forge.git.materialize.directory import MaterializedDirectory, materialize
from forge.git.materialize.slots import Slot
from forge.git.values import Mode
from forge.git.workspace.commit_vfs import GitCommitVFS
from tests.conftest import Git, MakeRepo, run_git

FILES = {
    "a.txt": "a\n",
    "run.sh": "#!/bin/sh\n",
    "lib/one.py": "one\n",
    "lib/deep/two.py": "two\n",
    "data/raw": b"\x00\xff\r\n",
    ".gitignore": "*.log\n/cache/\n__pycache__/\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "cache"
    # What is read-only or nested very deeply here pytest itself could not remove.
    subprocess.run(["rm", "-rf", str(tmp_path / "cache")], check=True)


@pytest.fixture
def workspace(make_repo: MakeRepo) -> WorkInProgressVFS:
    return Repository.open(make_repo(FILES)).workspace("main")


Open = Callable[..., AbstractContextManager[MaterializedDirectory]]


@pytest.fixture
def opened(root: Path) -> Open:
    def opened(view: GitCommitVFS | WorkInProgressVFS, key: str = "main", **options: object):  # type: ignore[no-untyped-def]
        return materialize(view.objects, view, root=root, key=key, **options)  # type: ignore[arg-type]

    return opened


def shown(directory: Path | os.PathLike[str]) -> dict[str, tuple[int, bytes]]:
    """Every file and symlink, with its executable bit and content."""
    root, found = Path(directory), {}
    for folder, folders, names in os.walk(root):
        for name in [*names, *(f for f in folders if (Path(folder) / f).is_symlink())]:
            place = Path(folder, name)
            mode = place.lstat().st_mode
            link = place.is_symlink()
            data = os.fsencode(os.readlink(place)) if link else place.read_bytes()
            found[str(place.relative_to(root))] = (Mode.SYMLINK if link else mode & 0o100, data)
    return found


def expected(view: GitCommitVFS | WorkInProgressVFS) -> dict[str, tuple[int, bytes]]:
    modes = {path: view.mode(path) for path in view.list_files()}
    return {
        path: (mode if mode == Mode.SYMLINK else mode & 0o100, view.read_bytes(path)) for path, mode in modes.items()
    }


def written_at(directory: MaterializedDirectory) -> dict[str, int]:
    return {path: (directory / path).lstat().st_ctime_ns for path in shown(directory)}


def folders(directory: MaterializedDirectory) -> set[str]:
    return {str(p.relative_to(directory.path)) for p in directory.path.rglob("*") if p.is_dir()}


# -- the first time


@pytest.fixture(params=["by our writer", "by git"])
def filled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new directory is filled by git if that is worth it; both ways must come to the same."""
    monkeypatch.setattr(bulk, "WORTH_IT", 0 if request.param == "by git" else 10**9)


UNUSUAL_SETTINGS = """
[core]
\tautocrlf = true
\ttrustCtime = false
\tcheckStat = minimal
\tfileMode = false
\tsymlinks = false
[index]
\tversion = 4
[feature]
\tmanyFiles = true
[filter "lfs"]
\tclean = false
\tsmudge = false
\trequired = true
"""


@pytest.mark.req("G-04", "G-03")
@pytest.mark.parametrize("settings", ["", UNUSUAL_SETTINGS])
@pytest.mark.usefixtures("filled")
def test_a_directory_holds_every_file_as_it_is_in_the_repository(
    make_repo: MakeRepo, opened: Open, home: Path, settings: str
) -> None:
    files = {
        **FILES,
        ".gitattributes": "*.txt text eol=crlf\n*.c ident\n*.bin filter=lfs diff=lfs merge=lfs -text\n",
        "lines.txt": "unix\n",
        "id.c": "$Id$\n",
        "big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        "spaces and \n newlines": "x",
        "con": "device",
        "back\\slash": "y",
        "empty": "",
    }
    repo = make_repo(files, executable=["run.sh"], symlinks={"link": "lib/one.py", "lib/up": "../data"})
    with (home / ".gitconfig").open("a") as config:
        config.write(settings)
    view = Repository.open(repo).workspace("main")
    for _ in range(2):
        with opened(view) as directory:
            assert shown(directory) == expected(view)
            assert directory.notes == ()
            assert os.access(directory / "run.sh", os.X_OK)
            assert not os.access(directory / "a.txt", os.X_OK)
            assert directory.collect_changes() == ()
            assert (directory / "link").read_text() == "one\n"
            (directory / "lines.txt").write_bytes(b"unix\r\n")
            (directory / "run.sh").chmod(0o644)
            assert [change.path for change in directory.collect_changes()] == ["lines.txt", "run.sh"]
        view.discard()


@pytest.mark.req("G-04")
@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize("name", ["with:colon", 'with"quote', "with space", "with\nnewline"])
def test_a_repository_may_be_anywhere(make_repo: MakeRepo, opened: Open, name: str) -> None:
    view = Repository.open(make_repo(FILES, name=name)).commit_vfs("main")
    with opened(view, name) as directory:
        assert shown(directory) == expected(view)
        assert directory.collect_changes() == ()


@pytest.mark.req("G-04")
def test_names_that_are_not_unicode_are_written_byte_for_byte(make_repo: MakeRepo, git: Git, opened: Open) -> None:
    repo = make_repo(FILES)
    with open(os.fsencode(repo) + b"/caf\xe9.txt", "wb") as file:
        file.write(b"latin")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "latin")
    with opened(Repository.open(repo).commit_vfs("main")) as directory:
        assert b"caf\xe9.txt" in os.listdir(os.fsencode(str(directory)))
        assert directory.collect_changes() == ()


@pytest.mark.req("G-04")
def test_pending_changes_are_in_the_directory(workspace: WorkInProgressVFS, opened: Open) -> None:
    workspace.write_file("a.txt", "pending\n")
    workspace.write_file("new/file", "new\n")
    workspace.delete_file("lib/one.py")
    workspace.rename_file("data/raw", "data/moved")
    workspace.set_mode("run.sh", Mode.EXECUTABLE)
    workspace.write_bytes("link", b"a.txt", mode=Mode.SYMLINK)
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)
        assert directory.collect_changes() == ()


@pytest.mark.req("G-04")
@pytest.mark.parametrize("files", [{}, {"only": "one"}, {f"d{n % 7}/f{n}": f"{n}" for n in range(700)}])
def test_any_number_of_files_is_fine(make_repo: MakeRepo, opened: Open, files: dict[str, str]) -> None:
    repository = Repository.open(make_repo(files))
    for _ in range(2):
        with opened(repository.workspace("main")) as directory:
            assert {path: data.decode() for path, (_, data) in shown(directory).items()} == files
            assert directory.collect_changes() == ()


@pytest.mark.req("G-04")
def test_a_directory_is_used_like_a_path(make_repo: MakeRepo, opened: Open) -> None:
    with opened(Repository.open(make_repo(FILES)).commit_vfs("main")) as directory:
        assert os.fspath(directory) == str(directory) == str(directory.path)
        assert (directory / "a.txt").read_text() == "a\n"
        assert subprocess.check_output(["cat", "a.txt"], cwd=directory) == b"a\n"


# -- again


@pytest.mark.req("G-04")
def test_the_second_time_only_the_difference_is_written(make_repo: MakeRepo, opened: Open) -> None:
    repository = Repository.open(make_repo(FILES))
    with opened(repository.workspace("main")) as directory:
        before = written_at(directory)
    workspace = repository.workspace("main")
    workspace.write_file("a.txt", "changed\n")
    workspace.write_file("lib/three.py", "three\n")
    workspace.delete_file("lib/deep/two.py")
    workspace.commit("change")
    workspace.write_file("run.sh", "pending\n")
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)
        now = written_at(directory)
        assert {path for path in now if now[path] == before.get(path)} == {"lib/one.py", "data/raw", ".gitignore"}
        assert folders(directory) == {"lib", "data"}
        assert directory.collect_changes() == ()


@pytest.mark.req("G-04")
def test_what_was_collected_and_committed_is_not_written_again(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as directory:
        (directory / "a.txt").write_text("by command\n")
        (directory / "made").mkdir()
        (directory / "made/new").write_text("new\n")
        (directory / "lib/one.py").unlink()
        directory.collect_changes()
        before = written_at(directory)
    workspace.commit("command")
    with opened(workspace) as directory:
        assert written_at(directory) == before
        assert shown(directory) == expected(workspace)
        assert directory.collect_changes() == ()


@pytest.mark.req("G-04")
def test_pending_changes_that_were_discarded_disappear(workspace: WorkInProgressVFS, opened: Open) -> None:
    workspace.write_file("a.txt", "pending\n")
    workspace.write_file("new/file", "new\n")
    workspace.delete_file("lib/one.py")
    with opened(workspace):
        pass
    workspace.discard()
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)
        assert "new" not in folders(directory)


@pytest.mark.req("G-04")
def test_files_become_folders_and_back(make_repo: MakeRepo, opened: Open) -> None:
    workspace = Repository.open(make_repo({"x": "file", "y/z": "folder", "keep": "k"})).workspace("main")
    with opened(workspace):
        pass
    workspace.delete_file("x")
    workspace.write_file("x/inside", "1")
    workspace.delete_file("y/z")
    workspace.write_file("y", "2")
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)
        assert directory.collect_changes() == ()
    workspace.discard()
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)


@pytest.mark.req("G-04")
@pytest.mark.parametrize("seed", range(6))
def test_any_sequence_of_views_and_commands_ends_in_the_wanted_files(
    make_repo: MakeRepo, opened: Open, seed: int
) -> None:
    rng = random.Random(seed)
    workspace = Repository.open(make_repo(FILES, symlinks={"link": "lib"})).workspace("main")
    names = [*FILES, "link", "new", "lib/new", "deep/er/new", "x.log", "cache/c"]
    for _ in range(8):
        for _ in range(rng.randrange(4)):
            path = rng.choice(names)
            if workspace.file_exists(path) and rng.random() < 0.4:
                workspace.delete_file(path)
            else:
                mode = rng.choice([Mode.FILE, Mode.EXECUTABLE])
                workspace.write_bytes(path, rng.randbytes(rng.randrange(5)), mode=mode)
        if rng.random() < 0.4 and workspace.pending:
            workspace.commit("step")
        with opened(workspace) as directory:
            ignored = {p: f for p, f in shown(directory).items() if p.endswith(".log") or p.startswith("cache/")}
            assert shown(directory) == ignored | expected(workspace)
            for _ in range(rng.randrange(4)):
                _mess(directory.path, rng.choice(names), rng)
            if rng.random() < 0.5:
                directory.collect_changes()
                assert directory.collect_changes() == ()


def _mess(directory: Path, path: str, rng: random.Random) -> None:
    place = directory / path
    if rng.random() < 0.3 and place.is_file():
        place.unlink()
    elif not place.is_dir() and all(p.is_dir() or not p.exists() for p in place.parents):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(rng.randbytes(rng.randrange(5)))


# -- writing over


@pytest.mark.req("G-04", "X-04")
@pytest.mark.parametrize("second", ["hard link", "symlink", "pipe", "folder"])
def test_nothing_that_has_another_name_is_written_over(
    workspace: WorkInProgressVFS, opened: Open, tmp_path: Path, second: str
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    with opened(workspace) as directory:
        place = directory / "a.txt"
        place.unlink()
        if second == "hard link":
            os.link(outside, place)
        elif second == "symlink":
            place.symlink_to(outside)
        elif second == "pipe":
            os.mkfifo(place)
        else:
            place.mkdir()
    workspace.write_file("a.txt", "new")
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)
    assert outside.read_text() == "precious"


@pytest.mark.req("G-04")
@pytest.mark.parametrize("mode", [0o4644, 0o755, 0o444, 0o600, 0o644])
@pytest.mark.parametrize("length", [0, 1, 5000])
def test_a_file_written_over_is_as_a_new_one(
    workspace: WorkInProgressVFS, opened: Open, mode: int, length: int
) -> None:
    with opened(workspace) as directory:
        inode = (directory / "a.txt").stat().st_ino
        with (directory / "a.txt").open("ab") as file:
            file.write(bytes(20))
        (directory / "a.txt").chmod(mode)
    workspace.write_file("a.txt", "n" * length)
    with opened(workspace) as directory:
        found = (directory / "a.txt").stat()
        assert (directory / "a.txt").read_text() == "n" * length
        assert stat.S_IMODE(found.st_mode) & 0o7700 == 0o600
        assert (found.st_ino == inode) or mode not in (0o600, 0o644)
        assert directory.collect_changes() == ()


@pytest.mark.req("G-04")
def test_a_program_that_still_runs_is_replaced(make_repo: MakeRepo, opened: Open) -> None:
    program = Path(shutil.which("sleep") or "").read_bytes()
    workspace = Repository.open(make_repo({"sleep": program}, executable=["sleep"])).workspace("main")
    with opened(workspace) as directory:
        running = subprocess.Popen([directory / "sleep", "60"])
    try:
        workspace.write_file("sleep", "#!/bin/sh\n")
        with opened(workspace) as directory:
            assert (directory / "sleep").read_text() == "#!/bin/sh\n"
        assert running.poll() is None
    finally:
        running.kill()
        running.wait()


# -- what commands leave behind


def _leave_everything(directory: Path) -> None:
    (directory / "a.txt").write_text("changed")
    (directory / "run.sh").chmod(0o644)
    (directory / "lib/one.py").unlink()
    (directory / "new.txt").write_text("new")
    (directory / "made/deep").mkdir(parents=True)
    (directory / "made/deep/file").write_text("new")
    (directory / "empty/empty").mkdir(parents=True)
    (directory / "lib/x.log").write_text("ignored")
    (directory / "cache").mkdir()
    (directory / "cache/big").write_text("ignored")
    os.mkfifo(directory / "pipe")
    os.mkfifo(directory / "lib/.gitignore")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(directory)
        server.bind("socket")
        os.chdir(here)
    run_git(directory, "init", "-q")
    run_git(directory, "init", "-q", "nested")
    (directory / "nested/file").touch()
    (directory / "lib/.git").write_text("gitdir: /etc")
    shutil.rmtree(directory / "data")
    (directory / "data").symlink_to("/etc")
    (directory / "locked").mkdir()
    (directory / "locked/file").write_text("x")
    (directory / "locked").chmod(0o500)


@pytest.mark.req("G-04")
def test_whatever_commands_leave_is_put_right_and_ignored_files_stay(make_repo: MakeRepo, opened: Open) -> None:
    repository = Repository.open(make_repo(FILES, executable=["run.sh"]))
    with opened(repository.workspace("main")) as directory:
        _leave_everything(directory.path)
    with opened(repository.workspace("main")) as directory:
        ignored = {"lib/x.log": (0, b"ignored"), "cache/big": (0, b"ignored")}
        assert shown(directory) == expected(repository.workspace("main")) | ignored
        assert folders(directory) == {"lib", "lib/deep", "data", "cache"}
        assert sorted(os.listdir(directory)) == [".gitignore", "a.txt", "cache", "data", "lib", "run.sh"]


@pytest.mark.req("G-04")
def test_ignored_files_go_when_they_are_not_to_be_kept(make_repo: MakeRepo, opened: Open) -> None:
    repository = Repository.open(make_repo(FILES, executable=["run.sh"]))
    with opened(repository.workspace("main")) as directory:
        _leave_everything(directory.path)
    with opened(repository.workspace("main"), keep_ignored=False) as directory:
        assert shown(directory) == expected(repository.workspace("main"))
        assert folders(directory) == {"lib", "lib/deep", "data"}


@pytest.mark.req("G-04")
def test_a_wanted_file_takes_the_place_of_an_ignored_one(
    workspace: WorkInProgressVFS, opened: Open, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    with opened(workspace) as directory:
        (directory / "x.log").write_text("ignored")
        (directory / "y.log").mkdir()
        (directory / "y.log/inside").write_text("ignored")
        (directory / "cache").symlink_to(tmp_path / "outside")
    for path in ("x.log", "y.log", "cache/file"):
        workspace.write_file(path, "tracked now")
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)
        assert directory.collect_changes() == ()
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.req("G-04")
def test_what_somebody_else_did_to_an_idle_directory_is_noticed(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as directory:
        idle = directory.path
    (idle / "lib/one.py").unlink()
    (idle / "lib/stranger").touch()
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)


# -- several users


@pytest.mark.req("G-04", "X-04")
def test_a_second_user_at_the_same_time_gets_another_directory(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as first, opened(workspace) as second, opened(workspace, "other") as other:
        places = {first.path, second.path, other.path}
        assert len(places) == 3
        (first / "a.txt").write_text("mine")
        assert shown(second) == shown(other) == expected(workspace)
    with opened(workspace) as again:
        assert again.path == first.path


@pytest.mark.req("G-04")
def test_branches_and_repositories_have_directories_of_their_own(make_repo: MakeRepo, opened: Open) -> None:
    one = Repository.open(make_repo(FILES, name="one")).workspace("main")
    two = Repository.open(make_repo({"b": "b"}, name="two")).workspace("main")
    places = set()
    for view, key in ((one, "a/b"), (one, "a-b"), (two, "a/b"), (one, "../../x"), (one, "é" * 300)):
        with opened(view, key) as directory:
            places.add(directory.path)
            assert shown(directory) == expected(view)
    assert len(places) == 5
    assert len({place.parent.parent for place in places}) == 1


# -- changes that hide


def _hide_a_change(place: Path, data: bytes) -> None:
    """Write over a file, leaving its size and time stamp as they were."""
    times = place.stat()
    with place.open("r+b") as file:
        file.write(data)
    os.utime(place, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.fixture(params=[True, False])
def whole(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a new directory was filled in one second; both ways of looking at it must come to the same."""
    real = stat_index.believed
    monkeypatch.setattr(stat_index, "believed", lambda *args: real(*args)._replace(whole=request.param))


@pytest.mark.req("G-04", "X-04")
@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.usefixtures("filled", "whole")
def test_a_change_of_the_same_size_with_the_old_time_stamp_is_found(
    make_repo: MakeRepo, opened: Open, fresh: bool
) -> None:
    workspace = Repository.open(make_repo({f"f{n}": f"{n:04}" for n in range(20)})).workspace("main")
    if not fresh:
        with opened(workspace):
            pass
        for n in range(20):
            workspace.write_file(f"f{n}", f"{n:03}+")
    with opened(workspace) as directory:
        for n in range(20):
            _hide_a_change(directory / f"f{n}", b"XXXX")
            assert [change.path for change in directory.collect_changes()] == [f"f{n}"]


@pytest.mark.req("G-04", "X-04")
@pytest.mark.parametrize("used_again", [True, False])
@pytest.mark.usefixtures("filled", "whole")
def test_a_change_in_the_second_of_the_first_fill_is_found_later(
    make_repo: MakeRepo, opened: Open, used_again: bool
) -> None:
    files = {f"d{n % 3}/f{n}": f"{n:04}" for n in range(30)}
    workspace = Repository.open(make_repo(files)).workspace("main")
    time.sleep(1.01 - time.time() % 1)  # everything up to the next sleep happens in one second
    with opened(workspace) as directory:
        os.rename(directory / "d1/f1", directory / "d1/moved")
        (directory / "d1/f1").write_text("0001")
        (directory / "d1/moved").unlink()
        (directory / "d2/f2").chmod(0o755)
        (directory / "d0/f3").unlink()
        if not used_again:
            _hide_a_change(directory / "d0/f0", b"XXXX")
            time.sleep(1.03 - time.time() % 1)
            assert [change.path for change in directory.collect_changes()] == ["d0/f0", "d0/f3", "d2/f2"]
            _hide_a_change(directory / "d0/f6", b"XXXX")
            assert [change.path for change in directory.collect_changes()] == ["d0/f6"]
            return
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)
        _hide_a_change(directory / "d0/f0", b"XXXX")
        time.sleep(1.03 - time.time() % 1)
        assert [change.path for change in directory.collect_changes()] == ["d0/f0"]


@pytest.mark.req("G-04", "X-04")
@pytest.mark.usefixtures("filled")
def test_a_folder_that_another_one_took_the_place_of_is_compared(make_repo: MakeRepo, opened: Open) -> None:
    repository = Repository.open(make_repo({".gitignore": "old/\n", "d/f": "aaaa"}))
    workspace = repository.workspace("main")
    with opened(workspace) as directory:
        (directory / "old").mkdir()
        (directory / "old/f").write_text("bbbb")
        os.utime(directory / "old/f", ns=(0, (directory / "d/f").stat().st_mtime_ns))
    with opened(workspace) as directory:
        os.rename(directory / "d", directory / "gone")
        os.rename(directory / "old", directory / "d")
        shutil.rmtree(directory / "gone")
        assert [change.path for change in directory.collect_changes()] == ["d/f"]


@pytest.mark.req("G-04", "X-04")
def test_a_change_that_looks_old_is_found_in_the_second_of_the_last_look(make_repo: MakeRepo, opened: Open) -> None:
    workspace = Repository.open(make_repo({"f": "aaaa", "g": "bbbb"})).workspace("main")
    with opened(workspace) as directory:
        os.utime(directory / "f", (1, 1))
        assert directory.collect_changes() == ()
        (directory / "f").write_text("AAAA")
        os.utime(directory / "f", (1, 1))
        assert [change.path for change in directory.collect_changes()] == ["f"]
        os.replace(directory / "g", directory / "tmp")
        (directory / "g").write_text("BBBB")
        shutil.copystat(directory / "tmp", directory / "g")
        (directory / "tmp").unlink()
        assert [change.path for change in directory.collect_changes()] == ["g"]


@pytest.mark.req("G-04", "X-04")
def test_a_hidden_change_that_was_not_collected_is_put_right_later(make_repo: MakeRepo, opened: Open) -> None:
    workspace = Repository.open(make_repo({f"f{n}": "aaaa" for n in range(10)})).workspace("main")
    time.sleep(1 - time.time() % 1)  # everything up to the next sleep happens in one second
    with opened(workspace, limits=CollectionLimits(file_bytes=0)) as directory:
        _hide_a_change(directory / "f5", b"AAAA")
        time.sleep(1.01)
        for _ in range(2):
            assert directory.collect_changes() == ()
            assert [note.path for note in directory.notes] == ["f5"]
    with opened(workspace) as directory:
        assert (directory / "f5").read_text() == "aaaa"


# -- crashes and broken disks


def _put_fails_after(count: int, monkeypatch: pytest.MonkeyPatch, error: int) -> None:
    real, left = writer._fill, [count]

    def failing(*args: object) -> object:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(error, os.strerror(error))
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(writer, "_fill", failing)


@pytest.mark.req("G-04", "X-04")
@pytest.mark.parametrize("after", [0, 1, 4])
@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("first", [True, False])
def test_a_full_or_broken_disk_is_reported_and_the_next_use_is_right(
    workspace: WorkInProgressVFS, opened: Open, monkeypatch: pytest.MonkeyPatch, after: int, error: int, first: bool
) -> None:
    if not first:
        with opened(workspace):
            pass
        for path in FILES:
            workspace.write_file(path, "changed")
        workspace.write_file(".early.log", "written first, ignored but tracked")
    with monkeypatch.context() as patch:
        _put_fails_after(after, patch, error)
        with pytest.raises(StorageFailed) as failure, opened(workspace):
            pass
        assert failure.value.hint
    if not first:
        workspace.discard()
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)


@pytest.mark.req("G-04", "X-04")
def test_a_place_that_cannot_be_written_is_reported(make_repo: MakeRepo, root: Path, opened: Open) -> None:
    root.write_text("not a directory")
    with pytest.raises(StorageFailed), opened(Repository.open(make_repo(FILES)).workspace("main")):
        pass


@pytest.mark.req("G-04", "X-04")
def test_after_a_restart_of_the_machine_every_file_is_written_again(
    workspace: WorkInProgressVFS, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(workspace) as directory:
        (directory / "x.log").write_text("ignored")
        before = written_at(directory)
    monkeypatch.setattr(manifest, "this_boot", lambda: "another")
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace) | {"x.log": (0, b"ignored")}
        now = written_at(directory)
        assert {path for path in now if now[path] == before[path]} == {"x.log"}


@pytest.mark.req("G-04", "X-04")
@pytest.mark.parametrize("damage", ["state", "git/index-1", "files", "git"])
@pytest.mark.parametrize("how", ["removed", "emptied", "torn"])
def test_damaged_records_mean_to_begin_again(
    workspace: WorkInProgressVFS, root: Path, opened: Open, damage: str, how: str
) -> None:
    with opened(workspace):
        pass
    (place,) = root.glob(f"*/{damage}")
    if place.is_dir():
        shutil.rmtree(place)
        if how != "removed":
            place.mkdir()
    elif how == "removed":
        place.unlink()
    else:
        whole = place.read_bytes()
        place.write_bytes(b"" if how == "emptied" else whole[: len(whole) // 2])
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)
        (directory / "a.txt").write_text("x")
        assert [change.path for change in directory.collect_changes()] == ["a.txt"]


@pytest.mark.req("G-04", "X-04")
def test_a_tree_that_is_gone_from_the_repository_does_not_matter(make_repo: MakeRepo, git: Git, opened: Open) -> None:
    repo = make_repo(FILES)
    repository = Repository.open(repo)
    repository.create_branch("topic", "main")
    workspace = repository.workspace("topic")
    workspace.write_file("lib/one.py", "topic\n")
    workspace.write_file("lib/more.py", "topic\n")
    lost = workspace.commit("topic")
    with opened(repository.commit_vfs(lost)):
        pass
    for ref in git(repo, "for-each-ref", "--format=%(refname)").splitlines():
        if ref != "refs/heads/main":
            git(repo, "update-ref", "-d", ref)
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "-q", "--prune=now")
    shutil.rmtree(repo / ".git" / "forge", ignore_errors=True)
    with pytest.raises(AssertionError):
        git(repo, "cat-file", "-e", lost)
    fresh = Repository.open(repo).workspace("main")
    with opened(fresh) as directory:
        assert shown(directory) == expected(fresh)


KILLED = """
    import sys
    from pathlib import Path
    from forge.git import Repository
    from forge.git.materialize.directory import materialize
    repo = Repository.open(sys.argv[1])
    views = [repo.commit_vfs(rev) for rev in ("main", "topic")]
    print("ready", flush=True)
    n = 0
    while True:
        with materialize(repo.objects, views[n % 2], root=Path(sys.argv[2]), key="k") as directory:
            (directory / f"made{n % 5}").write_text("left behind")
            (directory / "d1/f1").write_text("changed")
            (directory / "t.log").write_text("half")
        n += 1
"""


@pytest.mark.req("G-04", "X-04")
def test_kill_9_at_any_moment_never_leaves_a_wrong_directory(make_repo: MakeRepo, root: Path, opened: Open) -> None:
    rng = random.Random()
    repository = Repository.open(make_repo({".gitignore": "*.log\n"} | {f"d{n % 9}/f{n}": f"{n}" for n in range(90)}))
    repository.create_branch("topic", "main")
    workspace = repository.workspace("topic")
    for n in range(60):
        workspace.write_file(f"d{n % 9}/f{n}", "topic")
    workspace.write_file("t.log", "tracked")
    for n in range(60, 80):
        workspace.delete_file(f"d{n % 9}/f{n}")
    workspace.commit("topic")
    script = textwrap.dedent(KILLED)
    for round_ in range(4):
        arguments = [sys.executable, "-c", script, str(repository.git_dir), str(root)]
        with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(rng.uniform(0.0, 0.4))
            process.send_signal(signal.SIGKILL)
        view = repository.commit_vfs(("main", "topic")[round_ % 2])
        with opened(view, "k") as directory:
            ignored = {} if view.file_exists("t.log") else {"t.log": (0, b"half")}
            found = shown(directory)
            assert {p: f for p, f in found.items() if p not in ignored} == expected(view)
            assert directory.collect_changes() == ()


# -- the disk budget


def _kept(root: Path) -> set[str]:
    return {path.name.rpartition("-")[0] for path in root.iterdir()}


@pytest.mark.req("G-04")
def test_the_directories_used_least_lately_go_when_there_are_too_many(
    workspace: WorkInProgressVFS, root: Path, opened: Open
) -> None:
    for key in ("one", "two", "three", "one", "four"):
        with opened(workspace, key, budget=Budget(directories=3)):
            pass
        time.sleep(0.01)
    assert _kept(root) == {"three", "one", "four"}


@pytest.mark.req("G-04")
def test_a_directory_in_use_is_never_removed(workspace: WorkInProgressVFS, root: Path, opened: Open) -> None:
    with opened(workspace, "used") as used:
        for key in ("one", "two"):
            with opened(workspace, key, budget=Budget(directories=1, bytes=1)):
                pass
        assert shown(used) == expected(workspace)
        assert _kept(root) == {"used", "two"}


@pytest.mark.req("G-04")
def test_directories_go_when_they_take_too_much_space(workspace: WorkInProgressVFS, root: Path, opened: Open) -> None:
    for key in ("small", "large", "last"):
        with opened(workspace, key, budget=Budget(bytes=4 << 20)) as directory:
            if key == "large":
                (directory / "big.log").write_bytes(bytes(5 << 20))
        time.sleep(0.01)
    assert _kept(root) == {"last"} or _kept(root) == {"last", "small"}
    assert not list(root.glob("large-*"))


@pytest.mark.req("G-04", "X-04")
def test_a_removal_that_was_interrupted_is_finished(workspace: WorkInProgressVFS, root: Path, opened: Open) -> None:
    (root / ".gone-1/deep").mkdir(parents=True)
    (root / ".gone-1/deep/file").touch()
    with opened(workspace):
        pass
    assert not (root / ".gone-1").exists()


@pytest.mark.req("G-04", "X-04")
def test_a_slot_removed_while_somebody_waits_for_it_is_not_used(
    workspace: WorkInProgressVFS, opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(workspace) as directory:
        slot = Slot(directory.path.parent)
    opens = os.open

    def removed_in_between(path: object, *args: object, **options: object) -> int:
        fd = opens(path, *args, **options)  # type: ignore[arg-type]
        if str(path).endswith("/lock"):
            monkeypatch.undo()
            shutil.rmtree(slot.path)
        return fd

    monkeypatch.setattr(os, "open", removed_in_between)
    with opened(workspace) as directory:
        assert shown(directory) == expected(workspace)


# -- the repository itself


@pytest.mark.req("G-01", "G-04")
def test_the_repository_is_not_touched(make_repo: MakeRepo, opened: Open) -> None:
    repo = make_repo({**FILES, **{f"m/{n}": f"{n}" for n in range(100)}})
    workspace = Repository.open(repo).workspace("main")
    workspace.write_file("pending", "pending")

    def everything() -> dict[str, bytes]:
        return {str(p): p.read_bytes() for p in repo.rglob("*") if p.is_file()}

    before = everything()
    for _ in range(2):
        with opened(workspace) as directory:
            (directory / "new").write_text("new")
            (directory / "a.txt").write_text("changed")
            directory.collect_changes()
    assert everything() == before


@pytest.mark.req("G-04")
def test_a_workspace_gives_its_own_directory_with_pending_changes(workspace: WorkInProgressVFS, root: Path) -> None:
    workspace.write_file("new.txt", "pending\n")
    with workspace.materialize_to_tempdir(root=root) as directory:
        assert (directory / "new.txt").read_text() == "pending\n"
        (directory / "made.txt").write_text("by a command\n")
        directory.collect_changes()
    assert workspace.read_file("made.txt") == "by a command\n"
