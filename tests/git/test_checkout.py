"""The person's checkouts follow a branch where that harms nothing, and are left alone otherwise."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pygit2
import pytest

from forge.git import Repository
from forge.git.checkout.checkouts import (
    CheckoutState,
    CheckoutUpdate,
    Worktree,
    branches_checked_out,
    bring_up_to_date,
    step_back,
    worktrees_on,
)
from forge.git.errors import CheckoutInTheWay, IndexLocked
from forge.git.objects.object_store import Objects
from forge.git.values import CommitId, Mode
from tests.conftest import Git, MakeRepo, run_git
from tests.git.worlds import files_in

UPDATED, PARTLY, LEFT_ALONE = CheckoutState.UPDATED, CheckoutState.PARTLY, CheckoutState.LEFT_ALONE
FILES = {
    "a.txt": "a\n",
    "b.txt": "b\n",
    "lib/one.py": "one\n",
    "lib/two.py": "two\n",
    "lib/deep/three.py": "three\n",
    "data/x": "x\n",
    ".gitignore": "*.log\n/out/\n",
}


def objects_of(repo: Path) -> Objects:
    git_dir = Path(pygit2.Repository(str(repo)).path)
    common = git_dir / "commondir"
    return Objects(git_dir, (git_dir / common.read_text().strip()).resolve() if common.exists() else git_dir)


def commit_with(
    repo: Path, changes: Mapping[str, str | None], *, modes: Mapping[str, int] | None = None, parent: str = "HEAD"
) -> CommitId:
    """A commit that no branch has yet; None deletes a file."""
    handle = pygit2.Repository(str(repo))
    base = handle.revparse_single(parent).peel(pygit2.Commit)
    index = pygit2.Index()
    index.read_tree(base.tree)
    for path, content in changes.items():
        if content is None:
            index.remove(path)
    for path, content in changes.items():
        if content is not None:
            mode = (modes or {}).get(path, Mode.FILE)
            oid = pygit2.Oid(hex=content) if mode == Mode.SUBMODULE else handle.create_blob(content.encode())
            index.add(pygit2.IndexEntry(path, oid, pygit2.enums.FileMode(mode)))
    who = pygit2.Signature("Ada", "ada@example.org", 1, 0)
    made = handle.create_commit(None, who, who, "next", index.write_tree(handle), [base.id])
    return CommitId(str(made))


def head(repo: Path) -> CommitId:
    return CommitId(run_git(repo, "rev-parse", "HEAD"))


def follow(repo: Path, new: CommitId) -> CheckoutUpdate:
    objects = objects_of(repo)
    (worktree,) = worktrees_on(objects, "main")
    return bring_up_to_date(objects, worktree, head(repo), new)


def move(repo: Path, new: CommitId) -> None:
    run_git(repo, "update-ref", "refs/heads/main", new)


def untouchable(repo: Path) -> dict[str, bytes]:
    """HEAD, config, refs and stash: never Forge's to change."""
    git_dir = repo / ".git"
    kept = [git_dir / "HEAD", git_dir / "config", *(p for p in (git_dir / "refs").rglob("*") if p.is_file())]
    kept += [p for p in (git_dir / "logs").rglob("*") if p.is_file()]
    return {str(p): p.read_bytes() for p in kept if p.exists()}


def status(repo: Path) -> dict[str, str]:
    """The person's own changes of what git tracks."""
    lines = run_git(repo, "status", "-z", "--porcelain", "--no-renames", "--untracked-files=no").split("\0")
    return {line[3:]: line[:2] for line in lines if line}


# -- finding checkouts


@pytest.mark.req("G-01")
def test_the_main_checkout_and_linked_ones_are_found_by_branch(make_repo: MakeRepo, git: Git, tmp_path: Path) -> None:
    repo = make_repo(FILES)
    git(repo, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
    git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "detached"))
    for place in (repo, tmp_path / "linked"):
        objects = objects_of(place)
        assert worktrees_on(objects, "main") == (Worktree(repo, repo / ".git"),)
        assert worktrees_on(objects, "topic") == (
            Worktree(tmp_path / "linked", repo / ".git" / "worktrees" / "linked"),
        )
        assert worktrees_on(objects, "other") == ()
        assert branches_checked_out(objects) == {"main", "topic"}


@pytest.mark.req("G-01")
def test_a_bare_repository_has_only_its_linked_checkouts(make_repo: MakeRepo, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(make_repo(FILES)), "bare.git")
    bare = tmp_path / "bare.git"
    assert worktrees_on(objects_of(bare), "main") == ()
    git(bare, "worktree", "add", "-q", str(tmp_path / "linked"), "main")
    assert [w.path for w in worktrees_on(objects_of(bare), "main")] == [tmp_path / "linked"]


@pytest.mark.req("G-01")
def test_linked_checkouts_with_relative_paths_are_found(make_repo: MakeRepo, git: Git, tmp_path: Path) -> None:
    repo = make_repo(FILES)
    git(repo, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "linked"))
    admin = repo / ".git" / "worktrees" / "linked"
    (admin / "gitdir").write_text(os.path.relpath(tmp_path / "linked" / ".git", admin) + "\n")
    (tmp_path / "linked" / ".git").write_text(f"gitdir: {os.path.relpath(admin, tmp_path / 'linked')}\n")
    assert [w.path for w in worktrees_on(objects_of(repo), "topic")] == [tmp_path / "linked"]


@pytest.mark.req("G-01")
def test_a_removed_or_reused_directory_is_no_checkout(make_repo: MakeRepo, git: Git, tmp_path: Path) -> None:
    repo = make_repo(FILES)
    for name in ("gone", "reused"):
        git(repo, "worktree", "add", "-q", "-b", name, str(tmp_path / name))
        shutil.rmtree(tmp_path / name)
    git(tmp_path, "init", "-q", str(tmp_path / "reused"))
    assert branches_checked_out(objects_of(repo)) == {"main"}


@pytest.mark.req("G-01")
def test_the_checkout_of_a_submodule_and_of_a_separate_git_directory_are_found(
    make_repo: MakeRepo, git: Git, tmp_path: Path
) -> None:
    inner, outer = make_repo(FILES, name="inner"), make_repo({"f": "f"}, name="outer")
    git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    assert [w.path for w in worktrees_on(objects_of(outer / "sub"), "main")] == [outer / "sub"]
    git(tmp_path, "init", "-q", f"--separate-git-dir={tmp_path / 'elsewhere.git'}", str(tmp_path / "files"))
    found = worktrees_on(objects_of(tmp_path / "files"), "main")
    assert all(w.path == tmp_path / "files" for w in found)


@pytest.mark.req("G-01")
def test_head_is_followed_through_a_symbolic_branch(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo(FILES)
    git(repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    git(repo, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert [w.path for w in worktrees_on(objects_of(repo), "main")] == [repo]


# -- following


@pytest.mark.req("G-01", "G-03")
def test_a_clean_checkout_shows_the_new_commit_and_stays_clean(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo(FILES, executable=["lib/one.py"], symlinks={"link": "a.txt"})
    new = commit_with(
        repo,
        {"a.txt": "new\r\n", "lib/one.py": None, "lib/four.py": "4", "link": "b.txt", "data/x": None, "data": "file"},
        modes={"link": Mode.SYMLINK, "lib/four.py": Mode.EXECUTABLE},
    )
    update = follow(repo, new)
    assert (update.state, update.reason, update.paths) == (UPDATED, "", ())
    move(repo, new)
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "diff", "HEAD", "--stat") == ""
    assert (repo / "a.txt").read_bytes() == b"new\r\n"
    assert os.access(repo / "lib/four.py", os.X_OK)
    assert os.readlink(repo / "link") == "b.txt"
    assert (repo / "data").read_text() == "file"


@pytest.mark.req("G-01")
def test_the_same_tree_needs_no_update(make_repo: MakeRepo) -> None:
    repo = make_repo(FILES)
    before = (repo / ".git" / "index").read_bytes()
    (repo / ".git" / "index.lock").touch()
    assert follow(repo, commit_with(repo, {})).state is UPDATED
    assert (repo / ".git" / "index").read_bytes() == before


@pytest.mark.req("G-01")
def test_a_touched_but_unchanged_file_is_no_change_of_the_person(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo(FILES)
    os.utime(repo / "a.txt", (1, 1))
    new = commit_with(repo, {"a.txt": "new\n"})
    assert follow(repo, new).state is UPDATED
    move(repo, new)
    assert git(repo, "status", "--porcelain") == ""


def _staged(repo: Path) -> None:
    (repo / "a.txt").write_text("mine\n")
    run_git(repo, "add", "a.txt")


def _conflicted(repo: Path) -> None:
    run_git(repo, "checkout", "-q", "-b", "side")
    (repo / "a.txt").write_text("side\n")
    run_git(repo, "commit", "-qam", "side")
    run_git(repo, "checkout", "-q", "main")
    (repo / "a.txt").write_text("main\n")
    run_git(repo, "stash", "-q")
    run_git(repo, "merge", "-q", "--no-commit", "--no-ff", "side")
    run_git(repo, "update-ref", "-d", "MERGE_HEAD")
    run_git(repo, "reset", "-q", "--hard")
    (repo / "a.txt").write_text("main\n")
    ids = [run_git(repo, "hash-object", "-w", "--stdin", stdin=text) for text in ("1", "2", "3")]
    lines = "".join(f"100644 {oid} {stage}\ta.txt\n" for stage, oid in enumerate(ids, 1))
    run_git(repo, "update-index", "--index-info", stdin=f"0 {'0' * 40}\ta.txt\n{lines}")


OVERLAPS: dict[str, Callable[[Path], object]] = {
    "edited": lambda repo: (repo / "a.txt").write_text("mine\n"),
    "staged": _staged,
    "deleted": lambda repo: (repo / "a.txt").unlink(),
    "removed from the index": lambda repo: run_git(repo, "rm", "-q", "--cached", "a.txt"),
    "made executable": lambda repo: (repo / "a.txt").chmod(0o755),
    "replaced by a symlink": lambda repo: ((repo / "a.txt").unlink(), (repo / "a.txt").symlink_to("/etc/passwd")),
    "replaced by a folder": lambda repo: (
        (repo / "a.txt").unlink(),
        (repo / "a.txt").mkdir(),
        (repo / "a.txt/f").touch(),
    ),
    "hidden by assume-unchanged": lambda repo: (
        run_git(repo, "update-index", "--assume-unchanged", "a.txt"),
        (repo / "a.txt").write_text("mine\n"),
    ),
    "hidden by skip-worktree": lambda repo: (
        run_git(repo, "update-index", "--skip-worktree", "a.txt"),
        (repo / "a.txt").write_text("mine\n"),
    ),
    "in conflict": _conflicted,
}


@pytest.mark.req("G-01", "X-04")
@pytest.mark.parametrize("what", OVERLAPS)
def test_a_file_with_changes_of_the_persons_own_stays_and_the_others_follow(make_repo: MakeRepo, what: str) -> None:
    repo = make_repo(FILES)
    new = commit_with(repo, {"a.txt": "new\n", "b.txt": "new\n"})
    OVERLAPS[what](repo)
    before, kept = files_in(repo), untouchable(repo)
    update = follow(repo, new)
    assert (update.state, update.paths) == (PARTLY, ("a.txt",))
    assert update.reason
    assert [own.path for own in update.own] == ["a.txt"]
    assert files_in(repo) == before | {"b.txt": (0o100644, b"new\n")}
    assert untouchable(repo) == kept


@pytest.mark.req("G-01", "X-04")
@pytest.mark.parametrize(
    ("mine", "adds"),
    [
        ("new.txt", "new.txt"),
        ("secret.log", "secret.log"),
        ("out/secret", "out/secret"),
        ("out/secret", "out"),
        ("x.log", "x.log/inside"),
    ],
)
def test_untracked_and_ignored_files_are_never_overwritten(make_repo: MakeRepo, mine: str, adds: str) -> None:
    repo = make_repo(FILES)
    (repo / mine).parent.mkdir(exist_ok=True)
    (repo / mine).write_text("the only copy")
    update = follow(repo, commit_with(repo, {adds: "new", "a.txt": "new"}))
    assert (update.state, update.paths) == (PARTLY, (adds,))
    assert (repo / mine).read_text() == "the only copy"
    assert (repo / "a.txt").read_text() == "new"


@pytest.mark.req("G-01", "X-04")
def test_nothing_is_written_through_a_symlink_that_the_person_put_in_place_of_a_folder(
    make_repo: MakeRepo, tmp_path: Path
) -> None:
    repo = make_repo({**FILES, ".gitignore": "/cache\n"})
    (tmp_path / "outside").mkdir()
    (repo / "cache").symlink_to(tmp_path / "outside")
    update = follow(repo, commit_with(repo, {"cache/file": "new"}))
    assert (update.state, update.paths) == (PARTLY, ("cache/file",))
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.req("G-01")
@pytest.mark.parametrize("name", ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-apply", "sequencer"])
def test_a_merge_or_the_like_in_progress_goes_on_with_the_new_commit(make_repo: MakeRepo, name: str) -> None:
    repo = make_repo(FILES)
    (repo / ".git" / name).write_text(head(repo))
    (repo / "b.txt").write_text("mine")
    update = follow(repo, commit_with(repo, {"a.txt": "new", "b.txt": "new"}))
    assert (update.state, update.paths) == (PARTLY, ("b.txt",))
    assert "in progress" in update.reason
    assert ((repo / "a.txt").read_text(), (repo / "b.txt").read_text()) == ("new", "mine")


@pytest.mark.req("G-01", "X-04")
def test_a_locked_index_is_left_alone_and_its_lock_stays(make_repo: MakeRepo) -> None:
    repo = make_repo(FILES)
    (repo / ".git" / "index.lock").write_text("somebody")
    with pytest.raises(IndexLocked) as refused:
        follow(repo, commit_with(repo, {"a.txt": "new"}))
    assert "index.lock" in refused.value.hint
    assert (repo / ".git" / "index.lock").read_text() == "somebody"
    assert (repo / "a.txt").read_text() == "a\n"


@pytest.mark.req("G-01")
def test_a_clone_without_checkout_is_not_filled(make_repo: MakeRepo, git: Git, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--no-checkout", str(make_repo(FILES)), "bare-ish")
    clone = tmp_path / "bare-ish"
    assert follow(clone, commit_with(clone, {"a.txt": "new"})).state is LEFT_ALONE
    assert files_in(clone) == {}


@pytest.mark.req("G-01")
def test_hooks_do_not_run_and_submodules_are_not_entered(make_repo: MakeRepo, git: Git, tmp_path: Path) -> None:
    inner, repo = make_repo(FILES, name="inner"), make_repo(FILES)
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    git(repo, "commit", "-qm", "submodule")
    git(repo, "config", "submodule.recurse", "true")
    hook = repo / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
    hook.chmod(0o755)
    inside = files_in(repo / "sub"), head(repo / "sub")
    newer = commit_with(inner, {"a.txt": "newer"})
    new = commit_with(repo, {"a.txt": "new", "sub": newer}, modes={"sub": Mode.SUBMODULE})
    assert follow(repo, new).state is UPDATED
    assert (files_in(repo / "sub"), head(repo / "sub")) == inside
    assert git(repo, "ls-files", "--stage", "sub").split()[1] == newer
    assert not (tmp_path / "hook-ran").exists()


@pytest.mark.req("G-01", "G-03")
def test_line_endings_and_sparse_checkouts_are_gits_business(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo({**FILES, ".gitattributes": "*.txt text eol=crlf\n"})
    git(repo, "sparse-checkout", "set", "--no-cone", "/*", "!/lib/")
    assert not (repo / "lib").exists()
    new = commit_with(repo, {"a.txt": "1\n2\n", "lib/one.py": "new"})
    assert follow(repo, new).state is UPDATED
    move(repo, new)
    assert (repo / "a.txt").read_bytes() == b"1\r\n2\r\n"
    assert not (repo / "lib").exists()
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.req("G-01")
def test_a_linked_checkout_follows_by_its_own_index(make_repo: MakeRepo, git: Git, tmp_path: Path) -> None:
    repo = make_repo(FILES)
    linked = tmp_path / "linked"
    git(repo, "worktree", "add", "-q", "-b", "topic", str(linked))
    (linked / "b.txt").write_text("mine")
    objects = objects_of(repo)
    new = commit_with(repo, {"a.txt": "new"})
    (worktree,) = worktrees_on(objects, "topic")
    assert bring_up_to_date(objects, worktree, head(repo), new).state is UPDATED
    git(repo, "update-ref", "refs/heads/topic", new)
    assert git(linked, "status", "--porcelain") == " M b.txt"
    assert git(repo, "status", "--porcelain") == ""


# -- a branch without a commit


@pytest.mark.req("G-01")
def test_the_first_commit_fills_an_empty_checkout(make_repo: MakeRepo, git: Git) -> None:
    repo, other = make_repo(name="empty"), make_repo(FILES, name="other")
    git(repo, "fetch", "-q", str(other), "main")
    objects, new = objects_of(repo), head(other)
    (worktree,) = worktrees_on(objects, "main")
    update = bring_up_to_date(objects, worktree, None, new)
    assert update.state is UPDATED
    move(repo, new)
    assert git(repo, "status", "--porcelain") == ""
    assert (repo / "lib/one.py").read_text() == "one\n"


@pytest.mark.req("G-01", "X-04")
@pytest.mark.parametrize("staged", [False, True])
def test_files_of_the_person_stay_when_the_first_commit_comes(make_repo: MakeRepo, git: Git, staged: bool) -> None:
    repo, other = make_repo(name="empty"), make_repo(FILES, name="other")
    git(repo, "fetch", "-q", str(other), "main")
    (repo / "a.txt").write_text("mine")
    if staged:
        git(repo, "add", "a.txt")
    objects = objects_of(repo)
    (worktree,) = worktrees_on(objects, "main")
    update = bring_up_to_date(objects, worktree, None, head(other))
    assert (update.state, update.paths) == (PARTLY, ("a.txt",))
    assert files_in(repo) == files_in(other) | {"a.txt": (0o100644, b"mine")}


@pytest.mark.req("G-01")
def test_a_commit_that_deletes_every_file_is_followed_and_taken_back(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo(FILES)
    before = files_in(repo)
    new = commit_with(repo, dict.fromkeys(FILES))
    update = follow(repo, new)
    assert update.state is UPDATED
    assert files_in(repo) == {}
    objects = objects_of(repo)
    (worktree,) = worktrees_on(objects, "main")
    assert step_back(objects, worktree, update).state is UPDATED
    assert files_in(repo) == before
    assert git(repo, "status", "--porcelain") == ""


# -- stepping back


@pytest.mark.req("G-01", "X-04")
def test_stepping_back_restores_files_and_keeps_other_changes(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo(FILES)
    (repo / "b.txt").write_text("mine")
    (repo / "data/x").write_text("staged")
    git(repo, "add", "data/x")
    before = files_in(repo), git(repo, "status", "--porcelain")
    update = follow(repo, commit_with(repo, {"a.txt": "new", "lib/new.py": "new", "lib/one.py": None}))
    assert update.state is UPDATED
    objects = objects_of(repo)
    (worktree,) = worktrees_on(objects, "main")
    step_back(objects, worktree, update)
    assert (files_in(repo), git(repo, "status", "--porcelain")) == before


@pytest.mark.req("G-01", "X-04")
@pytest.mark.parametrize("change", [{"a.txt": "same"}, {"a.txt": None}])
def test_stepping_back_never_undoes_what_the_person_had_staged_alike(
    make_repo: MakeRepo, git: Git, change: dict[str, str | None]
) -> None:
    repo = make_repo(FILES)
    new = commit_with(repo, {**change, "b.txt": "new"})
    if change["a.txt"] is None:
        git(repo, "rm", "-q", "a.txt")
    else:
        (repo / "a.txt").write_text("same")
        git(repo, "add", "a.txt")
    staged = git(repo, "diff", "--cached", "--", "a.txt")
    update = follow(repo, new)
    assert update.state is UPDATED
    objects = objects_of(repo)
    (worktree,) = worktrees_on(objects, "main")
    back = step_back(objects, worktree, update)
    assert (back.state, back.paths) == (LEFT_ALONE, ("a.txt",))
    assert git(repo, "diff", "--cached", "--", "a.txt") == staged


@pytest.mark.req("G-01")
def test_stepping_back_from_the_first_commit_empties_the_checkout(make_repo: MakeRepo, git: Git) -> None:
    repo, other = make_repo(name="empty"), make_repo(FILES, name="other")
    git(repo, "fetch", "-q", str(other), "main")
    (repo / "own").write_text("mine")
    objects = objects_of(repo)
    (worktree,) = worktrees_on(objects, "main")
    update = bring_up_to_date(objects, worktree, None, head(other))
    assert update.state is UPDATED
    step_back(objects, worktree, update)
    assert files_in(repo) == {"own": (0o100644, b"mine")}
    assert git(repo, "status", "--porcelain") == "?? own"


# -- any person, any commit


def _person_acts(repo: Path, rng: random.Random, new: CommitId) -> None:
    path = rng.choice([*FILES, "lib/own.py", "own.txt", "keep.log", "out/cache", "data/own"])
    place = repo / path
    place.parent.mkdir(exist_ok=True, parents=True)
    exists = place.is_file() and not place.is_symlink()
    tracked = path in FILES and path in run_git(repo, "ls-files", "-z").split("\0")
    text = rng.choice(["mine\n", "mine\r\n", "", "new 1\n", "other\n" * 50])
    if place.is_symlink():
        return
    match rng.randrange(12):
        case 0 | 1:
            if not place.is_dir():
                place.write_text(text)
        case 2 if not place.is_dir():
            place.write_text(text)
            run_git(repo, "add", "--sparse", "-f", path)
        case 3 if not place.is_dir():
            place.write_text(text)
            run_git(repo, "add", "--sparse", "-f", path)
            place.write_text(text + "more\n")
        case 4 if exists:
            place.unlink()
        case 5 if exists and tracked:
            run_git(repo, "rm", "-q", "-f", "--cached", path)
        case 6 if exists:
            place.chmod(0o755)
        case 7 if not place.exists() and not place.is_symlink():
            place.write_text(text)
            run_git(repo, "add", "-f", "--intent-to-add", path)
        case 8 if exists:
            os.utime(place, (1, 1))
        case 9 if exists:
            place.unlink()
            place.symlink_to(rng.choice(["a.txt", "/etc/passwd"]))
        case 10 if tracked:
            run_git(repo, "update-index", rng.choice(["--assume-unchanged", "--skip-worktree"]), path)
            if exists:
                place.write_text(text)
        case 11:
            shown = run_git(repo, "ls-tree", "-r", "--name-only", new).splitlines()
            if path in shown and not place.is_dir():
                place.write_text(run_git(repo, "show", f"{new}:{path}") + "\n")
                run_git(repo, "add", "--sparse", "-f", path)
        case _:
            pass


def _random_commit(repo: Path, rng: random.Random) -> CommitId:
    changes: dict[str, str | None] = {}
    modes: dict[str, int] = {}
    for number in range(rng.randint(1, 4)):
        match rng.randrange(7):
            case 0 | 1:
                changes[rng.choice(list(FILES))] = f"new {number}\n"
            case 2:
                changes[rng.choice(list(FILES))] = None
            case 3 | 4:
                changes[rng.choice(["lib/own.py", "own.txt", "keep.log", "data/own", "fresh/f"])] = f"new {number}\n"
            case 5:
                path = rng.choice(list(FILES))
                changes[path], modes[path] = FILES[path], Mode.EXECUTABLE
            case 6:
                changes["data/x"], changes["data"] = None, "now a file\n"
                changes.pop("data/own", None)
    if changes.get("data"):
        changes = {path: text for path, text in changes.items() if text is None or path != "data/own"}
        changes["data/x"] = None
    return commit_with(repo, changes, modes={path: mode for path, mode in modes.items() if changes.get(path)})


@pytest.mark.req("G-01", "G-03", "X-04")
@pytest.mark.parametrize("seed", range(60))
def test_whatever_the_person_was_doing_survives_whatever_is_committed(make_repo: MakeRepo, git: Git, seed: int) -> None:
    rng = random.Random(seed)
    repo = make_repo(FILES)
    if rng.random() < 0.3:
        (repo / "b.txt").write_text("stashed\n")
        git(repo, "stash", "-q")
    old, new = head(repo), _random_commit(repo, rng)
    for _ in range(rng.randint(0, 4)):
        _person_acts(repo, rng, new)
    changed = set(git(repo, "diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new).split("\0"))
    files, shown, index, kept = files_in(repo), status(repo), (repo / ".git/index").read_bytes(), untouchable(repo)

    try:
        update = follow(repo, new)
    except CheckoutInTheWay:
        assert (files_in(repo), (repo / ".git/index").read_bytes(), untouchable(repo)) == (files, index, kept)
        return

    after = files_in(repo)
    assert untouchable(repo) == kept
    assert update.state is not LEFT_ALONE
    assert {p: f for p, f in after.items() if p not in changed} == {p: f for p, f in files.items() if p not in changed}
    own = {path for path, code in shown.items() if path in changed} | set(update.paths)
    for path in own:
        assert after.get(path) == files.get(path)
    move(repo, new)
    now = status(repo)
    assert {p: c for p, c in now.items() if p not in changed} == {p: c for p, c in shown.items() if p not in changed}
    assert {path for path in now if path in changed} <= own
    move(repo, old)
    objects = objects_of(repo)
    (worktree,) = worktrees_on(objects, "main")
    if step_back(objects, worktree, update).state is UPDATED:
        assert (files_in(repo), status(repo)) == (files, shown)
    assert untouchable(repo)[str(repo / ".git" / "config")] == kept[str(repo / ".git" / "config")]


@pytest.mark.req("G-01", "G-04")
def test_a_commit_of_a_workspace_reaches_the_checkout_of_its_branch(make_repo: MakeRepo, git: Git) -> None:
    directory = make_repo(FILES)
    (directory / "b.txt").write_text("mine")
    workspace = Repository.open(directory).workspace("main")
    workspace.write_file("a.txt", "saved\n")
    workspace.commit("edit: a.txt")
    assert (directory / "a.txt").read_text() == "saved\n"
    assert git(directory, "status", "--porcelain") == " M b.txt"
    assert workspace.last_operation is not None
    assert [update.state for update in workspace.last_operation.checkouts] == [UPDATED]
