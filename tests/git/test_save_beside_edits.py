"""A save beside uncommitted work: the person's next commit takes nothing of it back, nothing of theirs is lost."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from forge.git import Repository
from forge.git.checkout.checkouts import CheckoutState
from forge.git.errors import CheckoutInTheWay, IndexLocked
from tests.conftest import Git, MakeRepo, run_git
from tests.git.worlds import files_in

OLD, MINE, STAGED, SAVED = "old text\n", "my edit\n", "my staged edit\n", "saved through Forge\n"


def _edit(repo: Path, path: str) -> None:
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    (repo / path).write_text(MINE)


def _stage(repo: Path, path: str) -> None:
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    (repo / path).write_text(STAGED)
    run_git(repo, "add", "--sparse", path)


def _conflict(repo: Path, path: str) -> None:
    ids = [run_git(repo, "hash-object", "-w", "--stdin", stdin=f"{path} {side}") for side in "123"]
    lines = "".join(f"100644 {oid} {stage}\t{path}\n" for stage, oid in enumerate(ids, 1))
    run_git(repo, "update-index", "--index-info", stdin=f"0 {'0' * 40}\t{path}\n{lines}")


def _replace_by_folder(repo: Path, path: str) -> None:
    (repo / path).unlink()
    (repo / path).mkdir()
    (repo / path / "mine").write_text(MINE)


def _replace_by_link(repo: Path, path: str) -> None:
    (repo / path).unlink()
    (repo / path).symlink_to("/etc/passwd")


def _forget_and_intend(repo: Path, path: str) -> None:
    run_git(repo, "rm", "-q", "--cached", "--sparse", path)
    run_git(repo, "add", "--sparse", "--intent-to-add", path)


Act = Callable[[Path, str], object]
STATES: dict[str, tuple[Act, ...]] = {
    "clean": (),
    "touched": (lambda repo, path: os.utime(repo / path, (1, 1)),),
    "edited": (_edit,),
    "staged": (_stage,),
    "staged-and-edited": (_stage, _edit),
    "deleted": (lambda repo, path: (repo / path).unlink(),),
    "removed": (lambda repo, path: run_git(repo, "rm", "-q", "--sparse", path),),
    "removed-from-index": (lambda repo, path: run_git(repo, "rm", "-q", "--cached", "--sparse", path),),
    "renamed": (lambda repo, path: run_git(repo, "mv", "--sparse", path, f"{path}-moved"),),
    "renamed-by-hand": (lambda repo, path: (repo / path).rename(repo / f"{path}-by-hand"),),
    "executable": (lambda repo, path: (repo / path).chmod(0o755),),
    "link": (_replace_by_link,),
    "folder": (_replace_by_folder,),
    "conflicted": (_conflict,),
    "intended-again": (_forget_and_intend,),
    "assumed": (lambda repo, path: run_git(repo, "update-index", "--assume-unchanged", path),),
    "assumed-edited": (lambda repo, path: run_git(repo, "update-index", "--assume-unchanged", path), _edit),
    "assumed-deleted": (
        lambda repo, path: run_git(repo, "update-index", "--assume-unchanged", path),
        lambda repo, path: (repo / path).unlink(),
    ),
    "skipped": (lambda repo, path: run_git(repo, "update-index", "--skip-worktree", path),),
    "skipped-edited": (lambda repo, path: run_git(repo, "update-index", "--skip-worktree", path), _edit),
    "skipped-deleted": (
        lambda repo, path: run_git(repo, "update-index", "--skip-worktree", path),
        lambda repo, path: (repo / path).unlink(),
    ),
}
"""What the person did with a file that the old commit has."""

NEW_STATES: dict[str, tuple[Act, ...]] = {
    "none": (),
    "untracked": (_edit,),
    "added": (_stage,),
    "added-and-edited": (_stage, _edit),
    "intended": (_edit, lambda repo, path: run_git(repo, "add", "--sparse", "--intent-to-add", path)),
    "intended-deleted": (
        _edit,
        lambda repo, path: run_git(repo, "add", "--sparse", "--intent-to-add", path),
        lambda repo, path: (repo / path).unlink(),
    ),
    "ignored.log": (_edit,),
    "a-folder": (lambda repo, path: (repo / path).mkdir(), lambda repo, path: _edit(repo, f"{path}/inside")),
    "a-link": (lambda repo, path: (repo / path).symlink_to("nowhere"),),
}
"""What the person has where the new commit has a new file."""

CHECKOUTS = ("plain", "linked", "split index", "sparse cone", "sparse patterns", "sparse index", "in a merge")
ACTIONS = ("edit", "delete", "rename", "merge", "undo", "rewind")


def world(make_repo: MakeRepo, checkout: str) -> Path:
    files = {f"in/{name}": f"{OLD}{name}\n" for name in STATES} | {f"out/{name}": f"{OLD}{name}\n" for name in STATES}
    repo = make_repo({**files, "other.txt": OLD, "far/x": OLD, ".gitignore": "*.log\n"})
    match checkout:
        case "linked":
            run_git(repo, "checkout", "-q", "--detach")
            run_git(repo, "worktree", "add", "-q", str(repo.parent / "linked"), "main")
            return repo.parent / "linked"
        case "split index":
            run_git(repo, "update-index", "--split-index")
        case "sparse cone" | "sparse index":
            run_git(repo, "sparse-checkout", "init", "--cone", *(["--sparse-index"] if "index" in checkout else []))
            run_git(repo, "sparse-checkout", "set", "in")
        case "sparse patterns":
            run_git(repo, "sparse-checkout", "set", "--no-cone", "/*", "!/out/")
        case "in a merge":
            run_git(repo, "checkout", "-q", "-b", "side")
            (repo / "far/y").write_text("from the side\n")
            run_git(repo, "add", "far/y")
            run_git(repo, "commit", "-qm", "side")
            run_git(repo, "checkout", "-q", "main")
            run_git(repo, "merge", "-q", "--no-commit", "--no-ff", "side")
    return repo


def person_acts(repo: Path, chosen: Mapping[str, tuple[Act, ...]]) -> None:
    for path, acts in chosen.items():
        for act in acts:
            act(repo, path)


def staged_against(repo: Path, tree: str) -> dict[str, str]:
    """Lines about the paths at which the index, as a commit would have it, differs from `tree`."""
    options = ("--cached", "-r", "-z", "--no-renames", "--ita-invisible-in-index", "--name-only")
    names = {name for name in run_git(repo, "diff-index", *options, tree).split("\0") if name}
    lines = [line for line in run_git(repo, "ls-files", "-z", "--stage", "-v").split("\0") if line]
    found = dict.fromkeys(names, "")
    for line in lines:
        facts, _, path = line.partition("\t")
        if path in names:
            found[path] += f"{facts}\n"
    return found


def own_files(repo: Path, tree: str) -> dict[str, tuple[int, bytes]]:
    """Every file that is not, byte for byte, what `tree` has."""
    clean = dict(line.split("\t")[::-1] for line in run_git(repo, "ls-tree", "-r", tree).splitlines())
    found = {}
    for path, (mode, data) in files_in(repo).items():
        oid = subprocess.run(["git", "hash-object", "--stdin"], input=data, cwd=repo, capture_output=True, check=True)
        usual = "120000" if mode & 0o170000 == 0o120000 else "100755" if mode & 0o100 else "100644"
        if clean.get(path, "").split(" ")[::2] != [usual, oid.stdout.decode().strip()]:
            found[path] = mode, data
    return found


def entries(repo: Path, rev: str) -> dict[str, str]:
    lines = [line for line in run_git(repo, "ls-tree", "-r", "-z", rev).split("\0") if line]
    return dict(line.split("\t")[::-1] for line in lines)


def hidden(repo: Path) -> dict[str, str]:
    lines = [line for line in run_git(repo, "ls-files", "-z", "-v").split("\0") if line]
    return {line[2:]: line[0] for line in lines if line[0] == "S" or line[0].islower()}


def act_through_forge(repo: Path, action: str, paths: list[str], new_paths: list[str]) -> None:
    """Change `paths` on main, and add `new_paths`."""
    forge = Repository.open(repo)

    def write(branch: str) -> None:
        space = forge.workspace(branch)
        for path in paths:
            match action:
                case "delete":
                    space.delete_file(path)
                case "rename":
                    space.rename_file(path, f"renamed/{path}")
                case _:
                    space.write_file(path, SAVED)
        for path in new_paths:
            space.write_file(path, SAVED)
        space.commit("saved")

    if action in ("merge", "undo"):
        forge.create_branch("topic", "main")
        write("topic")
        forge.perform(forge.preview_merge("topic", "main", no_ff=True))
    elif action == "rewind":
        forge.rewind_branch("main", "future")
    else:
        write("main")
    if action == "undo":
        forge.undo()


def check(repo: Path, action: str, chosen: Mapping[str, tuple[Act, ...]], new: Mapping[str, tuple[Act, ...]]) -> None:
    if action == "rewind":
        Repository.open(repo).create_branch("future", "main")
        space = Repository.open(repo).workspace("future")
        for path in [*chosen, *new]:
            space.write_file(path, SAVED)
        space.commit("saved")
    old = run_git(repo, "rev-parse", "main")
    person_acts(repo, {**chosen, **new})
    theirs, staged, marks = own_files(repo, old), staged_against(repo, old), hidden(repo)
    deleted = entries(repo, old).keys() - files_in(repo).keys()
    act_through_forge(repo, action, list(chosen), list(new))
    saved = entries(repo, "main")
    now = files_in(repo)
    assert {path: now.get(path) for path in theirs} == theirs
    assert not deleted & now.keys()
    after = staged_against(repo, old)
    assert {path: after.get(path) for path in staged} == staged
    kept_marks = {path: mark for path, mark in hidden(repo).items() if path in marks}
    assert kept_marks == {path: mark for path, mark in marks.items() if path in saved}

    _edit(repo, "other.txt")
    run_git(repo, "add", "--sparse", "other.txt")
    in_conflict = {path for path, lines in staged.items() if len(lines.splitlines()) > 1}
    for path in in_conflict:
        run_git(repo, "update-index", "--cacheinfo", f"100644,{run_git(repo, 'hash-object', '-w', '/dev/null')},{path}")
    run_git(repo, "commit", "-qm", "meant for other.txt")
    committed = entries(repo, "HEAD")
    differing = {path for path in saved.keys() | committed.keys() if saved.get(path) != committed.get(path)}
    assert differing <= staged.keys() | {"other.txt"}
    assert {path: files_in(repo).get(path) for path in theirs} == theirs


@pytest.mark.req("G-01", "G-05", "X-04")
@pytest.mark.parametrize("checkout", CHECKOUTS)
@pytest.mark.parametrize("action", ACTIONS)
def test_the_next_commit_undoes_nothing_and_nothing_is_lost(make_repo: MakeRepo, checkout: str, action: str) -> None:
    repo = world(make_repo, checkout)
    chosen = {f"in/{name}": acts for name, acts in STATES.items()}
    chosen |= {"out/clean": ()}
    new = {f"new-{name}": acts for name, acts in NEW_STATES.items()}
    if checkout == "sparse index":  # git itself damages one in which files are only intended to be added
        chosen = {path: acts for path, acts in chosen.items() if "intended" not in path}
        new = {path: acts for path, acts in new.items() if "intended" not in path}
    else:  # files of the person that the checkout leaves out
        chosen |= {"out/staged": (_stage,), "out/edited": (_edit,)}
    check(repo, action, chosen, new)


@pytest.mark.req("X-04")
def test_an_index_that_git_cannot_rewrite_stops_the_save(make_repo: MakeRepo) -> None:
    repo = world(make_repo, "sparse index")
    person_acts(repo, {"in/edited": (_edit,), "in/intended-again": STATES["intended-again"]})
    before = files_in(repo), (repo / ".git/index").read_bytes(), run_git(repo, "rev-parse", "main")
    space = Repository.open(repo).workspace("main")
    space.write_file("in/edited", SAVED)
    try:
        space.commit("saved")
    except CheckoutInTheWay:
        assert (files_in(repo), (repo / ".git/index").read_bytes(), run_git(repo, "rev-parse", "main")) == before
    else:  # a git that can
        run_git(repo, "commit", "-qm", "next", "--allow-empty")
        assert run_git(repo, "show", "HEAD:in/edited") == SAVED.strip()


@pytest.mark.req("G-01", "G-05", "X-04")
@pytest.mark.parametrize("seed", range(24))
def test_any_mixture_survives_any_action(make_repo: MakeRepo, seed: int) -> None:
    rng = random.Random(seed)
    repo = world(make_repo, rng.choice([each for each in CHECKOUTS if each != "sparse index"]))
    some = rng.sample(list(STATES), rng.randint(1, 4))
    fresh = rng.sample(list(NEW_STATES), rng.randint(0, 2))
    chosen = {f"in/{name}": STATES[name] for name in some}
    check(repo, rng.choice(ACTIONS), chosen, {f"new-{name}": NEW_STATES[name] for name in fresh})


def save(repo: Path, path: str, text: str = SAVED, branch: str = "main") -> CheckoutState:
    space = Repository.open(repo).workspace(branch)
    space.write_file(path, text)
    space.commit(f"edit: {path}")
    assert space.last_operation is not None
    return space.last_operation.checkouts[0].state


@pytest.mark.req("G-05", "X-04")
def test_a_commit_meant_for_another_file_keeps_the_save(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo({"README.md": OLD, "other.txt": OLD})
    (repo / "README.md").write_text(MINE)
    space = Repository.open(repo).workspace("main")
    space.write_file("README.md", SAVED)
    space.commit("edit: README.md")
    assert space.last_operation is not None
    (update,) = space.last_operation.checkouts
    assert update.state is CheckoutState.PARTLY
    assert [(own.path, own.sentence) for own in update.own] == [
        ("README.md", f"README.md: your uncommitted edit in {repo} is kept; it is based on the older text")
    ]
    (repo / "other.txt").write_text(MINE)
    git(repo, "add", "other.txt")
    git(repo, "commit", "-qm", "meant for other.txt")
    assert git(repo, "show", "HEAD:README.md") == SAVED.strip()
    assert (repo / "README.md").read_text() == MINE
    assert git(repo, "status", "--porcelain") == " M README.md"


@pytest.mark.req("X-04")
def test_a_merge_that_the_person_concludes_later_keeps_the_save(make_repo: MakeRepo, git: Git) -> None:
    repo = world(make_repo, "in a merge")
    assert save(repo, "in/clean") is CheckoutState.UPDATED
    git(repo, "commit", "-qam", "merged")
    assert git(repo, "show", "HEAD:in/clean") == SAVED.strip()
    assert git(repo, "show", "HEAD:far/y") == "from the side"
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.req("X-04")
def test_staged_files_where_a_folder_has_to_be_stop_the_save(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo({"data": OLD, "other.txt": OLD})
    git(repo, "rm", "-q", "--cached", "data")
    (repo / "data").unlink()
    (repo / "data").mkdir()
    (repo / "data/mine").write_text(MINE)
    git(repo, "add", "data/mine")
    forge = Repository.open(repo)
    space = forge.workspace("main")
    space.delete_file("data")
    space.write_file("data/mine/deep", SAVED)
    before = files_in(repo), (repo / ".git/index").read_bytes(), git(repo, "rev-parse", "main")
    with pytest.raises(CheckoutInTheWay, match="data/mine/deep cannot be saved"):
        space.commit("saved")
    assert (files_in(repo), (repo / ".git/index").read_bytes(), git(repo, "rev-parse", "main")) == before
    assert not (repo / ".git/index.lock").exists()


@pytest.mark.req("X-04")
def test_a_locked_index_stops_the_save_and_stays_locked(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo({"a.txt": OLD})
    (repo / ".git/index.lock").write_text("somebody")
    before = git(repo, "rev-parse", "main")
    with pytest.raises(IndexLocked, match="locked the index"):
        save(repo, "a.txt")
    assert (repo / ".git/index.lock").read_text() == "somebody"
    assert (git(repo, "rev-parse", "main"), (repo / "a.txt").read_text()) == (before, OLD)


@pytest.mark.req("X-04")
def test_a_branch_that_moves_meanwhile_leaves_index_and_files_as_they_were(
    make_repo: MakeRepo, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo({"a.txt": OLD, "b.txt": OLD, "c.txt": OLD})
    (repo / "a.txt").write_text(MINE)
    (repo / "c.txt").write_text(STAGED)
    git(repo, "add", "c.txt")
    index = (repo / ".git/index").read_bytes()
    files = files_in(repo)
    from forge.git.refs import ref_store  # noqa: PLC0415

    def lost(*_: object, **__: object) -> None:
        raise IndexLocked("lost")

    monkeypatch.setattr(ref_store, "swap", lost)
    space = Repository.open(repo).workspace("main")
    for path in ("a.txt", "b.txt", "c.txt", "d.txt"):
        space.write_file(path, SAVED)
    with pytest.raises(IndexLocked, match="lost"):
        space.commit("saved")
    assert (files_in(repo), (repo / ".git/index").read_bytes()) == (files, index)


KILLED = textwrap.dedent("""
    import os, sys
    from forge.git import Repository; from forge.git.refs import ref_store as refs
    def die(*_, **__):
        os.kill(os.getpid(), 9)
    refs.reserve = die
    space = Repository.open(sys.argv[1]).workspace("main")
    for path in ("a.txt", "b.txt", "new.txt"):
        space.write_file(path, "a save that was killed\\n")
    space.commit("killed")
""")


@pytest.mark.req("X-04")
@pytest.mark.parametrize("edited", [True, False])
def test_what_a_kill_between_index_and_branch_left_is_taken_over_by_the_next_save(
    make_repo: MakeRepo, git: Git, edited: bool
) -> None:
    repo = make_repo({"a.txt": OLD, "b.txt": OLD, "other.txt": OLD})
    if edited:
        (repo / "a.txt").write_text(MINE)
    assert subprocess.run([sys.executable, "-c", KILLED, str(repo)], check=False).returncode == -9
    assert (repo / "a.txt").read_text() == (MINE if edited else "a save that was killed\n")
    assert "killed" in git(repo, "show", ":a.txt")  # staged: nothing of it is lost, nothing taken back
    for path in ("a.txt", "b.txt", "new.txt"):
        save(repo, path)
    git(repo, "commit", "-qm", "next", "--allow-empty")
    for path in ("a.txt", "b.txt", "new.txt"):
        assert git(repo, "show", f"HEAD:{path}") == SAVED.strip()
    assert (repo / "a.txt").read_text() == (MINE if edited else SAVED)
    assert git(repo, "status", "--porcelain") == (" M a.txt" if edited else "")
