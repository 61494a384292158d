"""An exploration as JSON: where it is, the register, and what a person changes in it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from forge.api.shapes.base import Facts, Given, Shape, Text, shown, taken

ModeName = Literal["discover", "evaluate", "constraints", "value", "priorities"]


class ProposalShape(Shape):
    mode: ModeName
    reason: Text
    turn: int
    model_config = shown(mode="discover", reason="The problem and a stakeholder are known.", turn=4)


class AssumptionShape(Shape):
    """`resting` counts the assumptions that depend on it, through any depth; `risk` is computed from all that."""

    id: str
    claim: Text
    type: str
    impact: Literal["low", "medium", "high"]
    confidence: Literal["guessed", "informed", "validated"]
    status: Literal["active", "at_risk", "invalidated", "confirmed"]
    basis: Text
    source: Text
    surfaced_by: Text
    depends_on: list[str]
    recommended_action: Text
    implied_stakeholders: list[Text]
    evidence_for: list[Facts]
    evidence_against: list[Facts]
    owner: Text
    test: Facts
    expires: Text
    history: list[Facts]
    risk: float
    resting: int
    above_line: bool
    cheapest_test: Text
    model_config = shown(
        id="A1",
        claim="Dispatchers would use a dashboard",
        type="value",
        impact="high",
        confidence="guessed",
        status="active",
        basis="It is wished for in T1.",
        source="T1",
        surfaced_by="solution_problem_separation",
        depends_on=[],
        recommended_action="",
        implied_stakeholders=[],
        evidence_for=[],
        evidence_against=[],
        owner="",
        test={},
        expires="",
        history=[],
        risk=2.4,
        resting=0,
        above_line=True,
        cheapest_test="painted door",
    )


class StakeholderShape(Shape):
    id: str
    name: Text
    role: str
    note: Text = ""
    source: Text = ""
    model_config = shown(id="S1", name="Anna Berg", role="decision_authority", note="", source="T2")


class ProbeShape(Shape):
    name: str
    question: Text
    purpose: Text
    state: Literal["open", "asked", "done"]
    finding: Text
    model_config = shown(
        name="why_now", question="Why now?", purpose="Find the event.", state="done", finding="A new customer."
    )


class ExplorationModeShape(Shape):
    name: ModeName
    title: str
    completed: bool
    probes: list[ProbeShape]
    model_config = shown(name="discover", title="Discover & Frame", completed=False, probes=[])


class TreeNodeShape(Shape):
    id: str
    kind: Literal["Outcome", "Opportunity", "Solution", "Assumption"]
    label: str
    text: Text
    status: Literal["active", "at_risk", "invalidated", "confirmed"]
    parent: str | None
    model_config = shown(
        id="A1", kind="Assumption", label="A1", text="Mails can be read", status="active", parent="solution"
    )


class CitationShape(Shape):
    id: str
    place: Text
    turn: int
    model_config = shown(id="D1", place="rules.md, lines 3-9", turn=2)


class CitedDocumentShape(Shape):
    name: Text
    bytes_size: int
    citations: list[CitationShape]
    model_config = shown(name="rules.md", bytes_size=2048, citations=[])


class BriefFileShape(Shape):
    type: str
    path: str
    model_config = shown(type="problem_brief", path="artifacts/problem_brief.md")


_EXAMPLE: dict[str, Any] = {
    "project": "p-4f2a",
    "warning": "",
    "phase": "brain_dump",
    "mode": "discover",
    "mode_title": "Discover & Frame",
    "turn": 2,
    "waiting": False,
    "run": "explore-p-4f2a-3",
    "proposal": {"mode": "evaluate", "reason": "The problem is framed.", "turn": 9},
    "questions": ["Why now?"],
    "problem": "Dispatchers type each order twice.",
    "audience": "dispatchers",
    "not_about": [],
    "solution": {"name": "dashboard", "description": ""},
    "assumptions": [],
    "tree": [],
    "broken_paths": [],
    "stakeholders": [],
    "metrics": {},
    "criteria": {},
    "constraints": [],
    "risks": [],
    "risk_assessment": {},
    "validation_plan": [],
    "verdict": {"verdict": "conditional_go", "in_the_way": []},
    "value_estimate": {"result": 880},
    "priorities": [],
    "modes": [],
    "patterns": [],
    "conflicts": [],
    "flags": [],
    "artifacts": [],
    "documents": [],
    "changes": [],
    "summary": "",
    "risk_line": 1.5,
    "handed_over": False,
    "broken_ground": [],
    "next": "Answer: Why now?",
}


class ExplorationShape(Shape):
    """`mode` is null while Forge gathers. `waiting`: a message is not answered yet; `run`: the turn under way."""

    project: str
    warning: Text = Field(description="About a state that another version of Forge saved; empty otherwise.")
    phase: str
    mode: ModeName | None
    mode_title: str
    turn: int
    waiting: bool
    run: str | None
    proposal: ProposalShape | None
    questions: list[Text]
    problem: Text | None
    audience: Text | None
    not_about: list[Text]
    solution: Facts | None
    assumptions: list[AssumptionShape]
    tree: list[TreeNodeShape]
    broken_paths: list[tuple[str, str]] = Field(description="Pairs: who rests, on what is gone or shaken.")
    stakeholders: list[StakeholderShape]
    metrics: Facts
    criteria: Facts
    constraints: list[Facts]
    risks: list[Facts]
    risk_assessment: Facts
    validation_plan: list[Facts]
    verdict: Facts
    value_estimate: Facts | None
    priorities: list[Facts]
    modes: list[ExplorationModeShape]
    patterns: list[Facts]
    conflicts: list[Facts]
    flags: list[Text]
    artifacts: list[BriefFileShape]
    documents: list[CitedDocumentShape]
    changes: list[Facts]
    summary: Text
    risk_line: float
    handed_over: bool
    broken_ground: list[Facts]
    next: Text
    model_config = shown(**_EXAMPLE)


class NewExplorationChange(Given):
    tool: Annotated[str, Field(min_length=1, max_length=60)]
    arguments: dict[str, Any] = Field(description="As the tool takes them; `reason` says why.")
    model_config = taken(
        tool="update_assumption_status",
        arguments={"assumption_id": "A1", "status": "invalidated", "reason": "Nobody asked for it in ten interviews."},
    )


class ExplorationChangedShape(Shape):
    text: Text
    exploration: ExplorationShape
    model_config = shown(text="A1 is invalidated (was active).", exploration=_EXAMPLE)


class NewExplorationMode(Given):
    mode: ModeName | None = Field(description="Null goes back to gathering.")
    model_config = taken(mode="discover")


class NewExplorationTurn(Given):
    text: str | None = Field(default=None, max_length=400_000)
    about: Literal["background", "problem"] | None = Field(default=None, description="What the first message is.")
    model_config = taken(text="Nobody knows who pays for the party.")


class ExplorationTurnShape(Shape):
    """`run` is null where nothing waits for an answer; `after` is the id of the last event before it."""

    run: str | None
    changed: bool
    after: int
    message: Text
    model_config = shown(run="explore-p-4f2a-3", changed=True, after=12, message="")


class ExplorationToolShape(Shape):
    name: str
    description: str
    parameters: Facts
    model_config = shown(name="add_constraint", description="Note a limit.", parameters={"type": "object"})


class ExplorationToolsShape(Shape):
    tools: list[ExplorationToolShape]
    model_config = shown(tools=[])


class HandedOverShape(Shape):
    text: Text
    exploration: ExplorationShape
    model_config = shown(text="The exploration is part of the brain dump now.", exploration=_EXAMPLE)
