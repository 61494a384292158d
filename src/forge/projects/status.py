"""Where a project stands: phases, reasons to halt, and the only moves between them that happen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from forge.projects import fields
from forge.projects.errors import IllegalTransition

FILE = "status.json"


class Phase(StrEnum):
    BRAIN_DUMP = "brain_dump"
    DISTILLING = "distilling"
    HUMAN_REVIEW = "human_review"
    SPEC_BUILDING = "spec_building"
    BUILDING = "building"
    POLISHING = "polishing"
    DONE = "done"
    HALTED = "halted"


class HaltReason(StrEnum):
    PLAN_INCOMPLETE = "plan_incomplete"
    GUARD_HALLUCINATION = "guard_hallucination"
    GUARD_FABRICATION = "guard_fabrication"
    GUARD_MAX_ITERATIONS = "guard_max_iterations"
    HUMAN_TERMINATED = "human_terminated"
    AGENT_FAILURE = "agent_failure"
    FILE_SYSTEM_ERROR = "file_system_error"
    PHASE3_OUTPUT_MISSING = "phase3_output_missing"
    PHASE3_OUTPUT_INCOMPLETE = "phase3_output_incomplete"
    SERVER_RESTART = "server_restart"
    TESTS_CANNOT_RUN = "tests_cannot_run"
    GUARD_TESTS = "guard_tests"
    GUARD_NO_CHANGE = "guard_no_change"


ACTIVE = frozenset(Phase) - {Phase.DONE, Phase.HALTED}

TRANSITIONS: Mapping[Phase, frozenset[Phase]] = MappingProxyType(
    {
        Phase.BRAIN_DUMP: frozenset({Phase.DISTILLING, Phase.HALTED}),
        Phase.DISTILLING: frozenset({Phase.HUMAN_REVIEW, Phase.HALTED}),
        Phase.HUMAN_REVIEW: frozenset({Phase.DISTILLING, Phase.SPEC_BUILDING, Phase.HALTED}),
        Phase.SPEC_BUILDING: frozenset({Phase.BUILDING, Phase.HALTED}),
        Phase.BUILDING: frozenset({Phase.POLISHING, Phase.HALTED}),
        Phase.POLISHING: frozenset({Phase.DONE, Phase.HALTED}),
        Phase.DONE: frozenset(),
        # Of the active phases only the one it was halted in; see `allowed`.
        Phase.HALTED: ACTIVE | {Phase.DONE, Phase.HALTED},
    }
)


@dataclass(frozen=True, slots=True)
class ProjectStatus:
    project_name: str
    phase: Phase
    deliverable_type: str | None
    agent: str
    created_at: str
    updated_at: str
    halt_reason: str | None = None

    @property
    def terminated(self) -> bool:
        """Whether a person ended it for good."""
        return self.phase is Phase.HALTED and self.halt_reason == HaltReason.HUMAN_TERMINATED

    def to_json(self) -> str:
        return fields.dumped({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def from_json(cls, text: str) -> ProjectStatus:
        values = fields.loaded_object(text, FILE)
        phase = fields.text_of(values, "phase", FILE)
        if phase not in set(Phase):
            raise fields.invalid(FILE, "phase", f"one of {', '.join(Phase)}")
        return cls(
            project_name=fields.text_of(values, "project_name", FILE),
            phase=Phase(phase),
            deliverable_type=fields.optional_text(values, "deliverable_type", FILE),
            agent=fields.text_of(values, "agent", FILE),
            created_at=fields.text_of(values, "created_at", FILE),
            updated_at=fields.text_of(values, "updated_at", FILE),
            halt_reason=fields.optional_text(values, "halt_reason", FILE),
        )


def fresh(*, agent: str, now: datetime, project_name: str = "") -> ProjectStatus:
    moment = fields.iso(now)
    return ProjectStatus(project_name, Phase.BRAIN_DUMP, None, agent, moment, moment)


def allowed(status: ProjectStatus, *, halted_in: Phase | None = None) -> frozenset[Phase]:
    """Where `status` may go. A halted project goes back only to the phase `halted_in`; a terminated one nowhere."""
    if status.phase is not Phase.HALTED:
        return TRANSITIONS[status.phase]
    if status.terminated:
        return frozenset()
    return TRANSITIONS[Phase.HALTED] & {Phase.DONE, Phase.HALTED, *({halted_in} if halted_in else ())}


def moved(
    status: ProjectStatus,
    to: Phase,
    *,
    now: datetime,
    halt_reason: str | None = None,
    halted_in: Phase | None = None,
) -> ProjectStatus:
    """The status after going to `to`. Only a halt has a reason, and a halted project can only be terminated."""
    if to not in allowed(status, halted_in=halted_in):
        raise _illegal(status, to, halted_in)
    if (to is Phase.HALTED) != (halt_reason is not None):
        raise IllegalTransition(
            "A halt needs a reason, and nothing else has one.", hint=f"Reasons are {', '.join(HaltReason)}."
        )
    if status.phase is Phase.HALTED and to is Phase.HALTED and halt_reason != HaltReason.HUMAN_TERMINATED:
        raise IllegalTransition("The project is halted already.", hint="Resume, override or terminate it.")
    return replace(status, phase=to, halt_reason=halt_reason, updated_at=fields.iso(now))


def _illegal(status: ProjectStatus, to: Phase, halted_in: Phase | None) -> IllegalTransition:
    if status.terminated:
        return IllegalTransition("The project was terminated; nothing follows.", hint="Start a new project.")
    possible = sorted(allowed(status, halted_in=halted_in))
    return IllegalTransition(
        f"A project in {status.phase} cannot go to {to}.",
        hint=f"From here it can go to {', '.join(possible)}." if possible else "It has ended; start a new project.",
    )
