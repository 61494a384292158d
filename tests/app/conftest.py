"""What tests of whole processes share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.forked_commands import Forked


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forked]:
    """Loads Forge once for all of them."""
    with Forked(tmp_path_factory.mktemp("processes")) as forge:
        yield forge
