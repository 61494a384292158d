"""A project's files as a repository: one commit for each change, whoever made it."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from forge.git.errors import InvalidPath
from forge.projects.errors import ProjectBusy, ProjectUnreadable
from forge.projects.project import Project
from forge.projects.records import Read, Records
from tests.conftest import Git


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records.init(tmp_path / "p", {"docs/spec.md": "# Spec\n", "chat_history.json": "[]\n"}, "project: p")


def subjects(git: Git, records: Records) -> list[str]:
    return git(records.directory, "log", "--format=%an|%s").splitlines()


@pytest.mark.req("W-01")
def test_a_change_of_several_files_is_one_commit_of_forge(records: Records, git: Git) -> None:
    commit = records.update(
        lambda _: {"docs/a.md": "a\n", "b.bin": b"\0\xff", "docs/spec.md": None}, "spec: moved", step="run/1"
    )
    assert git(records.directory, "rev-parse", "HEAD") == commit
    assert git(records.directory, "status", "--porcelain") == ""
    assert git(records.directory, "show", "--format=%an%n%B", "--name-status", "HEAD").splitlines() == [
        "Forge",
        "spec: moved",
        "",
        "Forge-Step: run/1",
        "",
        "",
        "A\tb.bin",
        "A\tdocs/a.md",
        "D\tdocs/spec.md",
    ]
    assert (records.directory / "b.bin").read_bytes() == b"\0\xff"
    assert not (records.directory / "docs/spec.md").exists()
    assert git(records.directory, "branch", "--show-current") == "main"


def test_a_step_is_done_once_also_by_another_process(records: Records, git: Git) -> None:
    first = records.update(lambda _: {"docs/a.md": "1"}, "a", step="s1")
    records.update(lambda _: {"docs/a.md": "2"}, "b", step="s2")

    def never(_: Read) -> dict[str, str | bytes | None]:
        raise AssertionError

    for opened in (records, Records.open(records.directory)):
        assert opened.update(never, "again", step="s1") == first
    assert records.read("docs/a.md") == "2"
    assert len(subjects(git, records)) == 3


def test_a_step_that_was_taken_out_of_history_is_not_done(records: Records, git: Git) -> None:
    records.update(lambda _: {"docs/a.md": "1"}, "a", step="s1")
    assert records.update(lambda _: {}, "a", step="s1")
    git(records.directory, "reset", "-q", "--hard", "HEAD~1")
    assert records.read("docs/a.md") is None
    assert records.update(lambda _: {"docs/a.md": "1"}, "a", step="s1")
    assert records.read("docs/a.md") == "1"


def test_what_changes_nothing_makes_no_commit(records: Records, git: Git) -> None:
    assert records.update(lambda _: {"docs/spec.md": "# Spec\n", "nowhere.md": None}, "same") is None
    assert len(subjects(git, records)) == 1


def test_a_change_reads_what_is_there_now_with_edits_taken_in(records: Records, git: Git) -> None:
    (records.directory / "docs/spec.md").write_text("# Mine\n")
    records.update(lambda read: {"docs/spec.md": f"{read('docs/spec.md')}and ours\n"}, "spec: longer")
    assert records.read("docs/spec.md") == "# Mine\nand ours\n"
    assert subjects(git, records)[:2] == ["Forge|spec: longer", "Ada Example|edit: docs/spec.md"]


def test_an_error_in_a_change_leaves_everything_as_it_was(records: Records, git: Git) -> None:
    def failing(read: Read) -> dict[str, str | bytes | None]:
        raise OSError(read("docs/spec.md"))

    with pytest.raises(OSError, match="# Spec"):
        records.update(failing, "never")
    with pytest.raises(InvalidPath):
        records.update(lambda _: {"ok.md": "x", "../out.md": "x"}, "never")
    assert len(subjects(git, records)) == 1
    assert not (records.directory / "ok.md").exists()
    assert records.update(lambda _: {"ok.md": "x"}, "works again")


def test_a_change_cannot_start_another(records: Records) -> None:
    def nested(_: Read) -> dict[str, str | bytes | None]:
        records.update(lambda _: {}, "inner")
        return {}

    with pytest.raises(RuntimeError):
        records.update(nested, "outer")
    assert records.update(lambda _: {"x.md": str(records.read("docs/spec.md"))}, "reads while it writes")


@pytest.mark.req("W-08")
def test_two_openers_never_overwrite_what_they_did_not_read(records: Records, git: Git) -> None:
    def count(opened: Records) -> None:
        for _ in range(8):
            opened.update(lambda read: {"count.txt": str(int(read("count.txt") or 0) + 1)}, "count")

    threads = [threading.Thread(target=count, args=(Records.open(records.directory),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert records.read("count.txt") == "24"
    assert len(subjects(git, records)) == 25
    assert git(records.directory, "status", "--porcelain") == ""


def test_another_opener_sees_the_commit_of_the_first(records: Records) -> None:
    other = Records.open(records.directory)
    records.update(lambda _: {"docs/spec.md": "new"}, "one")
    assert other.update(lambda read: {"seen.md": read("docs/spec.md")}, "two")
    assert records.read("seen.md") == "new"
    assert records.take_in().commit is None


def test_a_merge_under_way_is_not_walked_over(records: Records) -> None:
    marker = records.directory / ".git" / "MERGE_HEAD"
    marker.write_text("")
    with pytest.raises(ProjectBusy):
        records.update(lambda _: {"x.md": "x"}, "no")
    marker.unlink()
    assert records.update(lambda _: {"x.md": "x"}, "yes")


def test_a_detached_head_is_named(records: Records, git: Git) -> None:
    git(records.directory, "checkout", "-q", "--detach")
    with pytest.raises(ProjectBusy) as busy:
        records.update(lambda _: {"x.md": "x"}, "no")
    assert "git switch main" in busy.value.hint


def test_a_directory_without_history_gets_one(tmp_path: Path, project: Project, git: Git) -> None:
    """A synced folder may arrive without its git directory."""
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("project.json", "status.json", "state.json"):
        (copy / name).write_bytes((project.directory / name).read_bytes())
    opened = Records.open(copy)
    assert git(copy, "log", "--format=%an|%s") == "Ada Example|edit: 3 files by hand"
    assert opened.update(lambda _: {"x.md": "x"}, "works")


def test_a_repository_above_is_not_taken_for_the_project(tmp_path: Path, git: Git) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "inner").mkdir()
    assert Records.open(tmp_path / "inner").repository.git_dir == tmp_path / "inner" / ".git"
    with pytest.raises(ProjectUnreadable):
        Records.open(tmp_path / "nowhere")


def test_a_torn_index_does_not_stop_anything(records: Records, git: Git) -> None:
    (records.directory / ".git/index").write_bytes(b"DIRC\0\0")
    opened = Records.open(records.directory)
    assert opened.update(lambda _: {"docs/spec.md": "new"}, "continues")
    assert git(records.directory, "status", "--porcelain") == ""
    assert git(records.directory, "fsck", "--strict") == ""


def test_a_foreign_index_lock_does_not_leave_the_directory_behind(records: Records, git: Git) -> None:
    lock = records.directory / ".git/index.lock"
    lock.write_bytes(b"")
    records.update(lambda _: {"docs/spec.md": "new", "more.md": "more"}, "all the same")
    lock.unlink()
    assert (records.directory / "docs/spec.md").read_text() == "new"
    assert git(records.directory, "status", "--porcelain") == ""
    assert not os.path.lexists(records.directory / ".git/forge/records-pending")
