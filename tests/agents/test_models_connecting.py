"""Connections to providers: what all of them need is read once."""

from __future__ import annotations

import ssl

import httpcore2
import httpx2
import pytest

from forge.agents.models import connections
from forge.agents.models.endpoint import Endpoint


@pytest.mark.req("G-17")
@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "https://provider.invalid/v1"])
def test_whom_to_believe_is_read_once_for_all_connections(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[ssl.SSLContext] = []
    make = httpcore2.default_ssl_context

    def counted(**options: bool) -> ssl.SSLContext:
        read.append(make(**options))
        return read[-1]

    connections._trusted.cache_clear()
    monkeypatch.setattr(httpcore2, "default_ssl_context", counted)
    clients = [connections.http_client(Endpoint("workshop", "m", address)) for _ in range(3)]
    assert all(isinstance(client, httpx2.AsyncClient) for client in clients)
    assert len(read) == 1
