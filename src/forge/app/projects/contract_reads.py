"""Contracts as agents read them: of a build's pinned set, else of the project, else the templates.

Every read of a text passes `ContractReader._noted`, the one place that knows who read what.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from forge.app.access.identity import Who
from forge.app.process.workshop import Workshop
from forge.app.projects.contract_telemetry import kept_set, note_read
from forge.app.projects.contract_views import pinned_set
from forge.app.projects.lookup import project_for
from forge.app.projects.scratchpad import Pad, note_contract_read
from forge.contracts import phases, pins
from forge.contracts.contract_set import ContractSet, Listed, Source, Summary
from forge.contracts.errors import ContractUnknown, PhasesWhole
from forge.contracts.governance import TEXTS, governance_named, governance_text
from forge.contracts.kinds import ORDER, Kind, kind_named
from forge.contracts.templates import template
from forge.errors import NotFound
from forge.projects.project import Project

RULES: dict[str, str] = {
    **{str(name): line for name, line in TEXTS.items()},
    **{kind.value: f"Example of {kind.file}." for kind in ORDER},
}
"""Texts that come with Forge, each with what it is about."""
_BUILD = re.compile(r"([0-9A-Za-z._-]{1,80})@([1-9][0-9]{0,5})", re.ASCII)


class BuildMissing(NotFound):
    code = "build_missing"


@dataclass(frozen=True, slots=True)
class BuildScope:
    """A build by its id `PROJECT@BATCH`: the set of contracts that was pinned for it."""

    id: str
    project: str
    batch: int


@dataclass(frozen=True, slots=True)
class Reader:
    """`name` is the agent or the role that reads, for the person `who`."""

    who: Who
    name: str


@dataclass(frozen=True, slots=True)
class ContractRead:
    """`version` is 0 and `project_id` None for a text that comes with Forge."""

    contract_type: str
    content: str
    version: int
    source: Source
    project_id: str | None = None


@dataclass(frozen=True, slots=True)
class ContractLine:
    """A contract without its text."""

    name: str
    file: str
    format: str
    version: int
    size: int
    source: Source
    line: str
    updated_at: float | None = None


@dataclass(frozen=True, slots=True)
class ProjectContext:
    """What there is to read of a project. `build_count` counts the sets of contracts pinned for builds."""

    id: str
    name: str
    status: str
    contracts: tuple[Listed, ...]
    latest_batch: int | None
    build_count: int


@dataclass(frozen=True, slots=True)
class BuildContracts:
    build_id: str
    batch: int
    pinned_at: float
    contracts: tuple[tuple[Kind, str], ...]


def rule_text(name: str) -> str:
    """A governance text, or the example of a contract."""
    shipped = governance_named(name)
    return governance_text(shipped) if shipped is not None else template(kind_named(name))


def build_scope(shop: Workshop, who: Who, id_: str) -> BuildScope:
    """Another person's build ends like one that does not exist."""
    matched = _BUILD.fullmatch(id_)
    gone = BuildMissing(f"There is no build {id_[:100]!r}.", hint="A build is PROJECT@BATCH, as its pinned contracts.")
    if matched is None:
        raise gone
    try:
        held = pins.batches(project_for(shop, who, matched[1]))
    except NotFound:
        raise gone from None
    if int(matched[2]) not in held:
        raise gone
    return BuildScope(id_, matched[1], int(matched[2]))


class ContractReader:
    """Reads for one agent. Without a project, only what comes with Forge."""

    def __init__(
        self, shop: Workshop | None, reader: Reader, *, project: str | None = None, build: BuildScope | None = None
    ) -> None:
        self._shop = shop
        self._reader = reader
        self._build = build
        wanted = build.project if build is not None else project
        self._project = None
        if wanted is not None:
            assert shop is not None
            self._project = project_for(shop, reader.who, wanted)

    def contract(self, name: str) -> ContractRead:
        """One of the nine or a governance text, by resolution; all phases at once are refused."""
        shipped = governance_named(name)
        if shipped is not None:
            return self._noted(ContractRead(shipped, governance_text(shipped), 0, "template"))
        kind = _kind_for_agents(name)
        if self._project is None:
            return self._noted(_template(kind))
        given = self._set(self._project).contract(kind)
        return self._noted(ContractRead(kind.value, given.content, given.version, given.source, self._project.id))

    def window(self, number: int) -> ContractRead:
        """Phase `number` and the next one."""
        if self._project is None:
            return self._noted(
                ContractRead(f"phases/{number}", phases.window(template(Kind.PHASES), number), 0, "template")
            )
        found = self._set(self._project)
        text = found.window(number)
        version = found.whole(Kind.PHASES).version
        source: Source = "pinned" if self._build is not None else "project"
        return self._noted(ContractRead(f"phases/{number}", text, version, source, self._project.id))

    def lines(self) -> tuple[ContractLine, ...]:
        """The nine, then the governance texts."""
        nine = [_line(each) for each in self._set(self._project).listed()] if self._project else _template_lines()
        return (*nine, *_governance_lines())

    def summary(self) -> Summary | None:
        """None without a project."""
        return self._set(self._project).summary() if self._project is not None else None

    def project_contracts(self) -> tuple[Listed, ...]:
        """Those that the project, or the build's pinned set, has of its own."""
        assert self._project is not None
        return tuple(each for each in self._set(self._project).listed() if each.version)

    def context(self) -> ProjectContext:
        assert self._project is not None
        held = pins.batches(self._project)
        status = self._project.status()
        contracts = self.project_contracts()
        latest = max(held, default=None)
        return ProjectContext(self._project.id, self._project.name, status.phase, contracts, latest, len(held))

    def build_contracts(self, types: Sequence[str] = ()) -> BuildContracts:
        """The pinned texts, all of them or those named."""
        assert self._project is not None
        assert self._build is not None
        found = pinned_set(self._project, self._build.batch, [kind_named(each) for each in types])
        for each in found.contracts:
            self._noted(ContractRead(each.contract_type.value, each.content, 0, "pinned", self._project.id))
        texts = tuple((each.contract_type, each.content) for each in found.contracts)
        return BuildContracts(self._build.id, found.batch, found.pinned_at, texts)

    def _set(self, project: Project) -> ContractSet:
        return pins.current(project) if self._build is None else kept_set(project, self._build.batch)

    def _noted(self, read: ContractRead) -> ContractRead:
        if self._shop is not None and self._project is not None:
            build = self._build.id if self._build is not None else ""
            note_contract_read(self._shop, Pad(self._project.id, build), read.contract_type)
            told = read.contract_type, read.content
            note_read(self._shop, self._project.id, self._reader.name, *told, build=build, source=read.source)
        return read


def _kind_for_agents(name: str) -> Kind:
    try:
        kind = kind_named(name)
    except ContractUnknown as e:
        raise ContractUnknown(e.message, hint=f"There are: {', '.join([*ORDER, *TEXTS])}.") from None
    if kind is Kind.PHASES:
        raise PhasesWhole(
            "All phases at once are too much to read.", hint="Ask for the phase you work on: the window of phase N."
        )
    return kind


def _template(kind: Kind) -> ContractRead:
    return ContractRead(kind.value, template(kind), 0, "template")


def _line(each: Listed) -> ContractLine:
    name, size = each.contract_type.value, each.size_chars
    return ContractLine(name, each.file, each.format, each.version, size, each.source, each.line, each.updated_at)


def _template_lines() -> list[ContractLine]:
    line = "An example; name a project to read its own."
    return [ContractLine(kind.value, kind.file, kind.form, 0, len(template(kind)), "template", line) for kind in ORDER]


def _governance_lines() -> list[ContractLine]:
    return [
        ContractLine(name, f"{name}.md", "markdown", 0, len(governance_text(name)), "template", line)
        for name, line in TEXTS.items()
    ]
