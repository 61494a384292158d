"""Settings in the browser: keys that are never shown again, prompts, limits, notifications, access, and search."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Desk, opened
from tests.support.provider import Provider

ROOT = Path(__file__).parents[2]
SECRET = "gsk-8d1f0a"
SECTIONS = {
    "models": "Models and keys",
    "agents": "Agents",
    "prompts": "Prompts",
    "notifications": "Notifications",
    "connectors": "Connectors",
    "limits": "Limits",
    "appearance": "Appearance",
    "access": "Access",
    "memory": "Memory",
    "advanced": "Advanced",
    "about": "About",
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Desk]:
    place = tmp_path_factory.mktemp("desk")
    # Nobody listens there, so that a test message fails at once.
    (place / "config.yaml").write_text(
        "notifications: {channels: {ntfy: {enabled: true, url: 'http://127.0.0.1:9', topic: forge}}}\n"
    )
    keyring = {"PYTHON_KEYRING_BACKEND": "tests.web.kept_keys.FileKeyring", "KEPT_KEYS": str(place / "kept")}
    with opened(place, provider, **keyring, PYTHONPATH=_python_path()) as made:
        yield made


def _python_path() -> str:
    """So that the server finds the keyring of these tests."""
    return os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))


@pytest.fixture
def expect() -> Any:
    playwright = pytest.importorskip("playwright.sync_api")
    playwright.expect.set_options(timeout=15_000)
    return playwright.expect


def test_every_section_has_an_address_and_says_what_it_is(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(desk.address("/settings/models"))
    sections = page.get_by_role("navigation", name="Sections of the settings")
    for section, title in SECTIONS.items():
        sections.get_by_role("link", name=title, exact=True).click()
        expect(page).to_have_url(desk.address(f"/settings/{section}"))
        expect(page.get_by_role("heading", level=1, name=title, exact=True)).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


@pytest.mark.req("X-06")
def test_a_key_goes_into_the_keyring_and_is_never_shown_again(page: Any, desk: Desk, expect: Any) -> None:
    answered: list[str] = []
    page.on("response", lambda got: answered.append(got.text()) if "/api/" in got.url and got.ok else None)
    page.goto(desk.address("/settings/models"))
    group = page.get_by_role("group", name="Google", exact=True)
    expect(group).to_contain_text("not set up")
    group.get_by_role("button", name="Set the key of Google").click()
    dialog = page.get_by_role("dialog", name="Key of Google")
    dialog.get_by_label("Key", exact=True).fill(SECRET)
    dialog.get_by_role("button", name="Keep in the keyring").click()
    expect(dialog).to_have_count(0)
    expect(group).to_contain_text("usable")
    expect(group).to_contain_text("keyring")
    assert SECRET in (desk.place / "kept").read_text()
    page.reload()
    expect(group).to_contain_text("usable")
    assert SECRET not in page.content()
    assert not any(SECRET in text for text in answered)

    group.get_by_role("button", name="Remove the key of Google").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove the key").click()
    expect(group).to_contain_text("not set up")
    assert SECRET not in (desk.place / "kept").read_text()


def test_a_limit_says_its_default_is_saved_and_can_be_set_back(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(desk.address("/settings/limits"))
    rounds = page.get_by_label("Rounds", exact=True)
    expect(rounds).to_have_value("50")
    expect(rounds).to_have_accessible_description(re.compile("rounds after which a person is asked.*Default: 50", re.I))
    rounds.fill("-3")
    rounds.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("greater than or equal to 1")
    rounds.press("Escape")
    expect(rounds).to_have_value("50")
    expect(page.get_by_role("alert")).to_have_count(0)
    rounds.fill("12")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("from config.yaml")).to_have_count(1)
    assert "max_iterations: 12" in (desk.place / "config.yaml").read_text()
    page.get_by_role("button", name="Use the default").click()
    expect(rounds).to_have_value("50")


def test_what_a_variable_decides_cannot_be_changed_here(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(desk.address("/settings/advanced"))
    expect(page.get_by_role("textbox", name="Workspace")).to_be_disabled()
    expect(page.get_by_text("variable FORGE_WORKSPACE decides")).to_be_visible()


@pytest.mark.req("P-16")
def test_a_prompt_is_edited_compared_and_reset(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(desk.address("/settings/prompts#chat"))
    text = page.get_by_role("textbox", name="Text of the prompt chat")
    text.click()
    page.keyboard.press("Control+Home")
    page.keyboard.type("Answer in rhymes. ")
    expect(page.get_by_text("not saved")).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("not saved")).to_have_count(0)
    prompts = page.get_by_role("navigation", name="Prompts")
    expect(prompts.get_by_role("link", name="chat changed")).to_be_visible()
    with desk.client() as client:
        assert client.get("/api/prompts/chat").json()["text"].startswith("Answer in rhymes. ")

    page.get_by_role("button", name="Compare with default").click()
    expect(page.get_by_role("region", name="What your text changes in chat")).to_contain_text("Answer in rhymes.")
    page.get_by_role("button", name="Reset to default").click()
    page.get_by_role("dialog").get_by_role("button", name="Reset to default").click()
    expect(prompts.get_by_role("link", name="chat", exact=True)).to_be_visible()
    with desk.client() as client:
        assert not client.get("/api/prompts/chat").json()["text"].startswith("Answer in rhymes. ")


@pytest.mark.req("P-18")
def test_a_test_message_says_for_each_channel_how_it_went(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(desk.address("/settings/notifications"))
    page.get_by_role("button", name="Send a test").click()
    expect(page.get_by_role("status", name="Result of the test")).to_contain_text(re.compile("ntfy.*not sent"))


def test_settings_are_found_by_their_words(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(desk.address("/settings/about"))
    expect(page.get_by_role("heading", level=1, name="About")).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("parallel at once")
    found = page.get_by_role("list", name="Found settings")
    expect(found.get_by_role("button", name=re.compile("Projects at once"))).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/settings/limits#concurrency.max_parallel_runs"))
    expect(page.get_by_label("Projects at once")).to_be_focused()


@pytest.mark.req("X-06")
def test_a_user_gets_a_key_that_is_shown_once(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(desk.address("/settings/access"))
    page.get_by_label("Name of a new user").fill("grace")
    page.get_by_role("button", name="Add user").click()
    expect(page.get_by_role("group", name="grace")).to_be_visible()
    page.get_by_role("button", name="New key").click()
    order = page.get_by_role("dialog", name="New key")
    order.get_by_label("Name", exact=True).fill("laptop")
    order.get_by_role("checkbox", name=re.compile("^run")).uncheck()
    order.get_by_label("It lives for").select_option("30 days")
    order.get_by_role("button", name="Make the key").click()
    shown = page.get_by_role("dialog", name="The new key")
    key = shown.get_by_label("The key").input_value()
    shown.get_by_role("button", name="I have it").click()
    row = page.get_by_role("group", name="Key laptop")
    expect(row).to_contain_text("of grace")
    expect(row).to_contain_text("May read, write")
    page.reload()
    expect(row).to_contain_text("valid")
    assert key not in page.content()
    row.get_by_role("button", name="Revoke the key laptop").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke the key").click()
    expect(row).to_contain_text("revoked")
    expect(page.get_by_role("region", name="Audit list")).to_contain_text("key.revoke")


def test_the_theme_is_chosen_and_remembered(page: Any, desk: Desk, expect: Any) -> None:
    page.goto(desk.address("/settings/appearance"))
    page.get_by_role("radio", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.get_by_role("radio", name="Dark")).to_be_checked()
