"""Approvals on disk: what every version of Forge wrote stays readable, and what is written now does not change."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from forge.git import Repository
from forge.tools.approval_records import ApprovalRecords, RecordedApproval
from forge.tools.approvals import FOLDER, PATH, POINTER, Approval, read_approvals, write_approvals
from tests.conftest import MakeRepo

pytestmark = pytest.mark.req("G-12", "G-06")
GOLDEN = Path(__file__).parent / "golden"
GREET = Approval(
    "tools/greet.py",
    "6a1f0c52b7e3d894",
    {"tools/greet.py": "0f3c9a1e5b7d2468", "tools/words.py": "9be1d37c42a60f58"},
    "Ann <ann@example.org>",
    "2026-03-01T12:00:00.000Z",
)
COUNT = Approval(
    "tools/count.py",
    "c04e8d217fa95b36",
    {"tools/count.py": "51d7e0b9ac83f264"},
    "Bób <bob@example.org>",
    "2026-03-02T08:30:00.000Z",
)
BOTH = {"count": COUNT, "greet": GREET}
RECORDED = RecordedApproval("greet", GREET, "local", "ai/x")
SOURCES = {"tools/greet.py": b"import words\n", "tools/words.py": "hello = 'hall\u00f6'\n".encode()}


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    return Repository.open(make_repo({"a.txt": "a\n"}))


def golden(number: str) -> dict[str, bytes]:
    place = GOLDEN / number
    return {f".forge/{path.relative_to(place).as_posix()}": path.read_bytes() for path in place.rglob("*.json")}


def put(repo: Repository, number: str) -> None:
    vfs = repo.workspace("main")
    for path, data in golden(number).items():
        vfs.write_record(path, data)
    vfs.commit("as that version wrote it")


@pytest.mark.parametrize("number", ["1", "2"])
def test_every_format_of_the_copy_stays_readable(repo: Repository, number: str) -> None:
    put(repo, number)
    assert read_approvals(repo.commit_vfs("main")) == {name: (each,) for name, each in BOTH.items()}


def test_what_is_written_is_the_second_format(repo: Repository) -> None:
    vfs = repo.workspace("main")
    write_approvals(vfs, BOTH)
    assert {path: vfs.read_bytes(path) for path in vfs.pending} == golden("2")


def test_a_copy_of_the_first_format_goes_on_in_the_second(repo: Repository) -> None:
    put(repo, "1")
    vfs = repo.workspace("main")
    write_approvals(vfs, {"greet": None})
    vfs.commit("revoke")
    files = repo.commit_vfs("main")
    assert read_approvals(files) == {"count": (COUNT,)}
    assert files.read_bytes(PATH) == POINTER
    (left,) = files.list_files(f"{FOLDER}/")
    assert files.read_bytes(left) == golden("2")[left]


def test_both_formats_in_one_branch_list_everything(repo: Repository) -> None:
    """A plain merge of an old branch may leave the file of the first format beside files of the second."""
    put(repo, "2")
    vfs = repo.workspace("main")
    vfs.write_record(PATH, golden("1")[PATH])
    assert read_approvals(vfs) == {name: (each, each) for name, each in BOTH.items()}


def test_the_record_beside_the_branches_stays_readable_and_is_written_the_same(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    shutil.copytree(GOLDEN / "record", old / "forge/approvals")
    assert ApprovalRecords(old).of("greet") == (RECORDED,)
    assert ApprovalRecords(old).difference(RECORDED, SOURCES) == ""
    ApprovalRecords(new).keep(RECORDED, SOURCES)
    files = {path.name: path.read_bytes() for path in (new / "forge/approvals").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (GOLDEN / "record").iterdir()}
