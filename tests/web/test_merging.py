"""Bringing branches together in the browser: by dragging, by menu and by keyboard; conflicts; and undo."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.browser import Desk, until
from tests.web.gardens import branch_in_list, commit, planted

pytestmark = pytest.mark.req("G-16")


def hold_over(page: Any, what: Any, target: Any, *, key: str | None = None) -> None:
    """Take something with the pointer and keep it over a branch."""
    start, end = what.bounding_box(), target.bounding_box()
    page.mouse.move(start["x"] + min(40, start["width"] / 2), start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(start["x"] + min(60, start["width"]), start["y"] + start["height"] / 2 + 12, steps=3)
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=5)
    if key:
        page.keyboard.down(key)


def test_a_branch_dropped_on_another_is_previewed_and_then_merged_and_undone(page: Any, desk: Desk) -> None:
    repo, path = planted(desk)
    before = desk.git(path, "rev-parse", "main")
    page.goto(f"{desk.url}/r/{repo}")
    main = commit(page, "Plant roses").locator("[data-drop=main]")
    hold_over(page, commit(page, "Plant lilies").locator("[data-take=south]"), main)
    held = page.locator("body > .floating")
    held.get_by_text("Merge south into main").wait_for()
    held.get_by_text("No conflicts").wait_for()
    page.mouse.up()
    dialog = page.get_by_role("dialog", name="Merge south into main")
    dialog.get_by_role("list", name="Commits").get_by_text("Plant lilies").wait_for()
    dialog.get_by_role("list", name="Files that change").get_by_text("beds/south.md").wait_for()
    assert desk.git(path, "rev-parse", "main") == before
    dialog.get_by_role("button", name="Merge south into main").click()
    dialog.wait_for(state="hidden")
    assert desk.git(path, "show", "main:beds/south.md") == "lilies"
    assert len(desk.git(path, "log", "-1", "--format=%P", "main").split()) == 2
    commit(page, "Merge").first.wait_for()
    page.get_by_role("button", name="Undo", exact=True).click()
    until(lambda: desk.git(path, "rev-parse", "main") == before)


def test_a_commit_dropped_on_a_branch_can_be_merged_up_to(page: Any, desk: Desk) -> None:
    repo, path = planted(desk)
    page.goto(f"{desk.url}/r/{repo}")
    hold_over(page, commit(page, "Plant roses").get_by_text("Plant roses"), branch_in_list(page, "south"))
    page.locator("body > .floating").get_by_text("Shift: merge up to it").wait_for()
    page.mouse.up()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Merge up to it", exact=True).click()
    dialog.get_by_role("button", name=re.compile("^Merge up to [0-9a-f]+ into south")).click()
    until(lambda: len(desk.git(path, "log", "-1", "--format=%P", "south").split()) == 2)


def test_a_commit_dropped_on_a_branch_is_copied_there(page: Any, desk: Desk) -> None:
    repo, path = planted(desk)
    page.goto(f"{desk.url}/r/{repo}")
    row = commit(page, "Plant roses").get_by_text("Plant roses")
    hold_over(page, row, branch_in_list(page, "south"))
    held = page.locator("body > .floating")
    held.get_by_text(re.compile("Cherry-pick .* onto south")).wait_for()
    held.get_by_text("No conflicts").wait_for()
    page.mouse.up()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Cherry-pick .* onto south")).click()
    until(lambda: desk.git(path, "log", "-1", "--format=%s", "south") == "Plant roses")
    assert desk.git(path, "show", "south:paths.md") == "roses"


def test_the_graph_scrolls_while_something_is_held_near_its_edge(
    page: Any, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, path = planted(desk)
    desk.git(path, "switch", "--quiet", "main")
    # Later than the other branch for sure: that one stands at the end of the list.
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2040-01-01T12:00:00Z")
    for n in range(60):
        desk.git(path, "commit", "--quiet", "--allow-empty", "--message", f"Water {n}")
    desk.git(path, "switch", "--quiet", "--detach")
    page.goto(f"{desk.url}/r/{repo}")
    graph = page.get_by_role("listbox", name="Commits, newest first")
    commit(page, "Water 59").wait_for()
    box = graph.bounding_box()
    start = commit(page, "Water 59").locator("[data-take=main]").bounding_box()
    page.mouse.move(start["x"] + 5, start["y"] + start["height"] / 2)
    page.mouse.down()
    page.mouse.move(start["x"] + 5, box["y"] + box["height"] / 2, steps=3)
    page.wait_for_timeout(200)
    assert graph.evaluate("it => it.scrollTop") == 0, "in the middle it rests"
    page.mouse.move(start["x"] + 5, box["y"] + box["height"] - 6, steps=3)
    target = commit(page, "Plant lilies").locator("[data-drop=south]")
    page.wait_for_function("it => it.scrollTop + it.clientHeight >= it.scrollHeight - 1", arg=graph.element_handle())
    end = target.bounding_box()
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=3)
    page.locator("body > .floating").get_by_text("Merge main into south").wait_for()
    page.mouse.move(start["x"] + 5, box["y"] - 4, steps=3)
    page.wait_for_function("it => it.scrollTop === 0", arg=graph.element_handle())
    page.keyboard.press("Escape")
    page.mouse.up()


def test_what_is_held_is_let_go_by_escape(page: Any, desk: Desk) -> None:
    repo, _ = planted(desk)
    page.goto(f"{desk.url}/r/{repo}")
    main = commit(page, "Plant roses").locator("[data-drop=main]")
    hold_over(page, commit(page, "Plant lilies").locator("[data-take=south]"), main, key="Shift")
    page.locator("body > .floating").get_by_text("Rebase south onto main").wait_for()
    page.keyboard.press("Escape")
    page.mouse.up()
    page.keyboard.up("Shift")
    assert page.get_by_role("dialog").count() == 0


def test_a_branch_is_rebased_by_menu(page: Any, desk: Desk) -> None:
    repo, path = planted(desk)
    page.goto(f"{desk.url}/r/{repo}")
    commit(page, "Plant lilies").click(button="right")
    page.get_by_role("menuitem", name="Rebase south onto…").click()
    page.get_by_role("option", name=re.compile("^main")).click()
    dialog = page.get_by_role("dialog", name="Rebase south onto main")
    dialog.get_by_role("button", name="Rebase south onto main").click()
    until(lambda: desk.git(path, "merge-base", "main", "south") == desk.git(path, "rev-parse", "main"))
    assert desk.git(path, "show", "south:beds/south.md") == "lilies"


def test_branches_in_conflict_are_yellow_and_resolved_by_keyboard(page: Any, desk: Desk) -> None:
    repo, path = planted(desk, conflict=True)
    page.goto(f"{desk.url}/r/{repo}")
    branch_in_list(page, "south").get_by_role("img", name="1 file in conflict with main").wait_for()
    page.get_by_role("listbox").focus()
    page.keyboard.press("Home")
    while "south" not in page.locator("[role=option][aria-selected=true]").get_attribute("aria-label"):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("m")
    page.keyboard.type("main")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Merge south into main")
    dialog.get_by_role("button", name="Resolve 1 conflict").wait_for()
    page.keyboard.press("Enter")
    both = dialog.get_by_role("button", name="Take both")
    both.wait_for()
    for _ in range(20):
        if both.evaluate("each => each === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    dialog.get_by_text("Everything is decided.").wait_for()
    last = dialog.get_by_role("button", name="Merge south into main")
    for _ in range(20):
        if last.evaluate("each => each === document.activeElement"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    dialog.wait_for(state="hidden")
    assert desk.git(path, "show", "main:beds/north.md") == "roses\nlilies"


def test_a_conflict_can_be_written_by_hand(page: Any, desk: Desk) -> None:
    repo, path = planted(desk, conflict=True)
    page.goto(f"{desk.url}/r/{repo}")
    branch_in_list(page, "south").click(button="right")
    page.get_by_role("menuitem", name="Merge south into…").click()
    page.get_by_role("option", name=re.compile("^main")).click()
    dialog = page.get_by_role("dialog", name="Merge south into main")
    dialog.get_by_role("button", name="Resolve 1 conflict").click()
    last = dialog.get_by_role("button", name="Merge south into main")
    assert last.is_disabled()
    dialog.get_by_role("button", name="Edit the whole file").click()
    text = dialog.get_by_role("textbox", name="Text of beds/north.md")
    assert "<<<<<<<" in text.input_value()
    text.fill("peonies\n")
    last.click()
    dialog.wait_for(state="hidden")
    assert desk.git(path, "show", "main:beds/north.md") == "peonies"


def test_operations_are_listed_and_undone_one_by_one(page: Any, desk: Desk) -> None:
    repo, path = planted(desk)
    before = desk.git(path, "rev-parse", "main")
    with desk.client() as client:
        order = {"kind": "merge", "target": "main", "sources": ["south"]}
        client.post(f"/api/repositories/{repo}/merges", json=order).raise_for_status()
    page.goto(f"{desk.url}/r/{repo}")
    page.get_by_role("button", name="Operations").click()
    operations = page.get_by_role("region", name="Operations")
    operations.get_by_role("button", name=re.compile("^Undo merge", re.IGNORECASE)).click()
    operations.get_by_text("undone", exact=True).wait_for()
    assert desk.git(path, "rev-parse", "main") == before
