"""Pieces of an answer that are still on their way when the whole answer is read from the database."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from pathlib import Path

import pytest

from forge.events import ModelAnswered, TextStreamed
from forge.store.database import Database
from forge.store.events import Events
from forge.store.listeners import Live, Recorded

pytestmark = [pytest.mark.asyncio, pytest.mark.req("B-12", "G-06")]
PIECE = TextStreamed("t", "All of it.", 1, 0)
WHOLE = ModelAnswered("t", "All of it.", (), 1, 1, 0, None, 1)
NEXT = TextStreamed("t", "More.", 2, 0)


class Slow(Events):
    """Reads the database only after another process has said and recorded something."""

    other: Events
    waited = False

    def after(self, topic: str, after: int = 0, *, limit: int = 500) -> list[Recorded]:
        if not self.waited:
            self.waited = True
            self.other.append(topic, PIECE)
            for _ in range(300):  # until the piece is in the inbox
                if any(listener._items for listener in self._listeners._by_topic.get(topic, ())):
                    break
                time.sleep(0.02)
            self.other.append(topic, WHOLE)
        return super().after(topic, after, limit=limit)


async def test_a_piece_is_not_told_again_after_the_whole(tmp_path: Path) -> None:
    place = f"sqlite:///{tmp_path / 'forge.db'}"
    here, there = Slow(Database.open(place)), Events(Database.open(place))
    here.other = there
    heard = []
    try:
        async with aclosing(here.follow("topic")) as items:
            while len(heard) < 2:
                item = await asyncio.wait_for(anext(items), 20)
                heard.append(item.event)
                if isinstance(item, Recorded):
                    there.append("topic", NEXT)
                assert isinstance(item, Live | Recorded)
    finally:
        here.close()
        there.close()
    assert heard == [WHOLE, NEXT]
