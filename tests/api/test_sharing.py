"""What is shared: how far a share reaches, and that nothing of it stays when it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from forge.app.demo import brain_dump
from forge.app.projects.agents import ProjectAgents
from forge.git import Repository
from forge.pipeline.answerer import Order
from forge.pipeline.journey import Steps
from forge.plugins.roles import Worked
from forge.projects import names
from forge.store.questions import Questions
from forge.store.runs import Runs
from forge.subjects import project_subject
from tests.api.conftest import ON_BOTH
from tests.api.projects import DUMP, at_rest, code, made
from tests.support.api_server import House

pytestmark = [pytest.mark.req("X-06", "X-05"), ON_BOTH]


@pytest.fixture(scope="module")
def users(house: House) -> dict[str, str]:
    return {name: house.user(name) for name in ("ana", "ben", "cyd")}


@pytest.fixture
def ana(house: House, users: dict[str, str]) -> Iterator[httpx.Client]:
    with house.client(users["ana"]) as client:
        yield client


@pytest.fixture
def ben(house: House, users: dict[str, str]) -> Iterator[httpx.Client]:
    with house.client(users["ben"]) as client:
        yield client


def share(owner: httpx.Client, what: str, user: str, right: str | None) -> None:
    address = f"/api/{what}/shares/{user}"
    answer = owner.delete(address) if right is None else owner.put(address, json={"right": right})
    assert answer.status_code == 204, answer.text


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.1)


def asked(house: House, project: str) -> str:
    """A question of this project's, as its run would ask it."""
    run, id_ = f"run-{project}", f"q-{project}"
    Runs(house.shop.database).add(run, name="build", subject=project_subject(project), queue=None, partition=None)
    Questions(house.shop.database).ask(id_, run=run, text="And now?", options=("input", "resume", "terminate"))
    return id_


@pytest.mark.parametrize(
    ("right", "refused"), [(None, (404, "repository_missing")), ("read", (403, "shared_for_reading"))]
)
def test_a_project_works_in_a_repository_only_as_long_as_who_asks_may_write_there(
    house: House, client: httpx.Client, ben: httpx.Client, right: str | None, refused: tuple[int, str]
) -> None:
    repository = house.repository()
    share(client, f"repositories/{repository}", "ben", "write")
    project = made(ben, repository=repository)
    assert project["repository"]
    address = f"/api/projects/{project['id']}"
    assert ben.post(f"{address}/messages", json={"text": DUMP}).status_code == 202
    share(client, f"repositories/{repository}", "ben", right)
    question = asked(house, project["id"])
    for answer in (
        ben.post(f"{address}/messages", json={"text": "More."}),
        *(ben.post(f"{address}/actions/{each}", json={"confirmed": True}) for each in ("distill", "resume", "confirm")),
        ben.post(f"/api/questions/{question}/answer", json={"text": "resume"}),
    ):
        assert code(answer) == refused
    assert bool(ben.get(address).json()["repository"]) is (right == "read")
    listed = {each["id"]: each["repository"] for each in ben.get("/api/projects").json()["items"]}
    assert bool(listed[project["id"]]) is (right == "read")
    # The person at the machine may do anything, and to end it harms nobody.
    assert client.get(address).json()["repository"]
    assert client.post(f"{address}/messages", json={"text": "More."}).status_code == 202
    assert ben.post(f"{address}/actions/terminate", json={"confirmed": True}).status_code == 202


def test_a_build_under_way_halts_when_its_repository_is_shared_no_more(
    house: House, client: httpx.Client, ben: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = house.repository()
    share(client, f"repositories/{repository}", "ben", "write")
    project = made(ben, repository=repository, agent="recorded:demo")
    address = f"/api/projects/{project['id']}"
    assert ben.post(f"{address}/messages", json={"text": brain_dump()}).status_code == 202
    for action in ("distill", "confirm"):
        assert ben.post(f"{address}/actions/{action}", json={"confirmed": True}).status_code == 202
        at_rest(ben, project["id"])
    worked: list[str] = []
    real = ProjectAgents.work

    async def work(agents: ProjectAgents, steps: Steps, place: str, order: Order) -> Worked:
        done = await real(agents, steps, place, order)
        if not worked:
            await asyncio.to_thread(share, client, f"repositories/{repository}", "ben", None)
        worked.append(done.commit or "")
        return done

    monkeypatch.setattr(ProjectAgents, "work", work)
    assert ben.post(f"{address}/actions/confirm", json={"confirmed": True}).status_code == 202
    until(lambda: ben.get(address).json()["phase"] == "halted")
    halted = at_rest(ben, project["id"])
    told = client.get(f"{address}/messages").json()["items"][-1]["content"]
    assert told.startswith("Stopped: Nobody who may change this project may write to its repository any more.")
    assert len(worked) == 1
    assert code(ben.post(f"{address}/actions/resume", json={"confirmed": True})) == (404, "repository_missing")

    log = client.get(f"/api/repositories/{repository}/commits", params={"rev": halted["branch"]}).json()["items"]
    assert worked[0] in [each["id"] for each in log]

    share(client, f"repositories/{repository}", "ben", "write")
    assert ben.post(f"{address}/actions/resume", json={"confirmed": True}).status_code == 202
    until(lambda: len(worked) > 1)
    assert ben.post(f"{address}/actions/terminate", json={"confirmed": True}).status_code == 202


def test_a_repository_that_is_forgotten_is_built_in_no_more(
    house: House, client: httpx.Client, ben: httpx.Client
) -> None:
    repository = house.repository()
    share(client, f"repositories/{repository}", "ben", "write")
    project = made(ben, repository=repository)
    assert client.delete(f"/api/repositories/{repository}").status_code == 204
    answer = ben.post(f"/api/projects/{project['id']}/messages", json={"text": DUMP})
    assert code(answer) == (404, "repository_missing")
    assert ben.get(f"/api/projects/{project['id']}").json()["repository"] is None


def test_a_shared_project_works_in_a_repository_only_for_who_may_write_there(
    house: House, client: httpx.Client, ana: httpx.Client, ben: httpx.Client
) -> None:
    repository = house.repository()
    share(client, f"repositories/{repository}", "ana", "write")
    project = made(ana, repository=repository)
    share(ana, f"projects/{project['id']}", "ben", "write")
    said = ben.post(f"/api/projects/{project['id']}/messages", json={"text": DUMP})
    assert code(said) == (404, "repository_missing")
    assert ana.post(f"/api/projects/{project['id']}/messages", json={"text": DUMP}).status_code == 202


def test_what_is_shared_for_writing_is_still_the_owners_to_take_away(
    house: House, ana: httpx.Client, ben: httpx.Client
) -> None:
    project = made(ana)
    with house.client(house.user("add", ("read", "write", "admin"))) as adding:
        place = house.place / "of-another"
        Repository.init(place)
        repository = adding.post("/api/repositories", json={"path": str(place)}).json()["id"]
        share(adding, f"repositories/{repository}", "ben", "write")
        share(ana, f"projects/{project['id']}", "ben", "write")
        confirm = {"confirm": project["directory"].rpartition("/")[2]}
        gone = ben.delete(f"/api/projects/{project['id']}", params=confirm)
        assert code(gone) == (403, "not_the_owner")
        assert code(ben.delete(f"/api/repositories/{repository}")) == (403, "not_the_owner")
        # To change it is what it was shared for.
        assert ben.patch(f"/api/projects/{project['id']}", json={"name": "Ours", "archived": True}).status_code == 200
        assert ana.delete(f"/api/projects/{project['id']}", params=confirm).status_code == 200
        assert adding.delete(f"/api/repositories/{repository}").status_code == 204


def test_the_name_of_a_new_project_tells_nothing_of_other_peoples_projects(
    client: httpx.Client, ana: httpx.Client, ben: httpx.Client
) -> None:
    made(client, "Harbour of the machine")
    made(ana, "Harbour of Ana")
    told = set()
    for name in ("Harbour of the machine", "Harbour of Ana", "Harbour of nobody"):
        project = made(ben, name)
        assert project["name"] == name
        directory = project["directory"].rpartition("/")[2]
        told.add(directory.replace(project["id"], "ID").replace(names.slug(name), "NAME"))
        assert code(ben.post("/api/projects", json={"name": name.lower()})) == (409, "project_exists")
    assert told == {"NAME-ID"}
    # At the machine, directories are called as people call their projects.
    assert made(client, "Harbour of nobody")["directory"].endswith("/harbour-of-nobody")


def test_the_name_of_a_project_that_is_shared_with_somebody_is_taken(ana: httpx.Client, ben: httpx.Client) -> None:
    share(ana, f"projects/{made(ana, 'Lighthouse')['id']}", "ben", "read")
    assert code(ben.post("/api/projects", json={"name": "lighthouse"})) == (409, "project_exists")


def test_who_administers_adds_no_repository_of_forges_own(
    house: House, client: httpx.Client, ana: httpx.Client, tmp_path: Path
) -> None:
    project = Path(made(ana, "Diary")["directory"])
    built = house.shop.settings.workspace / "code" / "built"
    data = house.shop.settings.data_dir / "kept"
    for place in (built, data):
        Repository.init(place)
    (tmp_path / "link").symlink_to(project)
    with house.client(house.user("root", ("read", "write", "admin"))) as admin:
        told = set()
        for place in (project, project / ".git", project / "docs", built, data, tmp_path / "link", tmp_path / "none"):
            answer = admin.post("/api/repositories", json={"path": str(place)})
            assert code(answer) == (404, "repository_missing")
            told.add(answer.text.replace(str(place), "PLACE"))
        assert len(told) == 1
        Repository.init(tmp_path / "other")
        assert admin.post("/api/repositories", json={"path": str(tmp_path / "other")}).status_code == 201
    assert client.post("/api/repositories", json={"path": str(built)}).status_code == 201


def test_who_administers_is_not_told_which_repositories_others_have_added(house: House, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    Repository.init(taken)
    told = []
    with house.client(house.user("first", ("read", "admin"))) as first:
        assert first.post("/api/repositories", json={"path": str(taken)}).status_code == 201
    with house.client(house.user("second", ("read", "admin"))) as second:
        for place in (taken, tmp_path / "none"):
            answer = second.post("/api/repositories", json={"path": str(place)})
            assert code(answer) == (404, "repository_missing")
            told.append(answer.text.replace(str(place), "PLACE"))
    assert told[0] == told[1]
