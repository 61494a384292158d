"""Projects over HTTP, as the tests of the API make and read them."""

from __future__ import annotations

import time
from typing import Any

import httpx

DUMP = (
    "We want to plan a summer party for our club of forty people. The budget is 1500 euros and must not be exceeded. "
    "It should be on the second Saturday in July, in the garden of the club house. We need food for vegetarians."
)


def made(client: httpx.Client, name: str | None = None, **more: Any) -> dict[str, Any]:
    answer = client.post("/api/projects", json={"name": name, "agent": "builtin", **more})
    assert answer.status_code == 201, answer.text
    result: dict[str, Any] = answer.json()
    return result


def at_rest(client: httpx.Client, id_: str) -> dict[str, Any]:
    deadline = time.monotonic() + 60
    while True:
        seen: dict[str, Any] = client.get(f"/api/projects/{id_}").json()
        if not seen["busy"]:
            return seen
        assert time.monotonic() < deadline, seen
        time.sleep(0.05)


def code(answer: httpx.Response) -> tuple[int, str]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem = answer.json()
    assert set(problem) == {"type", "title", "status", "code", "detail", "hint"}
    assert problem["status"] == answer.status_code
    return answer.status_code, problem["code"]
