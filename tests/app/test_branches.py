"""Branches through the one door."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL, audited
from forge.app.repositories import branches, history, merges, operations
from forge.app.repositories.catalog import subject_of
from forge.errors import Conflict, Denied, InvalidInput, NotFound
from forge.events import BranchChanged
from forge.git import PERSON, Repository
from forge.git.refs.reservations import reserve
from forge.sessions.conversation import write_turn
from forge.sessions.turns import Turn, turn_id
from tests.app.facade import BO, READER, Place, place, shop
from tests.conftest import Git

__all__ = ["place", "shop"]

pytestmark = pytest.mark.req("X-02")


def test_branches_come_in_pages_by_name(place: Place) -> None:
    for name in ("ai/b", "ai/a", "zed"):
        branches.create_branch(place.shop, LOCAL, place.id, name)
    first = branches.list_branches(place.shop, LOCAL, place.id, limit=3)
    assert [each.name for each in first.items] == ["ai/a", "ai/b", "main"]
    second = branches.list_branches(place.shop, LOCAL, place.id, after=first.next, limit=3)
    assert ([each.name for each in second.items], second.next) == (["zed"], None)
    below = branches.list_branches(place.shop, LOCAL, place.id, prefix="ai/")
    assert [each.name for each in below.items] == ["ai/a", "ai/b"]


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_page_of_a_senseless_size_is_refused(place: Place, limit: int) -> None:
    with pytest.raises(InvalidInput) as refused:
        branches.list_branches(place.shop, LOCAL, place.id, limit=limit)
    assert refused.value.code == "invalid_page"


def test_a_branch_tells_its_commit_and_who_works_there(place: Place) -> None:
    for name in ("plain", "talked", "ai/named", "busy"):
        branches.create_branch(place.shop, LOCAL, place.id, name)
    talked = place.repo.workspace("talked")
    write_turn(talked, Turn(turn_id(1, "0badcafe"), None, 1.0, "scripted", ()))
    talked.commit("a turn")
    reserve(place.repo.common_dir, "busy", "t1", "scripted")
    found = {each.name: each for each in branches.list_branches(place.shop, LOCAL, place.id).items}
    assert {name for name, each in found.items() if each.ai} == {"talked", "ai/named", "busy"}
    busy = found["busy"].busy
    assert busy is not None
    assert (busy.turn, busy.who) == ("t1", "scripted")
    assert found["plain"].busy is None
    main = found["main"]
    assert (main.is_default, main.protected, main.checked_out) == (True, True, True)
    assert (main.commit, main.time) == (place.repo.resolve("main"), place.repo.commit("main").committer.time)
    assert branches.branch_entry(place.shop, LOCAL, place.id, "talked") == found["talked"]


def test_each_change_is_told_and_audited(place: Place) -> None:
    tip = place.repo.resolve("main")
    made = branches.create_branch(place.shop, LOCAL, place.id, "one", "main")
    assert made == branches.BranchMade("one", tip)
    branches.fork_branch(place.shop, LOCAL, place.id, "one", "two")
    renamed = branches.rename_branch(place.shop, LOCAL, place.id, "one", "three")
    assert (renamed.name, renamed.commit) == ("three", tip)
    files = place.repo.workspace("two")
    files.write_file("a.txt", "changed\n")
    files.commit("edit")
    assert branches.rewind_branch(place.shop, LOCAL, place.id, "two", tip).commit == tip
    assert branches.delete_branch(place.shop, LOCAL, place.id, "two").commit is None
    assert place.deeds() == [
        "repository.add",
        "branch.create",
        "branch.create",
        "branch.rename",
        "branch.change",
        "branch.rewind",
        "branch.delete",
    ]
    assert place.told("one") == [BranchChanged("one", tip, "you"), BranchChanged("one", None, "you")]
    assert place.told("three") == [BranchChanged("three", tip, "you")]
    assert place.told("two")[-2:] == [BranchChanged("two", tip, "you"), BranchChanged("two", None, "you")]
    assert [kept.name.partition("@")[0] for kept in branches.list_kept(place.shop, LOCAL, place.id)] == [
        "one",
        "two",
        "two",
    ]


def test_a_merge_that_is_undone_abandons_nothing_while_its_source_is_there(place: Place) -> None:
    branches.create_branch(place.shop, LOCAL, place.id, "one", "main")
    files = place.repo.workspace("one")
    files.write_file("a.txt", "changed\n")
    tip = files.commit("edit")
    merges.perform(place.repo, merges.previewed(place.repo, merges.MergeOrder("merge", "main", ("one",))))
    assert place.repo.resolve("main") == tip  # fast forward
    operations.undo_operation(place.shop, LOCAL, place.id)

    assert [kept.commit for kept in branches.list_kept(place.shop, LOCAL, place.id)] == [tip]
    assert branches.list_kept(place.shop, LOCAL, place.id, abandoned=True) == ()
    rows = {row.id: row for row in history.graph(place.shop, LOCAL, place.id, abandoned=True).items}
    assert (rows[tip].refs, rows[tip].abandoned) == (("refs/heads/one",), False)

    branches.delete_branch(place.shop, LOCAL, place.id, "one")
    assert {kept.commit for kept in branches.list_kept(place.shop, LOCAL, place.id, abandoned=True)} == {tip}
    rows = {row.id: row for row in history.graph(place.shop, LOCAL, place.id, abandoned=True).items}
    assert rows[tip].abandoned
    assert all(name.startswith("refs/forge/kept/") for name in rows[tip].refs)


def test_the_person_is_named_in_the_record_of_operations(place: Place) -> None:
    branches.create_branch(place.shop, LOCAL, place.id, "one")
    assert next(place.repo.operations()).actor.name == "you"


def test_what_cannot_be_done_is_refused_and_leaves_no_trace(place: Place, git: Git) -> None:
    refs = git(place.path, "for-each-ref")
    with pytest.raises(NotFound):
        branches.delete_branch(place.shop, LOCAL, place.id, "nothing")
    with pytest.raises(NotFound):
        branches.branch_entry(place.shop, LOCAL, place.id, "nothing")
    with pytest.raises(Conflict):
        branches.create_branch(place.shop, LOCAL, place.id, "main")
    with pytest.raises(NotFound):
        branches.create_branch(place.shop, BO, place.id, "bo")
    with pytest.raises(Denied):
        branches.create_branch(place.shop, READER, place.id, "read")
    assert git(place.path, "for-each-ref") == refs
    assert place.deeds() == ["repository.add"]
    assert place.told("main") == []


@pytest.mark.req("X-04")
def test_what_is_done_at_a_place_that_is_not_utf8_is_told_and_noted(place: Place, tmp_path: Path) -> None:
    there = tmp_path / os.fsdecode(b"caf\xe9")
    place.path.rename(there)
    repo = Repository.open(there)
    place.shop.feed.add(repo)
    files = repo.workspace("main", actor=PERSON.doing("file.delete", "main: a\udcff"))
    files.delete_file("a.txt")
    files.commit("delete")
    place.shop.feed.publish(repo)
    (deed, *_) = audited(place.shop, LOCAL)
    assert (deed.action, deed.detail) == ("file.delete", "main: a\\udcff")
    assert [type(each.event) for each in place.shop.events.after(subject_of(repo, "main").topic)] == [BranchChanged]
