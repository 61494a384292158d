"""Turns of real processes that are cancelled, taken over, or let down by their provider."""

from __future__ import annotations

import re
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.git import Repository
from forge.git.refs.reservations import Reservation, reservation, reservations
from forge.sessions.conversation import conversation
from forge.sessions.messages import AssistantMessage
from forge.sessions.turns import Turn, TurnStatus
from tests.support.forked_commands import Command, Forked
from tests.support.provider import Asked, working
from tests.support.repositories import repository
from tests.support.soak import evidence
from tests.support.soak.turns import Stage, staged
from tests.support.stand_in import Reply

pytestmark = pytest.mark.slow

CONFIG = "network: {connect_seconds: 5, idle_seconds: 4, retry_seconds: 5}\n"
THOUGHT = ("I think ", "about ", "it ", "and ", "so ", "on.")
WRITE = ("write_file", {"path": "half.txt", "content": "half\n"})


class Script:
    """Answers by the first word of a task: what goes wrong, or nothing."""

    def __init__(self) -> None:
        self.times: Counter[tuple[str, int]] = Counter()

    def __call__(self, asked: Asked) -> Reply:
        self.times[asked.place] += 1
        first = self.times[asked.place] == 1
        kind = re.sub(r"\d", "", asked.task)
        if asked.number == 1 and kind in {"talking", "broken", "silent", "cut", "empty"}:
            return Reply(("I begin.",), (WRITE,))
        match kind:
            case "talking":
                return Reply(THOUGHT, pause=30, pause_from=6)
            case "running" if asked.number == 1:
                return Reply(("I begin.",), (WRITE, ("run_command", {"command": "sleep 60"})))
            case "crowded" if first:
                return Reply(status=429, headers={"retry-after": "0"}, error=_error("rate_limit_error"))
            case "broken":
                return Reply(status=500, error=_error("api_error"))
            case "silent":
                return Reply(THOUGHT, pause=60, pause_from=2)
            case "cut":
                return Reply(THOUGHT, cut_after=4)
            case "mended" if first:
                return Reply(THOUGHT, cut_after=4)
            case "empty":
                return Reply()
            case "slow" if asked.number == 2:
                return Reply(THOUGHT, (("run_command", {"command": "echo slow >> ran.log"}),), pause=0.4)
        return working(asked, pause=0)


def _error(kind: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": "not now"}}


def last_turn(stage: Stage, branch: str) -> Turn:
    return conversation(Repository.open(stage.repo).commit_vfs(branch))[-1]


def assert_only_the_conversation(stage: Stage, branch: str) -> None:
    changed = evidence.git(stage.repo, "diff", "--name-only", "main", branch).split()
    assert changed
    assert all(path.startswith(".forge/session") for path in changed), changed
    assert evidence.git(stage.repo, "rev-list", "--count", f"main..{branch}").strip() == "1"
    assert_tidy(stage, branch)


def assert_tidy(stage: Stage, branch: str) -> None:
    assert reservation(evidence.common_dir(stage.repo), branch) is None
    turn = last_turn(stage, branch).id
    assert not evidence.git(stage.repo, "for-each-ref", f"refs/forge/turns/{turn}")


def wait_until(condition: Callable[[], object], seconds: float = 60) -> float:
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < seconds, "it did not come true"
        time.sleep(0.005)
    return time.monotonic() - began


def said(command: Command, kind: str, text: str) -> Callable[[], bool]:
    def heard() -> bool:
        assert not command.ended.is_set(), command.complaints
        return any(line["type"] == kind and text in str(line) for line in command.lines)

    return heard


@pytest.mark.req("G-06", "X-04")
def test_a_cancelled_turn_keeps_the_conversation_and_nothing_else(tmp_path: Path, forked: Forked) -> None:
    repo = repository(tmp_path)
    with staged(forked, tmp_path, repo, Script()) as stage:
        dead = stage.chat("talking3", branch="ai/talking3")
        chats = {task: stage.chat(task, branch=f"ai/{task}") for task in ("talking1", "talking2", "running1")}
        for task, command in chats.items():
            shown = ("ToolStarted", "sleep 60") if task == "running1" else ("TextStreamed", "about")
            wait_until(said(command, *shown))
        wait_until(said(dead, "TextStreamed", "about"))
        assert dead.kill()
        assert chats["talking1"].signal(signal.SIGINT)
        assert chats["running1"].signal(signal.SIGINT)
        for task in ("talking2", "talking3"):
            cancelling = stage.start("-C", str(repo), "session", "cancel", "--branch", f"ai/{task}")
            assert cancelling.wait() == 0, cancelling.complaints
        for task, command in chats.items():
            assert command.wait() == 130, command.complaints
            end = command.wait_for("result")
            assert end["stopped"] == {"why": "cancelled", "reason": "Cancelled by the person."}
            assert_only_the_conversation(stage, f"ai/{task}")
            turn = last_turn(stage, f"ai/{task}")
            assert (turn.status, task in turn.asked) == (TurnStatus.CANCELLED, True)
        assert_only_the_conversation(stage, "ai/talking3")
        assert last_turn(stage, "ai/talking3").status is TurnStatus.CANCELLED
        heard = [item.text for item in last_turn(stage, "ai/talking1").items if isinstance(item, AssistantMessage)]
        assert heard[0] == "I begin."
        assert "I think about" in heard[1], "what the model had said when it was interrupted is kept"
        # The sandbox is gone with its command, and the branch is free for the next message.
        after = [stage.chat(f"work{n}", branch=f"ai/{task}") for n, task in enumerate(chats)]
        for n, (task, command) in enumerate(zip(chats, after, strict=True)):
            assert command.wait() == 0, command.complaints
            files = Repository.open(repo).commit_vfs(f"ai/{task}")
            assert files.read_file(f"notes/work{n}.txt") == f"two work{n}\n"
            assert [turn.status.value for turn in conversation(files)] == ["cancelled", "done"]
        evidence.assert_sound(repo)


@pytest.mark.req("G-06", "X-04")
def test_a_second_interrupt_leaves_the_turn_to_the_next_message(tmp_path: Path, forked: Forked) -> None:
    repo = repository(tmp_path)
    with staged(forked, tmp_path, repo, Script()) as stage:
        chat = stage.chat("talking1")
        wait_until(said(chat, "TextStreamed", "about"))
        chat.signal(signal.SIGINT)
        chat.signal(signal.SIGINT)
        assert chat.wait() == 130
        assert evidence.git(repo, "rev-list", "--count", f"main..{stage.branch}").strip() in {"0", "1"}
        after = stage.start("-C", str(repo), "session", "cancel", "--branch", stage.branch)
        assert after.wait() == 0, after.complaints
        assert_only_the_conversation(stage, stage.branch)


@pytest.mark.req("X-04", "G-10")
def test_a_worker_goes_on_with_the_turn_of_another_that_was_killed(tmp_path: Path, forked: Forked) -> None:
    repo = repository(tmp_path)
    with staged(forked, tmp_path, repo, Script()) as stage:
        workers = [stage.worker(until_idle=False) for _ in range(2)]
        wait_until(lambda: all("Working" in worker.complaints for worker in workers))
        chat = stage.chat("slow1")
        chat.wait_for("TurnStarted")
        assert chat.kill()
        first = _taken_over(stage, chat.pid)
        holder = next(worker for worker in workers if f'"pid": {worker.pid},' in first.process)
        wait_until(lambda: stage.provider.counts["slow1", 2])
        assert holder.kill()
        began = time.monotonic()
        _taken_over(stage, holder.pid)
        assert time.monotonic() - began < 5
        wait_until(lambda: reservations(evidence.common_dir(repo)) == ())
        (turn,) = conversation(Repository.open(repo).commit_vfs(stage.branch))
        assert turn.status is TurnStatus.DONE
        assert stage.provider.counts["slow1", 1] == 1
        assert Repository.open(repo).commit_vfs(stage.branch).read_file("ran.log") == "slow\n"
        last = next(worker for worker in workers if worker is not holder)
        assert last.signal(signal.SIGTERM)
        assert last.wait() == 0
        assert_tidy(stage, stage.branch)


def _taken_over(stage: Stage, dead: int) -> Reservation:
    """Once somebody other than the dead process holds the branch."""
    common = evidence.common_dir(stage.repo)
    found: list[Reservation] = []

    def taken() -> bool:
        held = reservation(common, stage.branch)
        if held is not None and f'"pid": {dead},' not in held.process:
            found.append(held)
        return bool(found)

    wait_until(taken)
    return found[0]


@pytest.mark.req("X-03", "G-06")
def test_a_provider_in_trouble_costs_no_file_and_no_word(tmp_path: Path, forked: Forked) -> None:
    repo = repository(tmp_path)
    with staged(forked, tmp_path, repo, Script(), config=CONFIG) as stage:
        lost = {
            "broken1": "status 500: not now",
            "silent1": "did not answer in time",
            "cut1": "closed connection",
            "empty1": "empty answer, twice",
        }
        tasks = [*lost, "crowded1", "mended1"]
        chats = {task: stage.chat(task, branch=f"ai/{task}") for task in tasks}
        for task, word in lost.items():
            command = chats[task]
            assert command.wait() == 1, (task, command.complaints)
            end = command.wait_for("result")
            assert end["stopped"]["why"] == "failed"
            assert word in end["stopped"]["reason"], end["stopped"]
            assert_only_the_conversation(stage, f"ai/{task}")
            turn = last_turn(stage, f"ai/{task}")
            assert (turn.status, task in turn.asked) == (TurnStatus.FAILED, True)
            assert turn.reason == end["stopped"]["reason"]
        for task in ("crowded1", "mended1"):
            assert chats[task].wait() == 0, chats[task].complaints
            files = Repository.open(repo).commit_vfs(f"ai/{task}")
            assert files.read_file(f"notes/{task}.txt") == f"two {task}\n"
            assert stage.provider.counts[task, 1] == 2
        assert any(line["type"] == "TextRestarted" for line in chats["mended1"].lines)
        after = stage.chat("work1", branch="ai/broken1")
        assert after.wait() == 0, after.complaints
        evidence.assert_sound(repo)
