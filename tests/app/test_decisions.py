"""An agent that needs a decision: the project asks, shows what is known about it, and goes on with the answer."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from forge.app.process.workshop import Workshop
from forge.app.projects.view import ProjectView, view
from forge.pipeline.actions import Action
from forge.projects.project import Project
from tests.conftest import MakeRepo
from tests.support.code_projects import NO_FINDING, Say, ScriptedCoder, answering, built, call, edits, subjects
from tests.support.scripted_projects import Office, pressed

pytestmark = pytest.mark.req("P-07", "P-12", "G-11")

QUESTION = "Does an empty text count as zero?"
ASK = call("need_decision", question=QUESTION, options=["zero", "an error"])
TESTS = "import unittest\n\nclass Tests(unittest.TestCase):\n" + "".join(
    f"    def test_criterion_{n}(self):\n        self.assertEqual({n} + 1, {n + 1})\n" for n in range(1, 6)
)
PARSE = TESTS.partition("    def")[0] + "    def test_parse(self):\n        self.assertEqual(1 + 1, 2)\n"
FINDING = {"severity": "critical", "description": "empty", "location": "parse.py", "recommendation": "decide"}
FOUND = json.dumps({"critical": 1, "medium": 0, "minor": 0, "issues": [FINDING]})


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office.at(tmp_path / "office")


@pytest.fixture
def code(make_repo: MakeRepo) -> Path:
    return make_repo({"README.md": "Durations\n"})


def work_for(order: str) -> list[Say]:
    assert "Task `acceptance-tests`" in order
    return edits({"parse.py": "\n", "test_parse.py": PARSE, "test_acceptance.py": TESTS})


def by_tool(order: str, number: int) -> list[Say]:
    """Asks before it does the first task."""
    if "Decided by a person" in order:
        return work_for(order)
    return [Say("I looked at parse.py: the specification names no empty text.", (ASK,)), Say("I never get here.")]


def by_line(order: str, number: int) -> list[Say]:
    """As an agent program does, which has no tools of Forge."""
    if "Decided by a person" in order:
        return work_for(order)
    return [Say(f"I looked at parse.py.\n\n**Stuck: {QUESTION} [zero | an error]**")]


@pytest.mark.parametrize("turn", [by_tool, by_line], ids=["tool", "line"])
def test_a_decision_is_asked_with_its_options_and_the_answer_goes_on_where_it_stopped(
    office: Office, code: Path, turn: object
) -> None:
    model = ScriptedCoder(turn)  # type: ignore[arg-type]

    async def first(shop: Workshop) -> tuple[Project, ProjectView]:
        return await built(shop, code)

    async def answered(shop: Workshop) -> ProjectView:
        project = office.project("durations")
        return await pressed(shop, project, Action.PROVIDE_INPUT, text="an error")

    with answering(model):
        project, seen = office.do(first)
        assert (seen.phase, seen.waiting) == ("building", "stuck")
        assert seen.stuck is not None
        assert (seen.stuck["cause"], seen.stuck["options"]) == ("decision", ["zero", "an error"])
        assert seen.stuck["question"] == f"Task `parse` (“Parse”): {QUESTION}"
        assert seen.stuck["explanation"].startswith("I looked at parse.py")
        said = project.chat()[-1].content
        assert QUESTION in said
        assert "1. zero\n2. an error" in said
        assert subjects(project) == []
        done = office.do(answered)
    assert (done.phase, done.stuck) == ("done", None)
    decided = next(order for order in model.orders if "Decided by a person" in order)
    assert f"{QUESTION} → an error" in decided
    assert decided.startswith("Task `parse`")
    assert subjects(project) == ["Add it"]


def test_a_decision_in_a_fix_is_asked_while_polishing_and_its_test_is_named(office: Office, code: Path) -> None:
    def turn(order: str, number: int) -> list[Say]:
        if "The review found" not in order:
            return work_for(order)
        return edits({"parse.py": "ZERO = 0\n"}) if "→ zero" in order else [Say("Either could be meant.", (ASK,))]

    reviews = lambda _, nth: FOUND if nth == 1 else NO_FINDING  # noqa: E731
    model = ScriptedCoder(turn, {"code-review": reviews})
    with answering(model):
        project, seen = office.do(lambda shop: built(shop, code))
        assert (seen.phase, seen.waiting, seen.actions) == ("polishing", "stuck", ("provide_input", "terminate"))
        assert seen.stuck is not None
        assert (seen.stuck["question"], seen.stuck["explanation"]) == (QUESTION, "Either could be meant.")
        done = office.do(lambda shop: pressed(shop, project, Action.PROVIDE_INPUT, text="zero"))
    assert done.phase == "done"
    assert len(model.asked("code-review")) == 2
    assert len(done.rounds) == 2


def test_a_project_that_asks_while_polishing_can_be_terminated(office: Office, code: Path) -> None:
    turn = lambda order, _: [Say("", (ASK,))] if "The review found" in order else work_for(order)  # noqa: E731
    with answering(ScriptedCoder(turn, {"code-review": FOUND})):
        project, _ = office.do(lambda shop: built(shop, code))
        done = office.do(lambda shop: pressed(shop, project, Action.TERMINATE, confirmed=True))
    assert (done.phase, done.halt_reason) == ("halted", "human_terminated")


def test_an_agent_that_repeats_its_question_is_asked_about_again_and_never_done(office: Office, code: Path) -> None:
    with answering(ScriptedCoder(lambda *_: [Say("Hm.", (ASK,))])):
        project, _ = office.do(lambda shop: built(shop, code))
        again = office.do(lambda shop: pressed(shop, project, Action.PROVIDE_INPUT, text="zero"))
    assert (again.phase, again.waiting) == ("building", "stuck")


def test_what_is_asked_is_kept_over_a_restart(office: Office, code: Path) -> None:
    with answering(ScriptedCoder(by_tool)):
        project, seen = office.do(lambda shop: built(shop, code))

        async def look(shop: Workshop) -> ProjectView:
            return await asyncio.to_thread(view, shop, office.project(project.directory.name))

        assert office.do(look).stuck == seen.stuck
