"""Runs begun with a person's key whose process was killed: a server without the key leaves them waiting."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.beside import Beside, beside, until
from tests.conftest import Git
from tests.support.provider import MODEL, Asked, Provider, message, working
from tests.support.repositories import repository
from tests.support.scripted_projects import OPEN

pytestmark = [pytest.mark.slow, pytest.mark.req("X-02", "X-04")]
DONE = "Write the notes of first1"
NO_KEY = {"ANTHROPIC_API_KEY": ""}
NEEDS = "it needs ANTHROPIC_API_KEY, which this process does not have"
_BEATS = 3.0


@pytest.fixture
def provider() -> Iterator[Provider]:
    def slowly(asked: Asked) -> Any:
        return working(asked, pause=0.1, command_seconds=0.1)

    with Provider(slowly) as made:
        yield made


@pytest.fixture
def there(tmp_path: Path, provider: Provider) -> Iterator[Beside]:
    with beside(tmp_path, provider.environ) as made:
        yield made


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path, "ai/x")


def rows(there: Beside) -> dict[str, tuple[str, str]]:
    with sqlite3.connect(there.data / "forge.db") as connection:
        found = connection.execute("SELECT id, state, error FROM runs").fetchall()
    connection.close()
    return {id_: (state, json.loads(error)["message"] if error else "") for id_, state, error in found}


def killed_turn(there: Beside, repo: Path, provider: Provider) -> None:
    command = there.start("chat", "--direct", "-b", "ai/x", "-m", message("first1"), cwd=repo)
    until(lambda: provider.answered[("first1", 1)])
    command.signal(signal.SIGKILL)
    command.ended()


def test_a_turn_waits_with_its_reason_until_somebody_with_the_key_goes_on(
    there: Beside, repo: Path, provider: Provider, git: Git
) -> None:
    killed_turn(there, repo, provider)
    there.serve(environ=NO_KEY)
    until(lambda: any(NEEDS in said for _, said in rows(there).values()), what=lambda: rows(there))
    asked = dict(provider.counts)
    time.sleep(_BEATS)
    assert [state for state, _ in rows(there).values()] == ["running"], "neither failed nor begun again"
    assert provider.counts == asked
    told = there.told()
    api = httpx.Client(
        base_url=f"http://127.0.0.1:{told['port']}",
        headers={"Authorization": f"Bearer {told['secret']}"},
        trust_env=False,
    )
    with api:
        id_ = api.post("/api/repositories", json={"path": str(repo)}).json()["id"]
        seen = api.get(f"/api/repositories/{id_}/session", params={"branch": "ai/x"}).json()
        assert NEEDS in seen["working"]["waits_for"]
        refused = api.post(
            f"/api/repositories/{id_}/session/messages",
            params={"branch": "ai/x"},
            json={"text": "more", "model": "builtin"},
        )
        assert (refused.status_code, refused.json()["code"]) == (409, "branch_busy")
        assert NEEDS in refused.text
        (listed,) = api.get(f"/api/repositories/{id_}/sessions").json()["sessions"]
        assert there.run("session", "list", "--json", cwd=repo).document == [listed]
        (branch,) = api.get(f"/api/repositories/{id_}/branches", params={"prefix": "ai/x"}).json()["items"]
        (shown,) = [each for each in there.run("branch", "list", "--json", cwd=repo).document if each["name"] == "ai/x"]
        assert {**branch, "tip": branch["commit"], "default": branch["is_default"]} == shown
    shown = there.run("session", "show", "-b", "ai/x", "--json", cwd=repo)
    assert shown.document["working"] == seen["working"]
    told_here = there.run("session", "show", "-b", "ai/x", cwd=repo)
    assert NEEDS in " ".join((told_here.out + told_here.err).split())
    done = there.run("chat", "--direct", "-b", "ai/x", "-m", message("second2"), cwd=repo)
    assert done.code == 0, done.err
    assert DONE in git(repo, "log", "--format=%s", "ai/x").splitlines()
    assert not provider.paid_again
    assert {state for state, _ in rows(there).values()} == {"done"}
    assert not any(said for _, said in rows(there).values())


def test_a_turn_that_waits_can_be_cancelled_where_the_key_is_missing(
    there: Beside, repo: Path, provider: Provider, git: Git
) -> None:
    killed_turn(there, repo, provider)
    there.serve(environ=NO_KEY)
    until(lambda: any(NEEDS in said for _, said in rows(there).values()), what=lambda: rows(there))
    ended = there.run("session", "cancel", "-b", "ai/x", cwd=repo, environ=NO_KEY)
    assert "Ended the turn on ai/x." in ended.out, ended.err

    def asked() -> list[str]:
        turns = there.run("session", "show", "-b", "ai/x", "--json", cwd=repo).document["turns"]
        return [turn["asked"] for turn in turns]

    # The server writes what was said into the branch when the run has ended.
    until(lambda: asked() == [message("first1")], what=asked)


def test_a_worker_without_the_key_leaves_it_and_is_idle(there: Beside, repo: Path, provider: Provider) -> None:
    killed_turn(there, repo, provider)
    assert there.run("worker", "--until-idle", environ=NO_KEY).code == 0
    assert [state for state, _ in rows(there).values()] == ["running"]


def test_a_project_waits_with_its_reason_and_direct_goes_on(there: Beside, tmp_path: Path, provider: Provider) -> None:
    (tmp_path / "idea.txt").write_text(f"task slow1: {OPEN}\n")
    there._place.joinpath("config.yaml").write_text(f"models:\n  default: {MODEL}\n")
    command = there.start("run", "idea.txt", "--name", "Party", "--direct", "--json")
    until(lambda: provider.asked or not command.alive, what=lambda: command.err)
    command.signal(signal.SIGKILL)
    command.ended()
    asked = sum(provider.counts.values())
    there.serve(environ=NO_KEY)
    until(lambda: any(NEEDS in said for _, said in rows(there).values()), what=lambda: rows(there))
    time.sleep(_BEATS)
    shown = there.run("project", "status", "party", "--json", environ=NO_KEY).document
    assert (shown["phase"], NEEDS in shown["problem"]) == ("distilling", True), shown
    refused = there.run("project", "resume", "party", environ=NO_KEY)
    assert NEEDS in refused.err, refused.out + refused.err
    assert [state for state, _ in rows(there).values()] == ["running"], "nobody went on by rules"
    assert sum(provider.counts.values()) == asked
