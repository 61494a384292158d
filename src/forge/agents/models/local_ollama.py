"""Looks for a local Ollama, briefly and without proxies."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

_PATIENCE = 0.5
_LARGEST = 1_000_000


def api_address(base_url: str) -> str:
    """People write the address with and without `/v1`; its API for conversations is below that."""
    return base_url if urlsplit(base_url).path.strip("/") else f"{base_url.rstrip('/')}/v1"


def models(base_url: str) -> tuple[str, ...]:
    """Names of the models it holds, the latest first; empty if nobody answers there."""
    address = urlsplit(base_url)
    connect = http.client.HTTPSConnection if address.scheme == "https" else http.client.HTTPConnection
    if not address.hostname:
        return ()
    connection = connect(address.hostname, address.port, timeout=_PATIENCE)
    try:
        connection.request("GET", f"{address.path.removesuffix('/').removesuffix('/v1')}/api/tags")
        answer = connection.getresponse()
        listed = json.loads(answer.read(_LARGEST)) if answer.status == http.HTTPStatus.OK else {}
    except (OSError, http.client.HTTPException, ValueError):
        return ()
    finally:
        connection.close()
    entries = listed.get("models") if isinstance(listed, dict) else None
    names = [entry.get("name") for entry in entries or () if isinstance(entry, dict)]
    # Models that only turn text into numbers cannot hold a conversation.
    return tuple(name for name in names if isinstance(name, str) and "embed" not in name)
