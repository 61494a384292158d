"""`forge` without anything: serves, takes in the repository here, and opens it where somebody sits before a screen."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from forge.app.repositories.catalog import Repository, id_of
from tests.cli.beside import Beside, beside, until
from tests.cli.terminals import Terminal, on_terminal
from tests.conftest import MakeRepo

pytestmark = [pytest.mark.slow, pytest.mark.req("X-02", "X-03")]


@pytest.fixture
def screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a browser, which notes every address that it is to open."""
    seen, browser = tmp_path / "seen", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" >>{seen}\n')
    browser.chmod(0o755)
    (tmp_path / "config.yaml").write_text("server: {port: 0}\n")
    variables = {"BROWSER": browser, "DISPLAY": ":9", "FORGE_CONFIG": tmp_path / "config.yaml"}
    variables |= {"FORGE_DATA_DIR": tmp_path / "data", "FORGE_WORKSPACE": tmp_path / "workspace"}
    for name, value in variables.items():
        monkeypatch.setenv(name, str(value))
    return seen


def place_of(url: str) -> str:
    (place,) = parse_qs(urlsplit(url).query)["next"]
    return place


def test_forge_opens_the_repository_here_and_a_second_start_the_one_there(
    screen: Path, make_repo: MakeRepo, tmp_path: Path
) -> None:
    first, second = make_repo({"a": "a\n"}, name="first"), make_repo({"b": "b\n"}, name="second")
    (first / "deep").mkdir()
    with Terminal(cwd=first / "deep") as terminal:
        shown = terminal.read_until("shows the commands.")
        assert shown.startswith("Forge is at ")
        assert shown.count("\n") < 4
        until(screen.exists)
        code, told = on_terminal(cwd=second)
        assert code == 0
        assert "a server runs on this data already" in told
        assert told.count("\n") <= 4
        until(lambda: len(screen.read_text().splitlines()) == 2)
        one, two = screen.read_text().splitlines()
        assert [place_of(one), place_of(two)] == [f"/r/{id_of(Repository.open(each))}" for each in (first, second)]
        assert urlsplit(one).netloc == urlsplit(two).netloc
        secret = json.loads((tmp_path / "data" / "server.json").read_text())["secret"]
        headers = {"Authorization": f"Bearer {secret}"}
        address = f"http://{urlsplit(one).netloc}/api/repositories"
        listed = httpx.get(address, headers=headers, trust_env=False).json()["repositories"]
        assert sorted(each["name"] for each in listed) == ["first", "second"]
        terminal.interrupt()
        assert terminal.wait() == 0
    assert not (tmp_path / "data" / "server.json").exists()


@pytest.fixture
def there(tmp_path: Path, screen: Path) -> Iterator[Beside]:
    del screen
    with beside(tmp_path, {"BROWSER": str(tmp_path / "browser"), "DISPLAY": ":9"}) as made:
        yield made


def test_without_a_terminal_or_a_repository_the_address_is_printed(there: Beside, screen: Path) -> None:
    server = there.start()
    server.until_told("shows the commands.")
    assert server.out.startswith("Forge is at http://127.0.0.1:")
    assert "next=" not in server.out
    again = there.run("serve", "--open", "--json")
    assert (again.code, json.loads(again.out)["pid"]) == (0, server.pid)
    assert not screen.exists()
