"""Test runs over HTTP: begun, followed by events, shown test by test, cancelled, and refused without the right."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.api.projects import code
from tests.support.api_server import House

pytestmark = pytest.mark.req("B-02")

CASES = "import unittest\n\nclass Cart(unittest.TestCase):\n    def test_empty(self): pass\n"
BROKEN = f"{CASES}    def test_total(self):\n        self.assertEqual(3, 4)\n"
SLOW = CASES.replace("pass", "__import__('time').sleep(60)")


def ended(client: httpx.Client, address: str, branch: str = "main") -> dict[str, Any]:
    for _ in range(300):
        told: dict[str, Any] = client.get(f"{address}/tests/runs", params={"branch": branch}).json()
        if told["running"] is None:
            return told
        time.sleep(0.1)
    raise AssertionError("the tests did not end")


def begun(client: httpx.Client, address: str, branch: str = "main", **body: Any) -> dict[str, Any]:
    answer = client.post(f"{address}/tests/runs", params={"branch": branch}, json=body)
    assert answer.status_code == 202, answer.text
    told: dict[str, Any] = answer.json()
    return told


def events(client: httpx.Client, run: dict[str, Any]) -> list[dict[str, Any]]:
    told = client.get("/api/events", params={"topic": run["topic"], "after": run["after"]}).json()
    return [each["event"] for each in told["items"] if each["event"].get("run") == run["run"]]


def test_tests_run_and_are_shown_test_by_test(client: httpx.Client, house: House) -> None:
    address = f"/api/repositories/{house.repository({'test_cart.py': BROKEN})}"
    assert client.get(f"{address}/tests/runs", params={"branch": "main"}).json() == {
        "last": None,
        "running": None,
        "since": None,
    }
    run = begun(client, address)
    last = ended(client, address)["last"]
    assert (last["outcome"], last["passed"], last["failed"], last["current"]) == ("failed", 1, 1, True)
    first = last["tests"][0]
    assert (first["name"], first["file"], first["line"]) == ("test_cart.Cart.test_total", "test_cart.py", 6)
    told = events(client, run)
    assert [each["type"] for each in told] == ["TestsStarted", "TestsEnded"]
    assert (told[1]["outcome"], told[1]["failed"], told[1]["commit"]) == ("failed", 1, last["commit"])


@pytest.mark.parametrize("waits", [True, False], ids=["running", "queued"])
def test_one_run_at_a_time_and_it_can_be_cancelled(client: httpx.Client, house: House, waits: bool) -> None:
    address = f"/api/repositories/{house.repository({'test_cart.py': SLOW})}"
    run = begun(client, address)
    assert begun(client, address)["run"] == run["run"]
    if waits:
        while not events(client, run):
            time.sleep(0.05)
    assert client.post(f"{address}/tests/cancel", params={"branch": "main"}).json() == {"cancelled": True}
    assert ended(client, address)["last"] is None
    told = events(client, run)
    assert (told[-1]["type"], told[-1]["outcome"]) == ("TestsEnded", "cancelled")
    assert client.post(f"{address}/tests/cancel", params={"branch": "main"}).json() == {"cancelled": False}


def test_a_branch_without_tests_says_so_in_its_events(client: httpx.Client, house: House) -> None:
    address = f"/api/repositories/{house.repository({'a.txt': 'x'})}"
    run = begun(client, address)
    assert ended(client, address)["last"] is None
    told = events(client, run)
    assert told[-1]["outcome"] == "cannot run"
    assert told[-1]["error"].startswith("No tests were found on this branch.")


def test_a_key_without_the_run_scope_runs_nothing(client: httpx.Client, house: House) -> None:
    address = f"/api/repositories/{house.repository({'test_cart.py': CASES})}"
    assert code(client.post(f"{address}/tests/runs", params={"branch": "gone"}, json={})) == (404, "branch_missing")
    wrong = client.post(f"{address}/tests/runs", params={"branch": "main"}, json={"pattern": "-x"})
    assert code(wrong) == (422, "invalid_input")
    with house.client(house.user("tia", ("read", "write"))) as reader:
        answer = reader.post(f"{address}/tests/runs", params={"branch": "main"}, json={})
        assert answer.status_code in (403, 404)
    assert ended(client, address)["last"] is None
