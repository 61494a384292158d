"""The built-in engine as explorer: separates wishes from problems, asks the questions of the probes, says what it is.

Rules, not a model. Every word that it notes is the person's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from forge.builtin_rules import cues
from forge.builtin_rules.problem_cues import PROBLEM, SOLUTION
from forge.builtin_rules.sentences import sentences
from forge.explore import brief, route
from forge.explore.knowledge import GATHERING, MODES, Knowledge, mentions
from forge.explore.route import Decision, Route
from forge.explore.toolkit import TOOLS
from forge.explore.workbench import Workbench
from forge.json_value import Json
from forge.tools.tool import ToolRetry

HONEST = "I am Forge's built-in engine, rules and no model: I sort your own words and ask the standard questions."
_YES = re.compile(r"^\W*(?:yes|yep|ok(?:ay)?|sure|agreed|go ahead|let[’']?s (?:do|go)|please do)\b", re.I)
_JUMP = {
    "evaluate": re.compile(r"\b(?:evaluate|judge|assess) (?:the|my|our|this) (?:solution|idea)|problem is valid", re.I),
    "constraints": re.compile(r"\b(?:look at|talk about|surface) (?:the )?(?:constraints|limits)\b", re.I),
    "value": re.compile(r"\b(?:size it|how much is it worth|estimate the value)\b", re.I),
    "priorities": re.compile(r"\bpriorit|\bwhat (?:comes|do we do) first\b", re.I),
    "discover": re.compile(r"\b(?:back to the problem|frame the problem)\b", re.I),
}
_DECIDES = re.compile(
    r"\b([Oo]ur (?:head of [\w-]+|[\w-]{3,30}(?: (?:manager|lead|director|board|team))?)"
    r"|[Tt]he (?:head of [\w -]{3,30}?|[\w-]+ (?:manager|lead|director|board)|board)"
    r"|(?!(?:Our|The)\b)[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)?)"
    r",?[^.?!]{0,40}? (?:decides|has to approve|approves|signs off|owns the budget)",
)
_GAINS = re.compile(
    r"\b([A-Z][\w’'-]+(?: [A-Z][\w’'-]+)?|[Tt]he [\w-]+(?: team)?) (?:prefers?|likes?|benefits?|gains?)\b"
)
_PAIN = re.compile(r"\b(?:for|of|by|slows? down|annoys?|hurts?) (our [\w-]+(?: [\w-]+)?|the [\w-]+ team)\b", re.I)
_VALIDATED = re.compile(r"\b(?:already|have) (?:validated|tested|proven|confirmed|measured)\b", re.I)
_NUMBER = re.compile(r"\d")
_HARD = re.compile(r"\b(?:not allowed|law|legal|gdpr|regulat\w+|forbidden|impossible)\b", re.I)
_LIMIT = re.compile(
    r"\b(?:must|may not|not allowed|at most|no more than|exceed\w*|deadline|budget|law|gdpr|compliance|forbidden)\b",
    re.I,
)
_THINK = re.compile(
    r"^(?:(?:I|we) (?:think|guess|believe|assume|suppose|expect|reckon|hope)(?: that)?|probably|presumably)\s+", re.I
)
_KINDS = (
    ("regulatory", re.compile(r"\b(?:law|legal|gdpr|regulat\w+|compliance|audit|privacy)\b", re.I)),
    ("resource", re.compile(r"\b(?:budget|money|euros?|dollars?|weeks?|months?|days?|people|deadline)\b|[€$£]", re.I)),
    ("technical", re.compile(r"\b(?:system|api|server|data|database|integration|version|legacy|software)\b", re.I)),
)
_TYPES = (
    ("technical", re.compile(r"\b(?:api|system|data|integration|technical|engineer|build|server|software)\b", re.I)),
    (
        "stakeholder_dependency",
        re.compile(r"\b(?:will agree|approve|boss|manager|head of|legal|department|he|she)\b", re.I),
    ),
    ("market", re.compile(r"\b(?:market|competitor|customers|buy|pay|price)\b", re.I)),
    ("organizational", re.compile(r"\b(?:team|process|organi[sz]ation|policy|staff|employees)\b", re.I)),
)
_LONG = 400
_ENOUGH = 6


def routed(bench: Workbench, message: str) -> Route:
    """Where the conversation is, inferred from words."""
    now = bench.values.get("active_mode")
    here = now if now in MODES else GATHERING
    waiting = bench.routing.get("proposal")
    if isinstance(waiting, dict) and waiting.get("mode") in MODES and _YES.search(message):
        return Route(mode=waiting["mode"], transition="accept", reason="The person agrees.")
    for mode, said in _JUMP.items():
        if mode != here and said.search(message):
            return Route.model_validate({"mode": mode, "transition": "jump"})
    return Route.model_validate({"mode": here})


def respond(bench: Workbench, decision: Decision, knowledge: Knowledge, said: str, *, first: bool) -> tuple[str, str]:
    """Note what was said by tools; the answer, and the probe that it asks."""
    said = own_words(said)
    noted = len(bench.changes)
    _note_answer(bench, knowledge, said)
    _note_sentences(bench, said)
    _note_patterns(bench, decision)
    _refresh_statement(bench)
    left = _next_probe(bench, decision, knowledge)
    parts = [HONEST] if first else []
    done = [change.summary for change in bench.changes[noted:] if change.tool in _TOLD]
    if done:
        parts.append("Noted:\n" + "\n".join(f"- {each}" for each in done[:6]))
    closing = _close_mode(bench, decision, left)
    questions = _questions(bench, decision, knowledge, left)
    if closing:
        parts.append(closing)
    elif questions:
        parts.append("\n".join(f"{number}. {each}" for number, each in enumerate(questions, 1)))
    if not (closing or questions):
        parts.append("Noted. Tell me more, or say where to continue.")
    return "\n\n".join(parts), "" if closing else left


_TOLD = {
    "register_assumption",
    "add_stakeholder",
    "add_constraint",
    "update_problem_statement",
    "set_solution_info",
    "update_success_metrics",
    "update_assumption_status",
}


def own_words(said: str) -> str:
    """Without the questions that are quoted to be answered."""
    return "\n".join(line for line in said.splitlines() if not line.lstrip().startswith(">")).strip()


def _questions(bench: Workbench, decision: Decision, knowledge: Knowledge, probe: str) -> list[str]:
    asked: list[str] = []
    if decision.must_ask:
        each = bench.register.assumptions[decision.must_ask]
        asked.append(f"How do you know {each.id} (“{each.claim.rstrip('.')}”)?")
    mode = knowledge.mode(decision.mode)
    section = mode.probe(probe)
    if section is not None and section.question:
        asked.append(section.question)
    asked += [each.question for each in knowledge.patterns() if each.name in decision.patterns and each.question]
    return asked[:3]


def _note_answer(bench: Workbench, knowledge: Knowledge, said: str) -> None:
    """The probe that was asked last is answered by this, well or not."""
    last = bench.routing.get("active_probe")
    decided = bench.routing.get("last_routing_decision")
    mode = decided.get("mode") if isinstance(decided, dict) else None
    section = knowledge.mode(mode if mode in MODES else None).probe(str(last)) if last else None
    if section is None:
        return
    enough = mentions(said, section.words("Heard")) or len(said.split()) >= _ENOUGH
    finding = " ".join(said.split())[:_LONG] or "no answer"
    _try(
        bench,
        "record_probe_fired",
        probe=section.name,
        finding=finding,
        satisfied=enough,
        reason=f"Answered in {bench.source}.",
    )
    if section.name == "value_hypothesis":
        _note_metrics(bench, said)
    if section.name == "status_quo_beneficiaries":
        for found in _GAINS.finditer(said):
            _stakeholder(bench, found[1], "status_quo_beneficiary", said)


def _note_sentences(bench: Workbench, said: str) -> None:
    for sentence in sentences(said):
        if sentence.rstrip().endswith("?"):
            continue
        if wish := SOLUTION.search(sentence):
            _note_wish(bench, wish[1], sentence)
        for found in _DECIDES.finditer(sentence):
            _stakeholder(bench, found[1], "decision_authority", sentence)
        if pain := _PAIN.search(sentence):
            _stakeholder(bench, pain[1], "pain_holder", sentence)
        if _VALIDATED.search(sentence):
            _assume(
                bench, sentence, impact="high", confidence="informed", basis=f"The person says so ({bench.source})."
            )
        elif cues.ASSUMPTION.search(sentence):
            impact = "high" if _NUMBER.search(sentence) or _is_about_people(sentence) else "medium"
            _assume(bench, sentence, impact=impact, confidence="guessed", basis=f"Said in {bench.source}, not shown.")
        elif _LIMIT.search(sentence):
            _limit(bench, sentence)


def _is_about_people(sentence: str) -> bool:
    return bool(re.search(r"\b(?:customers?|users?|everybody|everyone|people|will use|will pay)\b", sentence, re.I))


def _note_wish(bench: Workbench, name: str, sentence: str) -> None:
    if bench.skeleton.get("solution_name"):
        return
    plain = re.sub(r"^(?:an?|some|our own|the) ", "", name.strip(), flags=re.I)
    _try(bench, "set_solution_info", name=plain, description=sentence, reason="A wish, kept apart from the problem.")
    claim = f"{'An' if plain[:1].casefold() in 'aeiou' else 'A'} {plain} would solve the problem"
    _assume(bench, claim, impact="high", confidence="guessed", basis=f"It is wished for in {bench.source}.")


def _refresh_statement(bench: Workbench) -> None:
    """The problem in the person's own sentences: those with a problem in them and no solution."""
    if bench.skeleton.get("problem_statement") and bench.routing.get("active_probe") != "solution_problem_separation":
        return
    found = list(islice(_problem_sentences(bench), 3))
    statement = " ".join(found)
    if found and statement != bench.skeleton.get("problem_statement"):
        _try(bench, "update_problem_statement", statement=statement, reason="Sentences that say what is wrong.")


def _problem_sentences(bench: Workbench) -> Iterator[str]:
    for each in reversed(bench.values.get("messages", ())):
        if isinstance(each, dict) and each.get("role") == "user":
            for sentence in sentences(own_words(str(each.get("content", "")))):
                is_problem = PROBLEM.search(sentence) and not SOLUTION.search(sentence)
                if is_problem and not sentence.rstrip().endswith("?"):
                    yield sentence


def _note_metrics(bench: Workbench, said: str) -> None:
    parts = [part.strip(" .") for part in re.split(r"[.;\n]|, and |, ", said) if len(part.split()) > 1]
    names = ("leading", "lagging", "anti_metric")
    given: Json = {name: [part] for name, part in zip(names, parts, strict=False)}
    if given:
        _try(bench, "update_success_metrics", **given, reason=f"Answered in {bench.source}.")


def _note_patterns(bench: Workbench, decision: Decision) -> None:
    for name in decision.patterns:
        _try(bench, "record_pattern_fired", pattern=name, why="Its trigger was said.", reason="Its trigger was said.")


def _next_probe(bench: Workbench, decision: Decision, knowledge: Knowledge) -> str:
    """The probe of this turn, or the next one if what was said satisfied it."""
    left = route.open_probes(bench, knowledge.mode(decision.mode))
    return decision.probe if decision.probe in left else next(iter(left), "")


def _close_mode(bench: Workbench, decision: Decision, left: str) -> str:
    """All probes are answered: write the artifact, and propose what comes next."""
    mode = decision.mode
    if mode is None or left or mode in bench.items(bench.routing, "completed_modes"):
        return ""
    told: list[str] = []
    kind = brief.OF_MODE[mode]
    if _try(bench, "generate_artifact", artifact_type=kind, reason="All probes of the mode are answered."):
        told.append(f"All questions of this mode are answered. {brief.FILES[kind]} is written.")
    open_ = [
        each.id
        for each in bench.register.assumptions.values()
        if each.impact == "high" and each.confidence == "guessed" and each.status in ("active", "at_risk")
    ]
    if open_:
        it = "it" if len(open_) == 1 else "them"
        told.append(f"High impact and only guessed: {', '.join(open_)}. Test {it} before you decide.")
    _try(
        bench,
        "complete_mode",
        mode=mode,
        summary="all its questions are answered.",
        acknowledged=open_,
        reason="All probes are answered.",
    )
    return "\n\n".join(told)


def _assume(bench: Workbench, claim: str, *, impact: str, confidence: str, basis: str) -> None:
    kind = next((name for name, found in _TYPES if found.search(claim)), "value")
    _try(
        bench,
        "register_assumption",
        claim=_THINK.sub("", claim)[:_LONG].capitalize() if _THINK.match(claim) else claim[:_LONG],
        type=kind,
        impact=impact,
        confidence=confidence,
        basis=basis,
        surfaced_by="built-in rules",
        reason="It is taken for true and not shown.",
    )


def _limit(bench: Workbench, sentence: str) -> None:
    kind = next((name for name, found in _KINDS if found.search(sentence)), "organisational")
    severity = "hard_blocker" if _HARD.search(sentence) else "negotiable"
    known = {str(each.get("text")) for each in bench.items(bench.skeleton, "constraints") if isinstance(each, dict)}
    if sentence[:_LONG] not in known:
        _try(bench, "add_constraint", constraint=sentence[:_LONG], kind=kind, severity=severity, reason="A limit.")


def _stakeholder(bench: Workbench, name: str, role: str, sentence: str) -> None:
    _try(
        bench, "add_stakeholder", name=name.strip(), role=role, note=sentence[:200], reason=f"Named in {bench.source}."
    )


def _try(bench: Workbench, tool: str, **arguments: object) -> bool:
    """What the rules of the state refuse is not noted."""
    try:
        bench.apply(TOOLS[tool], dict(arguments))
    except ToolRetry:
        return False
    return True
