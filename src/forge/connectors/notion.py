"""Pages and databases of Notion, pulled as Markdown with the token of an integration."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from forge.connectors.addresses import split
from forge.connectors.errors import Unpulled, misconfigured
from forge.connectors.resource_files import save
from forge.plugins.roles import Pulled

NAME = "notion"
_API = "https://api.notion.com"
_HOSTS = re.compile(r"(?:[\w-]+\.)*notion\.(?:so|site)", re.IGNORECASE)
_ID = re.compile(r"(?<![0-9a-f])([0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?![0-9a-f])", re.IGNORECASE)


def is_page(target: str) -> bool:
    """Whether the address is one of Notion's."""
    return _HOSTS.fullmatch(split(target).hostname or "") is not None


@dataclass(frozen=True, slots=True)
class Notion:
    """A connector. The token is neither shown nor written anywhere."""

    token: str = field(repr=False)
    base_url: str = _API
    request_seconds: float = 30
    name: str = NAME

    def takes(self, target: str) -> bool:
        return is_page(target)

    async def pull(self, target: str, resources: Path) -> Pulled:
        """Save the page or database behind `target` as `notion_{page_id}.md`, the id without dashes."""
        from forge.connectors.notion_api import Access, fetch  # noqa: PLC0415 - a third of a second to load

        found = page_id(target)
        if found is None:
            return Pulled(failed=(f"{target}: the address has no page id in it",))
        access = Access(token=self.token, base_url=self.base_url, request_seconds=self.request_seconds)
        try:
            document = await fetch(found, access)
            name = await asyncio.to_thread(save, resources, f"notion_{found}.md", document.text.encode())
        except Unpulled as e:
            return Pulled(failed=(f"{target}: {e}",))
        return Pulled(saved=(name,), failed=(f"{target}: {document.cut}",) if document.cut else ())


def notion(options: Mapping[str, Any]) -> Notion:
    """From an enabled section of the settings: `api_token`, and `base_url` for another address of the API."""
    token = str(options.get("api_token") or "").strip()
    if not token:
        raise misconfigured(NAME, hint="Set connectors.notion.api_token to the token of an integration.")
    return Notion(token, str(options.get("base_url") or _API))


def page_id(target: str) -> str | None:
    """The id of what an address shows, as 32 hexadecimal digits.

    A page that is open over a database is named by `p`; what follows `#` is a place within the page.
    """
    address = split(target)
    for name in ("p", "page_id", "database_id"):
        for given in parse_qs(address.query).get(name, []):
            if found := _ID.fullmatch(given):
                return UUID(found[1]).hex
    ids: list[str] = _ID.findall(address.path) or _ID.findall(address.netloc)
    return UUID(ids[-1]).hex if ids else None
