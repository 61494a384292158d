"""The board in the browser: cards by phase, live, and by keyboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Desk

pytestmark = pytest.mark.req("P-20")


def test_cards_move_as_projects_do_and_the_arrow_keys_lead_from_one_to_the_next(page: Any, desk: Desk) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    expect.set_options(timeout=15_000)
    with desk.client() as client:
        first, second = (
            str(client.post("/api/projects", json={"name": name, "agent": "builtin"}).json()["id"])
            for name in ("Early idea", "Second idea")
        )
        page.goto(f"{desk.url}/board")
        dumps = page.get_by_role("region", name=re.compile("^Brain dump, "))
        expect(dumps.get_by_role("link")).to_have_count(2)

        said = {"text": "We want to plan a small party for ten people in the garden next summer, on a Sunday."}
        client.post(f"/api/projects/{first}/messages", json=said)
        client.post(f"/api/projects/{first}/actions/distill")
        moved = page.get_by_role("region", name=re.compile("^Human review, 1")).get_by_role("link")
        expect(moved).to_contain_text("Early idea")
        expect(moved).to_contain_text("waits for you: confirm the intent")
        expect(moved).to_contain_text("builtin")

        client.post(f"/api/projects/{second}/actions/terminate", json={"confirmed": True})
        halted = page.get_by_role("region", name=re.compile("^Halted, 1")).get_by_role("link")
        expect(halted).to_contain_text("Terminated")

    moved.focus()
    page.keyboard.press("ArrowRight")
    expect(halted).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(moved).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Early idea", level=1).first).to_be_visible()


def test_a_project_that_cannot_be_read_is_named_on_the_board_and_in_the_list(page: Any, desk: Desk) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    with desk.client() as client:
        made = [client.post("/api/projects", json={"name": name}).json() for name in ("Sound one", "Torn one")]
    status = Path(made[1]["directory"]) / "status.json"
    content = status.read_bytes()
    status.unlink()
    status.mkdir()
    try:
        for screen in ("board", "projects"):
            page.goto(f"{desk.url}/{screen}")
            expect(page.get_by_role("alert")).to_contain_text("torn-one: ")
            expect(page.get_by_role("main").get_by_role("link", name=re.compile("Sound one")).first).to_be_visible()
    finally:
        status.rmdir()
        status.write_bytes(content)


def test_a_card_shows_rounds_and_the_errors_of_each(page: Any, desk: Desk) -> None:
    expect = pytest.importorskip("playwright.sync_api").expect
    desk.run("demo")
    page.goto(f"{desk.url}/board")
    card = page.get_by_role("region", name=re.compile("^Done, 1")).get_by_role("link")
    expect(card).to_contain_text("3 rounds")
    expect(card.get_by_role("img")).to_have_accessible_name("Findings by round: 7, 6, 3, falling")
