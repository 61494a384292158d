"""What faces show of a project's contracts: cards, whole texts, windows, versions and differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from forge.app.projects.contract_risks import broken_ground_of
from forge.app.repositories.diff import patch_text
from forge.contracts import pins
from forge.contracts.check import check
from forge.contracts.contract_set import Contract, ContractSet, Listed, Source, Summary, etag_of, text_of
from forge.contracts.documents import findings_of
from forge.contracts.errors import ContractMissing
from forge.contracts.history import Origin, Version
from forge.contracts.kinds import ORDER, Finding, Format, Kind, kind_named
from forge.contracts.templates import schema, template
from forge.git import CommitId
from forge.json_value import Json
from forge.projects.project import Project

__all__ = ["ORDER", "Finding", "Kind", "Listed", "Summary", "kind_named", "template"]

State = Literal["missing", "draft", "findings", "stale", "valid"]


@dataclass(frozen=True, slots=True)
class Card:
    """One of the nine, as a list shows it. `version` is 0 while it is missing."""

    contract_type: Kind
    file: str
    format: Format
    version: int
    size_chars: int
    updated_at: float | None
    state: State
    findings: int
    origin: Origin | None
    line: str
    pinned_version: int | None
    """Its version in the newest pinned set."""


@dataclass(frozen=True, slots=True)
class Overview:
    project_id: str
    items: tuple[Card, ...]
    latest_batch: int | None
    commit: str | None


@dataclass(frozen=True, slots=True)
class ContractText:
    """A whole contract. `etag` is what an edit names as the text that it began with; empty where it has none yet."""

    project_id: str
    contract_type: Kind
    content: str
    version: int
    source: Source
    etag: str
    commit: str | None
    updated_at: float | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class PhaseWindow:
    project_id: str
    phase: int
    content: str
    source: Source


@dataclass(frozen=True, slots=True)
class Checked:
    ok: bool
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ContractDiff:
    contract_type: Kind
    old: int | None
    """None where `new` is the first version."""
    new: int
    diff: str


@dataclass(frozen=True, slots=True)
class PinnedText:
    contract_type: Kind
    content: str


@dataclass(frozen=True, slots=True)
class PinnedSet:
    """What a build is held to."""

    project_id: str
    batch: int
    pinned_at: float
    commit: str
    contracts: tuple[PinnedText, ...]


def text_from_json(data: Json) -> ContractText:
    """As the API gives it."""
    findings = tuple(Finding(**each) for each in data["findings"])
    return ContractText(**{**data, "contract_type": Kind(data["contract_type"]), "findings": findings})


def overview(project: Project) -> Overview:
    """All nine cards."""
    found = pins.current(project)
    told = _findings(project, found) if found.kinds() else ()
    batches = pins.batches(project)
    latest = max(batches, default=None)
    held = pins.pinned(project, latest) if latest is not None else None
    cards = tuple(_card(found, listed, told, held) for listed in found.listed())
    return Overview(project.id, cards, latest, found.commit)


def whole_contract(project: Project, kind: Kind, *, batch: int | None = None) -> ContractText:
    """The project's own, or the one of a pinned set; else the template."""
    found = pins.current(project) if batch is None else pins.pinned(project, batch)
    return text_shown(project, found, found.whole(kind))


def contract_at(project: Project, kind: Kind, number: int) -> ContractText:
    """An earlier version."""
    found = pins.current(project)
    version = found.history.version(kind, number)
    text = "" if version.blob is None else text_of(project.records.repository, version.blob)
    given = Contract(kind, text, number, "project", etag_of(text), version.commit, version.time)
    return text_shown(project, found, given)


def contract_set(project: Project, *, batch: int | None = None) -> ContractSet:
    """For agents, which read it by summary, window and single contracts."""
    return pins.current(project) if batch is None else pins.pinned(project, batch)


def phase_window(project: Project, number: int, *, batch: int | None = None) -> PhaseWindow:
    found = contract_set(project, batch=batch)
    return PhaseWindow(project.id, number, found.window(number), "project" if batch is None else "pinned")


def checked_contracts(project: Project, *, drafts: Mapping[Kind, str] | None = None, mini: bool = False) -> Checked:
    """All that the check finds; with `drafts`, as if they were saved."""
    found = pins.current(project)
    told = _findings(project, found, {**found.texts(), **drafts} if drafts else None, mini=mini)
    return Checked(not told, told)


def _findings(
    project: Project, found: ContractSet, texts: Mapping[Kind, str] | None = None, *, mini: bool = False
) -> tuple[Finding, ...]:
    """What the check says of what is saved, or of these texts, and where they rest on an assumption that broke."""
    told = findings_of(found, mini=mini) if texts is None else check(texts, mini=mini)
    return (*told, *broken_ground_of(project, found.texts() if texts is None else texts))


def versions_of(project: Project, kind: Kind) -> tuple[Version, ...]:
    """Newest first."""
    found = pins.current(project).history.versions.get(kind, ())
    if not found:
        raise ContractMissing(f"{kind.value} was never written.", hint=f"Write {kind.path}, or generate it.")
    return found


def compared(project: Project, kind: Kind, *, old: int | None = None, new: int | None = None) -> ContractDiff:
    """From version `old` to `new`; the newest and the one before it where they are not named."""
    found = versions_of(project, kind)
    history = pins.current(project).history
    after = history.version(kind, new) if new is not None else found[0]
    number = old if old is not None else after.number - 1
    before = history.version(kind, number).commit if number > 0 else None
    text = _patch(project, kind, before, after.commit)
    return ContractDiff(kind, number or None, after.number, text)


def schema_of(kind: Kind) -> Json:
    return schema(kind)


def pinned_set(project: Project, batch: int, kinds: Sequence[Kind] = ()) -> PinnedSet:
    """The whole texts of a pinned set, or of those asked for."""
    found = pins.pinned(project, batch)
    assert found.commit is not None
    assert found.pinned_at is not None
    texts = tuple(PinnedText(kind, text) for kind, text in found.texts().items() if not kinds or kind in kinds)
    return PinnedSet(project.id, batch, found.pinned_at, found.commit, texts)


def _card(found: ContractSet, listed: Listed, told: Sequence[Finding], held: ContractSet | None) -> Card:
    kind = listed.contract_type
    own = [each for each in told if each.file == listed.file]
    newest = found.history.newest(kind) if listed.version else None
    pinned = held.whole(kind).version if held is not None else 0
    return Card(
        kind,
        listed.file,
        listed.format,
        listed.version,
        listed.size_chars,
        listed.updated_at,
        _state(found, kind, own),
        len(own),
        newest.origin if newest else None,
        listed.line,
        pinned or None,
    )


def _state(found: ContractSet, kind: Kind, own: Sequence[Finding]) -> State:
    newest = found.history.newest(kind)
    if newest is None or newest.blob is None:
        return "missing"
    if newest.draft:
        return "draft"
    if own:
        return "findings"
    return "stale" if found.history.is_stale(kind) else "valid"


def text_shown(project: Project, found: ContractSet, given: Contract) -> ContractText:
    own: tuple[Finding, ...] = ()
    if given.version:
        texts = {**found.texts(), given.contract_type: given.content}
        is_newest = found.text(given.contract_type) == given.content
        told = _findings(project, found, None if is_newest else texts)
        own = tuple(each for each in told if each.file == given.contract_type.file)
    return ContractText(
        project.id,
        given.contract_type,
        given.content,
        given.version,
        given.source,
        given.etag,
        given.commit,
        given.updated_at,
        own,
    )


def _patch(project: Project, kind: Kind, before: CommitId | None, after: CommitId) -> str:
    repository = project.records.repository
    changes = repository.diff(before, after, paths=[kind.path])
    return b"".join(patch_text(repository, each) for each in changes).decode("utf-8", "replace")
