"""The faces of Forge for one repository each time: functions, commands alone and beside a server, the API."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from unittest.mock import patch

import httpx

from forge.agents.turn_commit import land
from forge.app.access.identity import LOCAL, audited
from forge.app.process.workshop import Workshop
from forge.app.repositories.catalog import add_repository, id_of, subject_of
from forge.app.repositories.operation_feed import OperationFeed
from forge.cli.main import main
from forge.errors import ForgeError
from forge.events import BranchChanged, Event
from forge.git import Repository
from forge.sessions.messages import AssistantMessage, UserMessage
from forge.sessions.places import Sessions
from forge.sessions.turns import Turn, turn_id
from forge.store.audit import Audit
from forge.store.database import Database
from forge.store.events import Events
from tests.conftest import run_git
from tests.support.api_server import House

_IDS = re.compile(r"\b[0-9a-f]{7,64}\b")
_PATIENCE = 20.0
TOOL = """\
def get_schema():
    return {"name": "greet", "description": "Greets.", "parameters": {"type": "object", "properties": {}}}


def execute(vfs, args):
    return "hello"
"""


@dataclass(frozen=True, slots=True)
class Target:
    """A repository that nobody else uses, and the workshop whose database has it in its list."""

    shop: Workshop
    path: Path
    id: str


@dataclass(frozen=True, slots=True)
class UseCase:
    """One thing that a person can ask for, by each face that offers it."""

    name: str
    function: Callable[[Target], object] | None
    cli: tuple[str, ...] | None = None
    api: tuple[str, str, Any] | None = None
    """Method, address below that of the repository, and the body: JSON, or bytes."""
    stdin: bytes = b""
    told: tuple[tuple[str, str, str], ...] = ()
    """For each event: the branch, `moved` or `gone`, and who did it."""
    deeds: tuple[tuple[str, str, str], ...] = ()
    """For each audit row: the user, the action and the detail, ids as #."""
    moves_a_ref: bool = True
    """Else a command that works alone tells and audits it at once, for no operation log does."""
    refused: str | None = None
    """The code of the error; then nothing is told or audited."""


class Face(Protocol):
    """Does it by one face; gives the code of the error, if it was refused."""

    def __call__(self, case: UseCase, target: Target) -> str | None: ...


def by_function(case: UseCase, target: Target) -> str | None:
    assert case.function is not None
    try:
        case.function(target)
    except ForgeError as e:
        return e.code
    return None


def by_command(case: UseCase, target: Target) -> str | None:
    assert case.cli is not None
    code, out = command(["--json", "-C", str(target.path), *case.cli], target.shop.environ, case.stdin)
    return None if code == 0 else str(json.loads(out)["error"]["code"])


def by_request(house: House) -> Face:
    def ask(case: UseCase, target: Target) -> str | None:
        assert case.api is not None
        method, address, body = case.api
        sent: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body} if body else {}
        headers = {"Content-Type": "application/octet-stream"} if isinstance(body, bytes) else {}
        with house.client() as client:
            answer = client.request(method, f"/api/repositories/{target.id}{address}", headers=headers, **sent)
        return _code(answer)

    return ask


def _code(answer: httpx.Response) -> str | None:
    return None if answer.is_success else str(answer.json()["code"])


def command(words: list[str], environ: Mapping[str, str], stdin: bytes) -> tuple[int, str]:
    """In this process, with the environment of that workshop."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    given = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    around = {**os.environ, **environ}
    with patch.dict(os.environ, around), patch.object(sys, "stdin", given), redirect_stdout(out):
        with redirect_stderr(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")):
            try:
                main(words)
            except SystemExit as ended:
                code = int(ended.code or 0)
            else:
                code = 0
        out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    return code, out.buffer.getvalue().decode()


def caught_up(target: Target) -> None:
    """As the next process does it that opens the database."""
    OperationFeed(target.shop.database, target.shop.events, target.shop.redactor).catch_up()


def waited_for(case: UseCase, target: Target) -> None:
    """A server that runs publishes by itself. A refused case has nothing to wait for."""
    deadline = time.monotonic() + _PATIENCE
    while len(deeds(target)) < len(case.deeds) and time.monotonic() < deadline:
        time.sleep(0.01)


def told(case: UseCase, target: Target) -> list[tuple[str, str, str]]:
    """What was said of every branch that there is, or that the case names."""
    repo = Repository.open(target.path)
    names = {name for name, _ in repo.refs.branches()} | {branch for branch, _, _ in case.told}
    events = [
        (name, item.event) for name in sorted(names) for item in target.shop.events.after(subject_of(repo, name).topic)
    ]
    changes = [(name, event) for name, event in events if isinstance(event, BranchChanged)]
    return [(name, "moved" if event.commit else "gone", event.actor) for name, event in changes]


def deeds(target: Target) -> list[tuple[str, str, str]]:
    rows = [row for row in audited(target.shop, LOCAL, limit=500) if row.subject == f"repository:{target.id}"]
    return [
        (row.user, row.action, _IDS.sub("#", row.detail)) for row in reversed(rows) if row.action != "repository.add"
    ]


def copy_of(template: Path, place: Path, shop: Workshop) -> Target:
    shutil.copytree(template, place, symlinks=True)
    target = Target(shop, place, add_repository(shop, LOCAL, place).id)
    assert target.id == id_of(Repository.open(place))
    return target


def template(place: Path) -> Path:
    """Branches that went apart, a conversation of two turns, a tool, and an operation to take back."""
    run_git(place.parent, "init", "--quiet", "--initial-branch=main", str(place))
    for name, text in {"a.txt": "one\n", "b/c.txt": "two\n", "b/d.txt": "three\n", "tools/greet.py": TOOL}.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    run_git(place, "add", "--all")
    run_git(place, "commit", "--quiet", "--message", "first")
    run_git(place, "branch", "old")
    run_git(place, "checkout", "--quiet", "-b", "side")
    (place / "side.txt").write_text("side\n")
    run_git(place, "add", "--all")
    run_git(place, "commit", "--quiet", "--message", "on the side")
    run_git(place, "checkout", "--quiet", "main")
    (place / "main.txt").write_text("main\n")
    run_git(place, "add", "--all")
    run_git(place, "commit", "--quiet", "--message", "on main")
    run_git(place, "checkout", "--quiet", "--detach")
    repo = Repository.open(place)
    repo.create_branch("ai/talk", "main")
    sessions = Sessions(repo)
    before = None
    for number in (1, 2):
        files = repo.workspace("ai/talk")
        files.write_file(f"turn-{number}.txt", "x\n")
        items = (UserMessage("Please."), AssistantMessage("Done.", ()))
        said = Turn(turn_id(number, f"aaaaaaaaaaa{number}"), before, 1_700_000_000.0, "scripted", items)
        land(sessions, files, said, author=repo.signature(), trailers={})
        before = said.id
    return place


@dataclass(frozen=True, slots=True)
class Outcome:
    """By names that do not depend on the face: ids, times and commits are left out."""

    deeds: list[tuple[str, str]]
    events: list[str]
    refused: list[str]


def recorded(data: Path, subject: str, topics: list[str], refused: list[str]) -> Outcome:
    database = Database.open(f"sqlite:///{data / 'forge.db'}")
    events = Events(database)
    try:
        rows = [row for row in reversed(Audit(database).list(limit=1000)) if row.subject == subject]
        found = [item.event for topic in topics for item in events.after(topic)]
        project = subject.partition(":")[2]
        mine = [event for event in found if getattr(event, "project", project) == project]
        return Outcome([(row.user, row.action) for row in rows], [_named(event) for event in mine], refused)
    finally:
        events.close()
        database.close()


def _named(event: Event) -> str:
    facts = [str(getattr(event, name)) for name in ("what", "phase", "role") if hasattr(event, name)]
    return " ".join([type(event).__name__, *facts])
