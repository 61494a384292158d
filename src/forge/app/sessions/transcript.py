"""Conversations in full, page by page: every turn with all that was said and done in it."""

from __future__ import annotations

from dataclasses import replace

from forge.app.access.identity import Who
from forge.app.process.workshop import Workshop
from forge.app.repositories.catalog import repository
from forge.app.sessions import session_access
from forge.app.sessions.conversation import conversation, item_json, sessions_of
from forge.app.sessions.session_access import TurnEntry
from forge.app.values.paging import Page


def list_turns(
    shop: Workshop, who: Who, repo_id: str, branch: str, *, at: str | None, after: str | None, limit: int
) -> Page[TurnEntry]:
    """Newest first, like the list without words. `after` is the id of the last one that is known."""
    page = session_access.list_turns(shop, who, repo_id, branch, at=at, after=after, limit=limit)
    repo = repository(shop, who, repo_id)
    moments = conversation(sessions_of(repo, shop.settings), branch, at).moments
    said = {moment.turn.id: moment.turn.items for moment in moments}
    items = tuple(
        replace(each, messages=tuple(item_json(item) for item in said.get(each.id, ()))) for each in page.items
    )
    return Page(items, page.next)
