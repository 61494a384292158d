"""Time travel on a branch: a slider through its commits, which files and conversation follow."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.browser import Desk
from tests.web.gardens import aged

pytestmark = pytest.mark.req("G-08")


def test_arrow_keys_go_back_in_time_and_the_address_follows(page: Any, desk: Desk) -> None:
    repo, path = aged(desk)
    page.goto(f"{desk.url}/r/{repo}/b/main?file=beds/north.md&tab=file")
    page.get_by_role("button", name="Travel in time").click()
    # Until its commits are there, the slider cannot be moved.
    page.get_by_role("region", name="Time travel").get_by_text("Plant lilies").wait_for()
    page.get_by_role("slider", name="Commit of main").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile(f"at={desk.git(path, 'rev-parse', 'main~1')}"))
    page.get_by_role("region", name="Time travel").get_by_text("Plant roses").wait_for()
    page.keyboard.press("Home")
    page.wait_for_url(re.compile(f"at={desk.git(path, 'rev-parse', 'main~2')}"))
    page.get_by_text("tulips").first.wait_for()
    page.get_by_role("button", name="Back to now").click()
    page.wait_for_url(lambda url: "at=" not in url)
    page.get_by_text("lilies").first.wait_for()


def test_files_and_text_stay_until_those_of_the_other_commit_are_there(page: Any, desk: Desk) -> None:
    repo, path = aged(desk)
    page.goto(f"{desk.url}/r/{repo}/b/main?file=beds/north.md&tab=file&at={desk.git(path, 'rev-parse', 'main~1')}")
    page.get_by_role("region", name="Time travel").get_by_text("Plant roses").wait_for()
    page.get_by_role("main").get_by_text("roses", exact=True).wait_for()
    page.get_by_role("treeitem", name="north.md").wait_for()
    page.route(re.compile(r"at=\w+"), lambda route: (page.wait_for_timeout(300), route.continue_()))
    page.evaluate("""() => {
        window.gone = [];
        const look = () => {
            if (document.querySelectorAll('[role=treeitem]').length < 2) window.gone.push('files');
            if (!/roses|tulips/.test(document.querySelector('main').innerText)) window.gone.push('text');
            requestAnimationFrame(look);
        };
        look();
    }""")
    page.get_by_role("slider", name="Commit of main").focus()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("main").get_by_text("tulips", exact=True).wait_for()
    assert page.evaluate("window.gone") == []


def test_the_conversation_stays_until_that_of_the_other_commit_is_there(page: Any, desk: Desk) -> None:
    repo = desk.repository()
    path = desk.place / f"garden-{desk.made}"
    desk.run("-C", str(path), "chat", "--branch", "ai/talk", "--agent", "builtin", "-m", "what can you do?")
    for text in ("one", "two"):
        desk.run("-C", str(path), "chat", "--branch", "ai/talk", "--agent", "builtin", "-m", f"create {text}.md with x")
    page.goto(f"{desk.url}/r/{repo}/b/ai%2Ftalk?at={desk.git(path, 'rev-parse', 'ai/talk~1')}")
    page.get_by_role("article", name="Turn 2").wait_for()
    page.evaluate("""() => {
        window.gone = 0;
        const look = () => { if (document.querySelector('[role=log]') === null) window.gone += 1; };
        new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
    }""")
    page.get_by_role("slider", name="Commit of ai/talk").focus()
    page.keyboard.press("ArrowLeft")
    page.get_by_role("article", name="Turn 2").wait_for(state="detached")
    page.get_by_role("article", name="Turn 1").wait_for()
    assert page.evaluate("window.gone") == 0


def test_a_branch_begins_where_one_has_travelled_to(page: Any, desk: Desk) -> None:
    repo, path = aged(desk)
    page.goto(f"{desk.url}/r/{repo}/b/main?at={desk.git(path, 'rev-parse', 'main~1')}")
    travel = page.get_by_role("region", name="Time travel")
    travel.get_by_text("Plant roses").wait_for()
    travel.get_by_role("button", name="Branch from here").click()
    page.get_by_role("textbox", name="Name of the branch").fill("with-roses")
    page.get_by_role("button", name="Make the branch").click()
    page.wait_for_url(re.compile(r"/b/with-roses(\?|$)"))
    assert desk.git(path, "rev-parse", "with-roses") == desk.git(path, "rev-parse", "main~1")


def test_what_was_is_read_only_with_its_reason_and_a_branch_from_there_can_be_edited(page: Any, desk: Desk) -> None:
    repo, path = aged(desk)
    past = desk.git(path, "rev-parse", "main~1")
    page.goto(f"{desk.url}/r/{repo}/b/main?file=beds/north.md&tab=file&at={past}")
    page.get_by_text(f"This is the file as it was at {past[:7]}. It cannot be changed here.").wait_for()
    page.get_by_role("button", name="Show the text").or_(
        page.get_by_role("button", name="Text", exact=True)
    ).first.click()
    text = page.locator(".cm-content")
    text.get_by_text("roses").wait_for()
    text.click()
    page.keyboard.type("weeds")
    page.keyboard.press("Control+s")
    assert "weeds" not in text.inner_text()
    assert page.get_by_role("button", name="New file").is_disabled()
    page.get_by_role("tree", name="Files").get_by_role("treeitem", name="north.md").click(button="right")
    for name in ("Rename", "Delete", "New file"):
        assert page.get_by_role("menuitem", name=name).get_attribute("aria-disabled") == "true"
    page.keyboard.press("Escape")
    assert desk.git(path, "log", "-1", "--format=%s", "main") == "Plant lilies"

    page.get_by_role("region", name="Time travel").get_by_role("button", name="Branch from here").click()
    page.get_by_role("textbox", name="Name of the branch").fill("from-roses")
    page.get_by_role("button", name="Make the branch").click()
    page.wait_for_url(re.compile(r"/b/from-roses(\?|$)"))
    page.goto(f"{desk.url}/r/{repo}/b/from-roses?file=beds/north.md&tab=file")
    page.get_by_role("textbox", name="Text of beds/north.md").click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("weeds ")
    page.keyboard.press("Control+s")
    page.get_by_text("Saved →").wait_for()
    assert desk.git(path, "show", "from-roses:beds/north.md") == "weeds roses"
