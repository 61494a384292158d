"""The operation log: every move is there, can be taken back, and the moves of others are noticed."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path

import pytest

from forge.git import PERSON, ActorKind, BranchMoved, Operation, RefMove, Repository
from forge.git.errors import BranchExists, NothingToUndo, OperationMissing
from tests.conftest import MakeRepo
from tests.git import worlds
from tests.git.worlds import AGENT, BUILD

pytestmark = pytest.mark.req("G-08", "G-09")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return worlds.template(tmp_path_factory.mktemp("template"), *({"f": f"{n}\n"} for n in (1, 2, 3)))


@pytest.fixture
def place(template: Path, tmp_path: Path) -> Path:
    return worlds.copied(template, tmp_path / "repo")


@pytest.fixture
def repo(place: Path) -> Repository:
    repo = Repository.open(place)
    repo.create_branch("work", "main", actor=AGENT)
    return repo


def edit(repo: Repository, branch: str = "work", text: str | None = None, actor: object = AGENT) -> str:
    space = repo.workspace(branch, actor=actor)  # type: ignore[arg-type]
    space.write_file("f", text or f"{time.time_ns()}\n")
    return space.commit(f"edit {branch}")


def log_file(repo: Repository) -> Path:
    return repo.common_dir / "forge" / "operations.jsonl"


def branch_moves(operation: Operation) -> list[RefMove]:
    return [move for move in operation.moves if move.ref.startswith("refs/heads/")]


def test_each_move_is_recorded_with_time_actor_reason_before_and_after(repo: Repository) -> None:
    tip = repo.resolve("work")
    start = time.time()
    made = edit(repo, actor=BUILD)
    operation = next(repo.operations())
    assert start <= operation.time <= time.time()
    assert operation.actor == BUILD
    assert operation.reason == "edit work"
    assert operation.moves == (RefMove("refs/heads/work", tip, made),)
    assert operation.undoes is None


def test_the_log_tells_the_whole_story_newest_first(repo: Repository) -> None:
    edit(repo)
    repo.rename_branch("work", "job", actor=PERSON)
    repo.rewind_branch("job", "main~1", actor=AGENT)
    repo.delete_branch("job", actor=PERSON)
    repo.undo(actor=PERSON)
    kinds = [(op.reason.split()[0], op.actor.kind) for op in repo.operations()]
    assert kinds == [
        ("undo:", ActorKind.PERSON),
        ("delete", ActorKind.PERSON),
        ("rewind", ActorKind.AGENT),
        ("rename", ActorKind.PERSON),
        ("edit", ActorKind.AGENT),
        ("new", ActorKind.AGENT),
    ]
    ids = [op.id for op in repo.operations()]
    assert len(set(ids)) == len(ids)
    assert [op.id for op in Repository.open(repo.git_dir).operations()] == ids


def test_an_operation_that_failed_is_no_operation(repo: Repository) -> None:
    stale = repo.workspace("work", actor=AGENT)
    edit(repo)
    before = list(repo.operations())
    stale.write_file("f", "too late\n")
    with pytest.raises(BranchMoved):
        stale.commit("too late")
    with pytest.raises(BranchExists):
        repo.create_branch("work/below", "main")
    assert list(repo.operations()) == before


# -- undo


@pytest.mark.parametrize("action", ["commit", "create", "delete", "rename", "rename below", "rewind", "two commits"])
def test_undo_takes_the_last_operation_back(repo: Repository, place: Path, action: str) -> None:
    edit(repo)
    before = worlds.branches(place)
    count = 1
    match action:
        case "commit":
            edit(repo)
        case "create":
            repo.create_branch("new", "main~1")
        case "delete":
            repo.delete_branch("work")
        case "rename":
            repo.rename_branch("work", "other")
        case "rename below":
            repo.rename_branch("work", "work/below/here")
        case "rewind":
            repo.rewind_branch("work", "main~2")
        case _:
            count = 2
            edit(repo)
            edit(repo)
    assert worlds.branches(place) != before
    for _ in range(count):
        operation = repo.undo(actor=PERSON)
        assert operation.undoes
        assert operation.reason.startswith("undo: ")
    assert worlds.branches(place) == before
    worlds.assert_fsck_clean(place)


def test_an_undo_loses_nothing_either(repo: Repository) -> None:
    made = edit(repo, text="precious\n")
    repo.undo()
    assert made in dict(repo.kept()).values()
    assert repo.commit_vfs(made).read_file("f") == "precious\n"


def test_undo_goes_back_step_by_step_until_nothing_is_left(repo: Repository, place: Path) -> None:
    tips = [repo.resolve("work"), *(edit(repo) for _ in range(4))]
    for tip in reversed(tips[:-1]):
        repo.undo()
        assert repo.resolve("work") == tip
    repo.undo()
    assert "work" not in worlds.branches(place)
    with pytest.raises(NothingToUndo) as nothing:
        repo.undo()
    assert nothing.value.code == "nothing_to_undo"


def test_an_undo_can_itself_be_undone(repo: Repository) -> None:
    first = repo.resolve("work")
    made = edit(repo)
    undo = repo.undo()
    assert repo.resolve("work") == first
    redo = repo.undo(undo.id)
    assert repo.resolve("work") == made
    repo.undo(redo.id)
    assert repo.resolve("work") == first
    assert [op.undoes for op in repo.operations()][:3] == [redo.id, undo.id, undo.undoes]


def test_after_an_undone_undo_the_operation_can_be_undone_again(repo: Repository) -> None:
    first = repo.resolve("work")
    made = edit(repo)
    repo.undo(repo.undo().id)
    assert repo.resolve("work") == made
    repo.undo()
    assert repo.resolve("work") == first


def test_a_named_operation_is_undone_when_nothing_later_stands_on_it(repo: Repository) -> None:
    repo.create_branch("other", "main", actor=AGENT)
    tip = repo.resolve("work")
    edit(repo, "work")
    operation = next(repo.operations())
    edit(repo, "other")
    repo.undo(operation.id)
    assert repo.resolve("work") == tip
    with pytest.raises(BranchMoved):
        repo.undo(operation.id)


def test_undo_is_refused_after_a_later_move_and_changes_nothing(repo: Repository, place: Path) -> None:
    edit(repo)
    first = next(repo.operations())
    edit(repo)
    before = worlds.refs(place)
    with pytest.raises(BranchMoved) as refused:
        repo.undo(first.id)
    assert "later" in refused.value.hint
    worlds.git(place, "update-ref", "refs/heads/work", "main~2")
    moved = worlds.branches(place)
    with pytest.raises(BranchMoved):
        repo.undo()
    assert worlds.branches(place) == moved
    assert {**worlds.refs(place), "refs/heads/work": ""} == {**before, "refs/heads/work": ""}


def test_undoing_a_delete_is_refused_where_the_name_is_taken_again(repo: Repository) -> None:
    repo.delete_branch("work")
    deleted = next(repo.operations())
    repo.create_branch("work", "main~2")
    with pytest.raises(BranchMoved):
        repo.undo(deleted.id)
    assert repo.resolve("work") == repo.resolve("main~2")
    repo.delete_branch("work")
    repo.create_branch("work/below", "main")
    with pytest.raises(BranchExists):
        repo.undo(deleted.id)


@pytest.mark.parametrize("name", ["", "nope", "0" * 22, "../../x", "\0"])
def test_an_operation_that_does_not_exist_cannot_be_undone(repo: Repository, name: str) -> None:
    with pytest.raises((OperationMissing, NothingToUndo)) as missing:
        repo.undo(name)
    assert missing.value.code == "operation_missing"
    assert missing.value.hint


def test_in_a_repository_where_forge_did_nothing_there_is_nothing_to_undo(make_repo: MakeRepo) -> None:
    place = make_repo({"f": "1"})
    repo = Repository.open(place)
    assert list(repo.operations()) == []
    with pytest.raises(NothingToUndo):
        repo.undo()
    assert not (place / ".git/forge").exists()


# -- what others do


def test_a_commit_by_git_itself_is_noticed(repo: Repository, place: Path) -> None:
    made = edit(repo)
    worlds.git(place, "checkout", "-q", "work")
    (place / "f").write_text("by hand\n")
    worlds.git(place, "commit", "-qam", "by hand")
    outside = next(repo.operations())
    assert outside.actor.kind is ActorKind.EXTERNAL
    assert outside.moves == (RefMove("refs/heads/work", made, worlds.text(place, "rev-parse", "work")),)
    assert len([op for op in repo.operations() if op.actor.kind is ActorKind.EXTERNAL]) == 1


@pytest.mark.parametrize("packed", [False, True])
def test_a_forced_move_and_a_deletion_by_git_are_noticed(repo: Repository, place: Path, packed: bool) -> None:
    made = edit(repo)
    if packed:
        worlds.git(place, "pack-refs", "--all")
    worlds.git(place, "branch", "-f", "work", "main~2")
    forced = worlds.text(place, "rev-parse", "main~2")
    assert next(repo.operations()).moves == (RefMove("refs/heads/work", made, forced),)
    worlds.git(place, "branch", "-q", "-D", "work")
    assert next(repo.operations()).moves == (RefMove("refs/heads/work", forced, None),)
    worlds.git(place, "branch", "work", "main")
    assert next(repo.operations()).moves == (RefMove("refs/heads/work", None, worlds.text(place, "rev-parse", "main")),)


def test_packing_refs_and_collecting_garbage_are_no_moves(repo: Repository, place: Path) -> None:
    edit(repo)
    repo.delete_branch("work")
    before = list(repo.operations())
    worlds.git(place, "pack-refs", "--all")
    worlds.git(place, "gc", "-q", "--prune=now")
    assert list(repo.operations()) == before
    assert list(Repository.open(place).operations()) == before


def test_a_move_by_others_is_recorded_before_our_next_one(repo: Repository, place: Path) -> None:
    made = edit(repo)
    worlds.git(place, "update-ref", "refs/heads/work", "main~1")
    last = edit(repo)
    newest, outside, ours, *_ = repo.operations()
    assert [newest.actor.kind, outside.actor.kind, ours.actor.kind] == ["agent", "external", "agent"]
    middle = worlds.text(place, "rev-parse", "main~1")
    assert [m for op in (newest, outside, ours) for m in op.moves][:2] == [
        RefMove("refs/heads/work", middle, last),
        RefMove("refs/heads/work", made, middle),
    ]


def test_a_move_by_others_is_not_undone_unless_it_is_named(repo: Repository, place: Path) -> None:
    tip = repo.resolve("work")
    repo.create_branch("other", "main~1", actor=AGENT)
    worlds.git(place, "update-ref", "refs/heads/work", "main~2")
    outside = next(repo.operations())
    repo.undo()
    assert "other" not in worlds.branches(place)
    assert repo.resolve("work") == repo.resolve("main~2")
    repo.undo(outside.id, actor=PERSON)
    assert repo.resolve("work") == tip


def test_branches_that_forge_never_moved_are_nobodys_business(repo: Repository, place: Path) -> None:
    before = list(repo.operations())
    (place / "f").write_text("by hand\n")
    worlds.git(place, "commit", "-qam", "on main, by hand")
    worlds.git(place, "branch", "theirs")
    assert list(repo.operations()) == before


def test_two_open_repositories_take_each_others_moves_for_what_they_are(repo: Repository, place: Path) -> None:
    other = Repository.open(place)
    for n in range(6):
        edit(repo if n % 2 else other)
        stale = repo.workspace("work", actor=AGENT)
        edit(other)
        stale.write_file("f", "late")
        with pytest.raises(BranchMoved):
            stale.commit("late")
    operations = list(repo.operations())
    assert [op.actor.kind for op in operations] == [ActorKind.AGENT] * 13
    assert list(other.operations()) == operations


# -- the file itself


@pytest.mark.req("X-04")
def test_the_log_goes_on_in_new_files_and_forgets_nothing(
    repo: Repository, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forge.git.refs.operations.journal._SEGMENT_BYTES", 1500)
    tips = [repo.resolve("work"), *(edit(repo) for _ in range(12))]
    assert len(list(log_file(repo).parent.glob("operations*.jsonl"))) > 3
    for opened in (repo, Repository.open(place)):
        assert [m.after for op in opened.operations() for m in op.moves] == [*reversed(tips)]
    worlds.git(place, "update-ref", "refs/heads/work", tips[0])
    edit(Repository.open(place))
    assert [op.actor.kind for op in repo.operations()][1] is ActorKind.EXTERNAL
    for _ in range(3):
        with pytest.raises(BranchMoved):
            repo.undo(list(repo.operations())[5].id)


@pytest.mark.req("X-04")
def test_half_a_line_left_by_a_crash_costs_only_itself(repo: Repository, place: Path) -> None:
    edit(repo)
    before = list(repo.operations())
    with log_file(repo).open("ab") as file:
        file.write(b'{"id": "torn", "time": 12')
    assert list(repo.operations()) == before
    edit(repo)
    for opened in (repo, Repository.open(place)):
        assert list(opened.operations())[1:] == before
    assert len([op for op in repo.operations() if op.actor.kind is ActorKind.EXTERNAL]) == 0


GARBAGE = [
    b"",
    b"garbage",
    b"\xff\xfe\x00\x01",
    b"null",
    b"[]",
    b'"text"',
    b"12",
    b"{}",
    b'{"id": "x"}',
    b'{"id": 5, "moves": 7}',
    b'{"id": "x", "time": "noon", "actor": ["agent", "a"], "reason": "r", "moves": [], "by": "b"}',
    b'{"id": "x", "time": 1, "actor": ["martian", "a"], "reason": "r", "moves": [], "by": "b"}',
    b'{"id": "x", "time": 1, "actor": "agent", "reason": "r", "moves": [], "by": "b"}',
    b'{"id": "x", "time": 1, "actor": ["agent", "a"], "reason": 7, "moves": [["refs/heads/work"]], "by": "b"}',
    b'{"id": "x", "time": 1, "actor": ["agent", "a"], "reason": "r", "moves": [["refs/heads/work", 1, 2]]}',
    b'{"id": [], "time": 1, "actor": ["agent", "a"], "reason": "r", "moves": [], "by": "b"}',
    b'{"end": []}',
    b'{"end": "x"}',
    b'{"end": {}, "happened": true}',
    b'{"end": "x", "happened": true, "only": 5}',
    b'{"seen": 5}',
    b'{"seen": {"refs/heads/work": 5}, "open": [{}]}',
    b'{"seen": {}, "open": 5}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"id": ' + b"9" * 10_000 + b"}",
]


@pytest.mark.req("X-04")
@pytest.mark.parametrize("garbage", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_in_the_log_is_stepped_over(repo: Repository, place: Path, garbage: bytes) -> None:
    edit(repo)
    before = list(repo.operations())
    with log_file(repo).open("ab") as file:
        file.write(garbage + b"\n")
    assert list(repo.operations()) == before
    tip = repo.resolve("work")
    made = edit(repo)
    for opened in (repo, Repository.open(place)):
        operations = list(opened.operations())
        assert operations[0].moves == (RefMove("refs/heads/work", tip, made),)
        assert operations[1:] == before
    repo.undo()
    assert repo.resolve("work") == tip


@pytest.mark.req("X-04")
def test_any_damage_to_the_log_leaves_branches_and_work_usable(repo: Repository, place: Path) -> None:
    for _ in range(3):
        edit(repo)
    whole = log_file(repo).read_bytes()
    rng = random.Random(7)
    for _ in range(25):
        damaged = bytearray(whole)
        for _ in range(rng.randint(1, 6)):
            at = rng.randrange(len(damaged))
            match rng.randrange(3):
                case 0:
                    damaged[at] = rng.randrange(256)
                case 1:
                    del damaged[at : at + rng.randint(1, 60)]
                case _:
                    damaged[at:at] = rng.randbytes(5)
        log_file(repo).write_bytes(damaged)
        opened = Repository.open(place)
        list(opened.operations())
        tip = edit(opened)
        assert worlds.branches(place)["work"] == tip
        assert next(opened.operations()).moves[-1].after == tip


@pytest.mark.req("X-04")
@pytest.mark.parametrize("how", ["deleted", "emptied", "replaced"])
def test_a_log_that_vanishes_while_forge_runs_is_begun_again(repo: Repository, place: Path, how: str) -> None:
    edit(repo)
    match how:
        case "deleted":
            for file in log_file(repo).parent.iterdir():
                if file.is_file():
                    file.unlink()
        case "emptied":
            os.truncate(log_file(repo), 0)
        case _:
            log_file(repo).write_bytes(b'{"end": "nothing", "happened": true}\n' * 3)
    assert list(repo.operations()) == []
    tip = repo.resolve("work")
    made = edit(repo)
    for opened in (repo, Repository.open(place)):
        assert [op.moves for op in opened.operations()] == [(RefMove("refs/heads/work", tip, made),)]
    repo.undo()
    assert repo.resolve("work") == tip


def test_every_line_of_the_log_is_json_that_a_person_can_read(repo: Repository) -> None:
    edit(repo)
    lines = [json.loads(line) for line in log_file(repo).read_text().splitlines()]
    begun = [line for line in lines if "moves" in line]
    assert begun[-1]["actor"] == ["agent", "scribe"]
    assert begun[-1]["reason"] == "edit work"
    assert {line["end"] for line in lines if "end" in line} == {line["id"] for line in begun}
