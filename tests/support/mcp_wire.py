"""Requests of protocol 2026-07-28 as they are on the wire, with whatever a client declares."""

from __future__ import annotations

import json
from typing import Any

import httpx

NEWEST = "2026-07-28"
TASKS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
FORMS = {"elicitation": {}}
PAGES = {"elicitation": {"form": {}, "url": {}}}


def meta(capabilities: dict[str, Any]) -> dict[str, Any]:
    return {
        "io.modelcontextprotocol/protocolVersion": NEWEST,
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/clientInfo": {"name": "pytest", "version": "1"},
    }


def asked(
    url: str,
    method: str,
    params: dict[str, Any],
    *,
    capabilities: dict[str, Any] | None = None,
    key: str = "",
    **headers: str,
) -> tuple[int, dict[str, Any]]:
    """Status and answer. A header's name is written with underscores."""
    named = params.get("name") or params.get("uri") or params.get("taskId")
    sent = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": NEWEST,
        "Mcp-Method": method,
        **({"Mcp-Name": named} if named else {}),
        **({"Authorization": f"Bearer {key}"} if key else {}),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    given = {"_meta": meta(FORMS if capabilities is None else capabilities), **params}
    body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": given}
    answer = httpx.post(url, json=body, headers=sent, trust_env=False, timeout=60)
    if "event-stream" not in answer.headers.get("content-type", ""):
        return answer.status_code, answer.json()
    frames = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: {")]
    return answer.status_code, next(each for each in frames if each.get("id") == 7)
