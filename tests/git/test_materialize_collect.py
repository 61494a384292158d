"""What a command did in its directory comes into the workspace as `git add --all` would take it, and nothing else."""

from __future__ import annotations

import os
import random
import resource
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from forge.git import Change, Repository, WorkInProgressVFS
from forge.git.errors import ReadOnlyView
from forge.git.materialize import scan
from forge.git.materialize.collect import CollectedChange, CollectionLimits
from forge.git.materialize.directory import MaterializedDirectory, materialize
from forge.git.values import Mode
from forge.git.workspace.commit_vfs import GitCommitVFS
from tests.conftest import Git, MakeRepo, run_git

pytestmark = pytest.mark.req("G-04", "G-03")

FILES = {
    "a.txt": "a\n",
    "run.sh": "#!/bin/sh\n",
    "lib/one.py": "one\n",
    "lib/deep/two.py": "two\n",
    "data/raw": b"\x00\xff\r\n",
    "tracked.log": "ignored but tracked\n",
    ".gitignore": "*.log\n/cache/\n!important.log\n",
    "lib/.gitignore": "local\n!/deep/kept.log\n",
}

Open = Callable[..., AbstractContextManager[MaterializedDirectory]]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    def opened(view: GitCommitVFS | WorkInProgressVFS, **options: object):  # type: ignore[no-untyped-def]
        return materialize(view.objects, view, root=tmp_path / "cache", key="main", **options)  # type: ignore[arg-type]

    yield opened
    # Folders nested very deeply pytest itself could not remove.
    subprocess.run(["rm", "-rf", str(tmp_path / "cache")], check=True)


@pytest.fixture
def workspace(make_repo: MakeRepo) -> WorkInProgressVFS:
    return Repository.open(make_repo(FILES, symlinks={"link": "a.txt"})).workspace("main")


def collected(directory: MaterializedDirectory) -> dict[str, str]:
    return {change.path: change.change.value for change in directory.collect_changes()}


def notes(directory: MaterializedDirectory) -> dict[str, str]:
    return {note.path: note.reason for note in directory.notes}


# -- ordinary changes


def test_new_changed_and_deleted_files_are_collected(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as directory:
        (directory / "a.txt").write_bytes(b"changed\r\n")
        (directory / "new/deep").mkdir(parents=True)
        (directory / "new/deep/file").write_bytes(b"\x00new")
        (directory / "lib/one.py").unlink()
        (directory / "run.sh").chmod(0o755)
        (directory / "new/link").symlink_to("../a.txt")
        (directory / "tracked.log").write_text("still tracked\n")
        assert directory.collect_changes() == (
            CollectedChange("a.txt", Change.MODIFIED),
            CollectedChange("lib/one.py", Change.DELETED),
            CollectedChange("new/deep/file", Change.ADDED),
            CollectedChange("new/link", Change.ADDED),
            CollectedChange("run.sh", Change.MODIFIED),
            CollectedChange("tracked.log", Change.MODIFIED),
        )
        assert directory.collect_changes() == ()
        (directory / "a.txt").write_bytes(b"changed again")
        (directory / "new/deep/file").unlink()
        assert collected(directory) == {"a.txt": "modified", "new/deep/file": "deleted"}
    assert directory.notes == ()
    assert workspace.read_bytes("a.txt") == b"changed again"
    assert workspace.mode("run.sh") == Mode.EXECUTABLE
    assert (workspace.mode("new/link"), workspace.read_bytes("new/link")) == (Mode.SYMLINK, b"../a.txt")
    assert not workspace.file_exists("lib/one.py")


def test_a_file_that_only_looks_changed_is_not_collected(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as directory:
        for path in workspace.list_files():
            place = directory / path
            if not place.is_symlink():
                data = place.read_bytes()
                place.unlink()
                place.write_bytes(data)
        os.link(directory / "a.txt", directory / "cache.log")
        assert directory.collect_changes() == ()
    assert workspace.pending == {}


def test_kinds_of_files_may_change(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as directory:
        (directory / "a.txt").unlink()
        (directory / "a.txt").mkdir()
        (directory / "a.txt/inside").write_text("in")
        shutil.rmtree(directory / "lib/deep")
        (directory / "lib/deep").write_text("now a file")
        (directory / "link").unlink()
        (directory / "link").write_text("now a file")
        (directory / "run.sh").unlink()
        (directory / "run.sh").symlink_to("data/raw")
        assert collected(directory) == {
            "a.txt": "deleted",
            "a.txt/inside": "added",
            "lib/deep": "added",
            "lib/deep/two.py": "deleted",
            "link": "modified",
            "run.sh": "modified",
        }
        assert directory.notes == ()
        assert directory.collect_changes() == ()
    assert workspace.mode("link") == Mode.FILE
    assert workspace.mode("run.sh") == Mode.SYMLINK
    workspace.commit("kinds")
    with opened(workspace) as directory:
        assert directory.collect_changes() == ()


def test_a_change_of_case_is_a_rename(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as directory:
        os.rename(directory / "a.txt", directory / "A.txt")
        assert collected(directory) == {"A.txt": "added", "a.txt": "deleted"}


def test_older_modes_of_files_are_kept(make_repo: MakeRepo, opened: Open) -> None:
    repo = make_repo({"f": "f"})
    oid = run_git(repo, "hash-object", "-w", "--stdin", stdin="f")
    raw = b"100664 f\0" + bytes.fromhex(oid)
    (repo / "raw").write_bytes(raw)
    tree = run_git(repo, "hash-object", "-t", "tree", "-w", "--literally", "raw")
    run_git(repo, "update-ref", "refs/heads/old", run_git(repo, "commit-tree", "-m", "old", tree))
    workspace = Repository.open(repo).workspace("old")
    for _ in range(2):
        with opened(workspace) as directory:
            assert directory.collect_changes() == ()
    with opened(workspace) as directory:
        (directory / "f").write_text("changed")
        assert collected(directory) == {"f": "modified"}
    assert workspace.mode("f") == 0o100664


# -- what is ignored


def test_ignored_files_stay_out_as_git_would_have_it(workspace: WorkInProgressVFS, opened: Open, home: Path) -> None:
    ignore = home / "config" / "git" / "ignore"
    ignore.parent.mkdir(parents=True)
    ignore.write_text("*.mine\n")
    (workspace.objects.common_dir / "info").mkdir(exist_ok=True)
    (workspace.objects.common_dir / "info" / "exclude").write_text("*.here\n")
    taken = ["important.log", "lib/important.log", "lib/deep/kept.log", "local", "x"]
    left = ["x.log", "cache/c", "lib/local", "lib/deep/local", "a.mine", "a.here", "cache/important.log", "lib/x.log"]
    with opened(workspace) as directory:
        (directory / "cache").mkdir()
        for path in (*taken, *left):
            (directory / path).write_text("x")
        assert sorted(collected(directory)) == sorted(taken)
        assert directory.notes == ()


def test_excludes_that_the_repository_is_configured_with_count(
    workspace: WorkInProgressVFS, opened: Open, git: Git, tmp_path: Path
) -> None:
    (tmp_path / "my excludes").write_text("*.own\n")
    git(workspace.objects.git_dir, "config", "core.excludesFile", str(tmp_path / "my excludes"))
    with opened(workspace) as directory:
        (directory / "x.own").touch()
        (directory / "y").touch()
        assert collected(directory) == {"y": "added"}


def test_ignore_rules_that_the_command_itself_wrote_count(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as directory:
        (directory / ".gitignore").write_text("*.tmp\n")
        (directory / "x.tmp").touch()
        (directory / "x.log").touch()
        assert collected(directory) == {".gitignore": "modified", "x.log": "added"}


def test_a_deleted_file_that_comes_back_ignored_stays_deleted(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace):
        pass
    workspace.delete_file("tracked.log")
    workspace.delete_file("a.txt")
    with opened(workspace) as directory:
        (directory / "tracked.log").write_text("ignored but tracked\n")
        (directory / "a.txt").write_text("a\n")
        assert collected(directory) == {"a.txt": "added"}
    with opened(workspace) as directory:
        assert (directory / "tracked.log").exists()


# -- the law


@pytest.mark.parametrize("seed", range(25))
def test_collecting_gives_the_tree_that_git_add_all_gives(
    make_repo: MakeRepo, opened: Open, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    repo = make_repo(
        {**FILES, ".gitattributes": "*.txt text eol=crlf\n"}, symlinks={"link": "a.txt", "lib/up": "../data"}
    )
    workspace = Repository.open(repo).workspace("main")
    twin = tmp_path / "twin"
    run_git(tmp_path, "clone", "-q", "-c", "core.attributesFile=/dev/null", str(repo), str(twin))
    (twin / ".git" / "info" / "attributes").write_text("* -text\n")
    run_git(twin, "rm", "-q", "--cached", "-r", ".")
    run_git(twin, "reset", "-q", "--hard")
    for _ in range(3):
        with opened(workspace) as directory:
            for _ in range(rng.randrange(1, 7)):
                act = _act(rng)
                act(directory.path)
                act(twin)
            directory.collect_changes()
            assert directory.notes == ()
        run_git(twin, "add", "--all")
        if workspace.pending:
            workspace.commit("step")
        assert workspace.base_tree == run_git(twin, "write-tree")


def _act(rng: random.Random) -> Callable[[Path], None]:
    folder = rng.choice(["", "lib/", "lib/deep/", "new/", "new/er/", "data/", "cache/"])
    path = folder + rng.choice(["a.txt", "one.py", "x.log", "important.log", "local", "two.py", "raw", "kept.log"])
    data, what = rng.choice([b"", b"1", b"\r\n", b"text\r\n", b"\0"]), rng.randrange(8)
    rules = rng.choice(["*.txt\n", "!x.log\n", "*.py\n!one.py\n", "raw\n", ""])

    def act(root: Path) -> None:
        place = root / path
        if what == 7:
            place = place.parent / ".gitignore"
        if what == 6:
            if place.parent != root:
                shutil.rmtree(place.parent, ignore_errors=True)
            return
        if any(p.is_file() or p.is_symlink() for p in place.parents if p != root and root in p.parents):
            return
        place.parent.mkdir(parents=True, exist_ok=True)
        if what == 7:
            place.write_text(rules)
        elif what == 5 and place.is_file() and not place.is_symlink():
            place.chmod(0o755 if data else 0o644)
        elif what == 4 and os.path.lexists(place):
            place.unlink()
        elif what == 3 and not os.path.lexists(place):
            place.symlink_to("somewhere/inside")
        elif not place.is_symlink() and not place.is_dir():
            place.write_bytes(data)

    return act


# -- what cannot be kept


def test_strange_things_are_noted_and_the_rest_is_collected(
    workspace: WorkInProgressVFS, opened: Open, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("secret")
    with opened(workspace, limits=CollectionLimits(file_bytes=1000)) as directory:
        os.mkfifo(directory / "pipe")
        os.mkfifo(directory / "lib/pipe")
        with socket.socket(socket.AF_UNIX) as server:
            os.chdir(directory)
            server.bind("socket")
            os.chdir("/")
        run_git(directory.path, "init", "-q", "nested")
        (directory / "nested/file").touch()
        run_git(directory.path, "init", "-q")
        (directory / "out").symlink_to(tmp_path / "secret")
        (directory / "lib/out").symlink_to("../../../secret")
        (directory / "big").write_bytes(bytes(1001))
        (directory / "a.txt").write_bytes(bytes(1001))
        (directory / "trailing.").write_text("x")
        (directory / "A:b").write_text("x")
        (directory / "LIB").mkdir()
        (directory / "LIB/one.py").write_text("x")
        with open(os.fsencode(str(directory)) + b"/caf\xe9", "wb") as file:
            file.write(b"x")
        (directory / "tool").write_text("x")
        (directory / "tool").chmod(0o4777)
        os.truncate(directory / "data/raw", 0)
        assert collected(directory) == {"tool": "added", "data/raw": "modified"}
        why = notes(directory)
        assert why.keys() == {
            *("pipe", "lib/pipe", "socket", "nested", ".git", "out", "lib/out", "big", "a.txt", "trailing."),
            *("A:b", "LIB/one.py", "caf\udce9"),
        }
        assert all(reason.startswith("not collected: ") for reason in why.values())
        assert "too large" in why["big"]
        assert "outside" in why["out"]
        assert "repository" in why["nested"]
    assert workspace.read_bytes("a.txt") == b"a\n"
    assert workspace.mode("tool") == Mode.EXECUTABLE
    assert set(workspace.pending) == {"tool", "data/raw"}


def test_a_total_limit_keeps_memory_bounded(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace, limits=CollectionLimits(total_bytes=2500)) as directory:
        for name in ("1", "2", "3", "4"):
            (directory / name).write_bytes(bytes(1000))
        assert collected(directory) == {"1": "added", "2": "added"}
        assert notes(directory).keys() == {"3", "4"}


def test_a_folder_replaced_by_a_symlink_to_outside_is_not_followed(
    workspace: WorkInProgressVFS, opened: Open, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "one.py").write_text("secret")
    (outside / "deep/two.py").write_text("secret")
    with opened(workspace) as directory:
        shutil.rmtree(directory / "lib")
        (directory / "lib").symlink_to(outside)
        assert collected(directory) == {
            "lib/.gitignore": "deleted",
            "lib/deep/two.py": "deleted",
            "lib/one.py": "deleted",
        }
        assert "outside" in notes(directory)["lib"]
    workspace.discard()
    with opened(workspace) as directory:
        assert (directory / "lib/one.py").read_text() == "one\n"
        assert not (directory / "lib").is_symlink()
    assert sorted(p.name for p in outside.rglob("*")) == ["deep", "one.py", "two.py"]


def test_a_folder_that_moved_behind_a_symlink_is_collected_as_it_is(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as directory:
        os.rename(directory / "data", directory / "moved")
        (directory / "data").symlink_to("moved")
        assert collected(directory) == {"data": "added", "data/raw": "deleted", "moved/raw": "added"}
        assert directory.notes == ()
        assert directory.collect_changes() == ()
    with opened(workspace) as directory:
        assert (directory / "data").is_symlink()
    workspace.discard()
    with opened(workspace) as directory:
        assert not (directory / "data").is_symlink()
        assert directory.collect_changes() == ()


@pytest.mark.parametrize("trap", [".gitignore", "lib/.gitignore", "new/deep/.gitignore", ".gitattributes"])
def test_a_pipe_that_git_would_read_does_not_block(
    workspace: WorkInProgressVFS, opened: Open, monkeypatch: pytest.MonkeyPatch, trap: str
) -> None:
    monkeypatch.setattr(scan, "_PATIENCE", 0.3)
    with opened(workspace) as directory:
        place = directory / trap
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        os.mkfifo(place)
        (directory / "new").mkdir(exist_ok=True)
        (directory / "new/file").write_text("x")
        (directory / "a.txt").write_text("x")
        found = collected(directory)
        assert {"new/file", "a.txt"} <= found.keys()
    workspace.discard()
    with opened(workspace) as directory:
        assert directory.collect_changes() == ()
        assert (directory / ".gitignore").is_file()


def test_more_folders_than_can_be_open_at_once_are_removed(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as directory:
        here = os.open(directory, os.O_RDONLY)
        for _ in range(600):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        os.close(here)
        directory.collect_changes()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Whatever else this process has open already counts too: room for far fewer than the 600 folders.
    most = max(int(fd) for fd in os.listdir("/proc/self/fd")) + 100
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, limits[1]))
    try:
        workspace.discard()
        with opened(workspace) as directory:
            assert not (directory / "d").exists()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_another_user_than_root_copes_with_closed_folders(make_repo: MakeRepo, tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can become somebody else")
    repo = make_repo(FILES)
    script = """
import os, sys
from pathlib import Path
from forge.git import Repository
from forge.git.materialize.directory import materialize
os.setgid(65534); os.setuid(65534)
workspace = Repository.open(sys.argv[1]).workspace("main")
def opened():
    return materialize(workspace.objects, workspace, root=Path(sys.argv[2]), key="k")
with opened() as directory:
    (directory / "lib/new").write_text("new")
    (directory / "unreadable").write_text("x")
    (directory / "unreadable").chmod(0)
    (directory / "made/deep").mkdir(parents=True)
    (directory / "made/deep/file").write_text("x")
    (directory / "made/deep").chmod(0o500)
    (directory / "lib/deep").chmod(0)
    (directory / "lib").chmod(0o500)
    print(*[change.path for change in directory.collect_changes()])
    print(*[note.path for note in directory.notes])
    (directory / "lib").chmod(0)
    directory.path.chmod(0)
workspace.discard()
with opened() as directory:
    print(*sorted(p.name for p in directory.path.iterdir()))
    print(*sorted(p.name for p in (directory / "lib").iterdir()))
"""
    for place in (tmp_path, *tmp_path.parents):
        if place.stat().st_uid == 0 and "pytest" in str(place):
            place.chmod(0o755)
    shutil.copytree(repo, tmp_path / "own")
    (tmp_path / "theirs").mkdir()
    for folder, _, names in os.walk(tmp_path / "own"):
        for name in (".", *names):
            os.chown(Path(folder, name), 65534, 65534)
    os.chown(tmp_path / "theirs", 65534, 65534)
    run = [sys.executable, "-c", script, str(tmp_path / "own"), str(tmp_path / "theirs" / "cache")]
    done = subprocess.run(run, capture_output=True, text=True, check=False, cwd="/", env=os.environ | {"HOME": "/"})
    if "Permission denied" in done.stderr and "forge" not in done.stderr.splitlines()[-1]:
        pytest.skip("another user cannot run this Python")
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "lib/new made/deep/file",
        "unreadable",
        ".gitignore a.txt data lib run.sh tracked.log",
        ".gitignore deep one.py",
    ]


# -- the workspace has the last word


def test_what_the_workspace_refuses_is_noted_and_the_rest_is_collected(
    workspace: WorkInProgressVFS, opened: Open
) -> None:
    with opened(workspace) as directory:
        (directory / "new").write_text("x")
        (directory / "other").write_text("x")
        workspace.write_file("new/inside", "the workspace went on meanwhile")
        assert collected(directory) == {"other": "added"}
        assert notes(directory).keys() == {"new"}
    assert set(workspace.pending) == {"new/inside", "other"}


def test_a_file_that_the_workspace_deleted_meanwhile_is_no_error(workspace: WorkInProgressVFS, opened: Open) -> None:
    with opened(workspace) as directory:
        (directory / "a.txt").unlink()
        workspace.delete_file("a.txt")
        assert directory.collect_changes() == ()


def test_a_view_of_a_commit_takes_no_changes(workspace: WorkInProgressVFS, opened: Open) -> None:
    assert workspace.base is not None
    with opened(GitCommitVFS(workspace.objects, workspace.base)) as directory:
        assert directory.collect_changes() == ()
        (directory / "a.txt").write_text("changed")
        with pytest.raises(ReadOnlyView):
            directory.collect_changes()
