"""Running a command on a branch: real directory, sandbox, and one commit of what it changed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from forge.app.repositories.commands import CommandRun, run_on_branch, time_to_collect
from forge.errors import InvalidInput
from forge.git import Actor, ActorKind, BranchMoved, MaterializedDirectory, ProtectedBranch, Repository
from forge.sandbox import Limits
from tests.conftest import Git, MakeRepo

LIMITS = Limits(seconds=30)


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    return Repository.open(make_repo({"a.txt": "one\n", "run.sh": "#!/bin/sh\necho ran\n"}, executable=["run.sh"]))


def shell(repo: Repository, script: str, *, branch: str = "main", save: bool = True) -> CommandRun:
    return run_on_branch(repo, repo.workspace(branch), ["sh", "-c", script], limits=LIMITS, save=save)


@pytest.mark.req("G-04")
def test_what_a_command_changed_becomes_one_commit_on_the_base_it_saw(repo: Repository) -> None:
    base = repo.resolve("main")
    done = shell(repo, "./run.sh && echo two >> a.txt && mkdir d && echo new > d/n.txt && chmod -x run.sh")
    assert done.result.stdout == b"ran\n"
    assert {change.path: str(change.change) for change in done.changes} == {
        "a.txt": "modified",
        "d/n.txt": "added",
        "run.sh": "modified",
    }
    assert done.commit == repo.resolve("main")
    assert done.operation is not None
    assert done.operation.moves[-1].after == done.commit
    assert (done.base, repo.commit("main").parents) == (base, (base,))
    assert repo.commit_vfs("main").read_file("a.txt") == "one\ntwo\n"


def test_a_command_that_changes_nothing_makes_no_commit(repo: Repository) -> None:
    before = repo.resolve("main")
    done = shell(repo, "touch a.txt; cat a.txt > b; rm b")
    assert (done.changes, done.commit, done.operation) == ((), None, None)
    assert repo.resolve("main") == before


def test_pending_changes_are_seen_by_the_command_and_saved_with_it(repo: Repository) -> None:
    workspace = repo.workspace("main")
    workspace.write_file("p.txt", "pending\n")
    done = run_on_branch(repo, workspace, ["cp", "p.txt", "copy.txt"], limits=LIMITS, save=True)
    assert done.commit is not None
    assert repo.commit_vfs("main").list_files() == ["a.txt", "copy.txt", "p.txt", "run.sh"]


def test_a_branch_that_moved_while_the_command_ran_is_not_overwritten(repo: Repository, git: Git) -> None:
    workspace = repo.workspace("main")
    other = repo.workspace("main")
    other.write_file("b.txt", "theirs\n")
    theirs = other.commit("theirs")
    with pytest.raises(BranchMoved):
        run_on_branch(repo, workspace, ["touch", "mine.txt"], limits=LIMITS, save=True)
    assert repo.resolve("main") == theirs


@pytest.mark.req("C-14")
@pytest.mark.parametrize("kind", [ActorKind.AGENT, ActorKind.BUILD])
def test_who_may_not_save_there_does_not_run_anything_first(repo: Repository, kind: ActorKind) -> None:
    workspace = repo.workspace("main", actor=Actor(kind, "bot"))
    with pytest.raises(ProtectedBranch):
        # Ran it, it would take longer than the test may.
        run_on_branch(repo, workspace, ["sleep", "600"], limits=Limits(seconds=600), save=True)


def test_an_empty_command_is_refused(repo: Repository) -> None:
    with pytest.raises(InvalidInput):
        run_on_branch(repo, repo.workspace("main"), [], limits=LIMITS)


def test_the_commit_names_the_command_in_one_line(repo: Repository, git: Git) -> None:
    shell(repo, "echo 'a b' > a.txt\n# " + "long " * 200)
    message = repo.commit("main").message
    subject, _, trailer = message.splitlines()
    assert subject.startswith("run: sh -c 'echo ")
    assert len(subject) <= 72
    assert trailer.startswith("Forge-Command: sh -c ")
    assert len(trailer) <= 520


def test_the_person_s_checkout_is_told_about_in_the_operation(repo: Repository) -> None:
    assert repo.work_tree is not None
    done = shell(repo, "echo two > a.txt")
    assert done.operation is not None
    assert [update.state for update in done.operation.checkouts] == ["updated"]
    assert Path(repo.work_tree, "a.txt").read_text() == "two\n"


def making(files: str) -> list[str]:
    """A command that makes many small files, in folders of a thousand."""
    lines = (
        "import itertools, os",
        f"for n in {files}:",
        "    if n % 1000 == 0: os.mkdir('d%d' % (n // 1000))",
        "    open('d%d/%d' % (n // 1000, n), 'w').close()",
    )
    return ["python3", "-c", "\n".join(lines)]


@pytest.mark.req("G-04", "X-06")
def test_the_time_limit_holds_with_collecting(repo: Repository) -> None:
    began = time.monotonic()
    run = run_on_branch(repo, repo.workspace("main"), making("itertools.count()"), limits=Limits(seconds=8), save=True)
    took = time.monotonic() - began
    assert took < 8 + time_to_collect(Limits(seconds=8)) + 4, took
    assert (run.result.timed_out, run.result.limited, run.commit) == (True, ("time",), None)
    (told,) = (note for note in run.notes if "not collected" in note or "in time" in note)
    assert told.split()[0].replace(",", "").isdigit() or told.startswith("The directory could not be looked through")
    # The directory is in order again for whoever comes next.
    again = run_on_branch(repo, repo.workspace("main"), ["ls"], limits=Limits(seconds=60))
    assert (again.result.stdout_text, again.changes) == ("a.txt\nrun.sh\n", ())


@pytest.mark.req("G-04")
def test_what_was_not_collected_wholly_is_not_saved(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    collect, tip = MaterializedDirectory.collect_changes, repo.resolve("main")
    monkeypatch.setattr(
        MaterializedDirectory, "collect_changes", lambda self, **_: collect(self, until=time.monotonic() + 0.3)
    )
    run = run_on_branch(repo, repo.workspace("main"), making("range(20_000)"), limits=LIMITS, save=True)
    assert (run.result.exit_code, run.result.timed_out, run.result.limited) == (0, True, ("time",))
    assert (run.commit, repo.resolve("main")) == (None, tip)
    assert len(run.changes) < 20_000
    assert run.notes[-1].endswith(("not collected: the time was over.", "looked through in time."))


def test_a_command_whose_changes_nobody_wants_is_not_collected(make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({"a.txt": "one\n"}))
    files = repo.workspace("main")
    run = run_on_branch(repo, files, ["sh", "-c", "echo b > b.txt"], limits=Limits(), collect=False)
    assert (run.result.exit_code, run.changes, files.pending) == (0, (), {})
    assert run_on_branch(repo, repo.workspace("main"), ["ls"], limits=Limits()).result.stdout_text == "a.txt\n"


def test_notes_are_bounded_and_counted(make_repo: MakeRepo) -> None:
    repo = Repository.open(make_repo({"a.txt": "one\n"}))
    script = "mkdir p; for n in $(seq 150); do mkfifo p/$n; done"
    run = run_on_branch(repo, repo.workspace("main"), ["sh", "-c", script], limits=Limits())
    assert len(run.notes) <= 101
