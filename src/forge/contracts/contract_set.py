"""A set of contracts at one commit: what a reader gets of them, whatever is edited meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from forge.contracts import contract, markdown, phases
from forge.contracts.check import entities_of
from forge.contracts.endpoints import endpoints_of
from forge.contracts.errors import ContractMissing, PhasesWhole
from forge.contracts.history import History
from forge.contracts.kinds import ORDER, Format, Kind
from forge.contracts.markdown import Document
from forge.contracts.phases import PhasePlan
from forge.contracts.templates import template
from forge.git import CommitId, ObjectId, Repository
from forge.git.objects.raw_object import object_id
from forge.git.values import ObjectKind

Source = Literal["pinned", "project", "template"]
_LINE = 160


@dataclass(frozen=True, slots=True)
class Contract:
    """`version` is 0 for a template; `updated_at` is None there."""

    contract_type: Kind
    content: str
    version: int
    source: Source
    etag: str
    """Of the content; an edit names the one that it began with."""
    commit: CommitId | None = None
    updated_at: float | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    contract_type: Kind
    file: str
    format: Format
    version: int
    size_chars: int
    updated_at: float | None
    source: Source
    line: str
    """What it is about, in one line."""


@dataclass(frozen=True, slots=True)
class Summary:
    project: str
    contracts: tuple[Listed, ...]
    layers: tuple[str, ...]
    invariants: tuple[str, ...]
    phases: int


class ContractSet:
    """Reads one commit and nothing else. With `batch` it is pinned: a ref keeps the commit."""

    def __init__(
        self,
        repository: Repository,
        project: str,
        history: History,
        *,
        batch: int | None = None,
        pinned_at: float | None = None,
    ) -> None:
        self.project = project
        self.batch = batch
        self.pinned_at = pinned_at
        self.history = history
        self._repository = repository
        self._texts: dict[Kind, str] = {}

    @property
    def commit(self) -> CommitId | None:
        return self.history.commit

    def kinds(self) -> tuple[Kind, ...]:
        """Those that the project has."""
        return tuple(kind for kind in ORDER if kind in self.history.blobs)

    def texts(self) -> Mapping[Kind, str]:
        return {kind: self.text(kind) or "" for kind in self.kinds()}

    def text(self, kind: Kind) -> str | None:
        """Of the project's own contract, whole."""
        blob = self.history.blobs.get(kind)
        if blob is None:
            return None
        if kind not in self._texts:
            self._texts[kind] = text_of(self._repository, blob)
        return self._texts[kind]

    def contract(self, kind: Kind) -> Contract:
        """For agents: all phases at once are refused. The template where the project has none of its own."""
        if kind is Kind.PHASES:
            raise PhasesWhole(
                "All phases at once are too much to read.", hint="Ask for the phase you work on: the window of phase N."
            )
        return self.whole(kind)

    def whole(self, kind: Kind) -> Contract:
        """For people, who also edit `phases`."""
        text, newest = self.text(kind), self.history.newest(kind)
        if text is None or newest is None or newest.blob is None:
            return Contract(kind, template(kind), 0, "template", "")
        return Contract(kind, text, newest.number, self._source, etag_of(text), newest.commit, newest.time)

    def window(self, number: int) -> str:
        """Phase `number` and the next one."""
        if number < 0:
            number = -1
        return phases.window(self.text(Kind.PHASES), number)

    def phase_plan(self) -> PhasePlan:
        text = self.text(Kind.PHASES)
        if text is None:
            raise ContractMissing("The project has no phases.", hint=f"Write {Kind.PHASES.path} first.")
        return phases.parse(text)

    def listed(self) -> tuple[Listed, ...]:
        """All nine; those that the project lacks as the templates that stand in for them."""
        return tuple(self._listed(kind) for kind in ORDER)

    def summary(self) -> Summary:
        boundaries = contract.parse(Kind.BOUNDARIES, self.text(Kind.BOUNDARIES) or "").value
        plan = contract.parse(Kind.PHASES, self.text(Kind.PHASES) or "").value
        names = boundaries if isinstance(boundaries, dict) else {}
        layers = [each for each in _list(names.get("layers")) if isinstance(each, dict)]
        invariants = tuple(str(each) for each in _list(names.get("invariants")))
        count = len(plan.phases) if isinstance(plan, PhasePlan) else 0
        return Summary(self.project, self.listed(), tuple(str(e.get("name")) for e in layers), invariants, count)

    @property
    def _source(self) -> Source:
        return "project" if self.batch is None else "pinned"

    def _listed(self, kind: Kind) -> Listed:
        found = self.whole(kind)
        line = _about(kind, found.content) if found.version else "Not written; this is an example."
        size = len(found.content) if found.version else 0
        return Listed(kind, kind.file, kind.form, found.version, size, found.updated_at, found.source, line)


def etag_of(text: str) -> str:
    """Changes whenever the text does."""
    return object_id(ObjectKind.BLOB, text.encode("utf-8", "replace"))


def text_of(repository: Repository, blob: ObjectId) -> str:
    return repository.objects.blob(blob).decode("utf-8-sig", "replace")


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _about(kind: Kind, text: str) -> str:
    value = contract.parse(kind, text).value
    match value:
        case PhasePlan():
            line = "; ".join(f"{each.number} {each.name}" for each in value.phases)
        case Document() if kind is Kind.SCHEMA:
            line = _counted_names(list(entities_of(value) or ()), "entity", "entities")
        case Document() if kind is Kind.UI and (pages := value.section("Pages")) is not None:
            line = _counted_names([each.text for each in markdown.items(pages.body, 1)], "page", "pages")
        case Document():
            first = next((each.body for each in value.sections if each.body), "") if not value.intro else value.intro
            line = next((each.strip("-* ") for each in first.splitlines() if each.strip()), value.title)
        case dict() if kind is Kind.PHYSICS:
            line = _counted_names([each.operation for each in endpoints_of(value)], "endpoint", "endpoints")
        case dict():
            layers = [str(each.get("name")) for each in _list(value.get("layers")) if isinstance(each, dict)]
            line = _counted_names(layers, "layer", "layers")
        case None:
            line = f"{kind.file} cannot be read."
        case _:
            line = f"Phases {', '.join(map(str, value.order))}; tests by `{value.test_command}`"
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"


def _counted_names(names: list[str], one: str, many: str) -> str:
    shown = [each.partition(" — ")[0] for each in names]
    return f"{len(shown)} {one if len(shown) == 1 else many}: {', '.join(shown)}"
