"""Turns over HTTP with a recorded model."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx

Json = dict[str, Any]


def ended(client: httpx.Client, address: str, branch: str) -> Json:
    """The newest turn, when nothing is under way any more."""
    deadline = time.monotonic() + 60
    while client.get(f"{address}/session", params={"branch": branch}).json()["working"]:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    newest: Json = client.get(f"{address}/session/turns", params={"branch": branch}).json()["items"][0]
    return newest


def turn(client: httpx.Client, address: str, branch: str, recording: Path, *answers: Json) -> Json:
    """One that a recorded model goes through."""
    recording.write_text("".join(f"{json.dumps(answer)}\n" for answer in answers))
    sent = client.post(
        f"{address}/session/messages",
        params={"branch": branch},
        json={"text": "Please.", "model": f"recorded:{recording}"},
    )
    assert sent.status_code == 202, sent.text
    deadline = time.monotonic() + 60
    asked = {"topic": sent.json()["topic"], "after": sent.json()["after"]}
    while True:
        told = [each["event"]["type"] for each in client.get("/api/events", params=asked).json()["items"]]
        if {"TurnCommitted", "TurnStopped"} & set(told):
            return ended(client, address, branch)
        assert time.monotonic() < deadline, told
        time.sleep(0.02)


def writes(path: str, text: str) -> Json:
    return {"text": "Now.", "calls": [{"name": "write_file", "arguments": {"path": path, "content": text}}]}
