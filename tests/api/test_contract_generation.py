"""Contracts written by agents over HTTP: questions, the run, what it took, who read what."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from forge.contracts.kinds import ORDER, Kind
from forge.contracts.templates import template
from tests.api.conftest import ON_BOTH
from tests.api.projects import code, made

pytestmark = [pytest.mark.req("C-02", "C-03", "C-11"), ON_BOTH]

ANSWERS = {"product": "A shared list of tasks.", "features": "Add tasks\nDelete tasks", "languages": "Python"}


@pytest.fixture
def address(client: httpx.Client) -> str:
    return f"/api/projects/{made(client)['id']}/contracts"


def ended(client: httpx.Client, address: str) -> Any:
    deadline = time.monotonic() + 30
    while (seen := client.get(f"{address}/generation").json())["state"] not in ("done", "failed", "cancelled"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return seen


def test_questions_are_shown_and_answered(client: httpx.Client, address: str) -> None:
    empty = client.get(f"{address}/questions").json()
    assert {each["origin"] for each in empty["questions"]} == {""}
    assert code(client.put(f"{address}/questions", json={"answers": {"colour": "red"}})) == (
        404,
        "contract_question_unknown",
    )
    done = client.put(f"{address}/questions", json={"answers": ANSWERS}).json()
    assert (done["answered"], done["by_person"]) == (3, 3)
    back = client.put(f"{address}/questions", json={"answers": {"languages": ""}}).json()
    assert back["by_person"] == 2
    assert code(client.put(f"{address}/questions", json={"answers": {"product": "x" * 9000}})) == (
        422,
        "answers_malformed",
    )


def test_contracts_are_generated_shown_and_not_overwritten(client: httpx.Client, address: str) -> None:
    assert client.get(f"{address}/generation").json() is None
    assert code(client.post(f"{address}/generation")) == (422, "nothing_known")
    client.put(f"{address}/questions", json={"answers": ANSWERS})
    begun = client.post(f"{address}/generation")
    assert begun.status_code == 202, begun.text
    assert begun.json()["kinds"] == [kind.value for kind in ORDER]
    seen = ended(client, address)
    assert (seen["state"], seen["model"], seen["problem"]) == ("done", "builtin", "")
    assert [each["state"] for each in seen["contracts"]] == ["saved"] * 9
    cards = client.get(address).json()["items"]
    assert {(each["state"], each["origin"]) for each in cards} == {("valid", "generated")}
    assert code(client.post(f"{address}/generation")) == (409, "nothing_to_generate")
    assert code(client.delete(f"{address}/generation")) == (409, "no_generation")
    client.put(f"{address}/ui", json={"content": template(Kind.UI), "etag": None})
    assert code(client.post(f"{address}/generation", json={"kinds": ["ui"]})) == (409, "contract_edited")
    over = client.post(f"{address}/generation", json={"kinds": ["ui"], "edited": "overwrite"})
    assert over.status_code == 202
    assert ended(client, address)["contracts"][0]["state"] == "saved"
    assert code(client.post(f"{address}/generation", json={"kinds": ["poem"]})) == (422, "request_invalid")
    reads = client.get(f"{address}/reads").json()["items"]
    assert {each["role"] for each in reads} == {"contract-author"}
    assert {"run", "contract", "tokens", "time", "build"} <= set(reads[0])
    sums = client.get(f"{address}/reads/summary").json()
    assert sum(each["reads"] for each in sums) == len(reads)
    assert client.get(f"{address}/reads/summary", params={"build": "none"}).json() == []
