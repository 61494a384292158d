"""Turns on many branches at once, or one after another, with a recorded model; and whether any turn was lost."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from forge.agents.turn import TurnEnd, TurnRequest
from forge.app.admin.settings import load_settings
from forge.app.process.workshop import Workshop, open_workshop
from forge.app.repositories.catalog import subject_of
from forge.app.sessions.messages import WORKFLOW, end_of, run_of, send_message
from forge.engine.engine import BRANCHES
from forge.git import Repository
from forge.sessions.turns import TurnStatus


@dataclass(frozen=True, slots=True)
class Finished:
    branch: str
    latency: float
    at: float
    end: TurnEnd


@dataclass(frozen=True, slots=True)
class Crowd:
    """Turns in the order in which they ended."""

    seconds: float
    finished: tuple[Finished, ...]
    grown: float
    """Kilobytes by which the process grew for each turn in the second half, when all that is loaded once is there."""

    @property
    def latencies(self) -> list[float]:
        return sorted(one.latency for one in self.finished)

    @property
    def spread(self) -> int:
        """By how many turns any branch was ever ahead of another that had more to do."""
        done = Counter(dict.fromkeys((one.branch for one in self.finished), 0))
        widest = 0
        for one in self.finished:
            done[one.branch] += 1
            widest = max(widest, max(done.values()) - min(done.values()))
        return widest


async def crowd(place: Path, branches: int, each: int, *, together: bool) -> Crowd:
    """`each` turns on every branch; with `together` all branches at the same time."""
    repo = prepared(place, branches)
    environ = environment(place, each)
    finished: list[Finished] = []
    grown: list[int] = []
    async with open_workshop(load_settings(repo, environ), environ) as shop:
        began = time.perf_counter()
        if together:
            await asyncio.gather(*(_branch(shop, repo, n, each, finished, grown) for n in range(branches)))
        else:
            places = [(f"ai/{n}", number) for number in range(each) for n in range(branches)]
            finished = [await _turn(shop, repo, *place) for place in places]
        seconds = time.perf_counter() - began
    later = grown[len(grown) // 2 :]
    return Crowd(seconds, tuple(finished), (later[-1] - later[0]) / len(later) if later else 0.0)


async def _branch(
    shop: Workshop, repo: Repository, n: int, each: int, finished: list[Finished], grown: list[int]
) -> None:
    for number in range(each):
        finished.append(await _turn(shop, repo, f"ai/{n}", number))
        grown.append(resident())


async def _turn(shop: Workshop, repo: Repository, branch: str, number: int) -> Finished:
    began = time.perf_counter()
    sent = await send_message(shop, repo, branch, f"do number {number}")
    end = await end_of(shop, sent.run)
    now = time.perf_counter()
    return Finished(branch, now - began, now, end)


async def enqueue(shop: Workshop, repo: Repository, branch: str, number: int) -> str:
    """A turn that any process may do which serves the queue; gives its run."""
    mark = f"{branch.encode().hex()[-6:]}{number:06x}"
    model = shop.environ["FORGE_MODEL"]
    request = TurnRequest(mark, branch, f"do number {number}", "Ada <ada@example.org>", time.time(), model)
    arguments = {"repository": str(repo.git_dir), "agent": None, **asdict(request)}
    subject = subject_of(repo, branch)
    await shop.engine.enqueue(BRANCHES, WORKFLOW, arguments, run_id=run_of(mark), partition=subject.id, subject=subject)
    return run_of(mark)


def prepared(place: Path, branches: int) -> Repository:
    repo = Repository.init(place / "repo")
    files = repo.workspace("main")
    for number in range(200):
        files.write_file(f"src/part{number % 10}/file{number}.py", f"def name{number}():\n    return {number}\n" * 20)
    files.commit("first")
    for n in range(branches):
        repo.create_branch(f"ai/{n}", "main")
    return repo


def environment(place: Path, each: int) -> dict[str, str]:
    """Answers come from a recording, at once; nothing is read from the person's own settings."""
    recording = place / "recording.jsonl"
    recording.write_text("".join(json.dumps(answer) + "\n" for number in range(each) for answer in _answers(number)))
    return {
        "HOME": os.environ.get("HOME", "/"),
        "PATH": os.environ.get("PATH", os.defpath),
        "FORGE_DATA_DIR": str(place / "data"),
        "FORGE_MODEL": f"recorded:{recording}",
    }


def _answers(number: int) -> Iterator[dict[str, object]]:
    path = f"notes/{number}.txt"
    yield {"text": "I write.", "calls": [{"name": "write_file", "arguments": {"path": path, "content": "one\n"}}]}
    change = {"path": path, "search": "one", "replace": "two"}
    yield {"text": "I change.", "calls": [{"name": "search_replace", "arguments": change}]}
    yield {"text": f"Done.\n\nCommit: Do number {number}"}


def assert_all_done(repo: Repository, finished: Sequence[TurnEnd], branches: int, each: int) -> None:
    """Nothing is lost: every branch has every turn as one commit, in order."""
    assert all(end.status is TurnStatus.DONE for end in finished), [end.reason for end in finished if end.reason]
    assert len({end.commit for end in finished}) == branches * each
    for n in range(branches):
        subjects = [commit.subject for commit in repo.log(f"ai/{n}", exclude=["refs/heads/main"])]
        assert subjects[::-1] == [f"Do number {number}" for number in range(each)], (n, subjects)
        files = repo.commit_vfs(f"ai/{n}")
        assert all(files.read_file(f"notes/{number}.txt") == "two\n" for number in range(each))


def resident() -> int:
    """Kilobytes of memory that the process has."""
    status = Path("/proc/self/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))
