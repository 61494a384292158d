"""Contracts in the browser: written from an example, findings at their lines, saved over what was read, restored."""

from __future__ import annotations

from typing import Any

import pytest

from forge.contracts.kinds import ORDER, Kind
from forge.contracts.templates import template
from tests.support.browser import Desk
from tests.web.projects import made

PATIENCE = 200
"""Milliseconds for which the editor takes no answer from a list that has just opened."""
SAYS = """() => {
    window.said = [];
    const place = document.querySelector(".cm-announced");
    new MutationObserver(() => window.said.push(place.textContent)).observe(place, { childList: true });
}"""
"""Keeps what screen readers are told."""
pytestmark = pytest.mark.req("C-05")


def test_a_contract_is_written_mended_and_restored(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        project = made(client, "Contracts by hand")
        address = f"/api/projects/{project}/contracts"
        for kind in ORDER:
            if kind is not Kind.BLUEPRINT:
                client.put(f"{address}/{kind}", json={"content": template(kind), "etag": ""}).raise_for_status()
        page.goto(f"{desk.url}/projects/{project}?tab=contracts")
        cards = page.get_by_role("list", name="Contract")
        expect(cards.get_by_role("button")).to_have_count(9)
        cards.get_by_role("button", name="Blueprint Missing").click()
        page.get_by_role("button", name="Write").click()
        area = page.get_by_role("textbox", name="Text of blueprint")
        rewritten(area, template(Kind.BLUEPRINT).replace("- F4: ", "- F5: "))
        line = (
            template(Kind.BLUEPRINT)
            .splitlines()
            .index(next(x for x in template(Kind.BLUEPRINT).splitlines() if "F4" in x))
        )
        page.get_by_role("button", name=f"Line {line + 1}").click()
        assert page.evaluate("() => getSelection().toString()").startswith("- F5: Board")
        rewritten(area, template(Kind.BLUEPRINT))
        expect(page.get_by_role("list", name="Findings")).to_have_count(0)
        area.press("Control+s")
        expect(cards.get_by_role("button", name="Blueprint Valid")).to_be_visible()
        # Somebody else saves while it is being edited.
        page.get_by_role("button", name="Edit").click()
        mine = template(Kind.BLUEPRINT) + "\n## Mine\n\nText.\n"
        rewritten(area, mine)
        theirs = template(Kind.BLUEPRINT) + "\n## Theirs\n\nText.\n"
        client.put(f"{address}/blueprint", json={"content": theirs}).raise_for_status()
        expect(page.get_by_role("alert").get_by_text("Somebody saved version 2")).to_be_visible()
        expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
        page.get_by_role("button", name="I have looked at it").click()
        expect(area).to_contain_text("## Mine")
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_role("button", name="History").click()
        expect(page.get_by_role("region", name="History").get_by_text("## Theirs")).to_be_visible()
        page.get_by_role("button", name="Text of version 2").click()
        earlier = page.get_by_role("textbox", name="Text of blueprint, version 2")
        expect(earlier).to_have_attribute("aria-readonly", "true")
        earlier.press("Control+End")
        expect(earlier).to_contain_text("## Theirs")
        before = earlier.inner_text()
        earlier.press("x")
        assert earlier.inner_text() == before
        page.get_by_role("button", name="Restore version 2").click()
        expect(cards.get_by_role("button", name="Version 4")).to_be_visible()
        assert client.get(f"{address}/blueprint").json()["content"] == theirs


def rewritten(area: Any, text: str) -> None:
    """Type another text over all that is there."""
    area.press("Control+a")
    area.page.keyboard.insert_text(text)


def test_an_interface_is_written_with_completion_by_keyboard_alone(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        project = made(client, "Contracts by keyboard")
        page.goto(f"{desk.url}/projects/{project}?tab=contracts")
        page.get_by_role("button", name="Physics Missing").press("Enter")
        page.get_by_role("button", name="Write").press("Enter")
        area, keys = page.get_by_role("textbox", name="Text of physics"), page.keyboard
        offered = page.get_by_role("listbox", name="Completions")
        rewritten(area, "openapi: 3.1.0\ninfo:\n  title: Tasks\n  version: '1'\n")
        area.press("Control+Space")
        # Those that are needed and not there come first, and what each is for stands beside it.
        expect(offered.get_by_role("option").first).to_contain_text("paths")
        expect(offered.get_by_role("option").first).to_contain_text("required")
        expect(offered.get_by_role("option")).to_have_count(3)
        expect(page.locator(".cm-completionInfo")).to_contain_text("Each path with its operations")
        area.press("Escape")
        keys.type("pat")
        expect(offered.get_by_role("option", selected=True)).to_contain_text("paths")
        page.wait_for_timeout(PATIENCE)
        area.press("Tab")
        keys.insert_text("/tasks:\n    get:\n      ")
        keys.type("ope")
        expect(offered.get_by_role("option", selected=True)).to_contain_text("operationId")
        page.wait_for_timeout(PATIENCE)
        area.press("Enter")
        keys.insert_text("list tasks!")
        # The line of the finding is marked, and F8 leads to it.
        wrong = page.locator(".cm-line", has_text="operationId: list tasks!")
        expect(wrong.locator(".cm-lintRange-error")).to_be_visible()
        area.press("Control+Home")
        page.evaluate(SAYS)
        for _ in range(2):
            area.press("F8")
        assert page.evaluate("() => getSelection().toString()") == "operationId: list tasks!"
        expect(area).to_be_focused()
        assert any("operationId" in each for each in page.evaluate("() => window.said"))
        area.press("Control+End")
        for _ in "list tasks!":
            area.press("Backspace")
        keys.insert_text("listTasks\n      responses:\n        '200':\n          description: All of them.\n")
        expect(page.get_by_role("list", name="Findings")).to_have_count(0)
        expect(page.locator(".cm-lintRange-error")).to_have_count(0)
        area.press("Control+s")
        expect(page.get_by_role("list", name="Contract").get_by_role("button", name="Version 1")).to_be_visible()
        saved = client.get(f"/api/projects/{project}/contracts/physics").json()["content"]
        assert saved == (
            "openapi: 3.1.0\ninfo:\n  title: Tasks\n  version: '1'\npaths:\n  /tasks:\n    get:\n"
            "      operationId: listTasks\n      responses:\n        '200':\n          description: All of them.\n"
        )


@pytest.mark.req("C-02", "C-03")
def test_questions_are_answered_and_contracts_generated_live(page: Any, desk: Desk, expect: Any) -> None:
    with desk.client() as client:
        project = made(client, "Contracts by rules")
        page.goto(f"{desk.url}/projects/{project}?tab=contracts")
        page.get_by_role("button", name="Generate").click()
        expect(page.get_by_text("Answer the questions first")).to_be_visible()
        page.get_by_role("button", name="Questions").click()
        form = page.get_by_role("form", name="Questions")
        form.get_by_label("What is built?").fill("A shared list of tasks.")
        form.get_by_label("What must the first release do?").fill("Add tasks\nDelete tasks")
        form.get_by_role("button", name="Save").click()
        expect(page.get_by_text("2 of 17 questions answered", exact=True)).to_be_visible()
        page.get_by_role("button", name="Generate").click()
        cards = page.get_by_role("list", name="Contract")
        expect(cards.get_by_role("button", name="Builder directive Valid")).to_be_visible()
        expect(page.get_by_role("status").get_by_text("9 of 9 written by builtin")).to_be_visible()
        for card, picture in (("Phases", "Timeline of phases"), ("Boundaries", "Layers")):
            cards.get_by_role("button", name=card).click()
            expect(page.get_by_role("list", name=picture)).to_be_visible()
        cards.get_by_role("button", name="Physics").click()
        expect(page.get_by_role("region", name="Endpoints").get_by_role("cell", name="createTask")).to_be_visible()
        # What a person wrote is not written over unless they say so.
        mine = client.get(f"/api/projects/{project}/contracts/ui").json()["content"] + "\n## Mine\n\nBy hand.\n"
        client.put(f"/api/projects/{project}/contracts/ui", json={"content": mine}).raise_for_status()
        blueprint = client.get(f"/api/projects/{project}/contracts/blueprint").json()["content"]
        longer = {"content": blueprint + "\n## More\n\nText.\n"}
        client.put(f"/api/projects/{project}/contracts/blueprint", json=longer).raise_for_status()
        expect(cards.get_by_role("button", name="Stack Stale")).to_be_visible()
        page.get_by_role("button", name="Generate").click()
        page.get_by_role("dialog").get_by_role("button", name="Keep them").click()
        expect(cards.get_by_role("button", name="Stack Valid")).to_be_visible()
        assert client.get(f"/api/projects/{project}/contracts/ui").json()["content"] == mine
