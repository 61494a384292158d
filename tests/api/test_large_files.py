"""A file over the limit needs `large=true`; without it the answer is a 422 with a code."""

from __future__ import annotations

import httpx
import pytest

from tests.api.projects import code
from tests.support.api_server import House


@pytest.mark.req("G-05")
def test_a_large_file_needs_a_clear_yes(client: httpx.Client, house: House) -> None:
    settings = house.shop.settings
    small = settings.model_copy(update={"limits": settings.limits.model_copy(update={"file_mb": 1})})
    object.__setattr__(house.shop, "settings", small)
    address = f"/api/repositories/{house.repository()}/files/big.bin"
    large = b"x" * (2 << 20)
    assert code(client.put(address, params={"branch": "main"}, content=large)) == (422, "file_over_limit")
    saved = client.put(address, params={"branch": "main", "large": "true"}, content=large)
    assert (saved.status_code, saved.json()["changed"]) == (200, True)
