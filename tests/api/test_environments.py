"""Environments over HTTP: read, approved by the hash that was read, set up in the background with events."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.api.projects import code
from tests.support.api_server import House

pytestmark = pytest.mark.req("B-02", "X-02")

SETUP = "setup: ['echo set up', 'cp words.lock /env/']\ninputs: [words.lock]\nvariables: {GREETING: hello}\n"


@pytest.fixture
def address(house: House, client: httpx.Client) -> str:
    address = f"/api/repositories/{house.repository()}"
    client.post(f"{address}/branches", json={"name": "ai/one", "start": "main"})
    for path, text in ((".forge/environment.yaml", SETUP), ("words.lock", "one\n")):
        assert save(client, address, path, text).status_code == 200
    return address


def save(client: httpx.Client, address: str, path: str, text: str) -> httpx.Response:
    return client.put(f"{address}/files/{path}", params={"branch": "ai/one"}, content=text.encode())


def until(client: httpx.Client, address: str, state: str) -> dict[str, Any]:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        shown: dict[str, Any] = client.get(f"{address}/environment", params={"branch": "ai/one"}).json()
        if shown["state"] == state:
            return shown
        time.sleep(0.05)
    raise AssertionError(shown)


def test_an_environment_is_read_approved_set_up_renewed_and_cleared(client: httpx.Client, address: str) -> None:
    on = {"params": {"branch": "ai/one"}}
    shown = client.get(f"{address}/environment", **on).json()
    assert (shown["state"], shown["commands"]) == ("not_approved", ["echo set up", "cp words.lock /env/"])
    assert code(client.post(f"{address}/environment/setup", **on)) == (403, "setup_not_approved")
    other = {"hash": "sha256:" + "0" * 64}
    assert code(client.post(f"{address}/environment/approve", json=other, **on)) == (409, "proposal_changed")

    client.post(f"{address}/environment/approve", json={"hash": shown["hash"]}, **on).raise_for_status()
    ready = until(client, address, "ready")
    assert ready["layer"]["size"] > 0
    assert "set up" in client.get(f"{address}/environment/log", **on).json()["lines"]

    save(client, address, "words.lock", "two\n").raise_for_status()
    renewed = until(client, address, "ready")
    assert renewed["key"] != ready["key"]
    assert renewed["hash"] == ready["hash"]

    topic = f"branch:{address.rpartition('/')[2]}:ai/one"
    deadline = time.monotonic() + 10
    told: list[dict[str, Any]] = []
    while len(told) < 6 and time.monotonic() < deadline:
        heard = client.get("/api/events", params={"topic": topic, "after": 0}).json()["items"]
        told = [each["event"] for each in heard if each["event"]["type"] == "EnvironmentChanged"]
    assert [(each["state"], each["step"]) for each in told] == [("setting_up", 1), ("setting_up", 2), ("ready", 0)] * 2

    assert client.delete(f"{address}/environment", **on).json()["state"] == "approved"
    assert code(client.get(f"{address}/environment", params={"branch": "nowhere"})) == (404, "branch_missing")
