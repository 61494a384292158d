"""The built interface, one server for each module of tests, and a page of Chromium that is signed in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import CHROMIUM, Desk, opened
from tests.support.provider import Provider
from tests.web.script import answers


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip(reason="no Chromium on this machine"))


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with Provider(answers) as made:
        yield made


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Desk]:
    with opened(tmp_path_factory.mktemp("desk"), provider) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Not for longer: while it is open, its thread can run no other event loop."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        made = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def page(browser: Any, desk: Desk) -> Iterator[Any]:
    """Signed in, at the start page. What the page's own code complains about fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    made = context.new_page()
    made.set_default_timeout(15_000)
    wrong: list[str] = []
    made.on("pageerror", lambda error: wrong.append(str(error)))
    made.goto(f"{desk.url}/?token={desk.token()}")
    yield made
    context.close()
    assert wrong == []


@pytest.fixture
def expect() -> Any:
    playwright = pytest.importorskip("playwright.sync_api")
    playwright.expect.set_options(timeout=15_000)
    return playwright.expect
