"""Two users of one server: what one of them shares the other one sees, until it is taken back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support.browser import Desk

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

pytestmark = pytest.mark.req("X-02")


def key_of(desk: Desk, name: str) -> str:
    """A new user's key."""
    with desk.client() as client:
        client.post("/api/users", json={"name": name}).raise_for_status()
        made = client.post("/api/keys", json={"user": name, "name": "browser"})
    made.raise_for_status()
    return str(made.json()["text"])


@contextmanager
def signed_in(browser: Any, desk: Desk, key: str, path: str = "/projects") -> Iterator[Any]:
    """A browser of this user's own, by the key alone, as it was handed to them."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.set_default_timeout(15_000)
    page.goto(desk.address(path))
    page.get_by_label("Address, token or key").fill(key)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("navigation", name="Places").wait_for()
    yield page
    context.close()


def begun(desk: Desk, key: str, name: str) -> str:
    with desk.client() as client:
        made = client.post("/api/projects", json={"name": name}, headers={"Authorization": f"Bearer {key}"})
    made.raise_for_status()
    return str(made.json()["id"])


def open_sharing(page: Any, desk: Desk, project: str) -> Any:
    """The dialog, from the menu of the project."""
    page.goto(desk.address(f"/projects/{project}"))
    page.get_by_role("button", name="More about this project").click()
    page.get_by_role("menuitem", name="Share…").click()
    return page.get_by_role("dialog", name=re.compile("^Share "))


def share(dialog: Any, user: str) -> None:
    dialog.get_by_label("User").fill(user)
    dialog.get_by_role("button", name="Share", exact=True).click()


def test_a_shared_project_is_seen_by_the_other_user_until_it_is_taken_back(desk: Desk, browser: Any) -> None:
    ada, bob = key_of(desk, "Ada"), key_of(desk, "Bob")
    project = begun(desk, ada, "Summer party")
    with signed_in(browser, desk, ada) as mine, signed_in(browser, desk, bob) as theirs:
        expect(mine.get_by_role("main").get_by_text("Summer party")).to_be_visible()
        expect(theirs.get_by_role("main").get_by_text("Summer party")).to_have_count(0)
        theirs.goto(desk.address(f"/projects/{project}"))
        expect(theirs.get_by_role("heading", name="No such project")).to_be_visible()

        dialog = open_sharing(mine, desk, project)
        expect(dialog.get_by_text("Only you see it.")).to_be_visible()
        share(dialog, "Nobody")
        expect(dialog.get_by_role("alert")).to_be_visible()
        share(dialog, "Bob")
        expect(dialog.get_by_role("listitem")).to_contain_text("may read it")

        theirs.goto(desk.address("/projects"))
        theirs.get_by_role("main").get_by_text("Summer party").click()
        expect(theirs.get_by_role("heading", name="Summer party")).to_be_visible()
        theirs.get_by_role("button", name="More about this project").click()
        theirs.get_by_role("menuitem", name="Share…").click()
        expect(theirs.get_by_role("dialog", name="Share Summer party").get_by_role("alert")).to_be_visible()

        dialog.get_by_role("button", name="Stop sharing").click()
        expect(dialog.get_by_text("Only you see it.")).to_be_visible()
        theirs.goto(desk.address("/projects"))
        expect(theirs.get_by_role("navigation", name="Places")).to_be_visible()
        expect(theirs.get_by_role("main").get_by_text("Summer party")).to_have_count(0)
        theirs.goto(desk.address(f"/projects/{project}"))
        expect(theirs.get_by_role("heading", name="No such project")).to_be_visible()


def test_a_project_is_shared_by_the_id_of_a_user_too(desk: Desk, browser: Any) -> None:
    eve = key_of(desk, "Eve")
    with desk.client() as client:
        person = next(each["id"] for each in client.get("/api/users").json()["users"] if each["name"] == "Eve")
    dan = key_of(desk, "Dan")
    project = begun(desk, dan, "Winter party")
    with signed_in(browser, desk, dan) as mine:
        dialog = open_sharing(mine, desk, project)
        share(dialog, person)
        expect(dialog.get_by_role("listitem")).to_contain_text("may read it")
    with signed_in(browser, desk, eve) as theirs:
        expect(theirs.get_by_role("main").get_by_text("Winter party")).to_be_visible()


def test_who_may_not_administer_is_not_shown_what_would_be_refused(desk: Desk, browser: Any) -> None:
    with signed_in(browser, desk, key_of(desk, "Cleo"), "/settings/access") as page:
        refused: list[str] = []
        page.on("response", lambda got: refused.append(got.url) if got.status == 403 else None)
        page.goto(desk.address("/settings/access"))
        expect(page.get_by_text(re.compile("^Signed in as Cleo"))).to_be_visible()
        expect(page.get_by_role("heading", name="Keys", exact=True)).to_be_visible()
        expect(page.get_by_role("heading", name="Audit")).to_have_count(0)
        expect(page.get_by_role("alert")).to_have_count(0)
        assert refused == []


@pytest.mark.parametrize("section", ["models", "agents", "notifications", "connectors", "limits", "advanced", "about"])
def test_who_may_not_administer_finds_calm_settings(desk: Desk, browser: Any, section: str) -> None:
    with signed_in(browser, desk, key_of(desk, f"Dora of {section}")) as page:
        refused: list[str] = []
        page.on("response", lambda got: refused.append(got.url) if got.status >= 400 else None)
        page.goto(desk.address(f"/settings/{section}"))
        if section == "about":
            expect(page.get_by_text("Signed in as", exact=True)).to_be_visible()
        else:
            expect(page.get_by_text("seen and changed by those who may administer it")).to_be_visible()
        if section == "models":
            expect(page.get_by_role("group", name="Anthropic")).to_be_visible()
            expect(page.get_by_role("button", name=re.compile("key of"))).to_have_count(0)
        page.wait_for_load_state("networkidle")
        expect(page.get_by_role("alert")).to_have_count(0)
        assert refused == []


def test_who_may_not_administer_reads_prompts_and_cannot_change_them(desk: Desk, browser: Any) -> None:
    with signed_in(browser, desk, key_of(desk, "Eli"), "/settings/prompts#chat") as page:
        text = page.get_by_role("textbox", name="Text of the prompt chat")
        expect(page.get_by_text("Who may administer this server changes it.")).to_be_visible()
        expect(text).to_contain_text("git branch")
        before = text.inner_text()
        text.click()
        page.keyboard.type("Answer in rhymes. ")
        assert text.inner_text() == before
        for name in ("Save", "Take back", "Reset to default"):
            expect(page.get_by_role("button", name=name)).to_have_count(0)


def test_a_wrong_key_is_refused_with_the_command_as_code(desk: Desk, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(desk.address("/"))
    page.get_by_label("Address, token or key").fill("fk_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert").locator("code")).to_have_text("forge serve")
    context.close()
