"""A server and two workers on one PostgreSQL database: turns are shared by all of them, also after one has died."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.cli.beside import Beside, beside, until
from tests.support.postgres import Server, postgres
from tests.support.provider import Asked, Provider, message, working
from tests.support.repositories import repository

__all__ = ["postgres"]

pytestmark = [pytest.mark.slow, pytest.mark.req("X-05")]
BRANCHES = [f"ai/b{number}" for number in range(6)]


@pytest.fixture
def provider() -> Iterator[Provider]:
    def slowly(asked: Asked) -> Any:
        return working(asked, pause=0.4, command_seconds=0.1)

    with Provider(slowly) as made:
        yield made


@pytest.fixture
def url(postgres: Server) -> str:
    return postgres.new_database()


@pytest.fixture
def there(tmp_path: Path, provider: Provider, url: str) -> Iterator[Beside]:
    with beside(tmp_path, {**provider.environ, "FORGE_DATABASE": url}) as made:
        yield made


def asked(url: str, query: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


def holders(url: str) -> dict[str, int]:
    """Every turn so far, and the process that had it last; those that nobody has begun are left out."""
    rows = asked(url, "SELECT workflow_uuid, executor_id FROM dbos.workflow_status WHERE status <> 'ENQUEUED'")
    return {run: int(name.rsplit("-", 2)[1]) for run, name in rows if run.startswith("turn-")}


def test_turns_are_shared_by_the_server_and_workers_and_by_those_who_are_left(
    there: Beside, provider: Provider, url: str, tmp_path: Path
) -> None:
    repo = repository(tmp_path, *BRANCHES)
    server = there.serve()
    workers = [there.start("worker") for _ in range(2)]
    team = {server.pid, *(worker.pid for worker in workers)}
    until(lambda: asked(url, "SELECT count(*) FROM workers WHERE serves AND beats > 1")[0][0] == len(team))
    told = there.told()
    headers = {"Authorization": f"Bearer {told['secret']}"}
    base = f"http://127.0.0.1:{told['port']}"
    with httpx.Client(base_url=base, headers=headers, trust_env=False, timeout=30) as client:
        address = f"/api/repositories/{client.post('/api/repositories', json={'path': str(repo)}).json()['id']}"
        for number, branch in enumerate(BRANCHES):
            text = {"text": message(f"first{number}")}
            sent = client.post(f"{address}/session/messages", params={"branch": branch}, json=text)
            assert sent.status_code == 202, sent.text
        until(lambda: len(holders(url)) == len(BRANCHES))
        begun = holders(url)
        assert Counter(begun.values()) == dict.fromkeys(team, 2)
        workers[0].end()
        for branch in BRANCHES:
            until(lambda branch=branch: not working_on(client, address, branch))
            newest = client.get(f"{address}/session/turns", params={"branch": branch}).json()["items"][0]
            assert newest["status"] == "done"
    ended = holders(url)
    moved = Counter(ended[run] for run, pid in begun.items() if pid == workers[0].pid)
    assert moved == {server.pid: 1, workers[1].pid: 1}
    assert sum(provider.paid_again.values()) == 0


def working_on(client: httpx.Client, address: str, branch: str) -> bool:
    return bool(client.get(f"{address}/session", params={"branch": branch}).json()["working"])


def test_turns_go_only_to_workers_that_have_the_key(
    there: Beside, provider: Provider, url: str, tmp_path: Path
) -> None:
    repo = repository(tmp_path, *BRANCHES)
    server = there.serve()
    keyed, keyless = there.start("worker"), there.start("worker", environ={"ANTHROPIC_API_KEY": ""})
    until(lambda: asked(url, "SELECT count(*) FROM workers WHERE offers LIKE '%\"anthropic\"%'")[0][0] == 2)
    until(lambda: asked(url, "SELECT count(*) FROM workers WHERE serves AND beats > 1")[0][0] == 3)
    told = there.told()
    headers = {"Authorization": f"Bearer {told['secret']}"}
    base = f"http://127.0.0.1:{told['port']}"
    with httpx.Client(base_url=base, headers=headers, trust_env=False, timeout=30) as client:
        address = f"/api/repositories/{client.post('/api/repositories', json={'path': str(repo)}).json()['id']}"
        for number, branch in enumerate(BRANCHES):
            text = {"text": message(f"first{number}")}
            assert client.post(f"{address}/session/messages", params={"branch": branch}, json=text).status_code == 202
        until(lambda: len(holders(url)) == len(BRANCHES))
        keyed.end()
        for branch in BRANCHES:
            until(lambda branch=branch: not working_on(client, address, branch))
            newest = client.get(f"{address}/session/turns", params={"branch": branch}).json()["items"][0]
            assert newest["status"] == "done", newest
    assert set(holders(url).values()) == {server.pid}, keyless.pid
    assert sum(provider.paid_again.values()) == 0
