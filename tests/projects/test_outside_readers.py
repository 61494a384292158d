"""Programs that know nothing of Forge's lock, while Forge writes: editors, sync tools, scripts."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from forge.errors import ForgeError
from forge.git import Repository
from forge.projects import pending, state
from forge.projects.pending import PendingRecord
from forge.projects.records import Records
from forge.projects.workspace import Workspace
from tests.conftest import Git
from tests.projects.conftest import NOW

pytestmark = pytest.mark.req("W-03")

OLD = {"a.md": "old a\n", "b.md": "old b\n", "gone.md": "going\n"}
NEW: dict[str, str | bytes | None] = {"a.md": "new a\n", "b.md": "new b\n", "docs/c.md": "new c\n", "gone.md": None}


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records.init(tmp_path / "p", OLD, "project: p")


@contextmanager
def reading(place: Path, seen: set[str], failures: list[str]) -> Iterator[None]:
    """Open `place` again and again, as fast as it goes, until the block ends."""
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            try:
                text = place.read_text("utf-8")
                json.loads(text)
                seen.add(text)
            except (OSError, ValueError) as e:
                failures.append(repr(e))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield
    finally:
        done.set()
        reader.join()


def test_a_reader_finds_the_saved_state_whole_while_it_is_written(memory: Path) -> None:
    project = Workspace(memory / "workspace").create("Harbour Lights", now=NOW)
    seen: set[str] = set()
    failures: list[str] = []
    saved = json.loads(project.records.read(state.FILE) or "")
    with reading(project.directory / state.FILE, seen, failures):
        for turn in range(200):
            new = json.dumps(saved | {"projectName": f"Turn {turn}", "brainDump": "x" * (turn * 97 % 20_000)}) + "\n"
            assert project.records.update(lambda _, new=new: {state.FILE: new}, f"state: {turn}")
    assert failures == []
    assert len(seen) > 50
    assert project.records.take_in().files == ()


def by_a_person(monkeypatch: pytest.MonkeyPatch, root: Path, *, before: bool) -> None:
    """A person saves a.md and deletes b.md just before or just after Forge places its files."""
    place = pending.place

    def edited() -> None:
        (root / "a.md").write_text("")
        (root / "b.md").unlink()

    def watched(*args: Any) -> None:
        if before:
            edited()
        place(*args)
        if not before:
            edited()

    monkeypatch.setattr(pending, "place", watched)


@pytest.mark.parametrize("before", [True, False])
def test_what_a_person_saves_during_a_write_stays_and_becomes_theirs(
    records: Records, git: Git, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    with monkeypatch.context() as patch:
        by_a_person(patch, records.directory, before=before)
        assert records.update(lambda _: NEW, "all: new")
    assert (records.directory / "a.md").read_text() == ""
    assert not (records.directory / "b.md").exists()
    assert records.read("docs/c.md") == "new c\n"
    assert git(records.directory, "show", "HEAD:a.md") == "new a"
    assert records.take_in().files == ("a.md", "b.md")
    assert git(records.directory, "log", "--format=%an|%s").splitlines() == [
        "Ada Example|edit: 2 files by hand",
        "Forge|all: new",
        "Forge|project: p",
    ]
    assert git(records.directory, "status", "--porcelain") == ""


def test_a_failed_write_is_taken_back_but_not_a_persons_edit(
    records: Records, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = pending.place

    def failing(repository: Repository, root: Path, write: PendingRecord) -> None:
        place(repository, root, write)
        (root / "b.md").write_text("mine\n")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(pending, "place", failing)
        with pytest.raises(ForgeError):
            records.update(lambda _: NEW, "all: new")
    assert [records.read(path) for path in (*OLD, "docs/c.md")] == ["old a\n", "mine\n", "going\n", None]
    assert git(records.directory, "status", "--porcelain").split() == ["M", "b.md"]
    assert not pending.exists(records.repository)


def test_a_commit_of_somebody_elses_git_meanwhile_is_kept_whole(
    records: Records, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = pending.place

    def overtaken(*args: Any) -> None:
        place(*args)
        git(records.directory, "commit", "-q", "--allow-empty", "-m", "by git")

    with monkeypatch.context() as patch:
        patch.setattr(pending, "place", overtaken)
        with pytest.raises(ForgeError):
            records.update(lambda _: NEW, "all: new")
    assert [records.read(path) for path in (*OLD, "docs/c.md")] == [*OLD.values(), None]
    assert git(records.directory, "status", "--porcelain") == ""
    assert records.take_in().files == ()
    assert records.update(lambda _: NEW, "all: new")


def test_a_file_becomes_a_folder_and_a_folder_a_file(records: Records, git: Git) -> None:
    assert records.update(lambda _: {"a.md": None, "a.md/inner.md": "in\n"}, "a folder")
    assert records.read("a.md/inner.md") == "in\n"
    assert records.update(lambda _: {"a.md/inner.md": None, "a.md": "out\n"}, "a file")
    assert records.read("a.md") == "out\n"
    assert git(records.directory, "status", "--porcelain") == ""
    assert records.take_in().files == ()


def test_a_written_file_gets_the_rights_that_git_would_give_it(records: Records) -> None:
    (records.directory / "run.sh").write_text("#!/bin/sh\n")
    (records.directory / "run.sh").chmod(0o755)
    records.take_in()
    mask = os.umask(0o002)
    try:
        records.update(lambda _: {"a.md": "new\n", "run.sh": "#!/bin/sh\necho\n"}, "both")
    finally:
        os.umask(mask)
    assert (records.directory / "a.md").stat().st_mode & 0o777 == 0o664
    assert (records.directory / "run.sh").stat().st_mode & 0o777 == 0o775
