"""`kill -9` at random moments of turns: each goes on, ends in one commit, and pays for no answer twice."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import re
import shutil
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from forge.git import Repository
from forge.git.refs.reservations import reservation, reservations
from forge.sessions.conversation import conversation
from forge.sessions.messages import ToolResult
from forge.sessions.turns import TurnStatus
from tests.support.forked_commands import Command, Forked
from tests.support.provider import Answers, Provider, message, working
from tests.support.repositories import repository
from tests.support.soak import evidence

_PROVIDER_SECONDS = 0.05
"""How long the provider may take to see a request that was sent, and how a connection ended."""
_TASK = re.compile(r"task ([a-z]+[0-9]+):")


@dataclass(frozen=True, slots=True)
class TurnRun:
    kills: int
    turns: int
    unheard: int
    """Messages whose process died before it had taken them: there is no turn of theirs."""
    repeated: int
    """Requests sent again although the provider had seen them before."""
    repeated_after_the_answer: int
    """Of these, the ones whose answer had been sent to its end, even if the process died before it had read that."""
    paid_again: int
    """Of these, the ones whose answer had also been read to its end."""
    saved: int
    """Answers that were asked for and not on record at the kill, and that were not asked for again."""
    commands_again: int
    """Commands run again because the kill came before their result was on record."""
    recovery_median: float
    recovery_slowest: float
    """Seconds from the start of a process to the interrupted turn going on, without loading Python modules."""


@dataclass(slots=True)
class Stage:
    """A repository with a person in it, a provider and processes of Forge."""

    repo: Path
    data: Path
    provider: Provider
    forge: Forked
    environ: dict[str, str]
    commands: Path
    before: str
    branch: str = "ai/work"
    started: list[Command] = field(default_factory=list)

    def chat(self, task: str, *, branch: str | None = None) -> Command:
        name = branch or self.branch
        return self.start("-C", str(self.repo), "chat", "--branch", name, "-m", message(task), "--stream-json")

    def worker(self, *, until_idle: bool = True) -> Command:
        return self.start("worker", *(["--until-idle"] if until_idle else []))

    def start(self, *args: str) -> Command:
        self.started.append(self.forge.start(*args, environ=self.environ))
        return self.started[-1]


@contextmanager
def staged(forge: Forked, folder: Path, repo: Path, answers: Answers = working, *, config: str = "") -> Iterator[Stage]:
    """The person has changed a file of the checkout, added one, and staged a third."""
    (repo / "src/file-0.txt").write_text("not committed\n")
    (repo / "untracked.txt").write_text("mine\n")
    (repo / "src/file-1.txt").write_text("staged\n")
    evidence.git(repo, "add", "src/file-1.txt")
    commands = _counting_commands(folder)
    (folder / "config.yaml").write_text(config)
    environ = {
        **os.environ,
        "FORGE_DATA_DIR": str(folder / "data"),
        "FORGE_CONFIG": str(folder / "config.yaml"),
        "PATH": f"{commands.parent}:{os.environ['PATH']}",
    }
    with Provider(answers) as provider:
        environ |= provider.environ
        stage = Stage(repo, folder / "data", provider, forge, environ, commands, _checkout(repo))
        try:
            yield stage
        finally:
            for command in stage.started:
                command.kill()


def _counting_commands(folder: Path) -> Path:
    """A file with a line for each sandbox that was set up, where there are sandboxes."""
    real = shutil.which("bwrap")
    place = folder / "counting"
    place.mkdir()
    log = place / "commands.log"
    log.touch()
    if real is not None:
        shim = place / "bwrap"
        shim.write_text(f"#!/bin/sh\necho \"$*\" | tr '\\n' ' ' >> {log}\necho >> {log}\nexec {real} \"$@\"\n")
        shim.chmod(0o755)
    return log


def killed_in_lanes(forge: Forked, folder: Path, kills: int, *, lanes: int = 3, seed: int = 0) -> list[TurnRun]:
    """Several people at once, each with a repository of their own: most of the time of a turn is spent waiting."""

    def lane(number: int) -> TurnRun:
        place = folder / f"lane{number}"
        place.mkdir()
        repo = repository(place, "ai/work")
        return killed_during_turns(forge, place, repo, math.ceil(kills / lanes), seed=seed + number)

    with ThreadPoolExecutor(lanes) as pool:
        return list(pool.map(lane, range(lanes)))


def killed_during_turns(forge: Forked, folder: Path, repo: Path, kills: int, *, seed: int = 0) -> TurnRun:
    """One process at a time is killed; the next `forge chat` or `forge worker` goes on, and may be killed too."""
    chance = random.Random(seed)
    with staged(forge, folder, repo) as stage:
        chat = stage.chat("first0")
        chat.wait_for("TurnStarted")
        began = time.time()
        chat.wait_for("result")
        usual = _Usual(began - chat.asked, time.time() - began)
        assert chat.wait() == 0, chat.complaints
        seen = _Seen(stage, sent=["first0"])
        number = 0
        while seen.kills < kills:
            number += 1
            _one_round(stage, seen, f"t{number}", chance, usual)
        seen.finished(stage.worker())
        assert_turns(stage, seen.begun(), seen.sent)
        evidence.assert_log_tells_all(repo)
        evidence.assert_readable(repo)
        return seen.found()


@dataclass(frozen=True, slots=True)
class _Usual:
    """Seconds that a process takes to begin a turn, and the turn itself."""

    beginning: float
    turn: float


def _one_round(stage: Stage, seen: _Seen, task: str, chance: random.Random, usual: _Usual) -> None:
    seen.sent.append(task)
    chat = stage.chat(task)
    chat.started.wait(60)
    if chance.randrange(3):
        chat.wait_for("TurnStarted")
        time.sleep(chance.random() * usual.turn)
    else:
        time.sleep(chance.random() * (usual.beginning + usual.turn))
    seen.killed(chat)
    match chance.randrange(4):
        case 0:  # a worker finishes it without a new message
            seen.finished(stage.worker())
        case 1:  # the next message finishes it first
            seen.sent.append(f"after{task}")
            seen.finished(stage.chat(f"after{task}"))
        case 2:  # who goes on with it is killed too
            worker = stage.worker()
            worker.started.wait(60)
            time.sleep(chance.random() * (usual.beginning + usual.turn))
            seen.killed(worker)
            seen.finished(stage.worker())
        case _:  # the next round does
            return
    assert_turns(stage, seen.begun(), seen.sent)


@dataclass(slots=True)
class _Seen:
    """What was seen of a run, and what must stay as it was."""

    stage: Stage
    sent: list[str]
    kills: int = 0
    acknowledged: set[str] = field(default_factory=set)
    recoveries: list[float] = field(default_factory=list)
    unrecorded: set[tuple[str, int]] = field(default_factory=set)
    """Answers that were asked for and not on record when their process was killed."""
    _settled: list[tuple[dict[tuple[str, str], str], Counter[tuple[str, int]], Counter[str]]] = field(
        default_factory=list
    )
    """What was on record, asked for and run at each kill since the last look."""

    def killed(self, command: Command) -> None:
        """From now on, what is on record is neither asked for nor run again."""
        self.kills += command.kill()
        self._hear(command)
        recorded = records(self.stage.data)
        asked, ran = self.stage.provider.counts, commands_run(self.stage)
        self._settled.append((recorded, asked, ran))
        time.sleep(_PROVIDER_SECONDS)
        asked = self.stage.provider.counts
        self.unrecorded |= {place for place in asked if (place[0], f"model {place[1]}") not in recorded}

    def finished(self, command: Command) -> None:
        held = reservation(evidence.common_dir(self.stage.repo), self.stage.branch)
        if held is not None:
            self.recoveries.append(_time_until_taken_up(self.stage, command, held.since))
        status = command.wait()
        assert status == 0, f"{command.name} gave {status}: {command.complaints[-2000:]}"
        self._hear(command)
        self._nothing_again()

    def _hear(self, command: Command) -> None:
        for line in command.lines:
            if line["type"] == "TurnStarted":
                self.acknowledged.add(line["turn"])

    def _nothing_again(self) -> None:
        asked, ran = self.stage.provider.counts, commands_run(self.stage)
        recorded = records(self.stage.data)
        for before, asked_before, ran_before in self._settled:
            for (task, step), output in before.items():
                kind, _, number = step.partition(" ")
                if kind == "model":
                    place = (task, int(number))
                    assert asked[place] == asked_before[place], f"{place} was on record and was asked for again"
                if kind == "tool":
                    assert ran[task] == ran_before[task], f"the command of {task} was on record and ran again"
                assert recorded[task, step] == output
        self._settled.clear()

    def begun(self) -> list[str]:
        turns = conversation(Repository.open(self.stage.repo).commit_vfs(self.stage.branch))
        lost = self.acknowledged - {turn.id for turn in turns}
        assert not lost, f"said to have begun, and gone: {lost}"
        return [task for task in begun(self.stage.data) if task in set(self.sent)]

    def found(self) -> TurnRun:
        counts, began = self.stage.provider.counts, self.begun()
        again = {place: times - 1 for place, times in counts.items() if times > 1}
        whole = sum(times - 1 for times in self.stage.provider.answered.values() if times > 1)
        ran = commands_run(self.stage)
        # The same place is always asked with the same words: what was said before does not depend on who goes on.
        contents = {one.place: one.content for one in self.stage.provider.asked}
        changed = [one.place for one in self.stage.provider.asked if contents[one.place] != one.content]
        assert not changed, f"asked with other words: {changed[:5]}"
        times = sorted(self.recoveries) or [0.0]
        return TurnRun(
            self.kills,
            len(began),
            len(self.sent) - len(began),
            sum(again.values()),
            whole,
            sum(self.stage.provider.paid_again.values()),
            len(self.unrecorded - set(again)),
            sum(n - 1 for n in ran.values() if n > 1),
            times[len(times) // 2],
            times[-1],
        )


def _time_until_taken_up(stage: Stage, command: Command, since: float) -> float:
    """The reservation is renewed by whoever goes on, and gone when the turn has ended."""
    common = evidence.common_dir(stage.repo)
    while time.time() < command.asked + 60:
        held = reservation(common, stage.branch)
        if held is None or held.since != since:
            return time.time() - command.asked
        assert not command.ended.is_set(), f"{command.name} did not go on with the turn: {command.complaints[-2000:]}"
        time.sleep(0.002)
    raise AssertionError("nobody went on with the turn in a minute")


def records(data: Path) -> dict[tuple[str, str], str]:
    """What every step gave that is on record, by task and step."""
    with closing(_runs(data)) as runs:
        tasks = {run: found[1] for run, text in runs.execute(_RUNS) if (found := _TASK.search(text))}
        rows = runs.execute("SELECT workflow_uuid, function_name, output FROM operation_outputs").fetchall()
    return {(tasks[run], name): output for run, name, output in rows if run in tasks and output is not None}


def begun(data: Path) -> list[str]:
    """Tasks that became a run, in their order."""
    with closing(_runs(data)) as runs:
        return [found[1] for _, text in runs.execute(_RUNS) if (found := _TASK.search(text))]


_RUNS = """
    SELECT workflow_uuid, workflow_input.inputs FROM workflow_status JOIN workflow_input USING (workflow_uuid)
    ORDER BY created_at, workflow_status.rowid
"""


def _runs(data: Path) -> sqlite3.Connection:
    # Only to read: a reader that may write would clean up after the dead.
    return sqlite3.connect(f"file:{data / 'forge-runs.db'}?mode=ro", uri=True, timeout=30)


def commands_run(stage: Stage) -> Counter[str]:
    """How often the command of each task was begun."""
    return Counter(re.findall(r"echo ([a-z]+[0-9]+) ", stage.commands.read_text()))


def assert_turns(stage: Stage, began: list[str], sent: list[str]) -> None:
    """Every task that became a run is one commit with all it was for, and nothing else is left anywhere."""
    repo = stage.repo
    opened = Repository.open(repo)
    rows = evidence.git(
        repo, "log", "--format=%H %(trailers:key=Forge-Turn,valueonly,separator=%x2C)", f"main..{stage.branch}"
    )
    trailers = [row.split(" ")[1] for row in rows.splitlines()]
    assert len(set(trailers)) == len(trailers) == len(began), (trailers, began)
    files = opened.commit_vfs(stage.branch)
    turns = conversation(files)
    assert [turn.id for turn in turns] == trailers[::-1]
    asked = [found[1] for turn in turns if (found := _TASK.search(turn.asked))]
    assert sorted(asked) == sorted(began), (asked, began)
    assert [task for task in sent if task in asked] == asked, f"not in the order in which they were sent: {asked}"
    ran = files.read_file("ran.log").splitlines()
    for turn, task in zip(turns, asked, strict=True):
        assert turn.status is TurnStatus.DONE, (task, turn.reason)
        assert files.read_file(f"notes/{task}.txt") == f"two {task}\n"
        lines = [line for line in ran if line.startswith(f"{task} ")]
        told = [item.text for item in turn.items if isinstance(item, ToolResult) and item.name == "run_command"]
        assert len(lines) == len(told) == 1, (task, lines, told)
        assert lines[0] in told[0], "the file and the conversation tell of two runs of the command"
    assert reservations(evidence.common_dir(repo)) == ()
    assert not evidence.git(repo, "for-each-ref", "refs/forge/turns")
    evidence.assert_sound(repo)
    assert _checkout(repo) == stage.before, "the person's checkout was touched"


def _checkout(repo: Path) -> str:
    """HEAD, index and every file of the person, as one digest with what git says of them."""
    files = sorted(path for path in repo.rglob("*") if path.is_file() and ".git" not in path.parts)
    digest = hashlib.sha256()
    for path in [*files, repo / ".git/HEAD", repo / ".git/index", repo / ".git/config"]:
        digest.update(json.dumps([str(path), path.read_bytes().hex()]).encode())
    status = evidence.git(repo, "--no-optional-locks", "status", "--porcelain=v2", "--branch")
    return f"{digest.hexdigest()}\n{status}"
