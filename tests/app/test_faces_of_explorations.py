"""An exploration, its memory and its contracts, through every face: the same events, audit rows and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.faces import Outcome, recorded
from tests.cli.beside import Beside, beside, until
from tests.support.api_server import House, opened
from tests.support.mcp_client import at_server

pytestmark = [pytest.mark.req("X-02", "X-04"), pytest.mark.xdist_group("faces of runs")]
SAID = "The treasurer loses two evenings because he collects the answers by hand."
PRODUCT = "A summer party."
LEARNED = "People answer on Sundays."
_NUMBERS = count(1)
DEEDS = [
    ("local", "project.create"),
    ("local", "project.say"),
    ("local", "memory.learning"),
    ("local", "contract.answer"),
    ("local", "contract.generate"),
    ("local", "explore.hand_over"),
]
REFUSED = ["no_generation", "contract_question_unknown", "invalid_input"]


def _outcome(house: House, id_: str, refused: list[str]) -> Outcome:
    house.call(house.shop.events.flush())
    return recorded(house.place / "data", f"project:{id_}", [f"project:{id_}"], refused)


def _made(house: House) -> str:
    with house.client() as client:
        answer = client.post("/api/projects", json={"name": f"party {next(_NUMBERS)}", "agent": "builtin"})
        return str(answer.raise_for_status().json()["id"])


def _learned(client: httpx.Client, id_: str, text: str) -> httpx.Response:
    return client.post("/api/memory/lines", params={"project": id_}, json={"kind": "learning", "text": text})


def _ended(client: httpx.Client, id_: str, run: str) -> bool:
    return bool(client.get(f"/api/projects/{id_}/runs/{run}", params={"wait": 5}).json()["over"])


def by_request(house: House) -> Outcome:
    id_ = _made(house)
    address = f"/api/projects/{id_}"
    with house.client() as client:
        turn = client.post(f"{address}/explore/turns", json={"text": SAID, "about": "problem"}).json()
        until(lambda: _ended(client, id_, turn["run"]))
        _learned(client, id_, LEARNED).raise_for_status()
        contracts = f"{address}/contracts"
        client.put(f"{contracts}/questions", json={"answers": {"product": PRODUCT}}).raise_for_status()
        run = client.post(f"{contracts}/generation", json={"kinds": ["manifesto"]}).json()["run"]
        until(lambda: _ended(client, id_, run))
        refused = [
            client.delete(f"{contracts}/generation").json()["code"],
            client.put(f"{contracts}/questions", json={"answers": {"none": "x"}}).json()["code"],
            _learned(client, id_, " ").json()["code"],
        ]
        client.post(f"{address}/explore/brain-dump").raise_for_status()
    return _outcome(house, id_, refused)


def by_command(there: Beside) -> Outcome:
    def run(*words: str, cwd: Path | None = None) -> Any:
        return there.run("--json", *words, cwd=cwd).document

    made = run("project", "new", "party", "--agent", "builtin")
    place = Path(made["directory"])
    run("explore", "party", "-m", SAID, "--about", "problem")
    run("memory", "add", LEARNED, cwd=place)
    run("contracts", "answer", "party", "--set", f"product={PRODUCT}")
    run("contracts", "generate", "manifesto", "party")
    refused = [
        run("contracts", "stop", "party")["error"]["code"],
        run("contracts", "answer", "party", "--set", "none=x")["error"]["code"],
        run("memory", "add", " ", cwd=place)["error"]["code"],
    ]
    run("explore", "party", "--brain-dump")
    return recorded(there.data, f"project:{made['id']}", [f"project:{made['id']}"], refused)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with opened(tmp_path_factory.mktemp("house")) as made:
        yield made


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Beside]:
    with beside(tmp_path, {}) as made:
        yield made


def test_an_exploration_is_the_same_by_command(house: House, there: Beside) -> None:
    one = by_command(there)
    assert (one.deeds, one.refused) == (DEEDS, REFUSED)
    assert one == by_request(house)


def test_an_exploration_is_the_same_by_command_beside_a_server(house: House, there: Beside) -> None:
    server = there.serve()
    assert by_command(there) == by_request(house)
    assert set(there.runs().values()) == {server.pid}


@pytest.mark.asyncio
async def test_what_an_agent_says_and_remembers_by_mcp_is_told_and_audited_like_a_persons(house: House) -> None:
    id_, other = _made(house), _made(house)
    async with at_server(house.url, "a-secret-of-this-test-alone", f"?toolsets=all&project={id_}") as agent:
        await agent.call("forge_explore_message", text=SAID)
        await agent.call("forge_write_memory", kind="learning", text=LEARNED)
        await agent.refused("forge_write_memory", kind="learning", text=" ")
    with house.client() as client:
        address = f"/api/projects/{other}"
        turn = client.post(f"{address}/explore/turns", json={"text": SAID}).raise_for_status().json()
        until(lambda: _ended(client, other, turn["run"]))
        _learned(client, other, LEARNED).raise_for_status()
        _learned(client, other, " ")
    one, two = _outcome(house, id_, []), _outcome(house, other, [])
    assert one == two
    assert one.deeds == DEEDS[:3]
