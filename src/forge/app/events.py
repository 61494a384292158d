"""Topics: who may subscribe to one, and what is published there. `all` is another name of the board."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache

from forge.app.access.identity import Who, may_see, require
from forge.app.process.workshop import Workshop
from forge.app.projects.lookup import project_for
from forge.app.repositories.catalog import repository
from forge.errors import InvalidInput
from forge.events import BOARD, Event, ProjectChanged, ProjectMoved, RepositoryChanged
from forge.store.listeners import Live, Recorded

_ALL = "all"
_STRETCH, _STRETCHES = 1000, 5
"""How many events are looked at together, and how often for one page."""


class TopicUnknown(InvalidInput):
    code = "topic_unknown"


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    """As it was asked for."""
    hears: Callable[[Event], bool]

    @property
    def stored(self) -> str:
        return BOARD if self.name == _ALL else self.name


@dataclass(frozen=True, slots=True)
class Heard:
    """An event of a topic. Without an id it is a live one, which is not kept."""

    id: int | None
    time: float
    event: Event


def topic_for(shop: Workshop, who: Who, name: str) -> Topic:
    """What is not there and what is not for them look the same."""
    require(who, "read")
    # A name that is no text can be that of nothing, and no query could ask for it.
    kind, _, rest = name.partition(":") if _is_text(name) else ("", "", "")
    if name in (_ALL, BOARD):
        return Topic(name, lambda event: _is_of_theirs(shop, who, event))
    if kind == "project" and rest:
        project_for(shop, who, rest)
        return Topic(name, _everything)
    id_, _, branch = rest.partition(":")
    if kind == "branch" and id_ and branch:
        repository(shop, who, id_)
        return Topic(name, _everything)
    raise TopicUnknown(
        "There is no such topic.", hint="Topics are `project:ID`, `branch:REPOSITORY:NAME`, `board` and `all`."
    )


def heard_after(shop: Workshop, topic: Topic, after: int, limit: int) -> tuple[tuple[Heard, ...], int]:
    """A page of what was said after an id, and the id to continue from: that of the last one, or the same as before.

    Events that are not for them are skipped without a sign. Only where they are very many is the id to continue from
    one of theirs, because who asks would otherwise come no further.
    """
    hears = cache(topic.hears)
    size = limit if topic.hears is _everything else max(limit, _STRETCH)
    at = after
    for _ in range(_STRETCHES):
        page = shop.events.after(topic.stored, at, limit=size)
        found = [Heard(item.id, item.time, item.event) for item in page if hears(item.event)][:limit]
        if found:
            return tuple(found), found[-1].id or after
        if len(page) < size:
            return (), after
        at = page[-1].id
    return (), at


def latest(shop: Workshop, topic: Topic) -> int:
    """The id of the last event, to hear what comes after it."""
    return shop.events.last(topic.stored)


async def hear(shop: Workshop, topic: Topic, after: int) -> AsyncGenerator[Heard]:
    """Everything recorded after that id, each once and in order, then as it comes; live pieces in between."""
    async with aclosing(shop.events.follow(topic.stored, after)) as items:
        async for item in items:
            if topic.hears is _everything or await asyncio.to_thread(topic.hears, item.event):
                yield _heard(item)


def _heard(item: Recorded | Live) -> Heard:
    return Heard(None, 0.0, item.event) if isinstance(item, Live) else Heard(item.id, item.time, item.event)


def _is_text(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _is_of_theirs(shop: Workshop, who: Who, event: Event) -> bool:
    match event:
        case ProjectMoved(project=id_) | ProjectChanged(project=id_):
            return may_see(shop, who, "project", id_)
        case RepositoryChanged(repository=id_):
            return may_see(shop, who, "repository", id_)
    return False


def _everything(event: Event) -> bool:
    del event
    return True
