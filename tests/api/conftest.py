"""A server for each module of tests: opening one takes most of a second, and a process has one engine."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends import null

from tests.support.api_server import House, opened
from tests.support.postgres import postgres

__all__ = ["postgres"]


@pytest.fixture(scope="session", autouse=True)
def no_keyring() -> Iterator[None]:
    """Whatever a test asks for, the keyring of the person at this machine stays as it is."""
    before: KeyringBackend = keyring.get_keyring()
    keyring.set_keyring(null.Keyring())
    yield
    keyring.set_keyring(before)


ON_BOTH = pytest.mark.parametrize("house", ["sqlite", "postgresql"], indirect=True, scope="module")
"""For modules whose tests SQLite alone would not prove: who may do what is a matter of rows."""


@pytest.fixture(scope="module")
def house(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    environ = {}
    if getattr(request, "param", "sqlite") == "postgresql":
        environ["FORGE_DATABASE"] = request.getfixturevalue("postgres").new_database()
    with opened(tmp_path_factory.mktemp("house"), environ=environ) as made:
        yield made


@pytest.fixture
def client(house: House) -> Iterator[httpx.Client]:
    with house.client() as made:
        yield made
