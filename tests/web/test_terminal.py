"""A terminal in the branch view: typed into, ended, and its changes saved as a commit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.browser import Desk

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=20_000)

pytestmark = pytest.mark.req("B-02")


def test_what_a_shell_changed_is_saved_from_the_browser(page: Any, desk: Desk) -> None:
    repo = desk.repository({"a.txt": "one\n"})
    page.goto(f"{desk.url}/r/{repo}/b/main")
    page.get_by_role("button", name="Terminal", exact=True).click()
    page.get_by_role("button", name="Open a terminal").click()
    screen = page.locator(".xterm")
    expect(screen).to_be_visible()
    page.keyboard.type("echo two > b.txt; echo $((40 + 2))\n")
    expect(screen).to_contain_text("42")
    page.keyboard.type("exit\n")
    changes = page.get_by_role("form", name="Changes of the shell")
    expect(changes).to_contain_text("added b.txt")
    changes.get_by_role("textbox", name="Commit message").fill("add b by hand")
    changes.get_by_role("button", name="Save as commit").click()
    expect(page.get_by_text("Saved →").first).to_be_visible()
    expect(page.get_by_role("button", name="Open a terminal")).to_be_visible()
    expect(page.get_by_role("treeitem", name="b.txt")).to_be_visible()
