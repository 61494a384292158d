"""Repositories of the command line in the browser: the one that `forge serve` is started in, and those used before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.beside import Beside, beside
from tests.support.repositories import repository

pytestmark = pytest.mark.req("X-03")


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Beside]:
    with beside(tmp_path, {}) as made:
        yield made


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path, "ai/x")


def listed(there: Beside, key: str | None = None) -> dict[str, list[str]]:
    told = there.told()
    headers = {"Authorization": f"Bearer {key or told['secret']}"}
    address = f"http://127.0.0.1:{told['port']}/api/repositories"
    answer: dict[str, list[dict[str, Any]]] = httpx.get(address, headers=headers, trust_env=False).json()
    return {name: [each["path"] for each in entries] for name, entries in answer.items()}


def test_a_server_started_in_a_repository_shows_it(there: Beside, repo: Path) -> None:
    server = there.serve(cwd=repo)
    assert listed(there) == {"repositories": [str(repo)], "offered": []}
    assert "&next=/r/" in server.out


def test_a_server_started_with_a_directory_shows_its_repository(there: Beside, repo: Path) -> None:
    there.serve("-C", str(repo / "src"))
    assert listed(there)["repositories"] == [str(repo)]


def test_a_server_started_elsewhere_shows_none(there: Beside) -> None:
    server = there.serve()
    assert listed(there) == {"repositories": [], "offered": []}
    assert "next=" not in server.out


def test_a_repository_used_on_the_command_line_is_offered_to_the_person_at_the_machine_only(
    there: Beside, repo: Path
) -> None:
    assert there.run("log", "-n", "1", cwd=repo / "src").code == 0
    assert there.run("user", "add", "Ana").code == 0
    key = there.run("key", "new", "Ana", "--scope", "read", "--scope", "admin", "--json").document["text"]
    there.serve()
    assert listed(there) == {"repositories": [], "offered": [str(repo)]}
    assert listed(there, key) == {"repositories": [], "offered": []}
    told = there.told()
    httpx.post(
        f"http://127.0.0.1:{told['port']}/api/repositories",
        headers={"Authorization": f"Bearer {told['secret']}"},
        json={"path": str(repo)},
        trust_env=False,
    ).raise_for_status()
    assert listed(there) == {"repositories": [str(repo)], "offered": []}
    repo.rename(repo.with_name("moved"))
    assert listed(there)["offered"] == []
