"""Notion through its official client: one page or database as Markdown. Imported only when something is pulled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

import httpx
from notion_client import AsyncClient
from notion_client.client import ClientOptions, RetryOptions
from notion_client.errors import HTTPResponseError, RequestTimeoutError

from forge.connectors.errors import Unpulled
from forge.connectors.notion_markdown import Block, markdown, page_link, plain_text, table, value
from forge.json_value import Json

_MOST_BLOCKS = 10_000
_MOST_ROWS = 2_000
_DEEPEST = 12
_PAGE_SIZE = 100
_REASONS = {
    401: "Notion does not accept the API token",
    403: "the integration may not read it",
    404: "it does not exist, or it is not shared with the integration",
    429: "Notion asks to slow down; try again later",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to reach Notion, and how long to wait for it."""

    token: str = field(repr=False)
    base_url: str
    request_seconds: float = 30
    whole_seconds: float = 180
    retries: int = 3
    longest_wait_seconds: float = 20


@dataclass(frozen=True, slots=True)
class Document:
    """Markdown, and what is missing of it."""

    text: str
    cut: str = ""


async def fetch(page: str, access: Access) -> Document:
    """The page or database of this id, or an `Unpulled` with the reason."""
    options = ClientOptions(
        auth=access.token,
        base_url=access.base_url.rstrip("/"),
        timeout_ms=int(access.request_seconds * 1000),
        retry=RetryOptions(max_retries=access.retries, max_retry_delay_ms=int(access.longest_wait_seconds * 1000)),
        logger=logging.getLogger(__name__),
        log_level=logging.CRITICAL,  # failures are told in the result
    )
    try:
        async with asyncio.timeout(access.whole_seconds), httpx.AsyncClient() as http:
            return await _Reading(AsyncClient(options, client=http)).document(page)
    except TimeoutError as e:
        raise Unpulled(f"it took longer than {access.whole_seconds:g} seconds") from e


class _Reading:
    """One pull: counts what it has read, so that a page without end has one."""

    def __init__(self, client: AsyncClient) -> None:
        self._client = client
        self._blocks = 0
        self._cut = ""

    async def document(self, found: str) -> Document:
        try:
            page = await _answer(self._client.pages.retrieve(found))
        except _Refused as e:
            # The address of a database looks like that of a page.
            if e.status not in (400, 404):
                raise
            return await self._database(found, e)
        title, text = _title(page), markdown(await self._children(found, 0))
        return self._finished(title, text)

    async def _database(self, found: str, refused: _Refused) -> Document:
        try:
            database = await _answer(self._client.databases.retrieve(found))
        except _Refused as e:
            if e.status not in (400, 404):
                raise
            raise refused from e
        parts = []
        for source in _objects(database.get("data_sources")):
            rows = await self._rows(str(source.get("id")))
            parts.append(f"## {source.get('name') or 'Rows'}\n\n{table(rows)}" if rows else "")
        return self._finished(plain_text(database.get("title")), "\n\n".join(filter(None, parts)))

    def _finished(self, title: str, text: str) -> Document:
        note = f"<!-- Cut: {self._cut} -->" if self._cut else ""
        return Document("\n\n".join(filter(None, [f"# {title or 'Untitled'}", text, note])) + "\n", self._cut)

    async def _children(self, parent: str, depth: int) -> tuple[Block, ...]:
        blocks: list[Block] = []
        async for each in self._listed(lambda **page: self._client.blocks.children.list(parent, **page)):
            if self._blocks >= _MOST_BLOCKS:
                self._cut = f"only the first {_MOST_BLOCKS:,} blocks were taken"
                break
            self._blocks += 1
            blocks.append(await self._whole(each, depth))
        return tuple(blocks)

    async def _whole(self, each: Json, depth: int) -> Block:
        kind, block_id = str(each.get("type")), str(each.get("id"))
        content = each.get(kind)
        nested = bool(each.get("has_children")) and kind not in ("child_page", "child_database")
        if nested and depth >= _DEEPEST:
            self._cut = f"only {_DEEPEST} levels of nested blocks were taken"
            nested = False
        children = await self._nested(block_id, depth + 1) if nested else ()
        return Block(block_id, kind, content if isinstance(content, dict) else {}, children)

    async def _nested(self, parent: str, depth: int) -> tuple[Block, ...]:
        try:
            return await self._children(parent, depth)
        except _Refused as e:
            # A block that is synced from elsewhere has the permissions of that place.
            if e.status not in (403, 404):
                raise
            self._cut = "blocks within it are not shared with the integration"
            return ()

    async def _rows(self, source: str) -> list[list[str]]:
        rows: list[list[str]] = []
        names: list[str] = []
        async for each in self._listed(lambda **page: self._client.data_sources.query(source, **page)):
            if len(rows) >= _MOST_ROWS:
                self._cut = f"only the first {_MOST_ROWS:,} rows were taken"
                break
            properties = _properties(each)
            names = names or [name for name, found in properties.items() if found.get("type") != "title"]
            link = page_link(_title(each), str(each.get("id", "")))
            rows.append([link, *(value(properties.get(name)) for name in names)])
        return [["Title", *names], *rows] if rows else []

    async def _listed(self, ask: Callable[..., object]) -> AsyncIterator[Json]:
        cursor: str | None = None
        while True:
            answer = await _answer(ask(page_size=_PAGE_SIZE, start_cursor=cursor))
            for each in _objects(answer.get("results")):
                yield each
            following = answer.get("next_cursor")
            if not answer.get("has_more") or not following or following == cursor:
                return
            cursor = following


class _Refused(Unpulled):
    def __init__(self, status: int) -> None:
        super().__init__(_REASONS.get(status, f"Notion answered with status {status}"))
        self.status = status


async def _answer(asked: object) -> Json:
    """What Notion answers; its client's errors become reasons here."""
    try:
        assert isinstance(asked, Awaitable)
        answer = await asked
    except HTTPResponseError as e:
        raise _Refused(e.status) from e
    except RequestTimeoutError as e:
        raise Unpulled("Notion did not answer in time") from e
    except httpx.HTTPError as e:
        raise Unpulled(f"Notion cannot be reached ({type(e).__name__})") from e
    except ValueError as e:
        raise Unpulled("Notion answered with something that is not JSON") from e
    if not isinstance(answer, dict):
        raise Unpulled("Notion answered with something unexpected")
    return answer


def _objects(found: object) -> list[Json]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _properties(page: Json) -> dict[str, Json]:
    found = page.get("properties")
    return {name: each for name, each in found.items() if isinstance(each, dict)} if isinstance(found, dict) else {}


def _title(page: Json) -> str:
    titles = [plain_text(each.get("title")) for each in _properties(page).values() if each.get("type") == "title"]
    return titles[0] if titles else ""
