"""Questions that an agent asks in the chat of a branch: a card, an answer, and the turn goes on with it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.browser import Desk, until
from tests.web.chat import FIRST_TURN, branched, ended, expect, open_chat, say, turns

pytestmark = pytest.mark.req("G-15")


def asked(page: Any) -> Any:
    """The card, once it is there."""
    card = page.get_by_role("region", name="Question", exact=True)
    expect(card).to_contain_text("Which colour has the sign?", timeout=FIRST_TURN)
    return card


def told(page: Any) -> Any:
    """The question and its answer as they stand in the turn."""
    return page.get_by_role("group", name="Question and answer")


def results(desk: Desk, repo: str, branch: str) -> list[tuple[str, str]]:
    with desk.client() as client:
        address = f"/api/repositories/{repo}/session/turns/1"
        messages = client.get(address, params={"branch": branch}).json()["messages"]
    return [(each["name"], each["text"]) for each in messages if each["role"] == "tool"]


def test_a_chip_answers_and_every_window_keeps_the_answer(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/ask"))
    say(page, "task ask1: paint a sign.")
    card = asked(page)
    expect(card.get_by_role("button", name="red")).to_be_focused()
    expect(card.get_by_role("button", name="Let AI decide")).to_be_visible()
    expect(page.get_by_test_id("content").get_by_text("Waits for your answer")).to_be_visible()
    assert [each.number for each in desk.provider.asked if each.task == "ask1"] == [1]
    other = page.context.new_page()
    open_chat(other, desk, repo, "ai/ask")
    asked(other)
    card.get_by_role("button", name="blue").click()
    for window in (page, other):
        ended(window, 1)
        expect(window.get_by_role("region", name="Question", exact=True)).to_have_count(0)
        expect(told(window)).to_have_text("Which colour has the sign?Answered: blue")
        expect(window.get_by_text("The sign is painted.")).to_be_visible()
    page.reload()
    ended(page, 1)
    expect(told(page)).to_have_text("Which colour has the sign?Answered: blue")
    assert results(desk, repo, "ai/ask")[0] == ("ask_user", "blue")


def test_a_question_is_answered_in_own_words_by_the_keyboard(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/words"))
    say(page, "task ask2: paint a sign.")
    field = asked(page).get_by_role("textbox", name="Your answer")
    field.fill("Green, with")
    field.press("Shift+Enter")
    field.press_sequentially("a border")
    field.press("Enter")
    ended(page, 1)
    assert results(desk, repo, "ai/words")[0] == ("ask_user", "Green, with\na border")


def test_a_question_is_answered_after_the_server_was_killed(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/killed"))
    say(page, "task ask3: paint a sign.")
    card = asked(page)
    desk.kill()
    expect(page.get_by_text("waiting for the server")).to_be_visible()
    desk.start()
    expect(page.get_by_test_id("content").get_by_text("Waits for your answer")).to_be_visible(timeout=40_000)
    card.get_by_role("button", name="red").click()
    ended(page, 1)
    expect(told(page)).to_have_text("Which colour has the sign?Answered: red")
    assert results(desk, repo, "ai/killed")[0] == ("ask_user", "red")
    assert [each.number for each in desk.provider.asked if each.task == "ask3"] == [1, 2, 3]
    assert len(turns(desk, repo, "ai/killed")) == 1


def test_stopping_the_turn_takes_the_card_away(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/stopped"))
    say(page, "task ask4: paint a sign.")
    card = asked(page)
    page.keyboard.press("Escape")
    expect(card).to_have_count(0)
    expect(told(page)).to_contain_text("Not answered", timeout=FIRST_TURN)

    def nothing_is_asked() -> bool:
        with desk.client() as client:
            return bool(client.get("/api/questions").json() == {"questions": []})

    until(nothing_is_asked)


def test_who_comes_later_finds_the_question_and_an_answer_from_elsewhere_closes_it(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    branched(desk, repo, "ai/later")
    with desk.client() as client:
        sent = client.post(
            f"/api/repositories/{repo}/session/messages",
            params={"branch": "ai/later"},
            json={"text": "task ask5: paint a sign."},
        )
        assert sent.is_success, sent.text
        open_chat(page, desk, repo, "ai/later")
        card = asked(page)
        (question,) = client.get("/api/questions").json()["questions"]
        assert client.post(f"/api/questions/{question['id']}/answer", json={"text": "blue"}).is_success
    expect(card).to_have_count(0)
    ended(page, 1)
    expect(told(page)).to_have_text("Which colour has the sign?Answered: blue")


def test_the_status_bar_says_that_the_turn_waits_and_leads_to_the_question(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    open_chat(page, desk, repo, branched(desk, repo, "ai/bar"))
    say(page, "task ask7: paint a sign.")
    card = asked(page)
    status = page.get_by_role("contentinfo", name="Status")
    waits = status.get_by_role("link", name="waits for your answer")
    expect(waits).to_be_visible()
    expect(status.get_by_text("turn running")).to_have_count(0)
    page.get_by_role("treeitem", name="README.md").click()
    expect(card).to_be_hidden()
    waits.click()
    expect(card.get_by_role("button", name="red")).to_be_focused()
    page.keyboard.press("Enter")
    ended(page, 1)
    expect(waits).to_have_count(0)
