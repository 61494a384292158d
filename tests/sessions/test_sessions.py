"""The conversation of a branch as files in the branch: what it costs, how it forks and merges, what is read back."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from forge.errors import ForgeError
from forge.git import Repository
from forge.git.objects.object_store import Objects
from forge.sessions.active import ActiveFile, read_active, write_active
from forge.sessions.conversation import (
    brought_by_merges,
    conversation,
    current_stretch,
    newest_first,
    read_head,
    read_turn,
    write_turn,
)
from forge.sessions.layout import DRAFT_PATH, HEAD_PATH, POINTER, SessionUnreadable
from forge.sessions.marks import mark
from forge.sessions.places import Sessions
from forge.sessions.timeline import moment_of, moments
from forge.sessions.turns import TurnMissing, TurnStatus, turn_id
from tests.conftest import MakeRepo
from tests.sessions.messages import a_turn, say


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    repo = Repository.open(make_repo({"a.txt": "hello\n"}))
    repo.create_branch("ai/x", "main")
    return repo


@pytest.mark.req("G-07")
def test_a_turn_is_read_back_as_it_was_written(repo: Repository) -> None:
    turn = say(repo, "ai/x", "first", seen={"a.txt": "1"}, files=("a.txt",), status=TurnStatus.CANCELLED, reason="why")
    assert read_turn(repo.commit_vfs("ai/x"), turn.id) == turn
    assert conversation(repo.commit_vfs("ai/x")) == (turn,)


@pytest.mark.req("G-07")
def test_the_head_counts_and_does_not_grow_with_the_conversation(repo: Repository) -> None:
    for number in range(1, 141):
        say(repo, "ai/x", f"turn {number}")
    head = read_head(repo.commit_vfs("ai/x"))
    assert (head.turns, head.messages, head.usage.requests) == (140, 140 * 5, 280)
    assert repo.commit_vfs("ai/x").read_bytes(HEAD_PATH) == POINTER
    names = repo.commit_vfs("ai/x").list_files(".forge/session/")
    assert len(names) == 140
    assert len({name.split("/")[3] for name in names}) == 3


@pytest.mark.req("G-07", "G-08")
def test_forking_a_branch_forks_the_conversation(repo: Repository) -> None:
    first = say(repo, "ai/x", "common")
    repo.fork_branch("ai/x", "ai/y")
    left, right = say(repo, "ai/x", "left", "aaaaaaaa"), say(repo, "ai/y", "right", "bbbbbbbb")
    assert conversation(repo.commit_vfs("ai/x")) == (first, left)
    assert conversation(repo.commit_vfs("ai/y")) == (first, right)


@pytest.mark.req("G-07")
def test_merging_never_conflicts_on_the_conversation_and_keeps_both(repo: Repository) -> None:
    first = say(repo, "ai/x", "common")
    repo.fork_branch("ai/x", "ai/y")
    left, right = say(repo, "ai/x", "left", "aaaaaaaa"), say(repo, "ai/y", "right", "bbbbbbbb")
    preview = repo.preview_merge("ai/y", "ai/x")
    assert not preview.conflicts
    repo.perform(preview)
    merged = repo.commit_vfs("ai/x")
    assert conversation(merged) == (first, left)
    assert brought_by_merges(merged) == (right.id,)
    assert read_turn(merged, right.id) == right


@pytest.mark.req("G-08")
def test_each_turn_is_found_with_its_commit_at_any_time(repo: Repository) -> None:
    turns = [say(repo, "ai/x", f"turn {number}") for number in range(1, 4)]
    found = moments(repo, "ai/x", repo.resolve("ai/x"))
    assert [moment.turn for moment in found] == turns[::-1]
    second = moment_of(repo, "ai/x", repo.resolve("ai/x"), turns[1].id).commit
    assert second is not None
    assert moment_of(repo, "ai/x", repo.resolve("ai/x"), "2") == found[1]
    assert conversation(repo.commit_vfs(second)) == tuple(turns[:2])
    repo.create_branch("from-there", second)
    assert [t.asked for t in conversation(repo.commit_vfs("from-there"))] == ["turn 1", "turn 2"]
    repo.rewind_branch("ai/x", second)
    assert read_head(repo.commit_vfs("ai/x")).turns == 2
    with pytest.raises(TurnMissing):
        moment_of(repo, "ai/x", repo.resolve("ai/x"), "3")


def test_the_stream_of_prompts_reaches_back_to_where_it_began_anew(repo: Repository) -> None:
    turns = [say(repo, "ai/x", f"turn {n}", opens=n in (1, 3)) for n in range(1, 6)]
    assert current_stretch(repo.commit_vfs("ai/x")) == tuple(turns[2:])


@pytest.mark.req("G-13")
def test_active_files_are_kept_in_the_branch(repo: Repository) -> None:
    vfs = repo.workspace("ai/x")
    files = (ActiveFile("a.txt"), ActiveFile("b.py", ((1, 20), (40, 60))))
    write_active(vfs, [ActiveFile("b.py"), *files])
    assert set(read_active(vfs)) == set(files)
    write_turn(vfs, a_turn(1, None))
    assert DRAFT_PATH not in vfs.pending
    vfs.commit("a turn")
    assert set(read_active(repo.commit_vfs("ai/x"))) == set(files)
    again = repo.workspace("ai/x")
    write_active(again, read_active(again))
    assert not again.pending_changes()
    say(repo, "ai/x", "and on")
    assert set(read_active(repo.commit_vfs("ai/x"))) == set(files)


def test_a_person_may_write_plain_paths_by_hand(repo: Repository) -> None:
    vfs = repo.workspace("ai/x")
    head = {"schema_version": 1, "active_files": ["a.txt"], "messages": {"turns": 0, "count": 0, "last": None}}
    vfs.write_record(HEAD_PATH, json.dumps(head).encode())
    assert read_active(vfs) == (ActiveFile("a.txt"),)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"schema_version": 1}', '{"schema_version": 99}', "null", '"x"']
)
def test_a_damaged_head_is_named_and_nothing_is_overwritten(repo: Repository, text: str) -> None:
    vfs = repo.workspace("ai/x")
    vfs.write_record(HEAD_PATH, text.encode())
    with pytest.raises(SessionUnreadable):
        write_active(vfs, [ActiveFile("a.txt")])
    assert vfs.read_file(HEAD_PATH) == text


def test_a_damaged_turn_is_named(repo: Repository) -> None:
    turn = say(repo, "ai/x", "first")
    vfs = repo.workspace("ai/x")
    vfs.write_record(turn.ref.path, b"{}")
    with pytest.raises(SessionUnreadable, match=turn.id):
        conversation(vfs)


def test_a_chain_that_leads_in_a_circle_ends(repo: Repository) -> None:
    vfs = repo.workspace("ai/x")
    write_turn(vfs, a_turn(1, turn_id(2, "0badcafe")))
    write_turn(vfs, a_turn(2, turn_id(1, "0badcafe")))
    assert [turn.number for turn in newest_first(vfs)] == [2, 1]


@pytest.mark.parametrize("name", ["", "x", "1-zz", "../../etc-00000000", "000001-0BADCAFE"])
def test_a_turn_is_asked_for_by_a_proper_id(repo: Repository, name: str) -> None:
    with pytest.raises(ForgeError):
        read_turn(repo.commit_vfs("ai/x"), name)


GOLDEN = Path(__file__).parent / "golden"
FORMATS = ("1", "2")


@pytest.mark.req("G-07")
@pytest.mark.parametrize("number", FORMATS)
def test_every_format_stays_readable(repo: Repository, number: str) -> None:
    put_golden(repo, number)
    files = repo.commit_vfs("ai/x")
    (turn,) = conversation(files)
    assert replace(turn, branch=None) == a_turn(1, None, "first", opens=True)
    assert read_active(files) == (ActiveFile("a.txt"), ActiveFile("b.py", ((1, 20),)))
    head = read_head(files)
    assert (head.turns, head.messages, head.usage) == (1, 5, turn.usage)


@pytest.mark.req("G-07")
def test_a_conversation_of_the_first_format_goes_on_in_the_second(repo: Repository) -> None:
    put_golden(repo, "1")
    then = say(repo, "ai/x", "second", "aaaaaaaa")
    files = repo.commit_vfs("ai/x")
    assert [turn.asked for turn in conversation(files)] == ["first", "second"]
    assert files.read_bytes(HEAD_PATH) == POINTER
    head = read_head(files)
    assert (head.turns, head.messages, head.usage.requests, head.last) == (2, 10, 4, then.id)
    assert read_active(files) == (ActiveFile("a.txt"), ActiveFile("b.py", ((1, 20),)))
    assert [moment.turn.asked for moment in moments(repo, "ai/x", repo.resolve("ai/x"))] == ["second", "first"]


def test_what_is_written_is_the_second_format(repo: Repository) -> None:
    vfs = repo.workspace("ai/x")
    write_active(vfs, [ActiveFile("a.txt"), ActiveFile("b.py", ((1, 20),))])
    write_turn(vfs, a_turn(1, None, "first", opens=True))
    golden = {f".forge/{path.relative_to(GOLDEN / '2')}": path for path in (GOLDEN / "2").rglob("*.json")}
    assert set(vfs.pending) == set(golden)
    for name, path in golden.items():
        assert vfs.read_bytes(name) == path.read_bytes(), name


@pytest.mark.req("G-06", "G-07")
def test_saved_marks_stay_readable_and_are_written_as_they_were(repo: Repository) -> None:
    put_golden(repo, "2")
    folder = GOLDEN / "marks"
    (golden,) = folder.rglob("*.json")
    path = f".forge/{golden.relative_to(folder)}"
    vfs = repo.workspace("ai/x")
    mark(repo.common_dir, "ai/x", add=[ActiveFile("c.txt", ((3, 4),))], remove=["a.txt", "AGENTS.md"])
    vfs.write_file("c.txt", "new\n")
    Sessions(repo).save(vfs, "edit: c.txt")
    files = repo.commit_vfs("ai/x")
    assert files.read_bytes(path) == golden.read_bytes()
    assert read_active(files) == (ActiveFile("b.py", ((1, 20),)), ActiveFile("c.txt", ((3, 4),)))
    assert read_head(files).off == ("AGENTS.md",)


def put_golden(repo: Repository, number: str, branch: str = "ai/x") -> None:
    vfs = repo.workspace(branch)
    for path in sorted((GOLDEN / number).rglob("*.json")):
        vfs.write_record(f".forge/{path.relative_to(GOLDEN / number)}", path.read_bytes())
    vfs.commit("chat: first", trailers={"Forge-Turn": turn_id(1, "0badcafe")})


@pytest.mark.req("G-07", "G-08")
def test_a_page_of_a_long_conversation_reads_no_more_than_the_page(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [say(repo, "ai/x", f"turn {number}").id for number in range(60)][::-1]
    tip = repo.resolve("ai/x")
    read: list[object] = []
    whole = Objects.blob
    monkeypatch.setattr(Objects, "blob", lambda self, oid: (read.append(oid), whole(self, oid))[1])
    assert [each.turn.id for each in moments(repo, "ai/x", tip, limit=5)] == ids[:5]
    assert [each.turn.id for each in moments(repo, "ai/x", tip, after=ids[44], limit=5)] == ids[45:50]
    assert moment_of(repo, "ai/x", tip, ids[3]).turn.id == ids[3]
    assert brought_by_merges(repo.commit_vfs("ai/x")) == ()
    assert len(read) < 40
    with pytest.raises(TurnMissing):
        moments(repo, "ai/x", tip, after=turn_id(7, "ffffffff"))
