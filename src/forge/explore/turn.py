"""A turn of the explorer, without its effects: what is asked of whom, and what becomes of the state.

Route and respond are calls that somebody else makes and records. Everything here is a function of what they gave and of
the state at one commit, so that a replay after a crash comes to the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forge.explore import conflicts, digest
from forge.explore.knowledge import GATHERING, MODES, Knowledge
from forge.explore.reply import Reply, limited
from forge.explore.route import Decision
from forge.explore.sources import fenced
from forge.explore.toolkit import TOOLS
from forge.explore.workbench import Call, Workbench, renamed, replayed
from forge.json_value import Json
from forge.store.passages import Piece
from forge.tools.tool import ToolRetry

SO_FAR = "So far:"


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document or of an earlier turn, with the id under which it is cited."""

    id: str
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class ExplorerOutcome:
    """What a turn came to, as it is written."""

    decision: Decision
    calls: tuple[Call, ...]
    reply: str
    said: str
    """What the person had said."""
    answered: int
    """How many of the person's messages are answered with it."""
    documents: tuple[Passage, ...] = ()
    """The passages that whoever answered was shown."""
    probe: str | None = None
    """The probe that was asked, where that is not the one of the decision."""


def unanswered(bench: Workbench) -> tuple[str, ...]:
    """The person's messages since the last answer."""
    done = bench.routing.get("answered")
    texts = [
        str(each.get("content", ""))
        for each in bench.values.get("messages", ())
        if isinstance(each, Mapping) and each.get("role") == "user"
    ]
    return tuple(texts[done if isinstance(done, int) and 0 <= done <= len(texts) else 0 :])


def route_material(bench: Workbench, knowledge: Knowledge, message: str) -> Json:
    org = bench.values.get("org_context")
    context = " · ".join(str(value)[:300] for value in org.values() if value) if isinstance(org, dict) else ""
    return {
        "state": digest.routing_state(bench, knowledge),
        "team_context": context[:600],
        "last_turns": digest.last_turns(bench.values.get("messages", ())),
        "message": message,
    }


def passages_of(bench: Workbench, found: Sequence[Piece]) -> tuple[Passage, ...]:
    """With the ids under which they are cited: one place keeps its id from turn to turn."""
    known = bench.citations
    by_place = {str(each.get("place")): id_ for id_, each in known.items()}
    number = max((int(id_[1:]) for id_ in known if id_[1:].isdecimal()), default=0)
    made: list[Passage] = []
    for each in found:
        id_ = by_place.get(each.place)
        if id_ is None:
            number += 1
            id_ = by_place[each.place] = f"D{number}"
        made.append(Passage(id_, each.place, each.text))
    return tuple(made)


def cite(bench: Workbench, passages: Sequence[Passage]) -> None:
    """Keep where each one is, so that a citation can be looked up later."""
    known = bench.citations
    for each in passages:
        known.setdefault(each.id, {"place": each.place, "turn": bench.turn})
    if passages:
        bench.routing["citations"] = known


def begin(bench: Workbench, decision: Decision) -> None:
    """Enter the mode of this turn, before any tool runs."""
    if decision.mode != bench.values.get("active_mode"):
        bench.routing["proposal"] = None
    bench.values["active_mode"] = decision.mode
    bench.values["current_phase"] = decision.mode or GATHERING


def block(bench: Workbench, decision: Decision, knowledge: Knowledge, passages: Sequence[Passage] = ()) -> str:
    """What whoever responds gets beside the conversation: the active probe, triggered patterns, passages, the state."""
    mode = knowledge.mode(decision.mode)
    parts = [f"<state>\n{digest.overview(bench)}\n</state>"]
    probe = mode.probe(decision.probe)
    if probe is not None:
        parts.append(f'<probe name="{probe.name}">\n{probe.text}\n</probe>')
    wanted = [each for each in knowledge.patterns() if each.name in decision.patterns]
    parts += [f'<pattern name="{each.name}">\n{each.text}\n</pattern>' for each in wanted]
    parts += [fenced(each.text, each.id, "document", each.place) for each in passages]
    turn = [f"synthesis: {decision.synthesis}"] if decision.synthesis else []
    if decision.proposal:
        turn.append(f"proposal: {decision.proposal['mode']}: {decision.proposal['reason']}")
    if decision.must_ask:
        turn.append(f"must_ask: {decision.must_ask} {bench.register.assumptions[decision.must_ask].claim}")
    turn += [f"conflict: {each['statement']} against {each['assumption_id']}" for each in decision.conflicts]
    turn += [f"flag: {each}" for each in decision.flags]
    waiting = [str(each) for each in bench.values.get("pending_questions", ()) if isinstance(each, str)]
    turn += [f"asked for later: {each}" for each in waiting[:3]]
    if turn:
        parts.append("<this_turn>\n" + "\n".join(turn) + "\n</this_turn>")
    return "\n\n".join(parts)


def finish(bench: Workbench, outcome: ExplorerOutcome) -> Reply:
    """Write a turn onto the state as it is now: its calls, the conflicts that follow, where the conversation is."""
    before = bench.register
    begin(bench, outcome.decision)
    refused, names = replayed(bench, outcome.calls, TOOLS)
    if outcome.decision.jumped:
        _note_jump(bench, outcome.said)
    found = conflicts.found(bench, before, outcome.said, outcome.decision.conflicts)
    conflicts.record(bench, found)
    if outcome.decision.mode is None and not bench.routing.get("proposal") and is_framed(bench):
        reason = "The problem, a stakeholder and the assumption that most hangs on are known."
        bench.routing["proposal"] = {"mode": "discover", "reason": reason, "turn": bench.turn}
    text = renamed({"text": outcome.reply}, names)["text"]
    reply = limited(_with_proposal(bench, outcome.decision, _with_synthesis(bench, outcome.decision, text)))
    _conclude(bench, outcome, reply, refused)
    return reply


def is_framed(bench: Workbench) -> bool:
    """Whether enough was gathered to enter a mode: the problem, who has it or decides, and what most hangs on."""
    groups = bench.group("stakeholders")
    people = [each for role in ("decision_authority", "pain_holder") for each in bench.items(groups, role)]
    heavy = any(each.impact == "high" for each in bench.register.assumptions.values())
    return bool(bench.turn > 1 and bench.skeleton.get("problem_statement") and people and heavy)


def _conclude(bench: Workbench, outcome: ExplorerOutcome, reply: Reply, refused: Sequence[str]) -> None:
    decision, routing = outcome.decision, bench.routing
    routing["last_routing_decision"] = decision.to_json()
    routing["active_probe"] = (decision.probe if outcome.probe is None else outcome.probe) or None
    routing["retrieval_needed"] = bool(decision.retrieval)
    routing["answered"] = outcome.answered
    if decision.proposal is not None and not routing.get("proposal"):
        routing["proposal"] = decision.proposal
    since = routing.get("turns_since_synthesis")
    routing["turns_since_synthesis"] = 0 if decision.synthesis else (since if isinstance(since, int) else 0) + 1
    if decision.synthesis == "full":
        routing["full_synthesis"] = bench.turn
    if decision.must_ask:
        asked = routing.get("asked_about")
        routing["asked_about"] = {**(asked if isinstance(asked, dict) else {}), decision.must_ask: bench.turn}
    asked_so_far = routing.get("questions_asked")
    routing["questions_asked"] = (asked_so_far if isinstance(asked_so_far, int) else 0) + len(reply.questions)
    routing["questions"] = list(reply.questions)
    if refused:
        routing["flags"] = [*bench.items(routing, "flags"), *refused]
    bench.values["pending_questions"] = list(reply.left_out)


def _with_synthesis(bench: Workbench, decision: Decision, text: str) -> str:
    """Where one is due and whoever answered gave none, the rules give it."""
    if not decision.synthesis or SO_FAR.casefold() in text.casefold():
        return text
    return f"{synthesis(bench, full=decision.synthesis == 'full')}\n\n{text}"


def _with_proposal(bench: Workbench, decision: Decision, text: str) -> str:
    waiting = bench.routing.get("proposal") or decision.proposal
    if not isinstance(waiting, dict) or waiting.get("turn") != bench.turn or waiting.get("mode") not in MODES:
        return text
    if MODES[waiting["mode"]].casefold() in text.casefold():
        return text
    proposed = f"**Proposal:** {MODES[waiting['mode']]}. {waiting.get('reason', '')} Say yes, or continue here."
    return f"{text}\n\n{proposed}".strip()


def synthesis(bench: Workbench, *, full: bool) -> str:
    skeleton = bench.skeleton
    problem = skeleton.get("problem_statement")
    lines = [f"{SO_FAR} {problem}" if problem else f"{SO_FAR} the problem is not stated yet."]
    risks = bench.register.risks(bench.now.date())
    ranked = sorted(bench.register.assumptions.values(), key=lambda each: -risks[each.id])
    if ranked:
        most = ranked[: 3 if full else 1]
        lines.append(
            "Most hangs on " + "; ".join(f"{each.id} ({each.confidence}): {each.claim}" for each in most) + "."
        )
    if full:
        groups = bench.group("stakeholders")
        people = [
            str(each.get("name"))
            for role in ("decision_authority", "pain_holder")
            for each in bench.items(groups, role)
            if isinstance(each, dict)
        ]
        lines.append(f"Stakeholders: {', '.join(people)}." if people else "No stakeholder is named yet.")
    return " ".join(lines).replace("..", ".")


def _note_jump(bench: Workbench, said: str) -> None:
    """A person who has validated already may jump; the claim is kept as an assumption."""
    made = [call for call in bench.calls if call.tool == "register_assumption"]
    if any(call.arguments.get("confidence") == "informed" for call in made):
        return
    claim = " ".join(said.split())[:300]
    arguments = {
        "claim": claim,
        "type": "value",
        "impact": "high",
        "confidence": "informed",
        "basis": f"The person says so and went on from there ({bench.source}).",
        "reason": "A part was skipped because it is said to be validated.",
    }
    try:
        bench.apply(TOOLS["register_assumption"], arguments)
    except ToolRetry:
        return  # it is registered already
