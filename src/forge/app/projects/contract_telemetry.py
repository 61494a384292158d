"""Who read which contract: recorded for each agent, listed and summed; and the sets that builds have read, kept."""

from __future__ import annotations

import time
import uuid
from collections import OrderedDict
from threading import Lock

from forge.app.access.identity import Who
from forge.app.process.workshop import Workshop
from forge.app.projects.lookup import project_for
from forge.app.values.pages import Page, checked, position
from forge.context.overview import tokens_of
from forge.contracts import pins
from forge.contracts.contract_set import ContractSet
from forge.projects.project import Project
from forge.store.contract_reads import ContractRead, ContractReads, ReadSum

_MOST_KEPT = 64
_MOST_SEEN = 4096


def list_reads(
    shop: Workshop, who: Who, id_: str, *, build: str | None = None, after: str | None = None, limit: int = 100
) -> Page[ContractRead]:
    """Newest first; `after` counts reads."""
    start, count = position(after), checked(limit)
    project = project_for(shop, who, id_)
    found = ContractReads(shop.database).list(project.id, build=build, limit=count + 1, after=start)
    return Page(found[:count], str(start + count) if len(found) > count else None)


def sum_reads(shop: Workshop, who: Who, id_: str, *, build: str | None = None) -> tuple[ReadSum, ...]:
    """By role and contract."""
    return ContractReads(shop.database).sums(project_for(shop, who, id_).id, build=build)


def note_read(shop: Workshop, project: str, role: str, contract: str, text: str, *, build: str, source: str) -> None:
    """`build` is empty outside of one. A read of what the build has read before is noted as cached."""
    key = (project, build, contract)
    with _lock:
        cached = bool(build) and key in _seen
        _seen[key] = None
        while len(_seen) > _MOST_SEEN:
            _seen.popitem(last=False)
    kind, _, part = contract.partition("/")
    read = ContractRead(
        run="",
        place=uuid.uuid4().hex,
        project=project,
        role=role,
        contract=kind,
        tokens=tokens_of(text),
        time=time.time(),
        build=build,
        part=f"window {part}" if part else "",
        source=source,
        cached=cached,
    )
    ContractReads(shop.database).record(read)


def kept_set(project: Project, batch: int) -> ContractSet:
    """The set of a build: one for all its agents, with the texts that were read."""
    key = (str(project.directory), project.id, batch)
    with _lock:
        known = _kept.get(key)
        if known is not None:
            _kept.move_to_end(key)
            return known
    made = pins.pinned(project, batch)
    with _lock:
        kept = _kept.setdefault(key, made)
        while len(_kept) > _MOST_KEPT:
            _kept.popitem(last=False)
    return kept


_kept: OrderedDict[tuple[str, str, int], ContractSet] = OrderedDict()
_seen: OrderedDict[tuple[str, str, str], None] = OrderedDict()
_lock = Lock()
