"""The deliverable type `plan` at a desk in memory: what it asks, what it writes, what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from forge.deliverables.plan.document import parse
from forge.deliverables.plan.plan_type import PlanType
from forge.deliverables.plan.review import PlanReview
from forge.plugins.errors import AnswerUnusable
from forge.plugins.roles import DeliverableType, Issue, Operation, Severity, TestResults, Worked

SPEC = "# Feast — Specification\n\n## Deliverable Structure\n\nTemplate: generic\n"
CONSTRAINTS = "# Feast\n\n## Priorities\n\n- cheap\n\n## Acceptance Criteria\n\n1. It names a date.\n2. It is cheap.\n"

Reply = Callable[[str, Mapping[str, Any]], str]


class Desk:
    """Answers with `reply`; remembers what was asked and written."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply
        self.project, self.name = Path("unused"), "Feast"
        self.intent, self.spec, self.constraints = "# Feast\n\n## Objective\n\nA feast.\n", SPEC, CONSTRAINTS
        self.documents: dict[str, str] = {}
        self.writes: list[str] = []
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.said: list[str] = []
        self.answers: tuple[dict[str, str], ...] = ()
        self.thresholds: dict[str, Any] = {"plan_min_chars": 100}

    async def ask(self, prompt: str, material: Mapping[str, Any], *, complaint: str = "", **_: Any) -> str:
        told = {"complaint": complaint} if complaint else {}
        self.asked.append((prompt, json.loads(json.dumps({**material, **told}))))
        return self._reply(prompt, material)

    def read(self, path: str) -> str | None:
        return self.documents.get(path)

    async def write(self, path: str, text: str, *, message: str) -> None:
        await self.write_all({path: text}, message=message)

    async def write_all(self, files: Mapping[str, str], *, message: str) -> None:
        self.writes.append(message)
        self.documents |= files

    async def work(self, prompt: str, task: str, message: str, **_: Any) -> Worked:
        raise AssertionError("a plan lets nobody work on a branch")

    async def run_tests(self) -> TestResults:
        raise AssertionError("a plan has no tests")

    async def files(self) -> Mapping[str, str]:
        return {}

    async def say(self, text: str) -> None:
        self.said.append(text)

    async def progress(self, text: str) -> None:
        pass


def section(material: Mapping[str, Any], text: str = "Fine words.") -> str:
    content = {slot: f"{text} ({slot})" for slot in material["slots"]}
    return json.dumps({"stuck": False, "reason": "", "content": json.dumps(content)})


def well(prompt: str, material: Mapping[str, Any]) -> str:
    return {
        "plan-build": lambda: section(material),
        "plan-review": lambda: json.dumps({"critical": 0, "medium": 0, "minor": 0, "issues": []}),
        "plan-fix": lambda: json.dumps({"slots": {"money.plan": "At most 300 euro."}, "summary": "Money named."}),
    }[prompt]()


async def built(reply: Reply = well) -> Desk:
    desk = Desk(reply)
    result = await PlanType().build(desk)
    assert not result.stuck, result.reason
    desk._reply = reply
    desk.asked.clear()
    desk.writes.clear()
    return desk


ISSUE = Issue(Severity.MEDIUM, "No money is named.", "money.plan", "Name it.")


def test_it_is_a_deliverable_type() -> None:
    type_: DeliverableType = PlanType()
    assert (type_.name, type_.needs_code, type_.schema) == ("plan", False, PlanReview)
    assert set(type_.severities) == {"critical", "medium", "minor"}


@pytest.mark.req("P-06")
@pytest.mark.parametrize("operation", list(Operation))
def test_a_plan_run_executes_installs_and_writes_no_source(operation: Operation) -> None:
    safety = PlanType().safety
    blocked = {Operation.SHELL_EXEC, Operation.FILE_CREATE_SOURCE, Operation.PACKAGE_INSTALL, Operation.TEST_EXEC}
    verdict = safety.validate(operation)
    assert safety.blocked_operations == blocked
    assert verdict.allowed is (operation not in blocked)
    assert bool(verdict.reason) is not verdict.allowed


@pytest.mark.req("P-06")
@pytest.mark.asyncio
async def test_a_build_asks_section_by_section_and_writes_once() -> None:
    desk = Desk(well)
    desk.answers = ({"question": "Where?", "answer": "Graz"},)
    result = await PlanType().build(desk)
    sections = parse(desk.documents["docs/plan.md"]).outline.sections
    assert result.content == desk.documents["docs/plan.md"]
    assert desk.writes == ["plan: built"]
    assert set(desk.documents) == {"docs/plan.md", "docs/plan.json"}
    assert [material["section"]["id"] for _, material in desk.asked] == [one.id for one in sections]
    first, last = desk.asked[0][1], desk.asked[-1][1]
    assert first["template"] == "generic"
    assert first["slots"] == list(sections[0].slots)
    assert first["answers"] == [{"question": "Where?", "answer": "Graz"}]
    assert set(last["written"]) == {slot for one in sections[:-1] for slot in one.slots}
    assert await PlanType().missing(desk) == ""


@pytest.mark.req("P-06")
@pytest.mark.asyncio
async def test_a_stuck_builder_asks_a_person_and_nothing_is_written() -> None:
    desk = Desk(lambda prompt, material: json.dumps({"stuck": True, "reason": "Which town?", "content": ""}))
    result = await PlanType().build(desk)
    assert (result.stuck, result.reason) == (True, "Which town?")
    assert desk.writes == []


@pytest.mark.req("P-06")
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("no json", "no JSON"),
        ("[]", "contains no JSON object"),
        ('{"stuck": true}', "reason"),
        ('{"stuck": false, "content": ""}', "content"),
        ('{"stuck": false, "content": "{}"}', "have no text: overview.objective"),
        ('{"stuck": false, "content": "text"}', "have no text: overview.objective"),
    ],
)
async def test_a_malformed_answer_is_asked_again_with_the_error(bad: str, told: str) -> None:
    given = iter([bad, bad])
    desk = Desk(lambda prompt, material: next(given, "") or well(prompt, material))
    assert not (await PlanType().build(desk)).stuck
    first, second, third = (material for _, material in desk.asked[:3])
    assert "complaint" not in first
    assert told in second["complaint"]
    assert told in third["complaint"]
    assert desk.asked[3][1]["section"]["id"] == "people"


@pytest.mark.asyncio
async def test_an_agent_that_never_answers_well_stops_the_build() -> None:
    desk = Desk(lambda prompt, material: "nonsense")
    with pytest.raises(AnswerUnusable, match="Aim and scope"):
        await PlanType().build(desk)
    assert len(desk.asked) == 3
    assert desk.writes == []


def test_unknown_slots_are_refused() -> None:
    from forge.deliverables.plan import answers  # noqa: PLC0415

    answer = answers.builder_answer('```json\n{"stuck": false, "content": {"a.plan": "x", "b.plan": "y"}}\n```')
    with pytest.raises(answers.AnswerRejected, match=r"no such slots: b\.plan"):
        answers.section_slots(answer, ["a.plan"])


@pytest.mark.req("P-06")
@pytest.mark.asyncio
async def test_a_gap_is_asked_about_once_more() -> None:
    gaps = iter(["Venue: TBD"])

    def reply(prompt: str, material: Mapping[str, Any]) -> str:
        return section(material, next(gaps, "Fine words."))

    desk = Desk(reply)
    assert not (await PlanType().build(desk)).stuck
    assert "TBD" in desk.asked[1][1]["complaint"]
    assert "TBD" not in desk.documents["docs/plan.md"]


@pytest.mark.req("P-06")
@pytest.mark.asyncio
async def test_a_gap_that_stays_is_a_question_for_a_person() -> None:
    desk = Desk(lambda prompt, material: section(material, "[insert venue]"))
    result = await PlanType().build(desk)
    assert result.stuck
    assert "[insert venue]" in result.reason
    assert len(desk.asked) == 2
    assert desk.writes == []


@pytest.mark.req("P-08")
@pytest.mark.asyncio
async def test_a_plan_that_is_not_there_or_too_short_is_missing() -> None:
    desk = Desk(well)
    assert await PlanType().missing(desk) == "There is no docs/plan.md."
    desk.documents["docs/plan.md"] = "x" * 99 + "\n"
    assert "99 characters" in await PlanType().missing(desk)
    desk.documents["docs/plan.md"] = "x" * 100
    assert await PlanType().missing(desk) == ""
    desk.thresholds = {"plan_min_chars": 200}
    assert "at least 200" in await PlanType().missing(desk)


@pytest.mark.req("P-09")
@pytest.mark.asyncio
async def test_a_review_gets_the_plan_and_the_criteria_as_they_are_now() -> None:
    desk = await built()
    desk.constraints += "3. It is short.\n"
    await PlanType().review(desk, None)
    ((prompt, material),) = desk.asked
    assert prompt == "plan-review"
    assert material["plan"] == desk.documents["docs/plan.md"]
    assert material["criteria"] == ["It names a date.", "It is cheap.", "It is short."]


@pytest.mark.req("P-09")
@pytest.mark.asyncio
async def test_a_fix_changes_its_slots_and_nothing_else() -> None:
    desk = await built()
    before = parse(desk.documents["docs/plan.md"])
    assert await PlanType().fix(desk, [ISSUE], None) == "Money named."
    after = parse(desk.documents["docs/plan.md"])
    assert after == before.with_slots({"money.plan": "At most 300 euro."})
    assert json.loads(desk.documents["docs/plan.json"])["slots"] == after.slots
    assert desk.asked[0][1]["issues"][0]["location"] == "money.plan"
    assert desk.writes == ["plan: mended"]


@pytest.mark.req("P-06", "P-09")
@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("slots", "told"),
    [
        ({"money.nothing": "x"}, "no such slots"),
        ({"money.plan": "  "}, "would be empty"),
        ({"money.plan": "TBD"}, "gaps"),
        ("text", "slots"),
    ],
)
async def test_a_fix_that_breaks_the_plan_is_refused_and_asked_for_again(slots: object, told: str) -> None:
    desk = await built()
    before = dict(desk.documents)
    given = iter([json.dumps({"slots": slots, "summary": "s"})])
    desk._reply = lambda prompt, material: next(given, "") or well(prompt, material)
    await PlanType().fix(desk, [ISSUE], None)
    assert told in desk.asked[1][1]["complaint"]
    assert desk.documents != before
    desk._reply = lambda prompt, material: json.dumps({"slots": slots, "summary": "s"})
    with pytest.raises(AnswerUnusable):
        await PlanType().fix(desk, [ISSUE], None)


@pytest.mark.req("P-06", "P-09")
@pytest.mark.asyncio
async def test_a_fix_keeps_what_a_person_edited_by_hand() -> None:
    desk = await built()
    text = desk.documents["docs/plan.md"].replace("Fine words. (time.plan)", "We begin on **Monday**.")
    desk.documents["docs/plan.md"] = text
    await PlanType().fix(desk, [ISSUE], None)
    assert desk.asked[0][1]["plan_slots"]["time.plan"] == "We begin on **Monday**."
    assert desk.documents["docs/plan.md"] == text.replace("Fine words. (money.plan)", "At most 300 euro.")
    assert json.loads(desk.documents["docs/plan.json"])["slots"]["time.plan"] == "We begin on **Monday**."


@pytest.mark.req("P-06", "P-09")
@pytest.mark.asyncio
async def test_a_plan_whose_structure_a_person_changed_is_reviewed_and_left_alone() -> None:
    desk = await built()
    mine = desk.documents["docs/plan.md"].replace("## Money", "## Money and gold")
    desk.documents["docs/plan.md"] = mine
    review = PlanReview.model_validate_json(await PlanType().review(desk, None))
    assert [issue.severity for issue in review.issues] == [Severity.MINOR]
    assert "Money and gold" in review.issues[0].description
    assert review.minor == 1
    told = await PlanType().fix(desk, review_issues(review), None)
    assert "mended nothing" in told
    assert desk.said == [told]
    assert desk.documents["docs/plan.md"] == mine
    assert desk.writes == []


@pytest.mark.asyncio
async def test_without_its_slots_the_document_alone_counts() -> None:
    desk = await built()
    desk.documents["docs/plan.json"] = "{torn"
    await PlanType().fix(desk, [ISSUE], None)
    assert parse(desk.documents["docs/plan.md"]).slots["money.plan"] == "At most 300 euro."
    assert json.loads(desk.documents["docs/plan.json"])["template"] == "generic"


@pytest.mark.asyncio
async def test_a_review_that_is_none_is_passed_on_as_it_is() -> None:
    desk = await built(lambda prompt, material: "not a review" if prompt == "plan-review" else well(prompt, material))
    desk.documents["docs/plan.md"] = "# Mine\n\nMy own document.\n"
    assert await PlanType().review(desk, None) == "not a review"


def review_issues(review: PlanReview) -> list[Issue]:
    return [Issue(one.severity, one.description, one.location, one.recommendation) for one in review.issues]
