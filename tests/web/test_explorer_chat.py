"""The chat with the explorer in the browser: the answer as it is written, chips, two tabs, the first words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.browser import Desk, until
from tests.support.provider import MODEL
from tests.web.projects import made, say

pytestmark = [pytest.mark.req("W-09"), pytest.mark.req("W-11")]

WISH = (
    "We want to build a dashboard for our dispatchers. They lose two hours every day because they copy orders by hand."
)


def test_the_answer_is_shown_as_it_is_written_with_what_was_noted(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Streamed", agent=MODEL)
    page.goto(desk.address(f"/projects/{id_}"))
    say(page, "task explore1: We want a dashboard.")
    answer = page.get_by_role("article", name="Forge is answering")
    expect(answer.get_by_role("list", name="Noted in this turn")).to_contain_text("A1 registered: A dashboard saves")
    expect(answer).to_contain_text("word5 ")
    assert "word59" not in answer.inner_text(), "the whole answer came at once"
    expect(page.get_by_role("log", name="Chat").get_by_text("Why now?").first).to_be_visible()
    expect(answer).to_have_count(0)
    expect(page.get_by_role("row", name="A dashboard saves an hour a day")).to_be_visible()
    expect(page.get_by_role("group", name="Ways to answer").get_by_role("button", name="Why now?")).to_be_visible()


def test_a_turn_is_stopped_and_answered_later(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Stopped", agent=MODEL)
    page.goto(desk.address(f"/projects/{id_}"))
    say(page, "task explore2: We want a dashboard.")
    answer = page.get_by_role("article", name="Forge is answering")
    expect(answer).to_contain_text("word3 ")
    answer.get_by_role("button", name="Stop").click()
    kept = page.get_by_role("region", name="Not answered")
    expect(kept).to_contain_text("not answered")
    expect(page.get_by_role("article", name="You")).to_contain_text("task explore2")
    kept.get_by_role("button", name="Answer it now").click()
    expect(page.get_by_role("group", name="Ways to answer").get_by_role("button", name="Why now?")).to_be_visible()


def test_chips_answer_a_question_and_accept_a_proposal(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Chips")
    page.goto(desk.address(f"/projects/{id_}"))
    say(page, f"{WISH} Anna decides.")
    ways = page.get_by_role("group", name="Ways to answer")
    ways.get_by_role("button", name="What happens today").click()
    field = page.get_by_label("Message to the project")
    expect(field).to_be_focused()
    expect(field).to_have_value("> What happens today, step by step, when this goes wrong, and who is in the room?\n")
    field.press_sequentially("Every morning there are 80 mails and each order is typed twice.")
    field.press("Enter")
    ways.get_by_role("button", name="Go on with Discover & Frame").click()
    expect(ways.get_by_role("button", name="If the thing you want")).to_be_visible()
    ways.get_by_role("button", name="I do not know yet").click()
    expect(page.get_by_role("log", name="Chat")).to_contain_text("I do not know yet.")
    with desk.client() as client:
        seen = client.get(f"/api/projects/{id_}/explore").json()
    assert seen["mode"] == "discover"
    assert ">" not in seen["problem"]


def test_two_tabs_lose_no_word(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Two tabs")
        other = page.context.new_page()
        for tab in (page, other):
            tab.goto(desk.address(f"/projects/{id_}"))
            tab.get_by_label("Message to the project").fill(f"{WISH} This is tab {1 if tab is page else 2}.")
        for tab in (page, other):
            tab.get_by_role("button", name="Send").click()
        until(lambda: client.get(f"/api/projects/{id_}/explore").json()["turn"] == 2)
        until(lambda: not client.get(f"/api/projects/{id_}/explore").json()["waiting"])
        for tab in (page, other):
            for number in (1, 2):
                expect(tab.get_by_role("article", name="You").filter(has_text=f"This is tab {number}.")).to_be_visible()
        texts = [each["content"] for each in client.get(f"/api/projects/{id_}/messages").json()["items"]]
        assert sum("This is tab" in text for text in texts) == 2
    other.close()


def test_what_is_written_first_becomes_a_project_and_the_offer_stands_above_it(
    page: Any, desk: Desk, expect: Any
) -> None:
    page.goto(desk.address("/projects"))
    page.get_by_label("Problem or wish").fill(f"task explore3: {WISH}")
    page.get_by_label("Problem or wish").press("Enter")
    chat = page.get_by_role("log", name="Chat")
    expect(chat.get_by_role("article").nth(0)).to_contain_text("Welcome to your new project")
    expect(chat.get_by_role("article").nth(1)).to_contain_text("We want to build a dashboard")
    expect(chat.get_by_role("article").nth(2)).to_contain_text("Why now?")
    page.goto(desk.address("/projects"))
    expect(page.get_by_label("Problem or wish")).to_have_value("")
    page.goto(desk.address("/projects/new"))
    page.get_by_label("Problem or wish (optional)").fill(WISH)
    page.get_by_label("Name (optional)").fill("From the form")
    page.get_by_label("Who answers").select_option("builtin")
    page.get_by_role("button", name="Create the project").click()
    expect(chat.get_by_role("article").nth(2)).to_contain_text("A1 registered")
