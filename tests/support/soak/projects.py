"""Projects that live through anything: agents that answer at random, and `kill -9` at random moments of commands."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from forge.projects.project import Project
from forge.projects.status import Phase
from forge.projects.workspace import Workspace
from tests.support.forked_commands import Command, Forked
from tests.support.repositories import repository
from tests.support.soak import evidence, recording

Json = dict[str, Any]
PLAN_IDEA = (
    "We want to plan a summer party for our club of forty people. The budget is 1500 euros and must not be exceeded. "
    "It should be in July. I am not sure whether we need a permit. We need food for vegetarians.\n"
)
_AT_WORK = frozenset({"distilling", "building", "polishing"})
_COMMANDS_AT_MOST = 40
_KILLS_OF_ONE = 4
_COMMIT = re.compile(r"\b[0-9a-f]{12}\b")
_MEMORY = Path("/dev/shm")


@dataclass(frozen=True, slots=True)
class RandomRuns:
    runs: int
    done: int
    accepted: int
    """Of the done ones: taken by a person as they were."""
    halted: int
    rounds: int
    wrong: int


def random_runs(folder: Path, runs: int, *, seed: int = 0) -> RandomRuns:
    """Never done while the last recorded test run failed, is missing, or is of another commit."""
    from tests.support.project_runs import CODE_CONSTRAINTS, CODE_INTENT, CODE_SPEC, at_phase  # noqa: PLC0415
    from tests.support.random_project_runs import run_once  # noqa: PLC0415

    place = _MEMORY if os.access(_MEMORY, os.W_OK) else folder
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(dir=place, prefix="forge-soak-") as made:
        ready = Workspace(Path(made)).create("Code", agent="scripted", now=datetime(2026, 1, 1, tzinfo=UTC))
        files = {"docs/intent.md": CODE_INTENT, "docs/spec.md": CODE_SPEC, "docs/constraints.md": CODE_CONSTRAINTS}
        at_phase(ready, Phase.BUILDING, files, kind="code")
        for number in range(runs):
            copy = Path(made) / "run"
            shutil.copytree(ready.directory, copy, symlinks=True)
            ended = run_once(seed + number, Project.at(copy))
            assert not ended.wrong, f"seed {seed + number}: {ended.wrong}"
            ends.update({ended.phase: 1, "accepted": ended.accepted, "rounds": ended.rounds})
            shutil.rmtree(copy)
    return RandomRuns(runs, ends["done"], ends["accepted"], ends["halted"], ends["rounds"], wrong=0)


@dataclass(frozen=True, slots=True)
class KilledRuns:
    kind: str
    kills: int
    projects: int
    commands: int
    """Commands that went on after a kill."""
    unmade: int
    """Killed before there was a project."""
    recovery_median: float
    recovery_slowest: float
    """Seconds from the start of a command to the project's next commit, without loading Python modules."""


@dataclass(slots=True)
class Kind:
    """One kind of project: how it is begun, and what an undisturbed one came to."""

    name: str
    idea: str
    agent: str
    repo: Path | None
    environ: dict[str, str]
    workspace: Path
    forge: Forked
    usual: float = 0.0
    whole: Json = field(default_factory=dict)

    def begin(self, name: str) -> Command:
        idea = self.workspace.with_name("idea.txt")
        idea.write_text(self.idea)
        repo = ["--repo", str(self.repo)] if self.repo else []
        return self.command("run", str(idea), "--name", name, "--agent", self.agent, *repo, "--auto-confirm")

    def command(self, *args: str) -> Command:
        return self.forge.start(*args, "--json", environ=self.environ)

    def directory(self, name: str) -> Path:
        return self.workspace / "projects" / name


def made_kinds(forge: Forked, folder: Path, names: Sequence[str]) -> list[Kind]:
    made = []
    for name in names:
        place = folder / name
        place.mkdir()
        (place / "config.yaml").touch()
        environ = {
            **os.environ,
            "FORGE_DATA_DIR": str(place / "data"),
            "FORGE_CONFIG": str(place / "config.yaml"),
            "FORGE_WORKSPACE": str(place / "workspace"),
        }
        code = name == "code"
        agent, idea = (recording.written(place), recording.IDEA) if code else ("builtin", PLAN_IDEA)
        repo = repository(place) if code else None
        made.append(Kind(name, idea, agent, repo, environ, place / "workspace", forge))
    return made


def killed_projects(
    forge: Forked, folder: Path, kills: int, *, kinds: Sequence[str] = ("plan", "code"), seed: int = 0
) -> list[KilledRuns]:
    """As many kills for each kind of project."""
    chance = random.Random(seed)
    share = -(-kills // len(kinds))
    return [_killed(kind, share, chance) for kind in made_kinds(forge, folder, kinds)]


def _killed(kind: Kind, kills: int, chance: random.Random) -> KilledRuns:
    whole = kind.begin("whole")
    assert whole.wait() == 0, whole.complaints
    kind.usual = time.time() - whole.asked
    kind.whole = _outcome(kind, "whole")
    seen = _Seen()
    while seen.kills < kills:
        seen.projects += 1
        _one_project(kind, f"p{seen.projects}", seen, chance, kills)
    times = sorted(seen.recoveries) or [0.0]
    middle, slowest = round(times[len(times) // 2], 2), round(times[-1], 2)
    return KilledRuns(kind.name, seen.kills, seen.projects, seen.commands, seen.unmade, middle, slowest)


@dataclass(slots=True)
class _Seen:
    kills: int = 0
    projects: int = 0
    commands: int = 0
    unmade: int = 0
    recoveries: list[float] = field(default_factory=list)


def _one_project(kind: Kind, name: str, seen: _Seen, chance: random.Random, kills: int) -> None:
    """Killed a few times on its way; then whatever its state calls for, until it is done."""
    own = min(chance.randint(1, _KILLS_OF_ONE), kills - seen.kills)
    seen.kills += _kill(kind.begin(name), chance.random() * kind.usual)
    own -= 1
    for _ in range(_COMMANDS_AT_MOST):
        if not kind.directory(name).exists():
            seen.unmade += 1
            before, command = "", kind.begin(name)
        else:
            shown = _status(kind, name)
            if shown["phase"] == "done":
                break
            seen.commands += 1
            before = _head(kind.directory(name))
            command = kind.command("project", *_next(kind, name, shown))
        if own > 0:
            own -= 1
            seen.kills += _kill(command, chance.random() * kind.usual / 2)
            continue
        if kind.directory(name).exists():
            seen.recoveries.append(_until_commit(command, kind.directory(name), before))
        status = command.wait()
        assert status in (0, 4), f"{command.name} gave {status}: {command.complaints[-2000:]}"
    assert_as_undisturbed(kind, name)


def _kill(command: Command, after: float) -> bool:
    command.started.wait(60)
    command.ended.wait(after)
    return command.kill()


def _status(kind: Kind, name: str) -> Json:
    command = kind.command("project", "status", name)
    status = command.wait()
    assert status in (0, 4), f"status gave {status}: {command.complaints[-2000:]}"
    shown: Json = json.loads(command.output.read_text())
    assert not shown["problem"], shown["problem"]
    assert shown["phase"] != "halted", shown
    return shown


def _next(kind: Kind, name: str, shown: Json) -> tuple[str, ...]:
    """What a person would do who sees this state."""
    phase = shown["phase"]
    if phase == "brain_dump":
        chat = json.loads((kind.directory(name) / "chat_history.json").read_text())
        said = any(message["role"] == "human" for message in chat)
        return ("distill", name) if said else ("say", name, "-m", kind.idea)
    if phase in _AT_WORK or shown["busy"]:
        return ("resume", name)
    if shown["open_questions"]:
        return ("say", name, "-m", "all: You decide.")
    return ("confirm", name)


def _until_commit(command: Command, directory: Path, before: str) -> float:
    while not command.ended.is_set() and _head(directory) == before:
        time.sleep(0.005)
    return time.time() - command.asked


def _head(directory: Path) -> str:
    place = directory / ".git/refs/heads/main"
    return place.read_text() if place.exists() else ""


def assert_as_undisturbed(kind: Kind, name: str) -> None:
    """Done, once, sound, and the same as if nothing had happened."""
    found = _outcome(kind, name)
    differing = {key: (found[key], kind.whole[key]) for key in kind.whole if found[key] != kind.whole[key]}
    assert not differing, f"{name} ended otherwise than without a kill: {differing}"
    place = kind.directory(name)
    _once(evidence.git(place, "log", "--format=%(trailers:key=Forge-Step,valueonly)"), "a step was committed twice")
    evidence.assert_sound(place)
    assert evidence.git(place, "status", "--porcelain") == ""
    if kind.repo is not None:
        branch = str(_info(kind, name)["branch"])
        turns = evidence.git(kind.repo, "log", "--format=%(trailers:key=Forge-Turn,valueonly)", f"main..{branch}")
        _once(turns, "a turn was committed twice")
        evidence.assert_sound(kind.repo)


def _once(lines: str, complaint: str) -> None:
    found = [line for line in lines.splitlines() if line]
    assert len(found) == len(set(found)), complaint


def _outcome(kind: Kind, name: str) -> Json:
    """What has to be the same every time: no word said, asked, tested or committed twice or never."""
    place = kind.directory(name)
    messages = json.loads((place / "state.json").read_text())["messages"]
    rounds = [json.loads(line) for line in (place / "polish_rounds.jsonl").read_text().splitlines()]
    found: Json = {
        "phase": json.loads((place / "status.json").read_text())["phase"],
        "said": [_COMMIT.sub("ID", message["content"]) for message in messages],
        "subjects": evidence.git(place, "log", "--reverse", "--format=%s").replace(name, "NAME").splitlines(),
        "rounds": [(entry["iteration"], entry["total"], entry["guard"]) for entry in rounds],
    }
    if kind.repo is None:
        return {**found, "plan": (place / "docs/plan.md").read_text().replace(name, "NAME")}
    branch = str(_info(kind, name)["branch"])
    files = evidence.git(kind.repo, "ls-tree", "-r", branch).splitlines()
    commits = evidence.git(kind.repo, "log", "--reverse", "--format=%s", f"main..{branch}").splitlines()
    return {**found, "files": [line for line in files if ".forge/" not in line], "commits": commits}


def _info(kind: Kind, name: str) -> Json:
    info: Json = json.loads((kind.directory(name) / "project.json").read_text())
    return info
