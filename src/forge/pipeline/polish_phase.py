"""Polishing: test, review, judge, mend, again, until a guard says that it is done or should stop.

"Done" is computed from what was recorded: the review of this commit and the test run of this commit.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from forge.counts import counted
from forge.events import RoundFinished
from forge.pipeline.actions import ACCEPTED
from forge.pipeline.baseline import decide_tests, must_ask
from forge.pipeline.closing_words import how_to_merge
from forge.pipeline.draft import Draft, stamp
from forge.pipeline.evidence import Evidence, tests_pass
from forge.pipeline.guards import Counts, Verdict, evaluate, unchanged
from forge.pipeline.material import ROUNDS
from forge.pipeline.question_wait import halted, stuck
from forge.pipeline.review import parse_review
from forge.pipeline.suite_record import results_by_line
from forge.plugins.errors import AgentFailed, AnswerUnusable, DecisionNeeded, OperationBlocked
from forge.plugins.roles import DeliverableType, Issue, TestResults, shortfall_of
from forge.projects import polish
from forge.projects.errors import AnswerMalformed
from forge.projects.info import Acceptance
from forge.projects.polish import PolishState, Round, TestCounts, log_entry
from forge.projects.status import HaltReason, Phase

if TYPE_CHECKING:
    from forge.json_value import Json
    from forge.pipeline.desk import ProjectDesk
    from forge.pipeline.journey import Journey


@dataclass(frozen=True, slots=True)
class Looked:
    """What one round found out before anything is mended."""

    counts: Counts
    issues: tuple[Issue, ...]
    tests: TestResults | None
    evidence: Evidence | None
    verdict: Verdict


async def polished(journey: Journey, type_: DeliverableType, desk: ProjectDesk) -> Json:
    """Round after round, until `done` or until a person ends it."""
    rounds = await _earlier(journey)
    decided = len(rounds)
    while True:
        await desk.refresh()
        try:
            tests = await desk.run_tests() if type_.needs_code else None
            if tests is not None and must_ask(desk, tests):
                if (await decide_tests(journey, desk, tests)).action == "terminate":
                    return _ended(journey)
                continue
            looked = await _looked(journey, type_, desk, (rounds, decided), tests)
            mended, looked = await _mended(journey, type_, desk, looked)
            if journey.phase is Phase.HALTED:
                return _ended(journey)
            going_on = looked.verdict.outcome == "continue"
        except (AgentFailed, AnswerUnusable, OperationBlocked) as e:
            decision = await halted(journey, HaltReason.AGENT_FAILURE, e.message)
        else:
            rounds = (*rounds, looked.counts)
            await _recorded(journey, looked, mended)
            if going_on:
                continue
            if looked.verdict.outcome == "done":
                return _ended(journey)
            why = HaltReason(looked.verdict.halt_reason or HaltReason.GUARD_MAX_ITERATIONS)
            decision = await halted(journey, why, _asked(looked), guard=True)
        if decision.action == "override":
            return await _accepted(journey)
        if decision.action == "terminate":
            return _ended(journey)
        if decision.action == "input":
            desk.answers += (decision.given(""),)
        decided = len(rounds)
        desk.forget_tests()
        await journey.say(f"Polishing continues with round {len(rounds) + 1}.")


async def _mended(journey: Journey, type_: DeliverableType, desk: ProjectDesk, looked: Looked) -> tuple[str, Looked]:
    """Mend what the round found. An order that changed no file ends the loop; a person may be asked, and may end it."""
    if looked.verdict.outcome != "continue":
        return "", looked
    desk.has_changed = False
    while True:
        try:
            mended = await type_.fix(desk, looked.issues, looked.tests)
            break
        except DecisionNeeded as e:
            decision = await stuck(journey, e.message, e.needs)
            if decision.action == "terminate":
                return "", looked
            desk.answers += (decision.given(e.message),)
    if type_.needs_code and desk.compares and not desk.has_changed:
        failing = looked.evidence is not None and not looked.evidence.passes and not looked.issues
        tests = looked.evidence.reason if failing and looked.evidence is not None else ""
        return mended, replace(looked, verdict=unchanged(looked.verdict, tests))
    return mended, looked


def _asked(looked: Looked) -> str:
    """Why it stopped; where tests are missing and that may be right, how to say so."""
    if looked.evidence is None or not looked.evidence.acceptable:
        return looked.verdict.reason
    return f"{looked.verdict.reason} If that is right, accept the tests (`forge project accept-tests`) and retry."


async def _earlier(journey: Journey) -> tuple[Counts, ...]:
    """Rounds that were finished before this run began."""

    async def read() -> list[Json]:
        text = await asyncio.to_thread(journey.project.records.read, ROUNDS)
        return [json.loads(line) for line in (text or "").splitlines() if line.strip()]

    lines = await journey.steps.step("earlier rounds", read)
    return tuple(
        Counts(x["iteration"], x["critical"], x["medium"], x["minor"], tuple(i["description"] for i in x["issues"]))
        for x in lines
    )


async def _looked(
    journey: Journey,
    type_: DeliverableType,
    desk: ProjectDesk,
    past: tuple[Sequence[Counts], int],
    tests: TestResults | None,
) -> Looked:
    """`past` is the rounds so far, and how many there were when a person last decided."""
    rounds, decided = past
    number = len(rounds) + 1
    issues = await _reviewed(journey, type_, desk, tests)
    evidence = await _evidence(type_, desk) if type_.needs_code else None
    counts = Counts.of(number, issues, evidence)
    tries = number - decided if desk.compares else None
    verdict = evaluate((*rounds, counts), tests=evidence, limits=journey.around.parameters.limits, tries=tries)
    if tests is not None and evidence is not None and not evidence.passes and not evidence.unproven:
        tests = replace(tests, shortfall=evidence.reason)
    told = f"round {number}: {verdict.guard} — {verdict.reason}"
    journey.project.log.write("info", "guard_evaluation", str(journey.phase), told)
    return Looked(counts, issues, tests, evidence, verdict)


async def _evidence(type_: DeliverableType, desk: ProjectDesk) -> Evidence:
    """From the recorded runs alone. The branch may have moved since: then they prove nothing about what is there."""
    tip = await desk.tip()
    await desk.refresh()
    lines, accepted = desk.test_lines, desk.info.acknowledged_tests
    found = tests_pass(lines, tip, acknowledged=accepted, unproven=desk.is_unproven)
    if not found.passes or not desk.compares:
        return found
    told = results_by_line(lines)
    enough = told[accepted.runs - 1] if accepted and accepted.runs <= len(told) else {}
    reason = shortfall_of(type_, desk, told[-1], enough)
    return Evidence(passes=False, reason=reason, acceptable=True) if reason else found


async def _reviewed(
    journey: Journey, type_: DeliverableType, desk: ProjectDesk, tests: TestResults | None
) -> tuple[Issue, ...]:
    """A review of the right form; an agent whose answer is not gets another chance, told what was wrong."""
    tries = 1 + journey.around.parameters.retry_malformed_output
    complaint = ""
    for _ in range(tries):
        raw = await type_.review(desk, tests)
        try:
            notes: list[str] = []
            issues = parse_review(raw, type_.schema, notes)
        except AnswerMalformed as e:
            desk.complaint = complaint = f"{e.message} {e.hint}"
        else:
            desk.complaint = ""
            for note in notes:
                journey.progress(f"Review: {note}", level="warn")
            return issues
    desk.complaint = ""
    raise AnswerUnusable(
        f"The review was unusable {counted(tries, 'time')}: {complaint}",
        hint="Resume to try again, or choose another model.",
    )


async def _recorded(journey: Journey, looked: Looked, mended: str) -> None:
    """The round as it was, in every file that tells of it, in one commit; a finished project is `done` with it."""
    counts, verdict = looked.counts, looked.verdict
    done = verdict.outcome == "done"

    def write(draft: Draft) -> None:
        record_round(draft, looked, mended)
        if done:
            unproven = looked.evidence is not None and looked.evidence.unproven
            if not unproven:
                draft.info = replace(draft.info, tests_unproven="")
            end = "Done, tests unproven," if unproven else "Done"
            rounds = counted(counts.iteration, "round")
            draft.say(f"{end} after {rounds}: {verdict.reason}{how_to_merge(draft.info)}")
        elif looked.evidence is not None and verdict.outcome == "continue" and not looked.evidence.passes:
            draft.say(f"Round {counts.iteration} is not accepted: {looked.evidence.reason}")
        if done:
            draft.move(Phase.DONE)

    summary = f"Round {counts.iteration}: {counts}. {verdict.reason}"
    event_type = "convergence_success" if done else ""
    await journey.change(write, f"polish: round {counts.iteration} ({counts})", event_type=event_type, summary=summary)
    found = (counts.critical, counts.medium, counts.minor, counts.total)
    journey.steps.emit(
        RoundFinished(journey.project.id, counts.iteration, *found, guard=verdict.guard, outcome=verdict.outcome)
    )


def record_round(draft: Draft, looked: Looked, mended: str) -> None:
    counts, when = looked.counts, stamp(draft.now)
    round_ = Round(counts.iteration, counts.critical, counts.medium, counts.minor, counts.total, when)
    state = PolishState(
        convergence_trajectory=(*polish.parse(draft.read(polish.FILE)).convergence_trajectory, round_),
        tests_passed=None if looked.evidence is None else looked.evidence.passes,
        timestamp=when,
        completed=looked.verdict.outcome == "done",
        halt_reason=looked.verdict.halt_reason,
    )
    draft.write(polish.FILE, polish.format(state))
    draft.write(ROUNDS, (draft.read(ROUNDS) or "") + json.dumps(_line(looked, mended, when)) + "\n")
    draft.write(polish.LOG_FILE, (draft.read(polish.LOG_FILE) or "# Polishing\n\n") + _entry(looked, round_, mended))


def _entry(looked: Looked, round_: Round, mended: str) -> str:
    tests = looked.tests
    return log_entry(
        round_,
        guard=looked.verdict.guard,
        result=looked.verdict.reason,
        issues="; ".join(f"{issue.severity}: {issue.description}" for issue in looked.issues) or "none",
        fixes=mended or "none",
        tests=TestCounts(tests.total, tests.passed, tests.failed) if tests else None,
    )


def _line(looked: Looked, mended: str, when: str) -> Json:
    counts, tests = looked.counts, looked.tests
    return {
        "iteration": counts.iteration,
        **dict(counts.by_severity),
        "total": counts.total,
        "guard": looked.verdict.guard,
        "outcome": looked.verdict.outcome,
        "reason": looked.verdict.reason,
        "tests": None if tests is None else {**asdict(tests), "details": "", "results": {}},
        "evidence": None if looked.evidence is None else asdict(looked.evidence),
        "issues": [asdict(issue) for issue in looked.issues],
        "mended": mended,
        "timestamp": when,
    }


async def _accepted(journey: Journey) -> Json:
    """A person takes it as it is. What the checks said stays on record beside that decision."""

    def accept(draft: Draft) -> None:
        draft.info = replace(draft.info, accepted=Acceptance(draft.now))
        draft.say(ACCEPTED + how_to_merge(draft.info))
        draft.move(Phase.DONE)

    await journey.change(accept, "accepted by a person", event_type="milestone_complete", summary="Accepted as it is.")
    return _ended(journey)


def _ended(journey: Journey) -> Json:
    return {"phase": str(journey.phase)}
