"""What people do to the directory by hand becomes a commit of theirs, whole and once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.projects import differences
from forge.projects.records import Records
from tests.conftest import Git

pytestmark = pytest.mark.req("W-05")


@pytest.fixture
def records(tmp_path: Path) -> Records:
    files = {f"docs/{name}.md": f"# {name}\n" for name in ("intent", "spec", "plan")}
    return Records.init(tmp_path / "p", files, "project: p")


def test_one_edited_file_is_named_in_the_commit(records: Records, git: Git) -> None:
    (records.directory / "docs/spec.md").write_text("# Mine\n")
    taken = records.take_in()
    assert (taken.files, taken.recovered) == (("docs/spec.md",), ())
    assert git(records.directory, "log", "-1", "--format=%H|%an <%ae>|%s") == (
        f"{taken.commit}|Ada Example <ada@example.org>|edit: docs/spec.md"
    )
    assert git(records.directory, "status", "--porcelain") == ""
    assert records.take_in().commit is None


def test_all_kinds_of_changes_are_one_commit(records: Records, git: Git) -> None:
    root = records.directory
    (root / "docs/spec.md").unlink()
    (root / "docs/plan.md").rename(root / "docs/new plan ü.md")
    (root / "resources").mkdir()
    (root / "resources/data.bin").write_bytes(b"\0\r\n\xff")
    (root / "resources/run.sh").write_text("#!/bin/sh\n")
    (root / "resources/run.sh").chmod(0o755)
    (root / "resources/link").symlink_to("../docs/intent.md")
    (root / "docs/intent.md").unlink()
    (root / "docs/intent.md").mkdir()
    (root / "docs/intent.md/inner.md").write_text("a folder now")
    taken = records.take_in()
    assert len(taken.files) == 8
    assert git(root, "log", "--format=%an|%s") == "Ada Example|edit: 8 files by hand\nForge|project: p"
    modes = {line.split("\t")[1]: line[:6] for line in git(root, "ls-tree", "-r", "HEAD").splitlines()}
    assert modes["resources/run.sh"] == "100755"
    assert modes["resources/link"] == "120000"
    assert git(root, "cat-file", "-s", "HEAD:resources/data.bin") == "4"
    assert "docs/intent.md/inner.md" in modes
    assert git(root, "status", "--porcelain") == ""
    records.update(lambda _: {"docs/other.md": "x"}, "forge: on top")
    assert (root / "resources/link").is_symlink()
    assert os.access(root / "resources/run.sh", os.X_OK)


def test_ignored_files_stay_outside(records: Records, git: Git) -> None:
    (records.directory / "forge.log").write_text("{}\n")
    (records.directory / "docs/.spec.md.swp").write_bytes(b"x")
    assert records.take_in().files == ()
    (records.directory / "forge.log").write_text("{}\n{}\n")
    records.update(lambda _: {"x.md": "x"}, "x")
    assert "forge.log" not in git(records.directory, "ls-files")


def test_a_large_file_is_named_once_and_not_committed(
    records: Records, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert differences.MAX_FILE_BYTES == 50 * 1024 * 1024
    monkeypatch.setattr(differences, "MAX_FILE_BYTES", 1000)
    (records.directory / "big.bin").write_bytes(b"x" * 1001)
    (records.directory / "fits.bin").write_bytes(b"x" * 1000)
    taken = records.take_in()
    assert taken.files == ("fits.bin",)
    assert [s for s in taken.recovered if s.startswith("big.bin")]
    assert records.take_in().recovered == ()
    assert (records.directory / "big.bin").stat().st_size == 1001
    (records.directory / "big.bin").write_bytes(b"small")
    assert records.take_in().files == ("big.bin",)


def test_a_repository_inside_is_named_and_left_alone(records: Records, git: Git) -> None:
    clone = records.directory / "resources/clone"
    clone.mkdir(parents=True)
    git(clone, "init", "-q")
    (clone / "file").write_text("theirs")
    (records.directory / "mine.md").write_text("mine")
    taken = records.take_in()
    assert taken.files == ("mine.md",)
    assert "resources/clone/" in taken.recovered[0]


def test_a_name_that_cannot_be_kept_is_told_and_the_rest_is_taken(records: Records) -> None:
    (records.directory / "what?.md").write_text("x")
    (records.directory / "fine.md").write_text("x")
    taken = records.take_in()
    assert taken.files == ("fine.md",)
    assert taken.recovered[0].startswith("what?.md is not kept")
    assert (records.directory / "what?.md").read_text() == "x"


def test_an_edit_of_the_same_size_within_a_moment_is_seen(records: Records) -> None:
    records.update(lambda _: {"docs/spec.md": "one"}, "one")
    place = records.directory / "docs/spec.md"
    before = place.stat()
    with place.open("r+") as file:
        file.write("two")
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert records.take_in().files == ("docs/spec.md",)


def test_a_commit_and_a_staged_change_by_the_person_are_no_obstacle(records: Records, git: Git) -> None:
    (records.directory / "docs/spec.md").write_text("committed by hand")
    git(records.directory, "commit", "-qam", "mine")
    (records.directory / "docs/plan.md").write_text("staged")
    git(records.directory, "add", "-A")
    (records.directory / "docs/plan.md").write_text("staged and changed again")
    records.update(lambda read: {"docs/intent.md": read("docs/plan.md")}, "forge: on top")
    assert git(records.directory, "log", "--format=%s").splitlines() == [
        "forge: on top",
        "edit: docs/plan.md",
        "mine",
        "project: p",
    ]
    assert git(records.directory, "status", "--porcelain") == ""
    assert (records.directory / "docs/intent.md").read_text() == "staged and changed again"
