"""Merges, rebases and copies through the one door."""

from __future__ import annotations

import pytest

from forge.app.access.identity import LOCAL
from forge.app.repositories import merges
from forge.app.repositories.merges import MergeKind, MergeOrder
from forge.errors import Conflict, Denied, InvalidInput, NotFound
from forge.events import BranchChanged
from tests.app.facade import BO, READER, Place, place, shop
from tests.conftest import Git

__all__ = ["place", "shop"]

pytestmark = pytest.mark.req("X-02")

MERGE = MergeOrder(MergeKind.MERGE, "main", ("side",))


def commit(place: Place, branch: str, path: str, text: str) -> str:
    files = place.repo.workspace(branch)
    files.write_file(path, text)
    return files.commit(f"{branch}: {path}")


@pytest.fixture
def apart(place: Place) -> Place:
    """Both sides have a commit of their own."""
    place.repo.create_branch("side", "main")
    commit(place, "side", "s.txt", "side\n")
    commit(place, "main", "m.txt", "main\n")
    return place


@pytest.fixture
def clashing(place: Place) -> Place:
    place.repo.create_branch("side", "main")
    commit(place, "side", "a.txt", "side\n")
    commit(place, "main", "a.txt", "main\n")
    return place


def test_what_is_performed_is_what_was_seen(apart: Place) -> None:
    seen = merges.preview_merge(apart.shop, LOCAL, apart.id, MERGE)
    assert (seen.outcome, [file.path for file in seen.files], seen.truncated) == ("clean", ["s.txt"], False)
    assert apart.repo.resolve("main") == seen.target_tip
    done = merges.perform_merge(apart.shop, LOCAL, apart.id, MERGE, expected=(seen.target_tip, seen.sources[-1]))
    assert done.performed
    assert apart.repo.commit_vfs("main").file_exists("s.txt")
    assert apart.told("main")[1:] == [BranchChanged("main", apart.repo.resolve("main"), "you")]
    assert apart.deeds()[-1] == "merge.merge"
    again = merges.perform_merge(apart.shop, LOCAL, apart.id, MERGE)
    assert (again.performed, again.view.outcome) == (False, "up to date")


@pytest.mark.req("G-09")
def test_a_commit_that_was_seen_by_its_id_can_be_confirmed_after_a_gc(apart: Place, git: Git) -> None:
    order = MergeOrder(MergeKind.CHERRY_PICK, "main", (apart.repo.resolve("side"),))
    seen = merges.preview_merge(apart.shop, LOCAL, apart.id, order)
    work = apart.repo.work_tree
    assert work is not None
    git(work, "branch", "-D", "side")
    git(work, "reflog", "expire", "--expire=now", "--all")
    git(work, "gc", "--quiet", "--prune=now")
    done = merges.perform_merge(apart.shop, LOCAL, apart.id, order, expected=seen)
    assert done.performed
    assert apart.repo.commit_vfs("main").file_exists("s.txt")


@pytest.mark.parametrize("moved", ["main", "side"])
def test_what_moved_since_it_was_seen_is_not_merged(apart: Place, moved: str) -> None:
    seen = merges.preview_merge(apart.shop, LOCAL, apart.id, MERGE)
    commit(apart, moved, "later.txt", "later\n")
    tip = apart.repo.resolve("main")
    with pytest.raises(Conflict) as refused:
        merges.perform_merge(apart.shop, LOCAL, apart.id, MERGE, expected=seen)
    assert refused.value.code == "branch_moved"
    assert apart.repo.resolve("main") == tip


def test_conflicts_are_shown_and_resolved(clashing: Place) -> None:
    clashing.shop.feed.publish(clashing.repo)
    before = clashing.told("main")
    left = merges.perform_merge(clashing.shop, LOCAL, clashing.id, MERGE)
    assert (left.performed, left.operation, left.view.result) == (False, None, None)
    [conflict] = left.view.conflicts
    assert (conflict.path, conflict.kind) == ("a.txt", "content")
    assert "<<<<<<<" in (conflict.marked or "")
    assert conflict.ours != conflict.theirs
    assert clashing.told("main") == before
    done = merges.perform_merge(clashing.shop, LOCAL, clashing.id, MERGE, resolutions={"a.txt": b"both\n"})
    assert done.performed
    assert clashing.repo.commit_vfs("main").read_file("a.txt") == "both\n"


def test_a_rebase_stops_at_the_commit_in_conflict_and_goes_on_when_resolved(clashing: Place) -> None:
    order = MergeOrder(MergeKind.REBASE, "side", ("main",))
    seen = merges.preview_merge(clashing.shop, LOCAL, clashing.id, order)
    stopped = seen.stopped_at
    assert stopped == clashing.repo.resolve("side")
    assert [(step.state, step.subject) for step in seen.steps] == [("stopped", "side: a.txt")]
    done = merges.perform_merge(
        clashing.shop, LOCAL, clashing.id, order, resolutions={str(stopped): {"a.txt": b"rebased\n"}}
    )
    assert done.performed
    assert clashing.repo.commit("side").parents == (clashing.repo.resolve("main"),)


def test_commits_are_copied(apart: Place) -> None:
    order = MergeOrder(MergeKind.CHERRY_PICK, "main", ("side",), record_origin=True)
    assert merges.perform_merge(apart.shop, LOCAL, apart.id, order).performed
    assert "cherry picked from" in apart.repo.commit("main").message


def test_an_order_without_a_sense_is_refused(apart: Place) -> None:
    for order in (MergeOrder(MergeKind.MERGE, "main", ()), MergeOrder(MergeKind.REBASE, "main", ("side", "side"))):
        with pytest.raises(InvalidInput):
            merges.preview_merge(apart.shop, LOCAL, apart.id, order)
    with pytest.raises(NotFound):
        merges.preview_merge(apart.shop, LOCAL, apart.id, MergeOrder(MergeKind.MERGE, "main", ("nothing",)))
    with pytest.raises(NotFound):
        merges.preview_merge(apart.shop, BO, apart.id, MERGE)
    with pytest.raises(Denied):
        merges.perform_merge(apart.shop, READER, apart.id, MERGE)


def test_indicators_come_in_pages(clashing: Place) -> None:
    clashing.repo.create_branch("ahead", "main")
    commit(clashing, "ahead", "n.txt", "x\n")
    clashing.repo.create_branch("same", "main")
    first = merges.indicators(clashing.shop, LOCAL, clashing.id, "main", limit=2)
    assert [(each.branch, each.state) for each in first.items] == [("ahead", "fast-forward"), ("same", "up to date")]
    rest = merges.indicators(clashing.shop, LOCAL, clashing.id, "main", after=first.next, limit=2)
    assert [(each.branch, each.state, each.paths) for each in rest.items] == [("side", "conflicts", ("a.txt",))]
    assert rest.next is None
    only = merges.indicators(clashing.shop, LOCAL, clashing.id, "main", branches=["side"])
    assert [each.branch for each in only.items] == ["side"]
