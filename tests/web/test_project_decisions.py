"""What a person decides about a project: input for a stuck build, realigning, building after all, stopping."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from forge.projects.project import Project
from tests.support.browser import Desk, opened, until
from tests.support.project_runs import CODE_ANSWER, CODE_INTENT
from tests.support.provider import Provider
from tests.web.projects import DUMP, advanced, at_rest, made, say

pytestmark = pytest.mark.req("P-12")

# Asks where, and when it knows that, in which month. The second question takes its time. It writes if told not to ask.
WRITER = """\
import json, re, sys, time
asked = sys.stdin.read()
told = "Outdoors, with a tent." in asked
if "Ask no questions" in asked:
    slots = json.loads(re.search(r"<slots>(.*?)</slots>", asked, re.S)[1])
    said = " ".join(re.search(r"<constraints>(.*?)</constraints>", asked, re.S)[1].replace("#", "").split())
    content = {slot: "This is what has to be done here." for slot in slots} | {slots[-1]: said}
    print(json.dumps({"stuck": False, "reason": "", "content": json.dumps(content)}))
    sys.exit()
time.sleep(2 if told else 0)
print(json.dumps({"stuck": True, "reason": "In which month?" if told else "Indoors or outdoors?", "content": ""}))
"""
# Plans code, finds the plan that it follows incomplete, and works for long.
CODER = f"""\
import json, sys, time
asked = sys.stdin.read()
if "turn a person's brain dump" in asked:
    print({CODE_INTENT!r})
elif "turn a confirmed intent" in asked:
    print({json.dumps(CODE_ANSWER)!r})
elif "open-source packages" in asked:
    print(json.dumps({{"candidates": []}}))
elif "first message" in asked:
    print(json.dumps({{"kind": "problem"}}))
elif "complete enough to be built" in asked:
    print(json.dumps({{"complete": False, "missing": ["the data model"]}}))
else:
    time.sleep(60)
"""
# Does the first task only when it knows what an empty text is.
STUCK = "The specification is silent.\\n\\nStuck: Zero? [zero | an error]"
# Programs are told how to say that they are stuck, as models are.
TOLD = '"## When you are stuck" in asked and "→ an error" not in asked'
DECIDER = CODER.replace("else:\n", f'elif {TOLD}:\n    print("{STUCK}")\nelse:\n')
# Takes long, after it has told what the first message is.
SLEEPER = """\
import sys, time
if "turn a person's brain dump" in sys.stdin.read():
    time.sleep(60)
print('{"kind": "problem"}')
"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Desk]:
    place = tmp_path_factory.mktemp("desk")
    programs = {"asker": WRITER, "coder": CODER, "decider": DECIDER, "sleeper": SLEEPER}
    agents = {name: {"command": [sys.executable, "-c", text]} for name, text in programs.items()}
    roles = {"planner": "builtin", "writer": "asker", "fixer": "builtin", "reviewer": "builtin"}
    (place / "config.yaml").write_text(json.dumps({"models": roles, "agents": agents}))
    with opened(place, provider) as desk:
        yield desk


def standing(page: Any) -> Any:
    return page.get_by_role("status", name="Where it stands")


def buttons(page: Any) -> Any:
    return page.get_by_role("group", name="What can be done")


def test_a_stuck_build_is_given_input_and_asks_again(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Stuck", None)
        assert advanced(client, id_, "distill", "confirm", "confirm")["waiting"] == "stuck"
    page.goto(f"{desk.url}/projects/{id_}?tab=log")
    expect(standing(page)).to_contain_text("Waits for you: 1 question")
    provide = buttons(page).get_by_role("button", name="Provide input")
    provide.click()
    card = page.get_by_role("region", name="Input for the build")
    answer = card.get_by_role("textbox", name="Answer: Indoors or outdoors?")
    expect(answer).to_be_focused()
    expect(provide).to_be_disabled()
    expect(provide).to_have_accessible_description("Write your input below.")
    send = card.get_by_role("button", name="Send the input")
    expect(send).to_be_disabled()
    answer.fill("Outdoors, with a tent.")
    send.click()
    expect(standing(page)).to_contain_text("Building")
    expect(card).to_have_count(0)
    expect(provide).to_have_count(0)
    expect(buttons(page).get_by_role("button", name="Terminate")).to_be_enabled()
    expect(standing(page)).to_contain_text("Waits for you: 1 question")
    expect(page.get_by_role("log", name="Chat")).to_contain_text("In which month?")
    expect(page.get_by_role("article", name="You").last).to_contain_text("Outdoors, with a tent.")
    expect(card).to_have_count(0)  # it was opened for the question before
    expect(provide).to_be_enabled()


@pytest.mark.req("P-07")
def test_an_agents_question_shows_its_options_and_one_of_them_is_the_answer(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        made_ = client.post("/api/projects", json={"name": "Decide", "agent": "decider", "deliverable_type": "code"})
        id_ = made_.json()["id"]
        seen = advanced(client, id_, "distill", "confirm", "confirm")
        assert seen["stuck"]["cause"] == "decision", seen
        page.goto(f"{desk.url}/projects/{id_}")
        card = page.get_by_role("region", name="Input for the build")
        expect(card).to_contain_text("Zero?")
        expect(card).to_contain_text("The specification is silent.")
        card.get_by_role("button", name="an error").click()
        card.get_by_role("button", name="Send the input").click()
        expect(standing(page)).to_contain_text("Building")
        expect(card).to_have_count(0)
        expect(page.get_by_role("article", name="You").last).to_contain_text("an error")
        client.post(f"/api/projects/{id_}/actions/terminate", json={"confirmed": True})


@pytest.mark.req("B-12", "P-11")
def test_work_with_a_model_in_trouble_is_stopped_and_another_one_asked(page: Any, desk: Desk, expect: Any) -> None:
    def in_trouble() -> Any:
        until(lambda: client.get(f"/api/projects/{id_}").json()["busy"])
        project = Project.at(Path(client.get(f"/api/projects/{id_}").json()["directory"]))
        # The call itself is written down first.
        until(lambda: (project.log.last() or {})["event"] == "agent_call")
        project.log.write("warn", "agent_call", "distilling", "sleeper: overloaded, retrying in 8 s (3 of 6)")
        page.goto(f"{desk.url}/projects/{id_}")
        row = page.get_by_role("status", name="Model trouble")
        expect(row).to_contain_text("sleeper: overloaded, retrying in 8 s (3 of 6)")
        return row

    with desk.client() as client:
        id_ = made(client, "Overloaded", "sleeper")
        advanced(client, id_)
        client.post(f"/api/projects/{id_}/actions/distill")
        in_trouble().get_by_role("button", name="Stop").click()
        ways = page.get_by_role("region", name="What you can do")
        expect(ways).to_contain_text("Stopped by you")
        field = ways.get_by_role("textbox", name="Edit your words").bounding_box()
        assert field["width"] > 200, "there is no room to write in"
        expect(standing(page)).to_contain_text("stopped by you")
        ways.get_by_role("button", name="Retry").click()
        in_trouble().get_by_role("button", name="Switch model").click()
        page.get_by_role("menuitem", name="coder").click()
        expect(standing(page)).to_contain_text("confirm or correct the intent")
        assert client.get(f"/api/projects/{id_}").json()["agent"] == "coder"


@pytest.mark.req("P-04")
def test_the_intent_is_realigned_from_the_last_correction(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Realigned")
        advanced(client, id_, "distill")
        page.goto(f"{desk.url}/projects/{id_}")
        expect(standing(page)).to_contain_text("confirm or correct the intent")
        say(page, "The budget is 2000 euros now.")
        intent = page.get_by_role("article", name="intent.md")
        expect(intent).to_contain_text("2000 euros")
        at_rest(client, id_)
        presses: list[Any] = []
        page.on("request", lambda request: presses.append(request) if "/actions/" in request.url else None)
        before = commits(client, id_)
        # Before the answer nothing has begun, and all looks as it will at the end.
        with page.expect_response(lambda response: response.url.endswith("/actions/realign")):
            buttons(page).get_by_role("button", name="Realign from here").dblclick()
        expect(standing(page)).to_contain_text("confirm or correct the intent")
        at_rest(client, id_)
        assert [request.url.rpartition("/")[2] for request in presses] == ["realign"]
        assert commits(client, id_) > before
        expect(intent).to_contain_text("2000 euros")
        expect(buttons(page).get_by_role("button", name="Confirm")).to_be_enabled()


@pytest.mark.req("P-07")
def test_an_incomplete_plan_is_built_only_when_confirmed_and_work_is_terminated(
    page: Any, desk: Desk, expect: Any
) -> None:
    repo = desk.repository({"README.md": "code\n"})
    with desk.client() as client:
        plan = made(client, "Plan", None)
        dump = f"{DUMP} Ask no questions, no more than three."
        assert advanced(client, plan, "distill", "confirm", "confirm", dump=dump)["phase"] == "done"
        body = {"name": "Code", "agent": "coder", "repository": repo, "after": plan}
        id_ = str(client.post("/api/projects", json=body).json()["id"])
        assert advanced(client, id_, "distill", "confirm", "confirm")["waiting"] == "gate"
        page.goto(f"{desk.url}/projects/{id_}")
        expect(standing(page)).to_contain_text("the plan is not complete")
        expect(page.get_by_role("log", name="Chat")).to_contain_text("the data model")
        expect(buttons(page).get_by_role("button")).to_have_text(["Override", "Terminate"])
        buttons(page).get_by_role("button", name="Override").click()
        dialog = page.get_by_role("dialog", name="Build anyway")
        expect(dialog).to_contain_text("Build although the plan is not complete?")
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
        assert client.get(f"/api/projects/{id_}").json()["waiting"] == "gate"
        buttons(page).get_by_role("button", name="Override").click()
        dialog.get_by_role("button", name="Proceed with the build").click()
        expect(standing(page)).to_contain_text("Building")
        expect(buttons(page).get_by_role("button")).to_have_text(["Terminate"])
        buttons(page).get_by_role("button", name="Terminate").click()
        page.get_by_role("dialog").get_by_role("button", name="Terminate the project").click()
        expect(standing(page)).to_have_text("Terminated")
        assert client.get(f"/api/projects/{id_}").json()["problem"] == ""


def commits(client: httpx.Client, id_: str) -> int:
    """How often the project's own record was written."""
    place = Path(client.get(f"/api/projects/{id_}").json()["directory"])
    return int(Desk.git(place, "rev-list", "--count", "HEAD"))
