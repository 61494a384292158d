"""What tests of agents share: no model may be asked over a real network."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def only_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every connection must go to this machine, and no key of the developer is seen."""
    for name in ("ANTHROPIC", "OPENAI", "OPENROUTER", "GEMINI", "GOOGLE", "GOOGLE_GEMINI", "OLLAMA"):
        for kind in ("API_KEY", "BASE_URL"):
            monkeypatch.delenv(f"{name}_{kind}", raising=False)
    real = socket.getaddrinfo
    connect = socket.socket.connect

    def local_only(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host not in {"localhost", "127.0.0.1", "::1", None}:
            pytest.fail(f"a test asked for the address of {host}")
        return real(host, *args, **kwargs)

    def local_connect(self: socket.socket, address: Any) -> None:
        if self.family in {socket.AF_INET, socket.AF_INET6} and not ipaddress.ip_address(address[0]).is_loopback:
            pytest.fail(f"a test connected to {address[0]}")
        connect(self, address)

    monkeypatch.setattr(socket, "getaddrinfo", local_only)
    monkeypatch.setattr(socket.socket, "connect", local_connect)
