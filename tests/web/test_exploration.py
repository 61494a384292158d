"""The explorer in the browser: from a wish to a brief, and the register in three views."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.browser import Desk, until
from tests.web.projects import made, say

pytestmark = [pytest.mark.req("W-06"), pytest.mark.req("W-10")]

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
WISH = (
    "We want to build a dashboard for our dispatchers. They lose two hours every day because they copy orders by hand. "
    "Anna decides."
)
TODAY = "Every morning there are 80 mails and each order is typed twice."
ANSWERS = (
    "The dispatchers would not type a single order on Monday morning.",
    "Since October we have a new customer with twice as many orders.",
    "It is for all depots, at once.",
    "I watched Piotr on Tuesday: he keeps a private list of unclear customers.",
    "The agency that types the orders earns from it.",
    "Upstream the customers mail, downstream the drivers wait.",
    "The time per order, orders per day, and complaints must not rise.",
)


def explored(client: httpx.Client, id_: str) -> dict[str, Any]:
    seen: dict[str, Any] = client.get(f"/api/projects/{id_}/explore").json()
    return seen


def answered(client: httpx.Client, id_: str, turn: int) -> None:
    def at_rest() -> bool:
        seen = explored(client, id_)
        return bool(seen["turn"] >= turn and not seen["waiting"] and seen["run"] is None)

    until(at_rest, seconds=30)


def changed(client: httpx.Client, id_: str, tool: str, **values: Any) -> None:
    answer = client.post(f"/api/projects/{id_}/explore/changes", json={"tool": tool, "arguments": values})
    assert answer.is_success, answer.text


def serious(page: Any) -> list[str]:
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']}).then((all) => all.violations)")
    return [
        f"{each['id']}: {node['html'][:160]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]


def test_a_wish_becomes_a_brief_to_download(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        id_ = made(client, "Depot orders")
        page.goto(desk.address(f"/projects/{id_}"))
        panel = page.get_by_role("region", name="Exploration", exact=True)
        expect(panel.get_by_text("None yet. Write in the chat")).to_be_visible()
        say(page, WISH)
        answered(client, id_, 1)
        expect(panel.get_by_role("row", name="A dashboard would solve the problem")).to_be_visible()
        assert panel.evaluate("(it) => it.scrollWidth <= it.clientWidth"), "the panel is cut off at its right"
        say(page, TODAY)
        page.get_by_role("button", name="Go on with Discover & Frame").click()
        asked = page.locator("ol > li", has_text="If the thing you want to build existed")  # a question in the chat
        expect(asked).to_be_visible()
        answered(client, id_, 3)
        assert explored(client, id_)["mode"] == "discover"
        for turn, text in enumerate(ANSWERS, start=4):
            assert client.post(f"/api/projects/{id_}/messages", json={"text": text}).status_code == 202
            answered(client, id_, turn)
    with page.expect_download() as waited:
        panel.get_by_role("link", name="Download problem_brief.md").click()
    brief = Path(waited.value.path()).read_text()
    assert "They lose two hours every day because they copy orders by hand [T1]" in brief


def test_the_register_has_three_views_and_takes_a_move_by_keyboard(browser: Any, desk: Desk, expect: Any) -> None:
    assert AXE.is_file(), "axe-core is not installed: script/web --packages"
    given = {"type": "value", "impact": "high", "confidence": "guessed", "basis": "said", "reason": "A test."}
    context = browser.new_context(viewport={"width": 834, "height": 1112}, bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{desk.url}/?token={desk.token()}")
    page.get_by_role("navigation", name="Places").wait_for()
    with desk.client() as client:
        id_ = made(client, "Views")
        changed(client, id_, "register_assumption", claim="Mails can be read", **given)
        changed(client, id_, "register_assumption", claim="Orders can be parsed", depends_on=["A1"], **given)
        page.goto(desk.address(f"/projects/{id_}?tab=explorer"))
        page.get_by_label("Status of A1").select_option("invalidated")
        page.get_by_role("button", name="Dependencies").click()
        graph = page.get_by_role("region", name="What rests on what")
        expect(graph.get_by_role("listitem").filter(has_text="A2")).to_contain_text("Rests on A1 (broken).")
        expect(graph.locator("svg text")).to_have_text("broken")
        page.add_script_tag(path=str(AXE))
        assert serious(page) == []
        page.get_by_role("button", name="Impact × confidence").press("Enter")
        page.get_by_role("button", name="A2 at risk Orders can be parsed").press("Enter")
        form = page.get_by_role("form", name="Move A2")
        form.get_by_label("Confidence").select_option("validated")
        expect(form.get_by_role("button", name="Move A2")).to_be_disabled()
        form.get_by_label("Why").fill("Parsed 200 of 200 mails.")
        assert serious(page) == []
        form.get_by_label("Why").press("Enter")
        expect(form).to_have_count(0)
        second = next(each for each in explored(client, id_)["assumptions"] if each["id"] == "A2")
        assert (second["confidence"], second["basis"]) == ("validated", "Parsed 200 of 200 mails.")
        assert explored(client, id_)["changes"][-1]["reason"] == "Parsed 200 of 200 mails."
    context.close()


def test_what_is_selected_in_one_view_is_selected_in_all_and_everything_is_taken_away(
    page: Any, desk: Desk, expect: Any
) -> None:
    given = {"type": "value", "impact": "high", "confidence": "guessed", "basis": "It was said.", "reason": "A test."}
    with desk.client() as client:
        id_ = made(client, "Linked")
        first = {"text": "Orders are typed twice.", "about": "problem"}
        assert client.post(f"/api/projects/{id_}/messages", json=first).status_code == 202
        changed(client, id_, "update_problem_statement", statement="Orders are typed twice.", reason="Said.")
        changed(client, id_, "register_assumption", claim="Mails can be read", **given)
        changed(client, id_, "register_assumption", claim="Orders can be parsed", depends_on=["A1"], **given)
        changed(client, id_, "update_success_metrics", leading=["time per order"], lagging=["orders a day"], reason="r")
        risk = {"text": "Drivers wait", "layer": "said"}
        changed(client, id_, "set_risk_assessment", area="value", level="high", risks=[risk], reason="r")
        sent = client.post(f"/api/projects/{id_}/resources", files={"file": ("rules.md", b"Late changes hurt.\n")})
        assert sent.is_success
        changed(client, id_, "generate_artifact", artifact_type="problem_brief", reason="r")
    page.goto(desk.address(f"/projects/{id_}?tab=explorer"))
    page.get_by_role("button", name="All three").click()
    tree = page.get_by_role("region", name="From outcome to assumption")
    expect(tree).to_contain_text("orders a day; time per order")
    tree.get_by_role("button", name="A2 Orders can be parsed").click()
    pressed = page.get_by_role("button", name="A2", pressed=True)
    expect(pressed).to_have_count(3)
    about = page.get_by_role("region", name="About A2")
    expect(about).to_contain_text("It was said.")
    expect(about.get_by_role("list", name="History of A2")).to_contain_text("A2 registered: Orders can be parsed")
    page.get_by_role("region", name="What rests on what").get_by_role("button", name="Mails can be read").click()
    expect(page.get_by_role("region", name="About A1")).to_be_visible()
    expect(page.get_by_role("button", name="A2", pressed=True)).to_have_count(0)
    expect(page.get_by_role("region", name="Metrics")).to_contain_text("time per order")
    expect(page.get_by_role("region", name="Risks").get_by_role("row", name="high")).to_contain_text("value")
    expect(page.get_by_role("region", name="Documents")).to_contain_text("rules.md")
    expect(page.get_by_role("region", name="History")).to_contain_text("problem statement is updated")
    for entry, begins in (
        ("Register as CSV", b"\xef\xbb\xbfid,claim"),
        ("Register as Markdown", b"# Assumptions"),
        ("Tree as SVG", b"<svg"),
        ("Dependencies as PNG", b"\x89PNG"),
    ):
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as waited:
            page.get_by_role("menuitem", name=entry).click()
        assert Path(waited.value.path()).read_bytes().startswith(begins), entry
    brief = page.get_by_role("article", name="problem brief")
    brief.get_by_role("button", name="problem brief").click()
    expect(brief.get_by_role("heading", name="Problem", exact=True)).to_be_visible()
    for ending, begins in (("md", b"# Problem"), ("docx", b"PK"), ("pdf", b"%PDF-")):
        with page.expect_download() as waited:
            brief.get_by_role("link", name=f"Download problem_brief.{ending}").click()
        assert Path(waited.value.path()).read_bytes().startswith(begins), ending
