"""The chat of a branch, as the tests use it in the browser."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.support.browser import Desk

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


expect = playwright.expect


FIRST_TURN = 90_000
"""Milliseconds: a server's first turn takes long on a busy machine."""


def open_chat(page: Any, desk: Desk, repo: str, branch: str) -> None:
    page.goto(desk.address(f"/r/{repo}/b/{quote(branch, safe='')}"))
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()


def say(page: Any, text: str) -> None:
    page.get_by_role("textbox", name="Message").fill(text)
    page.keyboard.press("Enter")


def branched(desk: Desk, repo: str, name: str) -> str:
    with desk.client() as client:
        made = client.post(f"/api/repositories/{repo}/branches", json={"name": name, "start": "main"})
        assert made.is_success, made.text
    return name


def turns(desk: Desk, repo: str, branch: str) -> list[dict[str, Any]]:
    with desk.client() as client:
        got = client.get(f"/api/repositories/{repo}/session/turns", params={"branch": branch})
        assert got.is_success, got.text
        items: list[dict[str, Any]] = got.json()["items"]
        return items


def ended(page: Any, number: int) -> Any:
    """The end of a turn; only one that is over has it."""
    end = page.get_by_role("article", name=f"Turn {number}", exact=True).get_by_role("region", name="End of the turn")
    expect(end).to_be_visible(timeout=FIRST_TURN)
    return end
