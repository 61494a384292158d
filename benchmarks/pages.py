"""A real browser on a server of its own, for figures and pictures of the web interface."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.browser import CHROMIUM, Desk, opened
from tests.support.provider import Answers, Provider

WATCH = """
(() => {
  window.longTasks = [];
  new PerformanceObserver((list) => list.getEntries().forEach((entry) => window.longTasks.push(entry.duration)))
    .observe({ type: "longtask", buffered: true });
})();
"""
"""Put into every page: `longTasks` holds how long each task took that held up the page for more than 50 ms."""


@dataclass(frozen=True, slots=True)
class Room:
    """A server and a browser that is signed in to it."""

    desk: Desk
    browser: Any
    signed_in: Any
    """The cookies, for new contexts."""

    def context(self, **options: Any) -> Any:
        viewport = {"width": 1280, "height": 800}
        made = self.browser.new_context(viewport=viewport, storage_state=self.signed_in, **options)
        made.add_init_script(WATCH)
        return made

    @contextmanager
    def page(self, path: str, **options: Any) -> Iterator[Any]:
        context = self.context(**options)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.goto(self.desk.address(path))
        yield page
        context.close()


@contextmanager
def room(place: Path, answers: Answers) -> Iterator[Room]:
    """Needs playwright and a Chromium; who calls asks `possible` first."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - a part of the tests, not of Forge

    place.mkdir(parents=True, exist_ok=True)
    with Provider(answers) as provider, opened(place, provider) as desk, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"{desk.url}/?token={desk.token()}")
        page.get_by_role("navigation", name="Places").wait_for(timeout=60_000)
        signed_in = context.storage_state()
        context.close()
        yield Room(desk, browser, signed_in)
        browser.close()


def possible() -> bool:
    try:
        import playwright.sync_api  # noqa: F401, PLC0415 - a part of the tests, not of Forge
    except ImportError:
        return False
    return CHROMIUM is not None
