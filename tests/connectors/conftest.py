"""Stand-ins that run while a test does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.support.connector_servers import DriveServer, NotionServer, running


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture(scope="session")
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture
def notion_server() -> Iterator[NotionServer]:
    server = NotionServer()
    with running(server):
        yield server


@pytest.fixture
def drive_server(rsa_key: rsa.RSAPrivateKey) -> Iterator[DriveServer]:
    server = DriveServer(rsa_key)
    with running(server):
        yield server
