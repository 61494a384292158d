"""Projects, as the tests make them over HTTP and use them in the browser."""

from __future__ import annotations

from typing import Any

import httpx

from tests.support.browser import until

DUMP = (
    "We want to plan a summer party for our club of forty people. The budget is 1500 euros and must not be exceeded. "
    "It should be on the second Saturday in July, in the garden of the club house. We need food for vegetarians."
)


def made(client: httpx.Client, name: str, agent: str | None = "builtin") -> str:
    answer = client.post("/api/projects", json={"name": name, "agent": agent})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def at_rest(client: httpx.Client, id_: str) -> dict[str, Any]:
    until(lambda: not client.get(f"/api/projects/{id_}").json()["busy"], seconds=60)
    seen: dict[str, Any] = client.get(f"/api/projects/{id_}").json()
    return seen


def advanced(client: httpx.Client, id_: str, *actions: str, dump: str = DUMP) -> dict[str, Any]:
    """Up to where the browser takes over."""
    assert client.post(f"/api/projects/{id_}/messages", json={"text": dump}).status_code == 202
    for action in actions:
        assert client.post(f"/api/projects/{id_}/actions/{action}").status_code == 202
        at_rest(client, id_)
    return at_rest(client, id_)


def say(page: Any, text: str) -> None:
    page.get_by_label("Message to the project").fill(text)
    page.get_by_label("Message to the project").press("Enter")
