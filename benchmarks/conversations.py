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
from forge.sessions.conversation import conversation, read_head, write_turn
from forge.sessions.messages import AssistantMessage, UserMessage
from forge.sessions.trailers import TURN
from forge.sessions.turns import Turn, turn_id

_TURNS = 500
_WINDOW = 40
_EARLY = 5
_BRANCH = "ai/chat"
_WORDS = [f"{a}{b}" for a in ("re", "co", "un", "de", "pro", "in") for b in ("build", "test", "file", "move", "name")]


def sessions(root: Path) -> Iterator[Row | Figure]:
    """500 turns of about 4 KB each, durable. What is compared is done in turns, each in a repository of its own."""
    early, late, whole = (_begun(root / f"session-{name}") for name in ("early", "late", "rewritten"))
    said = _Said()
    for number in range(1, _TURNS - _WINDOW + 1):
        text = said.next()
        _own(late, number, text)
        if number < _EARLY:
            _own(early, number, text)
    young: list[float] = []
    old: list[float] = []
    rewritten: list[float] = []
    for place in range(_WINDOW):
        text = said.next()
        sides = [(young, early, _EARLY + place), (old, late, len(said.all))]
        # Who is first alternates: it comes after the largest write.
        for times, repo, number in sides if place % 2 else reversed(sides):
            times.append(_own(repo, number, text))
        rewritten.append(_rewritten(whole, said.all))
    yield Row(
        f"commit of turn {_TURNS}",
        "one rewritten `session.json`",
        "",
        statistics.median(old),
        statistics.median(rewritten),
        None,
    )
    # Each pair was timed in the same moment of a machine that may be busy.
    ratio = statistics.median(later / earlier for later, earlier in zip(old, young, strict=True))
    yield Figure(f"commit of turn {_TURNS} against turn {_EARLY}", "", ratio, "×", 1.2)
    yield Figure(f"load a session of {_TURNS} turns", "", _loaded(late.git_dir) * 1000, "ms", 120)
    yield Figure(f"{_TURNS} turns stored, after gc, against their text", "", _stored(late.git_dir, said), "×", 1.3)


def _loaded(place: Path) -> float:
    """The shortest of a few, each in a repository that was just opened: others use the machine too."""
    times = []
    for _ in range(5):
        files = Repository.open(place).commit_vfs(_BRANCH)
        start = time.perf_counter()
        assert len(conversation(files)) == _TURNS
        times.append(time.perf_counter() - start)
    return min(times)


def _begun(place: Path) -> Repository:
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    repo = Repository.open(place)
    first = repo.workspace("main")
    first.write_file("README.md", "A conversation.\n")
    first.commit("begin")
    repo.create_branch(_BRANCH, "main")
    return repo


class _Said:
    def __init__(self) -> None:
        self._random = random.Random(1)
        self.all: list[str] = []

    def next(self) -> str:
        self.all.append(" ".join(self._random.choice(_WORDS) for _ in range(600)))
        return self.all[-1]


def _own(repo: Repository, number: int, text: str) -> float:
    start = time.perf_counter()
    vfs = repo.workspace(_BRANCH)
    items = (UserMessage("go on", "A <a@example.org>", 1.0), AssistantMessage(text, model="scripted"))
    turn = Turn(turn_id(number, f"{number:08x}"), read_head(vfs).last, 1.0, "scripted", items)
    write_turn(vfs, turn)
    vfs.commit("chat: go on", trailers={TURN: turn.id})
    return time.perf_counter() - start


def _rewritten(repo: Repository, said: list[str]) -> float:
    start = time.perf_counter()
    vfs = repo.workspace(_BRANCH)
    vfs.write_record(".forge/session.json", json.dumps({"messages": said}, indent=1).encode())
    vfs.commit("chat: go on")
    return time.perf_counter() - start


def _stored(place: Path, said: _Said) -> float:
    """Bytes on disk of a clone."""
    clone = place.parent.with_name("session-clone.git")
    git = ["git", "clone", "-q", "--bare", "--single-branch", "--branch", _BRANCH, f"file://{place}", str(clone)]
    subprocess.run(git, check=True)
    subprocess.run(["git", "-C", clone, "gc", "-q"], check=True)
    packed = sum(file.stat().st_size for file in (clone / "objects").rglob("*") if file.is_file())
    return packed / sum(len(text) for text in said.all)
