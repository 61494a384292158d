"""Nothing is said to be done or found where there is nothing, and values that make no sense are refused."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from forge.app.access.identity import LOCAL
from forge.app.admin.admin_access import costs
from forge.app.sessions.conversation import Reservation
from forge.sessions.messages import Usage
from tests.api.projects import code, made
from tests.support.api_server import House

pytestmark = pytest.mark.req("X-02")


def test_what_is_missing_is_missing_for_the_person_at_this_machine_too(client: httpx.Client, house: House) -> None:
    house.user("somebody")
    for kind, wanted in (("projects", "project_missing"), ("repositories", "repository_missing")):
        shares = f"/api/{kind}/none/shares"
        assert code(client.get(shares)) == (404, wanted)
        assert code(client.put(f"{shares}/somebody", json={"right": "read"})) == (404, wanted)
        assert code(client.delete(f"{shares}/somebody")) == (404, wanted)
    assert code(client.get("/api/models/nobody")) == (404, "provider_unknown")
    for known in ("anthropic", "builtin"):
        assert client.get(f"/api/models/{known}").status_code == 200
    address = f"/api/repositories/{house.repository()}/session"
    assert code(client.post(f"{address}/cancel", params={"branch": "nope"})) == (404, "branch_missing")
    assert client.post(f"{address}/cancel", params={"branch": "main"}).json() == {"cancelled": None}
    assert code(client.get(f"{address}/turns", params={"branch": "main", "after": "x"})) == (422, "invalid_page")


def test_a_repository_that_is_looked_after_is_not_made_again(client: httpx.Client, house: House) -> None:
    id_ = house.repository()
    path = client.get(f"/api/repositories/{id_}").json()["path"]
    again = client.post("/api/repositories", json={"path": path})
    assert (again.status_code, again.json()["id"]) == (200, id_)
    assert client.delete(f"/api/repositories/{id_}").status_code == 204
    assert client.post("/api/repositories", json={"path": path}).status_code == 201


def test_reversed_ranges_are_refused(client: httpx.Client, house: House) -> None:
    address = f"/api/repositories/{house.repository()}"
    client.post(f"{address}/branches", json={"name": "ai/one"})
    lines: dict[str, Any] = {"path": "README.md", "first": 5, "last": 2}
    assert code(client.get(f"{address}/blame", params=lines)) == (422, "invalid_input")
    for wrong in ([5, 2], [0, 1], [-3, -1]):
        body = {"add": [{"path": "README.md", "ranges": [wrong]}]}
        answer = client.patch(f"{address}/session/context", params={"branch": "ai/one"}, json=body)
        assert code(answer) == (422, "invalid_input")


def test_the_turn_that_was_under_way_is_found_by_what_it_was_called_then(client: httpx.Client, house: House) -> None:
    address = f"/api/repositories/{house.repository()}/session"
    where = {"branch": "ai/one"}
    client.post(f"{address.rpartition('/')[0]}/branches", json={"name": "ai/one"})
    sent = client.post(f"{address}/messages", params=where, json={"text": "hello", "model": "builtin"}).json()
    mark = sent["run"].removeprefix("turn-")
    house.call(house.shop.engine.wait(sent["run"], 60))
    turn = client.get(f"{address}/turns/{mark}", params=where)
    assert turn.status_code == 200, turn.text
    assert turn.json()["id"] == f"000001-{mark}"
    costs = client.get("/api/costs", params={"by": "session"}).json()["rows"]
    assert list(costs) == [f"{address.split('/')[3]}:ai/one"]
    assert Reservation("ai/one", mark, "", 0.0, "").holder == mark


def test_costs_outside_of_sessions_have_a_name(house: House) -> None:
    usage = Usage(input_tokens=1, requests=1)
    house.shop.costs.record("run", "step", repository="", branch="", model="none", usage=usage, time=time.time())
    for by in ("session", "branch"):
        rows = costs(house.shop, LOCAL, by=by, days=1, repository_id=None).rows
        assert "" not in rows
        assert rows[f"no {by}"].requests == 1


def test_a_setting_is_checked_also_where_a_variable_hides_it(client: httpx.Client, house: House) -> None:
    huge = client.put("/api/settings/polish.max_iterations", json={"value": 10**30})
    assert code(huge) == (422, "settings_invalid")
    # The test's own server has its workspace from a variable.
    hidden = client.put("/api/settings/workspace", json={"value": ["no", "path"]})
    assert code(hidden) == (422, "settings_invalid")
    assert "no" not in (house.place / "config.yaml").read_text()


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "١", "9" * 30])
def test_a_place_that_no_page_ended_at_is_refused(client: httpx.Client, after: str) -> None:
    project = f"/api/projects/{made(client)['id']}"
    for address in ("/api/audit", f"{project}/log", f"{project}/messages", f"{project}/earlier-messages"):
        assert code(client.get(address, params={"after": after})) == (422, "invalid_page"), address
