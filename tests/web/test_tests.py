"""Tests in the branch view: run, read test by test, filtered, and followed to the line in the editor."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.browser import Desk

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=20_000)

pytestmark = pytest.mark.req("B-02")

CASES = "import unittest\n\nclass Cart(unittest.TestCase):\n    def test_empty(self): pass\n"
BROKEN = f"{CASES}\n    def test_total(self):\n        total = 3\n        self.assertEqual(total, 4)\n"


@pytest.fixture(scope="module")
def shop(desk: Desk) -> str:
    return desk.repository({"tests/test_cart.py": BROKEN})


def test_tests_are_run_and_a_failure_leads_to_its_line(page: Any, desk: Desk, shop: str) -> None:
    page.goto(f"{desk.url}/r/{shop}/b/main")
    page.get_by_role("button", name="Tests", exact=True).click()
    panel = page.get_by_role("region", name="Test results")
    expect(panel.get_by_text("No test run yet")).to_be_visible()
    panel.get_by_role("button", name="Run tests").click()
    tests = panel.get_by_role("list", name="Tests")
    expect(tests.get_by_role("listitem")).to_have_count(1)
    expect(tests).to_contain_text("AssertionError: 3 != 4")
    expect(page.get_by_role("button", name="Tests: 1 failed")).to_be_visible()
    panel.get_by_role("button", name="All").click()
    expect(tests.get_by_role("listitem")).to_have_count(2)
    expect(tests.get_by_role("img", name="Passed")).to_have_count(1)
    tests.get_by_role("link", name="tests/test_cart.py:8").click()
    expect(page.locator(".cm-activeLine")).to_have_text("        self.assertEqual(total, 4)")


def test_some_tests_run_by_name_and_the_command_can_be_set(page: Any, desk: Desk, shop: str) -> None:
    page.goto(f"{desk.url}/r/{shop}/b/main?tab=tests")
    panel = page.get_by_role("region", name="Test results")
    panel.get_by_role("textbox", name="Which tests").fill("test_empty")
    panel.get_by_role("button", name="Run tests").click()
    expect(page.get_by_role("button", name="Tests: 1 test passed")).to_be_visible()
    panel.get_by_role("button", name="Set command").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name="Test command").fill("no-such-runner")
    dialog.get_by_role("button", name="Save").click()
    expect(panel.get_by_text("no-such-runner")).to_be_visible()
    panel.get_by_role("textbox", name="Which tests").fill("")
    panel.get_by_role("button", name="Run tests").click()
    expect(panel.get_by_text("The tests cannot run: the program")).to_be_visible()
    expect(page.get_by_role("button", name="Tests: Cannot run")).to_be_visible()
