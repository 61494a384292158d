"""Projects and turns through every face: the same events, audit rows and refusals, whoever runs the work.

Commands are real processes here: the engine is one for each process.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forge.app.access.identity import LOCAL
from forge.app.projects import contracts, notes, project_access, project_tests
from forge.app.repositories.catalog import id_of, repository, subject_of
from forge.app.repositories.operation_feed import OperationFeed
from forge.app.sessions import session_access
from forge.errors import ForgeError
from forge.events import BOARD
from forge.git import Repository
from forge.sessions.redaction import Redactor
from forge.store.audit import Audit
from forge.store.database import Database
from forge.store.events import Events
from forge.store.repositories import Repositories
from tests.app.faces import Outcome, recorded
from tests.cli.beside import Beside, beside, until
from tests.conftest import run_git
from tests.support.api_server import House, opened

pytestmark = [pytest.mark.req("X-02", "X-04"), pytest.mark.xdist_group("faces of runs")]
IDEA = (
    "We want to plan a summer party for our club of forty people. The budget is 1500 euros and must not be exceeded. "
    "It should be on the second Saturday in July, in the garden of the club house. We need food for vegetarians."
)
NOTE = "Ask Ana about the fees.\n"
Json = dict[str, Any]


# -- a project from its making to its end


def project_by_function(house: House) -> Outcome:
    shop = house.shop

    def refusal(work: Callable[[], object]) -> str:
        try:
            work()
        except ForgeError as e:
            return e.code
        raise AssertionError("not refused")

    async def begun() -> str:
        made = await project_access.create_project(shop, LOCAL, "by function", agent="builtin")
        await project_access.say(shop, LOCAL, made.id, IDEA, action_id=None)
        done = await project_access.perform(shop, LOCAL, made.id, "distill", text="", confirmed=False, action_id=None)
        assert done.run is not None
        await shop.engine.handle(done.run).result()
        return made.id

    async def ended(action: str, *, confirmed: bool = False) -> None:
        await project_access.perform(shop, LOCAL, id_, action, text="", confirmed=confirmed, action_id=None)

    id_ = house.call(begun())
    notes.save_note(shop, LOCAL, id_, NOTE, seen=0)
    contracts.edit_contract(shop, LOCAL, id_, "manifesto", NOTE, expected="")
    contracts.edit_contract(shop, LOCAL, id_, "manifesto", IDEA, expected=None)
    contracts.restore_contract(shop, LOCAL, id_, "manifesto", 1)
    project_tests.set_test_command(shop, LOCAL, id_, "make check")
    refused = [
        refusal(lambda: house.call(ended("override", confirmed=True))),
        refusal(lambda: house.call(ended("terminate"))),
        refusal(lambda: house.call(project_access.stop_work(shop, LOCAL, id_))),
        refusal(lambda: project_access.accept_tests(shop, LOCAL, id_)),
        refusal(lambda: contracts.restore_contract(shop, LOCAL, id_, "manifesto", 99)),
        refusal(lambda: project_access.change_project(shop, LOCAL, "none", name="x", archived=None)),
        refusal(lambda: project_access.delete_project(shop, LOCAL, id_, confirm="no")),
    ]
    house.call(ended("terminate", confirmed=True))
    project_access.change_project(shop, LOCAL, id_, name="Another", archived=None)
    project_access.change_project(shop, LOCAL, id_, name=None, archived=True)
    project_access.delete_project(shop, LOCAL, id_, confirm="by-function")
    asyncio.run(shop.events.flush())
    return recorded(house.place / "data", f"project:{id_}", [f"project:{id_}", BOARD], refused)


def project_by_request(house: House) -> Outcome:
    with house.client() as client:
        made = client.post("/api/projects", json={"name": "by request", "agent": "builtin"}).json()
        address, id_ = f"/api/projects/{made['id']}", made["id"]
        client.post(f"{address}/messages", json={"text": IDEA}).raise_for_status()
        client.post(f"{address}/actions/distill").raise_for_status()
        until(lambda: client.get(address).json()["phase"] == "human_review" and not client.get(address).json()["busy"])
        client.put(f"{address}/note", json={"text": NOTE, "seen": 0}).raise_for_status()
        contract = f"{address}/contracts/manifesto"
        client.put(contract, json={"content": NOTE, "etag": ""}).raise_for_status()
        client.put(contract, json={"content": IDEA}).raise_for_status()
        client.post(f"{contract}/restore", json={"version": 1}).raise_for_status()
        client.put(f"{address}/tests", json={"command": "make check"}).raise_for_status()
        refused = [
            client.post(f"{address}/actions/override", json={"confirmed": True}).json()["code"],
            client.post(f"{address}/actions/terminate").json()["code"],
            client.post(f"{address}/stop").json()["code"],
            client.post(f"{address}/tests/accept").json()["code"],
            client.post(f"{contract}/restore", json={"version": 99}).json()["code"],
            client.patch("/api/projects/none", json={"name": "x"}).json()["code"],
            client.delete(address, params={"confirm": "no"}).json()["code"],
        ]
        client.post(f"{address}/actions/terminate", json={"confirmed": True}).raise_for_status()
        client.patch(address, json={"name": "Another"}).raise_for_status()
        client.patch(address, json={"archived": True}).raise_for_status()
        client.delete(address, params={"confirm": Path(made["directory"]).name}).raise_for_status()
    asyncio.run(house.shop.events.flush())
    return recorded(house.place / "data", f"project:{id_}", [f"project:{id_}", BOARD], refused)


def project_by_command(there: Beside, name: str) -> Outcome:
    def run(*words: str, of: str = "project") -> Any:
        done = there.run("--json", of, *words)
        return done.document

    def refusal(*words: str, of: str = "project") -> str:
        return str(run(*words, of=of)["error"]["code"])

    (there.data.parent / "note.txt").write_text(NOTE)
    (there.data.parent / "idea.txt").write_text(IDEA)
    made = run("new", name, "--agent", "builtin")
    run("say", name, "-m", IDEA)
    assert run("distill", name)["phase"] == "human_review"
    run("edit", name, "--file", "note.txt", of="notes")
    run("edit", "manifesto", name, "--file", "note.txt", of="contracts")
    run("edit", "manifesto", name, "--file", "idea.txt", of="contracts")
    run("restore", "manifesto", "1", name, of="contracts")
    run("tests", name, "--set", "make check")
    refused = [
        refusal("override", name, "--yes"),
        refusal("terminate", name),
        refusal("stop", name),
        refusal("accept-tests", name),
        refusal("restore", "manifesto", "99", name, of="contracts"),
        refusal("rename", "none", "x"),
        refusal("delete", name, "--confirm", "no"),
    ]
    run("terminate", name, "--yes")
    run("rename", name, "Another")
    run("archive", name)
    run("delete", name, "--confirm", name)
    return recorded(there.data, f"project:{made['id']}", [f"project:{made['id']}", BOARD], refused)


# -- a turn


def recording(place: Path) -> str:
    answers: tuple[Json, ...] = (
        {"text": "Now.", "calls": [{"name": "write_file", "arguments": {"path": "b.txt", "content": "b\n"}}]},
        {"text": "Done."},
    )
    place.write_text("".join(f"{json.dumps(answer)}\n" for answer in answers))
    return f"recorded:{place}"


def turn_recorded(data: Path, repo: Path, id_: str) -> Outcome:
    """The row of a turn is written when its commit is found in the log; within a second in a server."""
    deadline = time.monotonic() + 20
    topic = subject_of(Repository.open(repo), "ai/x").topic
    while True:
        found = recorded(data, f"repository:{id_}", [topic], [])
        if len(found.deeds) >= 4 or time.monotonic() > deadline:
            return Outcome(sorted(found.deeds), found.events, [])
        time.sleep(0.05)


def new_repository(place: Path) -> Path:
    run_git(place.parent, "init", "--quiet", "--initial-branch=main", str(place))
    (place / "a.txt").write_text("one\n")
    run_git(place, "add", "--all")
    run_git(place, "commit", "--quiet", "--message", "first")
    return place


def turn_in_house(house: House, *, http: bool) -> Outcome:
    id_ = house.repository()
    repo = repository(house.shop, LOCAL, id_)
    model = recording(house.place / f"{id_}.jsonl")
    if http:
        with house.client() as client:
            address = f"/api/repositories/{id_}/session/messages"
            client.post(address, params={"branch": "ai/x"}, json={"text": "Go.", "model": model}).raise_for_status()
    else:
        house.call(session_access.send(house.shop, LOCAL, id_, "ai/x", "Go.", model=model, agent=None))
    return turn_recorded(house.place / "data", Path(repo.work_tree or repo.git_dir), id_)


def turn_by_command(there: Beside, place: Path) -> Outcome:
    repo = new_repository(place)
    words = ("chat", "--branch", "ai/x", "-m", "Go.", "--model", recording(place.with_suffix(".jsonl")))
    added = added_to(there.data, repo)
    assert there.run(*words, cwd=repo).code == 0
    return turn_recorded(there.data, repo, added)


def added_to(data: Path, repo: Path) -> str:
    """In the list of repositories, as the server's page puts it there."""
    found = Repository.open(repo)
    id_ = id_of(found)
    data.mkdir(exist_ok=True)
    database = Database.open(f"sqlite:///{data / 'forge.db'}")
    events = Events(database)
    try:
        OperationFeed(database, events, Redactor([])).add(found)
        Repositories(database).add(id_, path=str(repo), name=repo.name)
        subject = f"repository:{id_}"
        Audit(database).add(time=0, user="local", key=None, action="repository.add", subject=subject, detail="")
    finally:
        events.close()
        database.close()
    return id_


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with opened(tmp_path_factory.mktemp("house")) as made:
        yield made


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Beside]:
    with beside(tmp_path, {}) as made:
        yield made


@pytest.fixture
def served(alone: Beside) -> Beside:
    alone.serve()
    return alone


DEEDS = [
    ("local", "project.create"),
    ("local", "project.say"),
    ("local", "project.distill"),
    ("local", "contract.edit"),
    ("local", "contract.edit"),
    ("local", "contract.restore"),
    ("local", "project.set_test_command"),
    ("local", "project.terminate"),
    ("local", "project.change"),
    ("local", "project.change"),
    ("local", "project.delete"),
]
REFUSED = [
    "action_refused",
    "confirmation_needed",
    "nothing_to_stop",
    "invalid_input",
    "version_missing",
    "project_missing",
    "deletion_unconfirmed",
]
TURN_DEEDS = [("local", "branch.create"), ("local", "repository.add"), ("local", "session.send"), ("local", "turn")]


def test_a_project_is_the_same_by_function_and_by_request(house: House) -> None:
    one, other = project_by_function(house), project_by_request(house)
    assert one == other
    assert (one.deeds, one.refused) == (DEEDS, REFUSED)


def test_a_project_is_the_same_by_command(house: House, alone: Beside) -> None:
    one = project_by_command(alone, "by-command")
    assert one == project_by_request(house)


def test_a_project_is_the_same_by_command_beside_a_server(house: House, served: Beside) -> None:
    one = project_by_command(served, "by-command")
    assert one == project_by_request(house)


def test_a_turn_is_the_same_through_every_face(house: House, alone: Beside, tmp_path: Path) -> None:
    by_request = turn_in_house(house, http=True)
    assert by_request.deeds == TURN_DEEDS
    assert by_request.events[0] == "BranchChanged"
    assert by_request.events[-1] == "TurnCommitted"
    assert turn_in_house(house, http=False) == by_request
    assert turn_by_command(alone, tmp_path / "one") == by_request
    alone.serve()
    assert turn_by_command(alone, tmp_path / "two") == by_request
