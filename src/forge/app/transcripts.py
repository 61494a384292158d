"""Conversations in full, page by page: every turn with all that was said and done in it."""

from __future__ import annotations

from dataclasses import replace

from forge.app import talking
from forge.app.conversations import conversation, item_json, sessions_of
from forge.app.identity import Who
from forge.app.pages import Page
from forge.app.repositories import repository
from forge.app.talking import TurnEntry
from forge.app.workshop import Workshop


def list_turns(
    shop: Workshop, who: Who, repo_id: str, branch: str, *, at: str | None, after: str | None, limit: int
) -> Page[TurnEntry]:
    """Newest first, like the list without words. `after` is the id of the last one that is known."""
    page = talking.list_turns(shop, who, repo_id, branch, at=at, after=after, limit=limit)
    repo = repository(shop, who, repo_id)
    moments = conversation(sessions_of(repo, shop.settings), branch, at).moments
    said = {moment.turn.id: moment.turn.items for moment in moments}
    items = tuple(
        replace(each, messages=tuple(item_json(item) for item in said.get(each.id, ()))) for each in page.items
    )
    return Page(items, page.next)
