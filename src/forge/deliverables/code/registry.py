"""Looking components up: the registry of their language, download statistics, and the host of their source."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import quote

from forge.deliverables.code import documents
from forge.deliverables.code.facts import Facts, Unknown
from forge.deliverables.code.registries import Ecosystem, Registries
from forge.deliverables.code.registry_client import LARGEST, TOTAL_SECONDS, Fetcher
from forge.deliverables.code.scorecard import STALE_MONTHS, months_before

_AT_ONCE = 3
_NOT_CONFIGURED = "not configured"
_COMMITS = 100


@dataclass(frozen=True, slots=True)
class _PackageRegistry:
    """Where components of one language stand, and how what is written there is read."""

    place: str
    address: str
    facts: Callable[[Any], Facts]
    links: Callable[[Any], tuple[str, ...]]
    name_of: Callable[[Any], Any]
    downloads: str
    weekly: Callable[[Any], int | Unknown]


async def look_up(
    registries: Registries,
    components: Sequence[tuple[str, Ecosystem]],
    *,
    now: datetime,
    total_seconds: float = TOTAL_SECONDS,
    largest: int = LARGEST,
) -> tuple[Facts, ...]:
    """The facts of each component, in their order. Nothing is raised: what cannot be found out is unknown."""
    places = asyncio.Semaphore(_AT_ONCE)
    async with Fetcher(registries.addresses, total_seconds=total_seconds, largest=largest) as fetcher:

        async def one(name: str, ecosystem: Ecosystem) -> Facts:
            async with places:
                return await _facts(registries, name, ecosystem, now, fetcher)

        return tuple(await asyncio.gather(*(one(name, ecosystem) for name, ecosystem in components)))


async def _facts(registries: Registries, name: str, ecosystem: Ecosystem, now: datetime, fetcher: Fetcher) -> Facts:
    registry = _registry_of(registries, name, ecosystem)
    if not registry.address:
        return Facts.unknown(f"{registry.place} {_NOT_CONFIGURED}")
    absent = f"{registry.place} knows no package of this name"
    document = await fetcher.get(registry.address, place=registry.place, absent=absent)
    if isinstance(document, Unknown):
        return Facts.unknown(document.reason)
    if not documents.same_name(registry.name_of(document), name):
        return Facts.unknown(f"{registry.place} gave an answer that is not about this package")
    facts = registry.facts(document)
    weekly, facts = await asyncio.gather(
        _weekly(registry, facts, fetcher), _hosted(registries, registry.links(document), facts, now, fetcher)
    )
    return replace(facts, weekly_downloads=weekly)


def _registry_of(registries: Registries, name: str, ecosystem: Ecosystem) -> _PackageRegistry:
    if ecosystem == "python":
        return _PackageRegistry(
            "Python registry",
            _under(registries.python, "pypi", quote(name, safe=""), "json"),
            documents.python_facts,
            documents.python_links,
            documents.python_name,
            _under(registries.python_downloads, "packages", quote(name.lower(), safe=""), "recent"),
            documents.weekly_python,
        )
    return _PackageRegistry(
        "npm registry",
        _under(registries.npm, quote(name, safe="@")),
        documents.npm_facts,
        documents.npm_links,
        documents.npm_name,
        _under(registries.npm_downloads, "downloads", "point", "last-week", quote(name, safe="@/")),
        documents.weekly_npm,
    )


def _under(base: str, *parts: str) -> str:
    """An address below a base; empty without one."""
    return "/".join((base.rstrip("/"), *parts)) if base else ""


async def _weekly(registry: _PackageRegistry, facts: Facts, fetcher: Fetcher) -> int | Unknown:
    if isinstance(facts.weekly_downloads, int):
        return facts.weekly_downloads
    place = "download statistics"
    if not registry.downloads:
        return Unknown(f"{place} {_NOT_CONFIGURED}")
    document = await fetcher.get(registry.downloads, place=f"{place} of the {registry.place}")
    return document if isinstance(document, Unknown) else registry.weekly(document)


async def _hosted(
    registries: Registries, links: tuple[str, ...], facts: Facts, now: datetime, fetcher: Fetcher
) -> Facts:
    """What the host of its source adds."""
    if not registries.code_host or not registries.code_host_api:
        return _without_host(facts, f"code host {_NOT_CONFIGURED}")
    repository = documents.repository_of(links, registries.code_host)
    if not repository:
        return _without_host(facts, "no repository on the code host is named")
    base = _under(registries.code_host_api, "repos", *(quote(part, safe="") for part in repository.split("/")))
    found = await fetcher.get(base, place="code host", absent="the code host has no such repository")
    if isinstance(found, Unknown):
        return _without_host(facts, found.reason)
    since = months_before(now, STALE_MONTHS).strftime("%Y-%m-%dT%H:%M:%SZ")
    opened, closed, commits = await asyncio.gather(
        _issues(registries, repository, "open", fetcher),
        _issues(registries, repository, "closed", fetcher),
        fetcher.get(f"{base}/commits", place="code host's commits", query={"since": since, "per_page": _COMMITS}),
    )
    licence = documents.host_licence(found)
    return replace(
        facts,
        stars=documents.stars(found),
        last_commit=documents.pushed(found),
        open_issues=opened,
        closed_issues=closed,
        active=commits if isinstance(commits, Unknown) else documents.authors(commits),
        licence=licence if isinstance(facts.licence, Unknown) and licence else facts.licence,
    )


async def _issues(registries: Registries, repository: str, state: str, fetcher: Fetcher) -> int | Unknown:
    # A repository's own number of open issues counts proposed changes too; the search tells them apart.
    address = _under(registries.code_host_api, "search", "issues")
    query: dict[str, str | int] = {"q": f"repo:{repository} is:issue is:{state}", "per_page": 1}
    document = await fetcher.get(address, place="code host's search", query=query)
    return document if isinstance(document, Unknown) else documents.found_issues(document)


def _without_host(facts: Facts, reason: str) -> Facts:
    unknown = Unknown(reason)
    return replace(
        facts, stars=unknown, last_commit=unknown, open_issues=unknown, closed_issues=unknown, active=unknown
    )
