"""Flows of the chat that are rare and have to be right: work that was set aside, long conversations, pasted files."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from forge.git import Repository
from forge.sessions.conversation import read_head, write_turn
from forge.sessions.messages import AssistantMessage, UserMessage
from forge.sessions.turns import Turn, turn_id
from tests.support.browser import Desk, until
from tests.support.provider import Asked, Provider
from tests.support.stand_in import Reply
from tests.web.script import answers
from tests.web.traces import TRACED, longest_task

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=20_000)

BRANCH = "ai/one"
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f0005000"
    "1ff89993d1d0000000049454e44ae426082"
)


def lingering(asked: Asked) -> Reply:
    """`drift`: as `rose`, but its first answer takes two seconds."""
    if asked.task.startswith("drift") and asked.number == 1:
        calls = (("write_file", {"path": "notes/drift.txt", "content": "kept\n"}),)
        return Reply(tuple(f"word{n} " for n in range(40)), calls, pause=0.05)
    if asked.task.startswith("drift"):
        return Reply(("Done.", "\n\nCommit: Write the notes"))
    return answers(asked)


@pytest.fixture(scope="module")
def provider() -> Any:
    with Provider(lingering) as made:
        yield made


def begun(desk: Desk) -> str:
    repo = desk.repository()
    with desk.client() as client:
        made = client.post(f"/api/repositories/{repo}/branches", json={"name": BRANCH, "start": "main"})
    assert made.is_success, made.text
    return repo


def opened(page: Any, desk: Desk, repo: str) -> None:
    page.goto(f"{desk.url}/r/{repo}/b/{BRANCH.replace('/', '%2F')}")


@pytest.mark.req("G-09", "G-10")
def test_a_turn_whose_branch_moved_is_set_aside_and_the_way_to_it_is_shown(page: Any, desk: Desk) -> None:
    repo = begun(desk)
    path = desk.place / f"garden-{desk.made}"
    opened(page, desk, repo)
    message = page.get_by_role("textbox", name="Message")
    message.fill("task drift1: write the notes")
    message.press("Enter")
    expect(page.get_by_text("word3")).to_be_visible()
    tree = desk.git(path, "rev-parse", f"{BRANCH}^{{tree}}")
    moved = desk.git(path, "commit-tree", tree, "-p", BRANCH, "-m", "From outside")
    desk.git(path, "update-ref", f"refs/heads/{BRANCH}", moved)

    told = page.get_by_role("status").filter(has_text="its work was set aside on")
    expect(told).to_contain_text("Nothing is lost")
    assert desk.git(path, "log", "-1", "--format=%s", BRANCH) == "From outside"
    told.get_by_role("button", name=re.compile("^Open ")).click()
    page.wait_for_url(re.compile("/b/ai%2Fone-turn-"))
    expect(page.get_by_role("tab", name="Chat")).to_be_visible()
    expect(page.get_by_role("article", name="Turn 1", exact=True)).to_contain_text("word39")
    expect(page.get_by_role("treeitem", name="notes")).to_be_visible()


@pytest.mark.req("G-10")
def test_a_conversation_of_five_hundred_turns_opens_at_its_end_and_older_ones_come(
    page: Any, browser: Any, desk: Desk
) -> None:
    repo = begun(desk)
    files = Repository.open(desk.place / f"garden-{desk.made}").workspace(BRANCH)
    for number in range(1, 501):
        said = UserMessage(f"Question {number}", "Ada <ada@example.org>", float(number))
        items = (said, AssistantMessage(f"Answer **{number}**.\n\n" + "Some words. " * 80, model="scripted"))
        write_turn(
            files, Turn(turn_id(number, f"{number:08x}"), read_head(files).last, float(number), "scripted", items)
        )
    files.commit("chat: five hundred")

    start = time.monotonic()
    opened(page, desk, repo)
    expect(page.get_by_text("Question 500", exact=True)).to_be_in_viewport()
    print(f"open: {time.monotonic() - start:.2f} s")
    assert page.get_by_role("article", name=re.compile("^Turn ")).count() < 100
    conversation = page.get_by_role("log", name="Conversation")
    box = conversation.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 200)
    browser.start_tracing(page=page, categories=TRACED)
    for _ in range(60):
        page.mouse.wheel(0, -4000)
        page.wait_for_timeout(50)
    longest = longest_task(browser.stop_tracing())
    print(f"longest task: {longest:.1f} ms; {page.get_by_role('article', name=re.compile('^Turn ')).count()} turns")
    assert longest < 50, "no freeze that a person feels"

    page.get_by_role("button", name="Jump to the latest").click()
    expect(page.get_by_text("Question 500", exact=True)).to_be_in_viewport()

    # What is being read stays where it is when older turns come.
    first = page.get_by_text("Question 489", exact=True)
    first.scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    place = first.bounding_box()["y"]
    page.wait_for_timeout(1_000)
    assert abs(first.bounding_box()["y"] - place) < 4

    page.reload()
    expect(page.get_by_text("Question 500", exact=True)).to_be_in_viewport()
    start = time.monotonic()
    conversation.focus()
    browser.start_tracing(page=page, categories=TRACED)
    page.keyboard.press("Home")
    # To look for words among five hundred turns holds the page up by itself.
    page.wait_for_function("() => document.querySelector('[data-turn]')?.ariaLabel === 'Turn 1'")
    took = time.monotonic() - start
    longest = longest_task(browser.stop_tracing())
    print(f"to the beginning: {took:.2f} s, longest task: {longest:.1f} ms")
    assert took < 10
    assert longest < 50, "no freeze that a person feels"
    expect(page.get_by_text("Question 1", exact=True)).to_be_in_viewport()
    page.keyboard.press("End")
    expect(page.get_by_text("Question 500", exact=True)).to_be_in_viewport()

    # Who changed their mind is not taken to the beginning when all of it is there.
    page.reload()
    expect(page.get_by_text("Question 500", exact=True)).to_be_in_viewport()
    conversation.focus()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Show older turns")).to_have_count(0)
    expect(page.get_by_text("Question 500", exact=True)).to_be_in_viewport()


@pytest.mark.req("G-10")
def test_pasted_files_are_attached(page: Any, desk: Desk) -> None:
    repo = begun(desk)
    opened(page, desk, repo)
    message = page.get_by_role("textbox", name="Message")
    message.focus()
    message.evaluate(
        """(field, png) => { const data = new DataTransfer();
        data.items.add(new File([new Uint8Array(png)], "shot.png", { type: "image/png" }));
        data.items.add(new File(["forty people come"], "notes.txt", { type: "text/plain" }));
        const pasted = { clipboardData: data, bubbles: true, cancelable: true };
        field.dispatchEvent(new ClipboardEvent("paste", pasted)); }""",
        list(PNG),
    )
    expect(page.get_by_text("shot.png").first).to_be_visible()
    expect(page.get_by_text("notes.txt").first).to_be_visible()
    with desk.client() as client:
        where = {"branch": BRANCH, "prefix": "attachments/"}

        def kept() -> bool:
            items = client.get(f"/api/repositories/{repo}/files", params=where).json()["items"]
            return {each["path"].rpartition("/")[2] for each in items} == {"shot.png", "notes.txt"}

        until(kept)
