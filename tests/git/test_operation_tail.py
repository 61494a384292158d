"""The operation log read onwards: who asked for what, each operation once, over rotations, crashes and plain git."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from forge.git import PERSON, Actor, ActorKind, Repository, Request
from forge.git.refs.branch_watch import BranchWatch
from forge.git.refs.operations.operation import Operation
from forge.git.refs.operations.tail import LogPosition, LogTail
from tests.git import worlds

pytestmark = pytest.mark.req("G-08")

BEGINNING = LogPosition(1, 0)
# As written before operations knew who asked for them.
OLD_FORM = (
    '{"id": "1893a5c2b7e01d00aabbcc", "time": 1700000000.5, "actor": ["person", "person"], "reason": "edit: f", '
    '"moves": [["refs/heads/main", "%(before)s", "%(after)s"]], "undoes": null, "by": "1-2-3"}\n'
    '{"end": "1893a5c2b7e01d00aabbcc", "happened": true}\n'
)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return worlds.template(tmp_path_factory.mktemp("template"), *({"f": f"{n}\n"} for n in (1, 2, 3)))


@pytest.fixture
def repo(template: Path, tmp_path: Path) -> Repository:
    return Repository.open(worlds.copied(template, tmp_path / "repo"))


def folder_of(repo: Repository) -> Path:
    return repo.common_dir / "forge"


def save(repo: Repository, text: str, actor: Actor = PERSON) -> str:
    files = repo.workspace("main", actor=actor)
    files.write_file("f", text)
    return files.commit(f"edit: {text}")


def read(tail: LogTail, after: LogPosition = BEGINNING, limit: int = 1000) -> tuple[list[str], LogPosition]:
    found, at = tail.read(after, limit)
    return [each.reason for each in found], at


def git(repo: Repository, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(repo.work_tree), *arguments], check=True, capture_output=True)


def test_an_operation_keeps_who_asked_for_it_and_what_for(repo: Repository) -> None:
    asked = Actor(ActorKind.PERSON, "Ada", request=Request("u_1", "k_1")).doing("file.save", "main: f")
    save(repo, "x", asked)
    request = next(repo.operations()).actor.request
    assert request == Request("u_1", "k_1", "file.save", "main: f")
    assert LogTail(folder_of(repo)).read(LogPosition(1, 0), 9)[0][0].actor.request == request


def test_a_record_of_an_earlier_version_is_read_as_before(repo: Repository) -> None:
    before, after = repo.resolve("main~1"), repo.resolve("main")
    folder_of(repo).mkdir()
    (folder_of(repo) / "operations.jsonl").write_text(OLD_FORM % {"before": before, "after": after})
    (found,) = repo.operations()
    assert (found.reason, found.actor, found.actor.request) == ("edit: f", PERSON, None)
    assert read(LogTail(folder_of(repo)))[0] == ["edit: f"]


@pytest.mark.parametrize("request_", [None, "u", {"user": 1}, {"user": "u", "key": 2, "action": "a", "detail": ""}])
def test_a_damaged_request_does_not_hide_the_operation(repo: Repository, request_: object) -> None:
    before, after = repo.resolve("main~1"), repo.resolve("main")
    begun, ended = (OLD_FORM % {"before": before, "after": after}).splitlines()
    folder_of(repo).mkdir()
    line = json.dumps({**json.loads(begun), "request": request_})
    (folder_of(repo) / "operations.jsonl").write_text(f"{line}\n{ended}\n")
    assert [each.actor.request for each in repo.operations()] == [None]


def test_each_operation_is_read_once_and_in_order(repo: Repository) -> None:
    tail = LogTail(folder_of(repo))
    save(repo, "1")
    save(repo, "2")
    first, at = read(tail)
    assert first == ["edit: 1", "edit: 2"]
    assert read(tail, at) == ([], at)
    save(repo, "3")
    assert read(tail, at)[0] == ["edit: 3"]
    # A reader that knows nothing but the position, and one that reads little at a time.
    assert read(LogTail(folder_of(repo)), at)[0] == ["edit: 3"]
    one, at = read(tail, limit=1)
    two, at = read(tail, at, limit=1)
    assert one + two == ["edit: 1", "edit: 2"]


def test_the_end_of_the_log_is_where_news_begin(repo: Repository) -> None:
    save(repo, "old")
    tail = LogTail(folder_of(repo))
    at = tail.end()
    save(repo, "new")
    assert read(tail, at)[0] == ["edit: new"]


def test_an_operation_that_was_under_way_at_the_position_is_read_when_it_has_ended(repo: Repository) -> None:
    save(repo, "1")
    file = folder_of(repo) / "operations.jsonl"
    begun, ended = file.read_text().splitlines(keepends=True)
    file.write_text(begun)
    tail = LogTail(folder_of(repo))
    none, at = read(tail)
    assert none == []
    with file.open("a") as log:
        log.write(ended)
    assert read(LogTail(folder_of(repo)), at)[0] == ["edit: 1"]
    assert read(tail, at)[0] == ["edit: 1"]


def test_an_operation_that_did_not_happen_is_not_read(repo: Repository) -> None:
    save(repo, "1")
    file = folder_of(repo) / "operations.jsonl"
    file.write_text(file.read_text().replace('"happened": true', '"happened": false'))
    assert read(LogTail(folder_of(repo)))[0] == []


def test_a_rotation_loses_and_repeats_nothing(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forge.git.refs.operations.journal._SEGMENT_BYTES", 2000)
    tail, at, found = LogTail(folder_of(repo)), LogPosition(1, 0), []
    for number in range(30):
        save(repo, str(number))
        if number % 7 == 0:
            some, at = read(tail, at)
            found += some
    some, at = read(tail, at)
    assert at.segment > 5
    assert found + some == [f"edit: {number}" for number in range(30)]
    assert read(LogTail(folder_of(repo)))[0] == found + some


def test_a_log_that_was_deleted_or_replaced_is_told_from_the_one_that_was_read(repo: Repository) -> None:
    save(repo, "1")
    save(repo, "a longer one")
    tail = LogTail(folder_of(repo))
    _, at = read(tail)
    assert tail.is_of(at)
    assert tail.is_of(LogPosition(1, 0))
    assert not tail.is_of(LogPosition(7, 10))
    (folder_of(repo) / "operations.jsonl").unlink()
    assert not tail.is_of(at)
    for number in range(4):
        save(repo, f"another {number}")
    assert not tail.is_of(at)
    assert read(tail, tail.beginning())[0] == [f"edit: another {number}" for number in range(4)]


def test_half_a_line_is_not_read_before_it_is_whole(repo: Repository) -> None:
    save(repo, "1")
    file = folder_of(repo) / "operations.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:-5])
    tail = LogTail(folder_of(repo))
    none, at = read(tail)
    assert none == []
    file.write_bytes(whole)
    assert read(tail, at)[0] == ["edit: 1"]


# -- plain git


def outside(repo: Repository) -> list[Operation]:
    return [each for each in repo.refs.log.newest_first() if each.actor.kind is ActorKind.EXTERNAL]


def test_moves_of_branches_that_forge_never_moved_are_noticed_from_the_first_look_on(repo: Repository) -> None:
    git(repo, "branch", "early")
    assert repo.refs.notice()
    assert outside(repo) == []
    before = repo.refs.tip("main")
    git(repo, "commit", "--allow-empty", "-m", "theirs")
    git(repo, "branch", "late")
    git(repo, "branch", "-D", "early")
    assert repo.refs.notice()
    (seen,) = outside(repo)
    now = repo.refs.tip("main")
    assert {(move.ref, move.before, move.after) for move in seen.moves} == {
        ("refs/heads/main", before, now),
        ("refs/heads/late", None, now),
        ("refs/heads/early", before, None),
    }
    repo.refs.notice()
    assert len(outside(repo)) == 1


def test_forges_own_moves_are_nobody_elses(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forge.git.refs.operations.journal._SEGMENT_BYTES", 1500)
    repo.refs.notice()
    for number in range(12):
        save(repo, str(number))
        repo.create_branch(f"b{number}")
        Repository.open(repo.work_tree or repo.git_dir).refs.notice()
    assert outside(repo) == []


def test_a_branch_whose_file_is_damaged_hides_no_other(repo: Repository) -> None:
    git(repo, "branch", "torn")
    repo.refs.notice()
    (repo.common_dir / "refs/heads/torn").write_text("nothing\n")
    git(repo, "branch", "new")
    repo.refs.notice()
    assert [move.ref for each in outside(repo) for move in each.moves] == ["refs/heads/new"]


def test_too_many_branches_are_not_followed(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forge.git.refs.operations.log._MOST_BRANCHES", 0)
    assert not repo.refs.notice()
    assert not (folder_of(repo) / "operations.jsonl").exists()


def test_a_watch_tells_when_branches_may_have_moved(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forge.git.refs.branch_watch._TICK_NS", -1)
    watch = BranchWatch(repo.common_dir)
    assert watch.has_changed()
    assert not watch.has_changed()
    for change in (
        ("commit", "--allow-empty", "-m", "x"),
        ("branch", "deep/er/one"),
        ("branch", "deep/er/two"),
        ("pack-refs", "--all"),
        ("branch", "-D", "deep/er/two"),
    ):
        git(repo, *change)
        assert watch.has_changed(), change
        assert not watch.has_changed(), change


def test_a_change_in_the_same_tick_as_the_look_is_not_missed(repo: Repository) -> None:
    git(repo, "branch", "just-now")
    watch = BranchWatch(repo.common_dir)
    assert watch.has_changed()
    assert watch.has_changed()


def test_an_actor_is_the_same_whatever_it_does() -> None:
    assert replace(PERSON).doing("file.save", "x") == PERSON
