"""Contracts of a project for whoever may reach it: listed, read, checked, edited, compared, restored and pinned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from forge.app.access.identity import Who, audit
from forge.app.process.workshop import Workshop
from forge.app.projects.contract_views import (
    Checked,
    ContractDiff,
    ContractText,
    Overview,
    PhaseWindow,
    PinnedSet,
    checked_contracts,
    compared,
    contract_at,
    contract_set,
    overview,
    phase_window,
    pinned_set,
    schema_of,
    text_shown,
    versions_of,
    whole_contract,
)
from forge.app.projects.lookup import project_for
from forge.app.values.pages import Page, checked, position
from forge.contracts import documents, pins
from forge.contracts.contract_set import Contract, ContractSet, Summary
from forge.contracts.history import Version
from forge.contracts.kinds import Kind, kind_named
from forge.events import ContractSaved
from forge.json_value import Json
from forge.projects.project import Project


def list_contracts(shop: Workshop, who: Who, id_: str) -> Overview:
    return overview(project_for(shop, who, id_))


def read_contract(shop: Workshop, who: Who, id_: str, name: str, *, version: int | None = None) -> ContractText:
    project, kind = project_for(shop, who, id_), kind_named(name)
    return whole_contract(project, kind) if version is None else contract_at(project, kind, version)


def read_set(shop: Workshop, who: Who, id_: str, *, batch: int | None = None) -> ContractSet:
    return contract_set(project_for(shop, who, id_), batch=batch)


def summarize(shop: Workshop, who: Who, id_: str) -> Summary:
    return pins.current(project_for(shop, who, id_)).summary()


def read_window(shop: Workshop, who: Who, id_: str, number: int) -> PhaseWindow:
    return phase_window(project_for(shop, who, id_), number)


def read_schema(shop: Workshop, who: Who, id_: str, name: str) -> Json:
    project_for(shop, who, id_)
    return schema_of(kind_named(name))


def check_contracts(
    shop: Workshop, who: Who, id_: str, *, drafts: Mapping[str, str] | None = None, mini: bool = False
) -> Checked:
    project = project_for(shop, who, id_)
    return checked_contracts(project, drafts={kind_named(n): text for n, text in (drafts or {}).items()}, mini=mini)


def list_versions(
    shop: Workshop, who: Who, id_: str, name: str, *, after: str | None = None, limit: int = 100
) -> Page[Version]:
    """Newest first; `after` counts versions."""
    start = position(after)
    end = start + checked(limit)
    found = versions_of(project_for(shop, who, id_), kind_named(name))
    return Page(found[start:end], str(end) if end < len(found) else None)


def diff_contract(
    shop: Workshop, who: Who, id_: str, name: str, *, old: int | None = None, new: int | None = None
) -> ContractDiff:
    return compared(project_for(shop, who, id_), kind_named(name), old=old, new=new)


def read_pinned(shop: Workshop, who: Who, id_: str, batch: int, types: Sequence[str] = ()) -> PinnedSet:
    return pinned_set(project_for(shop, who, id_), batch, [kind_named(each) for each in types])


def edit_contract(shop: Workshop, who: Who, id_: str, name: str, content: str, *, expected: str | None) -> ContractText:
    project = project_for(shop, who, id_, "write")
    return edit_found(shop, who, project, kind_named(name), content, expected=expected)


def edit_found(
    shop: Workshop, who: Who, project: Project, kind: Kind, content: str, *, expected: str | None
) -> ContractText:
    """In the project of this directory, for whoever may do so."""
    before = pins.current(project).whole(kind).version
    saved = documents.save(project, kind, content, expected=expected, editor=_editor(who, project))
    return _told(shop, who, project, saved, before=before, action="contract.edit")


def restore_contract(shop: Workshop, who: Who, id_: str, name: str, version: int) -> ContractText:
    project = project_for(shop, who, id_, "write")
    return restore_found(shop, who, project, kind_named(name), version)


def restore_found(shop: Workshop, who: Who, project: Project, kind: Kind, version: int) -> ContractText:
    before = pins.current(project).whole(kind).version
    saved = documents.restore(project, kind, version, editor=_editor(who, project))
    return _told(shop, who, project, saved, before=before, action="contract.restore")


def pin_contracts(shop: Workshop, who: Who, id_: str) -> ContractSet:
    """For a build: hold the contracts as they are now."""
    project = project_for(shop, who, id_, "run")
    found = pins.pin(project)
    audit(shop, who, "contract.pin", f"project:{project.id}", str(found.batch))
    return found


def _told(shop: Workshop, who: Who, project: Project, saved: Contract, *, before: int, action: str) -> ContractText:
    if saved.version != before:
        audit(shop, who, action, f"project:{project.id}", f"{saved.contract_type.value} version {saved.version}")
        event = ContractSaved(project.id, saved.contract_type.value, saved.version, str(saved.commit), "person")
        shop.events.publish(project.subject.topic, event)
    return text_shown(project, pins.current(project), saved)


def _editor(who: Who, project: Project) -> str:
    """Whom the history names: the user of a shared server, else the person whom git knows at this machine."""
    return project.records.repository.signature().name if who.is_local else who.name
