"""A build that waits behind others says so in the browser, with its place, and starts when a place is free."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.support.browser import Desk, opened, until
from tests.support.provider import Provider
from tests.web.projects import advanced, made

pytestmark = [pytest.mark.req("P-19"), pytest.mark.req("P-20")]

# Never knows where the party is: its project holds the only place until a person stops it.
WRITER = 'import json; print(json.dumps({"stuck": True, "reason": "Indoors or outdoors?", "content": ""}))'


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory, provider: Provider) -> Iterator[Desk]:
    place = tmp_path_factory.mktemp("desk")
    (place / "config.yaml").write_text(
        json.dumps(
            {
                "models": {"planner": "builtin", "writer": "asker", "fixer": "builtin", "reviewer": "builtin"},
                "agents": {"asker": {"command": [sys.executable, "-c", WRITER]}},
                "concurrency": {"max_parallel_runs": 1},
            }
        )
    )
    with opened(place, provider) as desk:
        yield desk


def test_a_queued_build_shows_its_place_and_starts_when_the_one_before_it_ends(
    desk: Desk, page: Any, expect: Any
) -> None:
    with desk.client() as client:
        first = _at_building(client, "Party one")
        until(lambda: client.get(f"/api/projects/{first}").json()["waiting"] == "stuck", seconds=60)
        second, third = _at_building(client, "Party two"), _at_building(client, "Party three")
        until(lambda: client.get(f"/api/projects/{third}").json()["queue_place"] == 2, seconds=60)
        seen = client.get(f"/api/projects/{second}").json()
        assert (seen["queued"], seen["queue_place"]) == (True, 1)
        assert seen["label"] == "Building · number 1 in the queue"

        page.goto(f"{desk.url}/projects/{second}")
        standing = page.get_by_role("status", name="Where it stands")
        expect(standing).to_contain_text("In the queue · number 1")
        page.goto(f"{desk.url}/projects/{third}")
        expect(standing).to_contain_text("In the queue · number 2")
        page.goto(f"{desk.url}/board")
        expect(page.get_by_role("link").filter(has_text="In the queue · number 2")).to_be_visible()

        page.goto(f"{desk.url}/projects/{third}")
        assert client.post(f"/api/projects/{first}/actions/terminate", json={"confirmed": True}).status_code == 202
        expect(standing).to_contain_text("In the queue · number 1")
        page.goto(f"{desk.url}/projects/{second}")
        expect(page.get_by_text("Indoors or outdoors?").first).to_be_visible()


def _at_building(client: httpx.Client, name: str) -> str:
    id_ = made(client, name, agent=None)
    advanced(client, id_, "distill", "confirm")
    assert client.post(f"/api/projects/{id_}/actions/confirm").status_code == 202
    return id_
