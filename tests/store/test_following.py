"""Whether other processes follow: known at once, of killed ones too; where nobody can tell, it may be so."""

from __future__ import annotations

import fcntl
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from forge.events import TextStreamed
from forge.store import follower_lock
from forge.store.database import Database
from forge.store.follower_lock import Following
from forge.store.listeners import Listeners
from forge.store.relay import SqliteRelay

pytestmark = pytest.mark.req("X-05")

_ANOTHER = """
import sys
from pathlib import Path
from forge.store.follower_lock import Following
one = Following(Path(sys.argv[1]))
one.begin()
print("follows", flush=True)
sys.stdin.read()
"""


def test_another_follower_is_seen_and_oneself_is_not(tmp_path: Path) -> None:
    one, other = Following(tmp_path / "followers"), Following(tmp_path / "followers")
    assert not one.has_others()
    one.begin()
    one.begin()
    assert (one.has_others(), other.has_others()) == (False, True)
    other.begin()
    assert one.has_others()
    other.end()
    assert not one.has_others()
    one.end()


def test_a_follower_that_was_killed_follows_no_more(tmp_path: Path) -> None:
    words = [sys.executable, "-c", _ANOTHER, str(tmp_path / "followers")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as another:
        assert another.stdout is not None
        assert another.stdout.readline() == "follows\n"
        one = Following(tmp_path / "followers")
        assert one.has_others()
        another.kill()
    assert not one.has_others()
    one.end()


def test_where_nobody_can_tell_somebody_may_follow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert Following(tmp_path / "not there" / "followers").has_others()
    one = Following(tmp_path / "followers")

    def refused(*_: object) -> None:
        raise OSError

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "fcntl", refused)
        one.begin()
        assert one.has_others()
    monkeypatch.setattr(follower_lock, "_GET", None)
    assert one.has_others()
    one.end()


def test_pieces_for_nobody_are_not_written(tmp_path: Path) -> None:
    database = Database.open(f"sqlite:///{tmp_path}/forge.db")
    sender, follower = SqliteRelay(database, Listeners()), SqliteRelay(database, Listeners())
    sender.send([("t", TextStreamed("turn", "unheard"))])
    follower.start()
    sender.send([("t", TextStreamed("turn", "heard"))])
    follower.close()
    sender.send([("t", TextStreamed("turn", "unheard"))])
    sender.close()
    with sqlite3.connect(tmp_path / "forge.db") as reading:
        rows = reading.execute("SELECT data FROM live_pieces").fetchall()
    reading.close()
    database.close()
    assert [("unheard" in row[0], "heard" in row[0]) for row in rows] == [(False, True)]


def test_threads_that_look_at_once_open_it_once(tmp_path: Path) -> None:
    for number in range(100):
        one, together = Following(tmp_path / f"{number}"), threading.Barrier(2)

        def look(one: Following = one, together: threading.Barrier = together) -> None:
            together.wait()
            one.has_others()

        thread = threading.Thread(target=look)
        thread.start()
        together.wait()
        one.begin()
        thread.join()
        assert not one.has_others(), "it takes itself for another"
        one.end()
