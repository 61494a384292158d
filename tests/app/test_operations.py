"""Operations through the one door: listed in pages, taken back."""

from __future__ import annotations

import pytest

from forge.app.access.identity import LOCAL
from forge.app.repositories import edits, operations
from forge.errors import Conflict, Denied, InvalidInput, NotFound
from forge.events import BranchChanged
from tests.app.facade import BO, READER, Place, place, shop

__all__ = ["place", "shop"]

pytestmark = pytest.mark.req("X-02")


def save(place: Place, text: str) -> str:
    saved = edits.save_file(place.shop, LOCAL, place.id, "main", "a.txt", text.encode())
    assert saved.operation
    return saved.operation


def test_operations_come_newest_first_in_pages(place: Place) -> None:
    made = [save(place, str(number)) for number in range(5)]
    page = operations.list_operations(place.shop, LOCAL, place.id, limit=2)
    assert [each.id for each in page.items] == [made[4], made[3]]
    page = operations.list_operations(place.shop, LOCAL, place.id, after=page.next, limit=2)
    assert [each.id for each in page.items] == [made[2], made[1]]
    page = operations.list_operations(place.shop, LOCAL, place.id, after=page.next, limit=2)
    assert ([each.id for each in page.items], page.next) == ([made[0]], None)
    first = page.items[0]
    assert (first.actor, first.actor_kind, first.reason) == ("you", "person", "edit: a.txt")
    assert [move.ref for move in first.moves] == ["refs/heads/main"]
    with pytest.raises(InvalidInput):
        operations.list_operations(place.shop, LOCAL, place.id, after="never")


def test_an_operation_is_taken_back_told_and_audited(place: Place) -> None:
    before = place.repo.resolve("main")
    save(place, "changed")
    undone = operations.undo_operation(place.shop, LOCAL, place.id)
    assert place.repo.resolve("main") == before
    assert undone.undoes
    assert place.told("main")[-1] == BranchChanged("main", before, "you")
    assert place.deeds()[-1] == "operation.undo"


def test_what_cannot_be_taken_back_is_refused(place: Place) -> None:
    with pytest.raises(Conflict):
        operations.undo_operation(place.shop, LOCAL, place.id)
    first = save(place, "1")
    save(place, "2")
    with pytest.raises(Conflict):
        operations.undo_operation(place.shop, LOCAL, place.id, first)
    with pytest.raises(NotFound):
        operations.undo_operation(place.shop, LOCAL, place.id, "nothing")
    with pytest.raises(NotFound):
        operations.undo_operation(place.shop, BO, place.id)
    with pytest.raises(Denied):
        operations.undo_operation(place.shop, READER, place.id)
