"""How much of each request is, byte for byte, the beginning of the next one: a scripted session of sixty turns.

`docs/decisions/0006` quotes these figures; `pytest tests/context/test_prompt_reuse.py -s` prints them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest

from forge.context.compaction import due, taken_by
from forge.context.source import ContextSettings, Source
from forge.context.stream import changes_since, opening, rebase, rebase_due, render, stream
from forge.git import Repository, WorkInProgressVFS
from forge.sessions.active import ActiveFile, read_active, write_active
from forge.sessions.head import drop_draft
from forge.sessions.messages import AssistantMessage, Message, ToolCall, ToolResult, UserMessage, to_json
from forge.sessions.turns import Item, Reference
from tests.context.conftest import OpenRepo, source_of

WINDOW = 100_000
SETTINGS = ContextSettings(overview_tokens=6_000, seconds=None)
Rendering = Callable[[Sequence[Item], Source], tuple[Message, ...]]


def module(number: int, version: int, lines: int) -> str:
    body = "".join(
        f"def step_{number}_{n}(value: int) -> int:\n    return value + {n * version}\n\n" for n in range(lines)
    )
    return f'"""Module {number}, version {version}."""\n\n{body}'


def dropped_at_once(items: Sequence[Item], source: Source) -> tuple[Message, ...]:
    """The other way: as soon as a file changes, its old block goes out of the middle of the stream."""
    last = {item.data["path"]: place for place, item in enumerate(items) if is_file(item)}
    sent: list[Message] = []
    for place, item in enumerate(items):
        if isinstance(item, Reference):
            if not is_file(item) or last[item.data["path"]] == place:
                sent.append(render(item, source))
        else:
            sent.append(item)
    return tuple(sent)


def is_file(item: Item) -> bool:
    return isinstance(item, Reference) and item.data.get("kind") == "file"


@dataclass
class Session:
    """Requests as a provider would get them, and where the stream began anew."""

    view: WorkInProgressVFS
    source: Source
    rendering: Rendering
    rebasing: bool

    def __post_init__(self) -> None:
        first = opening(self.view, self.source, SETTINGS)
        self.items: list[Item] = [*first.items]
        self.seen = first.seen
        self.said: list[Message] = []
        self.requests: list[bytes] = []
        self.anew: set[int] = set()

    def turn(self, number: int, chosen: random.Random) -> None:
        self.rebase_if_due()
        more = changes_since(self.view, self.seen, self.source, SETTINGS)
        self.seen = more.seen
        self.items += more.items
        self.say(UserMessage(f"Request {number}: please change things. " + "Because. " * chosen.randrange(20)))
        for step in range(chosen.randrange(1, 4)):
            self.request()
            self.work(number, step, chosen)
        self.request()
        self.say(AssistantMessage(f"Done with {number}. " + "It works now. " * chosen.randrange(30)))
        if self.view.pending:
            active = read_active(self.view)
            drop_draft(self.view)
            self.view.commit(f"turn {number}", allow_empty=True)
            write_active(self.view, active)

    def work(self, number: int, step: int, chosen: random.Random) -> None:
        active = read_active(self.view)
        path = chosen.choice(active).path
        kind = chosen.choice(["search_replace", "search_replace", "read_file", "fail", "update_context"])
        call = ToolCall(f"c{number}.{step}", "read_file" if kind == "fail" else kind, {"path": path})
        result = "x = 1\n" * chosen.randrange(10, 300)
        if kind == "search_replace":
            old = self.view.read_file(path)
            self.view.write_file(path, old.replace("value + ", f"value + {number} + ", 3))
            result = f"Replaced 3 places in {path}."
        elif kind == "update_context":
            other = f"src/m{chosen.randrange(40)}.py"
            write_active(self.view, [*active[1:], ActiveFile(other)])
            result = f"{other} is in context."
        self.say(AssistantMessage("", (call,)))
        self.say(ToolResult(call.id, call.name, result, failed=kind == "fail"))
        more = changes_since(self.view, self.seen, self.source, SETTINGS, edits=False)
        self.seen = more.seen
        self.items += more.items

    def say(self, message: Message) -> None:
        self.items.append(message)
        self.said.append(message)

    def request(self) -> None:
        sent = self.rendering(self.items, self.source)
        self.requests.append(b"".join(json.dumps(to_json(message)).encode() + b"\n" for message in sent))

    def rebase_if_due(self) -> None:
        if not self.rebasing:
            return
        full = due(taken_by(stream(self.items, self.source)), WINDOW)
        if full or rebase_due(self.items, self.seen, WINDOW, SETTINGS):
            limit = int(WINDOW * SETTINGS.compact_target) if full else None
            again = rebase(self.view, self.said, self.source, SETTINGS, limit=limit)
            self.items += again.items
            self.seen = again.seen
            self.anew.add(len(self.requests))


@dataclass(frozen=True)
class Reuse:
    requests: int
    anew: int
    least: float
    """Of all requests outside of a new beginning: the smallest share that is the beginning of the next one."""
    kept: float
    """Bytes of all requests that are the beginning of the next one."""
    cached: float
    """Bytes of all requests that the request before began with: what a provider reads from its cache."""
    fresh: int
    """Bytes in all that no cache had."""
    sent: int


def common(one: bytes, other: bytes) -> int:
    """The length of the longest beginning that both have."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def measured(session: Session) -> Reuse:
    pairs = [(a, b, common(a, b)) for a, b in zip(session.requests, session.requests[1:], strict=False)]
    within = [(a, same) for place, (a, _, same) in enumerate(pairs, 1) if place not in session.anew]
    return Reuse(
        len(session.requests),
        len(session.anew),
        min(same / len(a) for a, same in within),
        sum(same for _, _, same in pairs) / sum(len(a) for a, _, _ in pairs),
        sum(same for _, _, same in pairs) / sum(len(b) for _, b, _ in pairs),
        sum(len(b) - same for _, b, same in pairs),
        sum(len(b) for _, b, _ in pairs),
    )


def played(repository: Repository, rendering: Rendering, *, rebasing: bool) -> Reuse:
    view = repository.workspace("main")
    write_active(view, [ActiveFile(f"src/m{n}.py") for n in range(6)])
    session = Session(view, source_of(repository), rendering, rebasing)
    chosen = random.Random(7)
    for number in range(60):
        session.turn(number, chosen)
    return measured(session)


@pytest.mark.req("G-14")
def test_sixty_turns_reuse_nearly_every_byte(opened: OpenRepo) -> None:
    files = {f"src/m{n}.py": module(n, 1, 20 + n) for n in range(40)} | {"AGENTS.md": "Be brief.\n"}
    ours = played(opened(files, name="ours"), stream, rebasing=True)
    other = played(opened(files, name="other"), dropped_at_once, rebasing=False)
    print(f"\nat re-basing: {ours}\nat once:      {other}")
    assert ours.anew >= 1
    assert ours.least == 1.0
    assert ours.kept >= 0.97
    assert other.kept < ours.kept
    assert other.fresh > ours.fresh
