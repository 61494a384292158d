"""What `forge demo --open` leaves to explore: the project's page, its branch, the conversation there and the diff."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.conftest import PROGRAM
from tests.conftest import GIT_CONFIG

pytestmark = pytest.mark.req("X-01")
_ADDRESS = re.compile(r"^Forge is at (http://\S+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Up to the address; it serves on until the module ends, and then ends well by itself."""
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(GIT_CONFIG)
    (home / "config.yaml").write_text("server: {port: 0}\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "XDG_", "FORGE_"))}
    environ = {**kept, "HOME": str(home), "FORGE_CONFIG": str(home / "config.yaml"), "PYTHONUNBUFFERED": "1"}
    command = [str(PROGRAM), "demo", "--open", "--dir", str(home / "demo")]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        said = ""
        while not _ADDRESS.search(said) and (line := running.stdout.readline()):
            said += line
        yield said
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 0


@pytest.fixture(scope="module")
def address(printed: str) -> str:
    found = _ADDRESS.search(printed)
    assert found is not None, printed
    return found[1]


@pytest.fixture(scope="module")
def page(browser: Any, address: str) -> Iterator[Any]:
    """Opened once, since the address lets nobody in twice."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    made = context.new_page()
    made.set_default_timeout(15_000)
    made.goto(address)
    yield made
    context.close()


@pytest.fixture
def expect() -> Any:
    playwright = pytest.importorskip("playwright.sync_api")
    playwright.expect.set_options(timeout=15_000)
    return playwright.expect


def test_the_demo_is_told_to_its_end_before_it_is_served(printed: str, address: str) -> None:
    assert "Trip Split: done after 3 rounds" in printed
    assert "See it in the browser" not in printed
    project = re.search(r"^Project (\S+) in ", printed, re.MULTILINE)
    assert project is not None
    assert address.endswith(f"&next=/projects/{project[1]}")


def test_the_page_that_opens_is_the_projects_with_trajectory_tests_and_branch(page: Any, expect: Any) -> None:
    expect(page.get_by_role("heading", name="Trip Split", exact=True)).to_be_visible()
    expect(page.get_by_text("Done after 3 rounds").first).to_be_visible()
    said = page.get_by_role("log", name="Chat").get_by_role("article", name="You")
    expect(said.first).to_contain_text("tells us who pays whom so that we are even")
    page.get_by_role("tab", name="Polish (3)").click()
    expect(page.get_by_role("region", name="Tests")).to_contain_text("34 of 34 tests pass")
    expect(page.locator("canvas")).to_be_visible()
    expect(page.get_by_role("row", name="Round 3")).to_contain_text("termination: done")


def test_from_there_the_branch_opens_with_its_conversation_and_the_diffs_of_its_turns(page: Any, expect: Any) -> None:
    page.get_by_role("button", name="Open branch").or_(page.get_by_role("link", name="Open branch")).first.click()
    page.wait_for_url(re.compile(r"/r/[^/]+/b/forge"))
    conversation = page.get_by_role("log", name="Conversation")
    expect(conversation).to_contain_text("Spread odd cents")
    conversation.get_by_role("button", name="Diff").last.click()
    expect(page.get_by_role("region", name="Changes of tripsplit/settling.py")).to_contain_text("shares")
    page.get_by_role("treeitem", name="README.md").dblclick()
    expect(page.get_by_role("tab", name="README.md")).to_be_visible()
