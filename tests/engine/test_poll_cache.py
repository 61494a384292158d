"""A process that has nothing to do asks its database next to nothing, and finds work at once when there is some."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from forge.engine import poll_cache
from forge.engine.poll_cache import Changes, cache_polls


class Asked:
    """Stands for DBOS's database: counts what it is asked."""

    def __init__(self) -> None:
        self.waiting: list[str] = []
        self.times = 0

    def start_queued_workflows(self, queue: str, executor: str, version: str, part: str | None) -> Any:
        self.times += 1
        taken, self.waiting = self.waiting, []
        return taken, None

    def start_queued_partitioned_workflows(self, queue: str) -> list[str]:
        return []

    def get_queue(self, name: str) -> object:
        return object()

    def count_pending_queue_workflows(self, name: str) -> int:
        return 0

    def get_queue_partitions(self, name: str) -> list[str]:
        return []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE workflow_status (queue_name TEXT, status TEXT)")
    connection.close()
    return tmp_path / "runs.db"


def write(path: Path, status: str = "ENQUEUED") -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO workflow_status VALUES ('builds', ?)", (status,))
    connection.close()


def test_a_queue_is_asked_again_only_when_something_waits_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(poll_cache, "_LONGEST_SECONDS", 3600.0)
    asked, changes = Asked(), Changes(path)
    cache_polls(asked, changes)

    def look() -> list[str]:
        found: list[str] = asked.start_queued_workflows("builds", "me", "forge-1", None)[0]
        return found

    assert [look() for _ in range(5)] == [[]] * 5
    assert asked.times == 1
    write(path, "PENDING")
    assert look() == []
    assert asked.times == 1
    asked.waiting = ["run"]
    write(path)
    assert look() == ["run"]
    assert look() == []
    assert asked.get_queue("builds") is asked.get_queue("builds")
    changes.close()


def test_an_answer_is_not_kept_for_long_even_when_nobody_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, changes = Asked(), Changes(path)
    cache_polls(asked, changes)
    monkeypatch.setattr(poll_cache, "_LONGEST_SECONDS", 0.0)
    asked.start_queued_workflows("builds", "me", "forge-1", None)
    asked.start_queued_workflows("builds", "me", "forge-1", None)
    assert asked.times == 2
    changes.close()
