"""Types of workflow with their phases, and the sentences that MEMORY.md has for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from forge.memory.errors import PhaseUnknown, WorkflowUnknown

NOTHING = "nothing"
"""What is said to be completed before the first phase is."""
TERMINAL = {"git-commit": "committed", "x-archive": "archived"}
"""Phases with which a coding agent's workflow ends, whatever its type, and what is said to have happened then."""
_MOST = 200
_MOST_OUTCOME = 400


@dataclass(frozen=True, slots=True)
class Workflow:
    """Phases in order, each with what is being done in it. `said` has the transitions with words of their own."""

    phases: Mapping[str, str]
    said: Mapping[tuple[str, str], str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)


WORKFLOWS: dict[str, Workflow] = {
    "APEX": Workflow(
        {"analyze": "analyzing", "plan": "planning", "implement": "implementing", "review": "reviewing"},
        {
            ("plan", "implement"): "plan approved, implementing",
            ("implement", "review"): "implementation done, reviewing",
        },
    ),
    "DEBUG": Workflow(
        {"troubleshoot": "troubleshooting", "fix": "fixing"},
        {("troubleshoot", "fix"): "root cause found, fixing"},
        aliases={"implement": "fix"},
    ),
    "BRAINSTORM": Workflow(
        {"brainstorm": "exploring", "design": "designing"},
        {("brainstorm", "design"): "exploring → designing"},
    ),
    "FORGE": Workflow(
        {
            "brain_dump": "collecting",
            "distilling": "distilling",
            "human_review": "reviewing",
            "spec_building": "specifying",
            "building": "building",
            "polishing": "polishing",
            "done": "finishing",
        }
    ),
}


class Position(NamedTuple):
    """The state of a workflow, as one line of MEMORY.md tells it."""

    type: str
    completed_phase: str
    phase: str
    context: str


class Ending(NamedTuple):
    type: str
    context: str
    outcome: str


def workflow(type_: str) -> Workflow:
    if type_ not in WORKFLOWS:
        raise WorkflowUnknown(f"There is no workflow {type_!r}.", hint=f"There are {', '.join(WORKFLOWS)}.")
    return WORKFLOWS[type_]


def first_phase(type_: str) -> str:
    return next(iter(workflow(type_).phases))


def phase_of(type_: str, name: str) -> str:
    """The phase by its own name. Types that other tools made up may have any phase."""
    known = WORKFLOWS.get(type_)
    if known is None:
        return name
    found = known.aliases.get(name, name)
    if found not in known.phases:
        hint = f"Its phases are {', '.join(known.phases)}."
        raise PhaseUnknown(f"The workflow {type_} has no phase {name!r}.", hint=hint)
    return found


def phase_before(type_: str, phase: str) -> str:
    """The phase that usually comes before; none before the first."""
    phases = list(WORKFLOWS[type_].phases) if type_ in WORKFLOWS else []
    place = phases.index(phase) if phase in phases else 0
    return phases[place - 1] if place else ""


def checkpoint(type_: str, done: str, phase: str, context: str) -> str:
    return f"Active {type_} workflow: {_said(type_, done or NOTHING, phase)} {_cut(context, _MOST)}".rstrip()


def completion(type_: str, context: str, outcome: str) -> str:
    return f"Completed {type_} for {_cut(context, _MOST)}: {_cut(outcome, _MOST_OUTCOME)}"


def parsed_checkpoint(text: str) -> Position | None:
    """Also lines that people or other tools wrote in the same words."""
    found = re.match(r"Active (?P<type>\w+) workflow: (?P<rest>.+)", text)
    if found is None:
        return None
    known = WORKFLOWS.get(found["type"])
    for done, phase in _pairs(known) if known else ():
        said = _said(found["type"], done, phase)
        if found["rest"] == said or found["rest"].startswith(f"{said} "):
            return Position(found["type"], done, phase, found["rest"][len(said) :].strip())
    foreign = re.match(r"(?P<done>\S+) completed, (?P<verb>\S+)(?P<context>.*)", found["rest"])
    if foreign is None or known is not None:
        return None
    return Position(found["type"], foreign["done"], foreign["verb"], foreign["context"].strip())


def parsed_completion(text: str) -> Ending | None:
    found = re.match(r"Completed (?P<type>\w+) for (?P<context>.*?): (?P<outcome>.*)", text)
    return Ending(found["type"], found["context"], found["outcome"]) if found else None


def _said(type_: str, done: str, phase: str) -> str:
    known = WORKFLOWS.get(type_)
    verb = known.phases.get(phase, phase) if known else phase
    return (known.said.get((done, phase)) if known else None) or f"{done} completed, {verb}"


def _pairs(known: Workflow) -> list[tuple[str, str]]:
    return [(done, phase) for done in (*known.phases, NOTHING) for phase in known.phases if done != phase]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
