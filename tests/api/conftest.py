"""A server for each module of tests: opening one takes most of a second, and a process has one engine."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.api.house import House, opened


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with opened(tmp_path_factory.mktemp("house")) as made:
        yield made


@pytest.fixture
def client(house: House) -> Iterator[httpx.Client]:
    with house.client() as made:
        yield made
