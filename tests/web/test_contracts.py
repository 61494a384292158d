"""Contracts in the browser: written from an example, findings at their lines, saved over what was read, restored."""

from __future__ import annotations

from typing import Any

import pytest

from forge.contracts.kinds import ORDER, Kind
from forge.contracts.templates import template
from tests.support.browser import Desk
from tests.web.projects import made

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
        area = page.get_by_label("Text of blueprint")
        area.fill(template(Kind.BLUEPRINT).replace("- F4: ", "- F5: "))
        line = (
            template(Kind.BLUEPRINT)
            .splitlines()
            .index(next(x for x in template(Kind.BLUEPRINT).splitlines() if "F4" in x))
        )
        page.get_by_role("button", name=f"Line {line + 1}").click()
        selected = area.evaluate("e => e.value.slice(e.selectionStart, e.selectionEnd)")
        assert selected.startswith("- F5: Board")
        area.fill(template(Kind.BLUEPRINT))
        expect(page.get_by_role("list", name="Findings")).to_have_count(0)
        area.press("Control+s")
        expect(cards.get_by_role("button", name="Blueprint Valid")).to_be_visible()
        # Somebody else saves while it is being edited.
        page.get_by_role("button", name="Edit").click()
        mine = template(Kind.BLUEPRINT) + "\n## Mine\n\nText.\n"
        area.fill(mine)
        theirs = template(Kind.BLUEPRINT) + "\n## Theirs\n\nText.\n"
        client.put(f"{address}/blueprint", json={"content": theirs}).raise_for_status()
        expect(page.get_by_role("alert").get_by_text("Somebody saved version 2")).to_be_visible()
        expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
        page.get_by_role("button", name="I have looked at it").click()
        expect(area).to_have_value(mine)
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_role("button", name="History").click()
        expect(page.get_by_role("region", name="History").get_by_text("## Theirs")).to_be_visible()
        page.get_by_role("button", name="Restore version 2").click()
        expect(cards.get_by_role("button", name="Version 4")).to_be_visible()
        assert client.get(f"{address}/blueprint").json()["content"] == theirs


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
