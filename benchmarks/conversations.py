"""What a long conversation costs: a file per turn against one file that is written anew with every turn."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Figure, Row
from forge.git import Repository
from forge.sessions.head import read_head
from forge.sessions.messages import AssistantMessage, UserMessage
from forge.sessions.turns import Turn, conversation, turn_id, write_turn

_TURNS = 500
_WINDOW = 20
_WORDS = [f"{a}{b}" for a in ("re", "co", "un", "de", "pro", "in") for b in ("build", "test", "file", "move", "name")]


def sessions(root: Path) -> Iterator[Row | Figure]:
    """500 turns of about 4 KB each, durable, on two branches of one repository."""
    place = root / "session"
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    repo = Repository.open(place)
    first = repo.workspace("main")
    first.write_file("README.md", "A conversation.\n")
    first.commit("begin")
    for name in ("files", "rewritten"):
        repo.create_branch(name, "main")
    said = _Said()
    own: list[float] = []
    rewritten: list[float] = []
    for number in range(1, _TURNS + 1):
        text = said.next()
        own.append(_own(repo, number, text))
        rewritten.append(_rewritten(repo, said.all))
    early, late = statistics.median(own[4 : 4 + _WINDOW]), statistics.median(own[-_WINDOW:])
    yield Row(
        f"commit of turn {_TURNS}",
        "one rewritten `session.json`",
        "",
        late,
        statistics.median(rewritten[-_WINDOW:]),
        None,
    )
    yield Figure(f"commit of turn {_TURNS} against turn 5", "", late / early, "×", 1.2)
    start = time.perf_counter()
    turns = conversation(repo.commit_vfs("files"))
    yield Figure(f"load a session of {len(turns)} turns", "", (time.perf_counter() - start) * 1000, "ms")
    yield Figure(f"{_TURNS} turns stored, after gc, against their text", "", _stored(place, said), "×", 1.3)


class _Said:
    def __init__(self) -> None:
        self._random = random.Random(1)
        self.all: list[str] = []

    def next(self) -> str:
        self.all.append(" ".join(self._random.choice(_WORDS) for _ in range(600)))
        return self.all[-1]


def _own(repo: Repository, number: int, text: str) -> float:
    start = time.perf_counter()
    vfs = repo.workspace("files")
    items = (UserMessage("go on", "A <a@example.org>", 1.0), AssistantMessage(text, model="scripted"))
    write_turn(vfs, Turn(turn_id(number, f"{number:08x}"), read_head(vfs).last, 1.0, "scripted", items))
    vfs.commit("chat: go on")
    return time.perf_counter() - start


def _rewritten(repo: Repository, said: list[str]) -> float:
    start = time.perf_counter()
    vfs = repo.workspace("rewritten")
    vfs.write_file(".forge/session.json", json.dumps({"messages": said}, indent=1))
    vfs.commit("chat: go on")
    return time.perf_counter() - start


def _stored(place: Path, said: _Said) -> float:
    """Bytes on disk of a clone that has only the branch with a file per turn."""
    clone = place.with_name("session-clone.git")
    git = ["git", "clone", "-q", "--bare", "--single-branch", "--branch", "files", f"file://{place}", str(clone)]
    subprocess.run(git, check=True)
    subprocess.run(["git", "-C", clone, "gc", "-q"], check=True)
    packed = sum(file.stat().st_size for file in (clone / "objects").rglob("*") if file.is_file())
    return packed / sum(len(text) for text in said.all)
