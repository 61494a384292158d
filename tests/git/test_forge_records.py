"""Forge's own records in a repository are written by Forge's own functions only, in every spelling, by every way in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forge.git import Mode, Repository, WorkInProgressVFS
from forge.git.errors import InvalidPath, RecordProtected
from forge.git.workspace.forge_records import is_inside, is_record, refuse_writing
from tests.conftest import Git, MakeRepo

pytestmark = pytest.mark.req("G-12", "X-06")

RECORDS = (
    ".forge/session.json",
    ".forge/session/0000/000001-abcdef12.json",
    ".forge/approved_tools.json",
    ".forge/approved_tools/greet.json",
    ".forge/seal/0001.json",
)
SPELLINGS = (
    ".FORGE/session.json",
    ".forge/Session.json",
    ".Forge/APPROVED_TOOLS.JSON",
    ".forge/\uff33ession.json",
    ".\uff26orge/session.json",
    ".fo\u200brge/session.json",
    ".forge/ses\u200csion.json",
    ".forge./session.json",
    ".forge /session.json",
    ".forge/session.json::$DATA",
    ".forge\\session.json",
    "FORGE~1/session.json",
    ".forge/SESSIO~1.JSO",
    ".forge/APPROV~1.JSO",
    ".forge",
    ".FORGE",
)
ORDINARY = (".forge/config.yaml", ".forge/plugins/x.py", "forge/session.json", "src/.forge/session.json", ".forgery")


@pytest.fixture
def files(make_repo: MakeRepo) -> WorkInProgressVFS:
    """A branch that has records, as Forge wrote them."""
    repo = Repository.open(make_repo({"README.md": "read me\n", ".forge/config.yaml": "{}\n"}))
    vfs = repo.workspace("main")
    for path in RECORDS:
        vfs.write_record(path, b"{}\n")
    vfs.commit("records")
    return repo.workspace("main")


@pytest.mark.parametrize("path", [*RECORDS, *SPELLINGS])
def test_no_spelling_of_a_record_can_be_written(files: WorkInProgressVFS, path: str) -> None:
    for mode in (None, Mode.SYMLINK, Mode.EXECUTABLE):
        with pytest.raises((RecordProtected, InvalidPath)):
            files.write_bytes(path, b"forged", mode=mode)
    with pytest.raises((RecordProtected, InvalidPath)):
        files.rename_file("README.md", path)
    with pytest.raises(RecordProtected):
        refuse_writing(path)
    assert files.pending_changes() == {}


@pytest.mark.parametrize("path", RECORDS)
def test_a_record_cannot_be_deleted_renamed_or_made_executable(files: WorkInProgressVFS, path: str) -> None:
    for change in (
        lambda: files.delete_file(path),
        lambda: files.rename_file(path, "elsewhere.json"),
        lambda: files.set_mode(path, Mode.EXECUTABLE),
    ):
        with pytest.raises(RecordProtected, match="only Forge writes"):
            change()
    assert files.pending_changes() == {}


def test_a_folder_with_records_cannot_be_deleted_or_moved_and_nothing_moves_into_their_place(
    files: WorkInProgressVFS,
) -> None:
    files.write_file("mine/session.json", "{}")
    before = dict(files.pending)
    for change in (
        lambda: files.delete_folder(".forge"),
        lambda: files.rename_folder(".forge", "mine2"),
        lambda: files.rename_folder("mine", ".forge/session"),
        lambda: files.rename_folder("mine", ".forge/approved_tools"),
        lambda: files.rename_folder("mine", ".FORGE/seal"),
    ):
        with pytest.raises(RecordProtected):
            change()
        assert dict(files.pending) == before


@pytest.mark.parametrize("path", ORDINARY)
def test_what_people_edit_stays_theirs(files: WorkInProgressVFS, path: str) -> None:
    files.write_file(path, "mine\n")
    files.set_mode(path, Mode.EXECUTABLE)
    files.rename_file(path, "moved")
    files.delete_file("moved")
    assert not is_record(path)


def test_the_way_for_records_writes_nothing_else(files: WorkInProgressVFS) -> None:
    for path in ("README.md", ".forge/config.yaml", ".FORGE/session.json"):
        with pytest.raises(InvalidPath, match="not the place of a record"):
            files.write_record(path, b"x")


def test_a_hostile_link_in_the_place_of_the_folder_can_be_deleted(make_repo: MakeRepo, git: Git) -> None:
    place = make_repo({"README.md": "read me\n"})
    (place / ".forge").symlink_to("elsewhere")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "a link")
    files = Repository.open(place).workspace("main")
    assert is_inside(".forge")
    files.delete_file(".forge")
    assert list(files.pending) == [".forge"]


def test_only_sessions_and_approvals_use_the_way_for_records() -> None:
    """One who adds a caller decides anew whether a person or an agent can steer what it writes."""
    source = Path(__file__).parents[2] / "src" / "forge"
    callers = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(r"\.write_record\(", path.read_text())
    }
    # Marks name files that are in context, which every agent may change; the pointer is always the same bytes.
    marks = {"sessions/places.py", "sessions/saved_marks.py", "sessions/migration.py"}
    turns = {"sessions/head.py", "sessions/conversation.py", "agents/turn_commit.py"}
    assert callers == marks | turns | {"tools/approvals.py"}
