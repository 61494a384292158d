"""What a right does not allow is refused at every address, and changes nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator

import httpx
import pytest

from forge.app.access.identity import LOCAL, server_secret
from forge.app.access.users import new_key
from tests.api.conftest import ON_BOTH
from tests.api.projects import code
from tests.support.api_server import House
from tests.support.soak.api import Request, Stranger
from tests.support.soak.planted import STRANGER, Planted, plant

pytestmark = [pytest.mark.req("X-06", "X-05"), ON_BOTH]

READING = {"search_files", "preview_merge", "preview_push", "preview_export", "check_drafts"}
"""They change nothing, though they are sent like a change."""
OPEN = {"sign_in", "sign_out", "revoke_key"}
"""Of one's own session and keys."""
OWN = {"save_note"}
"""A reader keeps a note of their own; agents do not read it."""
ADMIN = {
    "add_repository",
    "add_user",
    "change_setting",
    "create_key",
    "disable_user",
    "remove_provider_key",
    "reset_prompt",
    "save_prompt",
    "set_provider_key",
    "test_notifications",
}
RUN = {
    "accept_tests",
    "answer_exploration",
    "answer_question",
    "begin_test_run",
    "cancel_test_run",
    "approve_environment",
    "cancel_turn",
    "clear_environment",
    "perform_action",
    "generate_contracts",
    "stop_contract_generation",
    "say_to_project",
    "send_message",
    "set_project_test_command",
    "set_test_command",
    "set_up_environment",
}
MALFORMED = {(422, "request_invalid"), (422, "invalid_input"), (422, "condition_invalid")}
_TRIES = 40


@pytest.fixture(scope="module")
def planted(house: House) -> Planted:
    return plant(house)


def changes(house: House, planted: Planted) -> Iterator[tuple[str, list[Request]]]:
    """Every operation that is not for reading, with requests of which some are well formed."""
    with house.client() as client:
        drawn = Stranger(client.get("/api/openapi.json").json(), planted, random.Random(5))
    for number, (method, _, operation) in enumerate(drawn.operations):
        if method != "get" and operation["operationId"] not in READING | OPEN:
            yield operation["operationId"], [drawn.draw(number)[0] for _ in range(_TRIES)]


def is_about_theirs(planted: Planted, request: Request) -> bool:
    return any(planted.names[each] in request.address for each in ("project", "repository", "question"))


def test_who_something_is_shared_with_for_reading_changes_nothing_of_it(house: House, planted: Planted) -> None:
    with house.client() as client:
        for kind, id_ in (("projects", "project"), ("repositories", "repository")):
            shared = client.put(f"/api/{kind}/{planted.names[id_]}/shares/{STRANGER}", json={"right": "read"})
            assert shared.status_code == 204
    before, answers = planted.state(house), dict[str, list[httpx.Response]]()
    with house.client(planted.stranger_key) as guest:
        for name, requests in changes(house, planted):
            if name in OWN:
                continue
            about = [request for request in requests if is_about_theirs(planted, request)]
            answers[name] = [request.sent(guest)[0] for request in about]
    after = planted.state(house)
    assert {place: now for place, now in after.items() if now != before[place]} == {}
    asked = {name: came for name, came in answers.items() if came}
    assert len(asked) > 25
    for name, came in asked.items():
        refused = {code(each)[1] for each in came if each.status_code == 403}
        assert refused, f"{name}: {[each.text for each in came]}"
        assert refused <= {"shared_for_reading", "not_the_owner"}, name
        assert {each.status_code for each in came} <= {403, 404, 422}, name


@pytest.mark.parametrize("scopes", [("read",), ("read", "write"), ("read", "write", "run")])
def test_a_key_does_only_what_its_scopes_are_for(house: House, planted: Planted, scopes: tuple[str, ...]) -> None:
    """What they are for is left to other tests."""
    secret = server_secret(house.shop.settings.data_dir)
    key = new_key(house.shop, LOCAL, secret, planted.names["user"], scopes=scopes).text
    allowed: set[str] = set()
    refused: set[str] = set()
    with house.client(key) as client:
        for name, requests in changes(house, planted):
            needs = "admin" if name in ADMIN else "run" if name in RUN else "write"
            if needs in scopes:
                allowed.add(name)
                continue
            came = {code(request.sent(client)[0]) for request in requests}
            assert (403, "scope_missing") in came, name
            assert came <= {(403, "scope_missing"), (404, "route_missing")} | MALFORMED, f"{name}: {came}"
            refused.add(name)
    assert refused >= ADMIN
    assert (allowed >= RUN) == ("run" in scopes)
    assert len(allowed | refused) > 40
