"""How much of each request a provider has seen before: a scripted session with a stand-in that keeps raw requests."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from benchmarks.timing import Figure
from forge.git import Repository
from tests.support.stand_in import Json, Reply, Request, StandIn, anthropic

_TURNS = 60
_FILES = 40
_COMPACTED_BY_SIZE = 0.7
"""A request this much shorter than the one before was condensed on purpose."""
_TOOL = '''
"""Counts words."""

def get_schema():
    return {"name": "count_words", "description": "Count the words of a file.", "parameters": {
        "type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}

def execute(vfs, args):
    return {"words": len(vfs.read_file(args["path"]).split())}
'''


def prompt_cache(root: Path) -> Iterator[Figure]:
    """60 turns with edits, tool errors, context changes, approvals and condensing."""
    bodies = asyncio.run(_session(root / "prompt-cache"))
    pairs = [(a, b) for a, b in pairwise(bodies) if len(b) > len(a) * _COMPACTED_BY_SIZE]
    shared = [(common(a, b), len(a), len(b)) for a, b in pairs]
    condensed = len(bodies) - 1 - len(pairs)
    size = f"{_TURNS} turns, {len(bodies)} requests, {condensed} condensed"
    again = 100 * sum(common for common, _, _ in shared) / sum(now for _, _, now in shared)
    kept = 100 * sum(common for common, _, _ in shared) / sum(before for _, before, _ in shared)
    worst = 100 * min(common / before for common, before, _ in shared)
    yield Figure("bytes sent that the request before had begun with", size, again, "%", at_least=97)
    yield Figure("bytes of a request that the next one begins with", size, kept, "%", at_least=97)
    yield Figure("the same, the worst request", size, worst, "%")


def common(a: bytes, b: bytes) -> int:
    """The length of the longest beginning that both have."""
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


async def _session(place: Path) -> list[bytes]:
    from forge.app.process.workshop import open_workshop  # noqa: PLC0415
    from forge.app.sessions.messages import end_of, send_message  # noqa: PLC0415 - loads the engine
    from forge.settings import load  # noqa: PLC0415
    from forge.tools.user_tools import approve, revoke  # noqa: PLC0415

    repo = _repository(place)
    async with StandIn(anthropic, _Script()) as server:
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(place),
            "ANTHROPIC_API_KEY": "sk-ant-stand-in",
            "ANTHROPIC_BASE_URL": server.url,
            "FORGE_DATA_DIR": str(place / "data"),
            "FORGE_CONFIG": str(_config(place)),
        }
        async with open_workshop(load(environ), environ) as shop:
            for number in range(1, _TURNS + 1):
                if number in (15, 35):
                    files = repo.workspace("ai/session")
                    approve(files, "count_words", "A <a@example.org>")
                    files.commit("tools: approve count_words")
                if number == 25:
                    files = repo.workspace("ai/session")
                    revoke(files, "count_words", "A <a@example.org>")
                    files.commit("tools: revoke count_words")
                if number % 9 == 0:  # a person edits, too
                    files = repo.workspace("ai/session")
                    files.write_file(f"src/part{number % _FILES}.py", f"# edited by hand {number}\n" + _source(number))
                    files.commit(f"edit: part{number % _FILES}.py")
                sent = await send_message(shop, repo, "ai/session", _wish(number), model="anthropic:claude-sonnet-5-5")
                end = await end_of(shop, sent.run)
                assert end.status == "done", end.reason
    return [request.body for request in server.requests]


class _Script:
    """What the model does in each turn: read, edit, fail, take files into context, run a tool, and say so."""

    def __init__(self) -> None:
        self._turn = 0
        self._place = 0

    def __call__(self, request: Request, _: int) -> Reply:
        last = request.json["messages"][-1]["content"]
        is_result = isinstance(last, list) and any(block.get("type") == "tool_result" for block in last)
        if not is_result:
            self._turn += 1
            self._place = 0
        self._place += 1
        steps = self._steps(self._turn)
        if self._place <= len(steps):
            return Reply(text=("Next.",), calls=(steps[self._place - 1],))
        said = f"I have done what you wanted in turn {self._turn}, and checked it. " * 8
        return Reply(text=(said, f"\n\nCommit: Work on turn {self._turn}"))

    def _steps(self, turn: int) -> list[tuple[str, Json]]:
        path = f"src/part{turn % _FILES}.py"
        steps: list[tuple[str, Json]] = [("read_file", {"path": path})]
        if turn % 2:
            content = _source(turn * 7)
            steps.append(("write_file", {"path": f"src/new{turn}.py", "content": content}))
            steps.append(
                ("search_replace", {"path": path, "search": "return total", "replace": f"return total + {turn}"})
            )
        if turn % 3 == 0:
            steps.append(("search_replace", {"path": path, "search": "this is not there", "replace": "x"}))
        if turn % 5 == 0:
            steps.append(("update_context", {"add": [{"path": path}]}))
        if turn % 8 == 0:
            steps.append(("update_context", {"remove": [f"src/part{(turn - 3) % _FILES}.py"]}))
        if turn % 7 == 0:
            steps.append(("use_tool", {"name": "count_words", "arguments": {"path": "README.md"}}))
        return steps


def _wish(number: int) -> str:
    return f"Wish {number}: please look at part{number % _FILES} and make it better. " + "It matters to me. " * 10


def _source(seed: int) -> str:
    lines = [f"def step_{seed}_{n}(values):\n    total = sum(values) * {n}\n    return total\n" for n in range(6)]
    return "\n\n".join(lines)


def _config(place: Path) -> Path:
    path = place / "config.yaml"
    path.write_text("providers:\n  anthropic:\n    context_window: 40000\n")
    return path


def _repository(place: Path) -> Repository:
    work = place / "repository"
    for number in range(_FILES):
        path = work / "src" / f"part{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_source(number))
    (work / "tools").mkdir()
    (work / "tools" / "count_words.py").write_text(_TOOL)
    (work / "README.md").write_text("# A repository\n\nWith many parts.\n")
    (work / "AGENTS.md").write_text("Keep every function short.\n")
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-qm", "begin"]):
        subprocess.run(["git", "-C", str(work), *words], check=True, env=environ)
    repo = Repository.open(work)
    repo.create_branch("ai/session", "main")
    return repo
