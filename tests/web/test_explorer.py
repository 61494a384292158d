"""The tree of files: folders that cannot be read, all folders at once, what keeps the focus."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.browser import Desk

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=20_000)

FOLDERS = 60


@pytest.fixture
def garden(desk: Desk) -> str:
    return desk.repository({f"bed{n:02}/plants.md": "tulips\n" for n in range(FOLDERS)} | {"README.md": "# Garden\n"})


def opened(page: Any, desk: Desk, repo: str) -> Any:
    page.goto(f"{desk.url}/r/{repo}/b/main")
    tree = page.get_by_role("tree", name="Files")
    expect(row(page, "bed00")).to_be_visible()
    return tree


def row(page: Any, name: str) -> Any:
    return page.get_by_role("tree", name="Files").get_by_role("treeitem", name=name)


def rows_are(page: Any, count: int) -> None:
    page.wait_for_function(
        "(count) => document.querySelector('[role=tree] > div').offsetHeight === 24 * count", arg=count, timeout=20_000
    )


@pytest.mark.req("G-15")
def test_a_folder_that_cannot_be_read_is_told_and_read_when_asked_again(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden)
    problem = json.dumps({"code": "not_allowed", "title": "Not yours.", "detail": "Not yours.", "hint": "Ask for it."})
    refused = "**/folders?*path=bed01*"
    page.context.route(
        refused, lambda route: route.fulfill(status=403, content_type="application/problem+json", body=problem)
    )
    row(page, "bed01").click()
    alert = page.get_by_role("region", name="Explorer").get_by_role("alert")
    expect(alert).to_contain_text("Ask for it.")
    row(page, "bed00").click()
    expect(row(page, "plants.md")).to_be_visible()

    page.context.unroute(refused)
    alert.get_by_role("button", name="Try again").click()
    expect(row(page, "plants.md")).to_have_count(2)
    expect(alert).to_have_count(0)


@pytest.mark.req("G-15")
def test_all_folders_open_at_once_and_follow_the_branch(page: Any, desk: Desk, garden: str) -> None:
    opened(page, desk, garden)
    page.get_by_role("button", name="Open all folders").click()
    rows_are(page, 2 * FOLDERS + 1)

    files = f"/api/repositories/{garden}/files"
    with desk.client() as client:
        assert client.put(f"{files}/bed01/weeds.md", params={"branch": "main"}, content="nettles\n").is_success
        assert client.delete(f"{files}/bed02/plants.md", params={"branch": "main"}).is_success
    expect(row(page, "weeds.md")).to_be_visible()
    expect(row(page, "bed02")).to_have_count(0)
    rows_are(page, 2 * FOLDERS)

    page.get_by_role("button", name="Close all folders").click()
    rows_are(page, FOLDERS)
    row(page, "bed01").click()
    expect(row(page, "weeds.md")).to_be_visible()


@pytest.mark.req("G-15")
def test_a_click_on_a_mark_leaves_the_focus_with_the_tree(page: Any, desk: Desk, garden: str) -> None:
    tree = opened(page, desk, garden)
    page.get_by_role("button", name="bed03: not in context").click()
    expect(page.get_by_role("button", name="bed03: 1 below in context")).to_be_visible()
    expect(tree).to_be_focused()
    expect(tree).to_have_attribute("aria-activedescendant", row(page, "bed03").get_attribute("id"))
    page.keyboard.press("End")
    expect(row(page, "README.md")).to_be_visible()


@pytest.mark.req("G-15")
def test_instructions_that_the_agent_always_reads_count_as_files_in_context(page: Any, desk: Desk) -> None:
    repo = desk.repository({"AGENTS.md": "Be kind to tulips.\n", "bed00/plants.md": "tulips\n"})
    opened(page, desk, repo)
    expect(page.get_by_role("button", name="AGENTS.md: in context")).to_be_visible()
    expect(page.get_by_role("region", name="Explorer")).to_contain_text("1 file in context")


@pytest.mark.req("G-15")
def test_a_mark_that_is_pointed_at_stays_the_same_so_that_no_click_gets_lost(
    page: Any, desk: Desk, garden: str
) -> None:
    opened(page, desk, garden)
    mark = page.get_by_role("button", name="bed04: not in context")
    before = mark.element_handle()
    mark.hover()
    mark.hover(position={"x": 5, "y": 5})
    expect(page.get_by_role("tooltip")).to_contain_text("Click to add the whole folder.")
    assert before.evaluate("button => button.isConnected")
