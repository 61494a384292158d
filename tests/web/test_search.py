"""Quick open and the search over all files of a branch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.browser import Desk, until

playwright = pytest.importorskip("playwright.sync_api")
expect = playwright.expect
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def garden(desk: Desk) -> str:
    return desk.repository(
        {
            "README.md": "# Garden\nTulips and roses\n",
            "src/watering_can.py": "\n".join(f"line {n}" for n in range(1, 80)) + "\ndef tulip(): ...\n",
            "src/water.py": "TULIP = 'tulip'\ntulips = 1\n",
            "docs/notes.md": "the tulip bed\n",
        }
    )


def workspace(page: Any, desk: Desk, repo: str) -> None:
    page.goto(f"{desk.url}/r/{repo}/b/main")
    expect(page.get_by_role("tree", name="Files")).to_be_visible()


@pytest.mark.req("G-15")
def test_quick_open_finds_a_file_by_a_few_letters_and_goes_to_a_line(page: Any, desk: Desk, garden: str) -> None:
    workspace(page, desk, garden)
    page.keyboard.press("Control+p")
    field = page.get_by_role("combobox", name="File to open")
    expect(field).to_be_focused()
    field.fill("wcan:70")
    expect(page.get_by_role("option").first).to_have_attribute("aria-label", "src/watering_can.py")
    field.press("Enter")
    expect(page.get_by_role("tab", name="src/watering_can.py")).to_have_attribute("aria-selected", "true")
    expect(page.locator(".cm-activeLine")).to_have_text("line 70")

    page.keyboard.press("Control+p")
    expect(page.get_by_role("option").first).to_have_attribute("aria-label", "src/watering_can.py")
    expect(page.get_by_role("option").first).to_contain_text("recent")
    page.keyboard.press("Escape")
    expect(field).to_have_count(0)


@pytest.mark.req("G-15")
def test_search_groups_lines_by_file_and_opens_at_the_line(page: Any, desk: Desk, garden: str) -> None:
    workspace(page, desk, garden)
    page.keyboard.press("Control+Shift+f")
    field = page.get_by_role("textbox", name="Search in files")
    field.fill("tulip")
    results = page.get_by_role("list", name="Results")
    expect(page.get_by_role("status").filter(has_text="in 4 files")).to_be_visible()
    expect(results.locator("mark").first).to_have_text("Tulip")

    page.get_by_role("button", name="Match case").click()
    page.get_by_role("button", name="Whole words").click()
    expect(page.get_by_role("status").filter(has_text="3 matches in 3 files")).to_be_visible()
    page.get_by_role("textbox", name="Only in files").fill("src")
    page.get_by_role("textbox", name="Not in files").fill("water.py")
    expect(page.get_by_role("status").filter(has_text="1 match in 1 file")).to_be_visible()

    field.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-activeLine")).to_have_text("def tulip(): ...")


@pytest.mark.req("G-15")
@pytest.mark.parametrize(("keys", "field"), [("Control+p", "File to open"), ("Control+k", "Commands")])
def test_letters_right_after_the_shortcut_are_kept_while_the_dialog_is_fetched(
    page: Any, desk: Desk, garden: str, keys: str, field: str
) -> None:
    workspace(page, desk, garden)
    page.get_by_role("tree", name="Files").focus()
    waiting: list[Any] = []
    page.context.route("**/assets/*.js", lambda route: waiting.append(route), times=1)  # noqa: PLW0108 - it takes no builtin
    page.keyboard.press(keys)
    page.keyboard.type("water")
    until(lambda: page.evaluate("() => 0") or bool(waiting))
    page.keyboard.type("ing")
    waiting[0].continue_()
    expect(page.get_by_role("combobox", name=field)).to_have_value("watering")
    page.keyboard.type("_")
    expect(page.get_by_role("combobox", name=field)).to_have_value("watering_")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("tree", name="Files")).to_be_focused()


@pytest.mark.req("G-15")
def test_letters_right_after_the_shortcut_of_the_search_go_nowhere_else(page: Any, desk: Desk, garden: str) -> None:
    """Each of them is a shortcut by itself, or text for whatever had the focus."""
    workspace(page, desk, garden)
    waiting: list[Any] = []
    page.context.route("**/assets/search*.js", lambda route: waiting.append(route), times=1)  # noqa: PLW0108
    page.keyboard.press("Control+Shift+f")
    page.keyboard.type("tul")
    until(lambda: page.evaluate("() => 0") or bool(waiting))
    waiting[0].continue_()
    page.get_by_role("button", name="Match case").wait_for()
    page.keyboard.type("ip")
    field = page.get_by_role("textbox", name="Search in files")
    expect(field).to_have_value("tulip")
    expect(page.get_by_role("status").filter(has_text="in 4 files")).to_be_visible()

    # Once more from elsewhere: another word takes the place of this one.
    page.get_by_role("tree", name="Files").focus()
    page.keyboard.press("Control+Shift+f")
    page.keyboard.type("roses")
    expect(field).to_have_value("roses")


@pytest.mark.req("G-15")
def test_the_shortcuts_are_shown_from_the_tree_too(page: Any, desk: Desk, garden: str) -> None:
    workspace(page, desk, garden)
    page.get_by_role("tree", name="Files").focus()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Search in files")


@pytest.mark.req("G-15")
def test_enter_before_the_list_is_there_opens_the_best_match_when_it_is(page: Any, desk: Desk, garden: str) -> None:
    workspace(page, desk, garden)
    waiting: list[Any] = []
    page.context.route("**/api/repositories/*/files?*", lambda route: waiting.append(route), times=1)  # noqa: PLW0108
    page.keyboard.press("Control+p")
    page.keyboard.type("watering")
    page.keyboard.press("Enter")
    until(lambda: page.evaluate("() => 0") or bool(waiting))
    expect(page.get_by_role("combobox", name="File to open")).to_have_value("watering")
    waiting[0].continue_()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("tab", name="watering", exact=False)).to_have_attribute("aria-selected", "true")


def test_a_pattern_that_is_none_is_told(page: Any, desk: Desk, garden: str) -> None:
    workspace(page, desk, garden)
    page.keyboard.press("Control+Shift+f")
    page.get_by_role("button", name="Regular expression").click()
    page.get_by_role("textbox", name="Search in files").fill("tul(")
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_role("textbox", name="Search in files").fill("tul.p[s]")
    expect(page.get_by_role("status").filter(has_text="2 matches in 2 files")).to_be_visible()


def test_go_to_line_by_key(page: Any, desk: Desk, garden: str) -> None:
    page.goto(f"{desk.url}/r/{garden}/b/main?file=src/watering_can.py&tab=file")
    page.get_by_role("textbox", name="Text of src/watering_can.py").click()
    page.keyboard.press("Control+g")
    page.keyboard.type("33")
    page.keyboard.press("Enter")
    expect(page.locator(".cm-activeLine")).to_have_text("line 33")


@pytest.mark.req("G-15")
def test_a_hundred_thousand_paths_answer_within_fifty_milliseconds(page: Any, desk: Desk, garden: str) -> None:
    """The index itself, in the page's worker, on paths as long as real ones."""
    workspace(page, desk, garden)
    rows = "\n".join(
        f'{{"path": "packages/part{n % 300}/src/module{n % 7000}/name_{n}.test.ts"}}' for n in range(100_000)
    )
    page.context.route(
        "**/files?branch=main", lambda route: route.fulfill(body=rows, content_type="application/x-ndjson")
    )
    page.evaluate(
        """() => { const post = Worker.prototype.postMessage; window.took = {};
        Worker.prototype.postMessage = function (asked) {
          if (!this.heard) { this.heard = true; this.queries = {};
            this.addEventListener("message", ({ data }) => { if (data.kind === "found") {
              const query = this.queries[data.id]; (window.took[query] ??= []).push(data.took); } }); }
          if (asked.kind === "find") this.queries[asked.id] = asked.query;
          return post.call(this, asked); } }"""
    )
    page.keyboard.press("Control+p")
    expect(page.get_by_text("100k files", exact=True)).to_be_visible()
    page.evaluate("() => { window.took = {} }")
    typed = ("n", "na", "nam", "name9", "name98", "m7t")
    for _ in range(4):
        for word in typed:
            page.get_by_role("combobox", name="File to open").fill(word)
            page.wait_for_timeout(100)
    page.wait_for_function("words => words.every(word => (window.took[word] ?? []).length >= 4)", arg=list(typed))
    # The quickest of each: what the machine does besides is not counted.
    took = page.evaluate(
        "() => Object.fromEntries(Object.entries(window.took).map(([word, all]) => [word, Math.min(...all)]))"
    )
    assert max(took.values()) < 50, took
