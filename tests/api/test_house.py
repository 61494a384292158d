"""What is not about one noun: health, settings, prompts, costs, questions, sign-in, errors and pages."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio.to_thread
import httpx
import pytest

from forge.app.admin import admin_access
from tests.api.projects import code
from tests.support.api_server import LOCAL_KEY, House, opened

pytestmark = pytest.mark.req("X-02")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    place = tmp_path_factory.mktemp("house")
    (place / "static" / "assets").mkdir(parents=True)
    (place / "static" / "index.html").write_text("<!doctype html><title>Interface</title>")
    (place / "static" / "assets" / "app.js").write_text("let a = 1")
    (place / "outside.txt").write_text("nobody's business")
    with opened(place, static=place / "static") as made:
        yield made


def test_health_is_for_anybody_and_everything_else_is_not(house: House) -> None:
    with house.client("") as anybody:
        told = anybody.get("/api/health")
        assert told.json() == {"status": "ok", "version": told.json()["version"], "pid": os.getpid()}
        assert code(anybody.get("/api/projects")) == (401, "sign_in_needed")
        assert code(anybody.get("/api/openapi.json")) == (401, "sign_in_needed")


def test_a_token_lets_in_once_and_leaves_the_address(house: House) -> None:
    token = house.token()
    with house.client("") as browser:
        entered = browser.get("/", params={"token": token})
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        assert browser.get("/api/sign-in").json()["id"] == "local"
        assert browser.delete("/api/sign-in", headers={"Origin": house.url}).status_code == 204
        assert browser.get("/api/sign-in").status_code == 401
        again = browser.get("/", params={"token": token})
        assert again.status_code == 401
        assert token not in again.text
        assert code(browser.post("/api/sign-in", json={"token": token})) == (401, "token_refused")
        fresh = browser.post("/api/sign-in", json={"token": house.token()})
        assert fresh.status_code == 200
        assert "samesite=strict" in fresh.headers["set-cookie"].lower()


def test_errors_have_one_shape(client: httpx.Client) -> None:
    assert code(client.get("/api/nowhere")) == (404, "route_missing")
    assert code(client.post("/api/nowhere")) == (404, "route_missing")
    wrong = client.patch("/api/board")
    assert code(wrong) == (405, "method_not_allowed")
    assert wrong.headers["allow"] == "GET, HEAD"
    is_json = {"Content-Type": "application/json"}
    assert code(client.post("/api/projects", content=b"{", headers=is_json)) == (400, "request_malformed")
    assert code(client.post("/api/projects", json={"nmae": "x"})) == (422, "request_invalid")
    surrogates = client.post("/api/projects", content=b'{"name": "\\ud800"}', headers=is_json)
    assert code(surrogates) == (422, "request_invalid")
    secret = client.post("/api/sign-in", json={"token": ["hunter2hunter2"]})
    assert "hunter2" not in secret.text


@pytest.mark.req("X-06")
def test_a_mistake_of_forges_own_tells_nothing_and_is_logged_without_secrets(
    house: House, client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("ghp_0123456789abcdefghijklmnopqrstuvwxyzAB at /home/ada")

    monkeypatch.setattr(admin_access, "list_prompts", broken)
    told = client.get("/api/prompts")
    assert code(told) == (500, "internal")
    assert "ada" not in told.text
    assert "ValueError" not in told.text
    assert "ValueError" in caplog.text
    assert "ghp_0123" not in caplog.text


@pytest.mark.req("X-06")
def test_nothing_in_the_process_of_a_server_logs_a_secret(house: House, caplog: pytest.LogCaptureFixture) -> None:
    secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"
    logging.getLogger("a.library.of.strangers").error("with %s", secret, exc_info=ValueError(secret))
    assert "ValueError" in caplog.text
    assert secret not in caplog.text


@pytest.mark.req("X-06")
def test_a_key_of_the_server_itself_is_not_logged_whatever_it_looks_like(
    tmp_path: Path,
) -> None:
    plain = "plain words nobody takes for a key"
    # A process has one engine, so this one is not opened beside the house.
    told = subprocess.run(
        [sys.executable, "-c", _LOGGING, plain],
        env={**os.environ, "FORGE_DATA_DIR": str(tmp_path / "data"), "WEATHER_API_KEY": plain},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "[redacted:key]" in told.stderr
    assert plain not in told.stderr


_LOGGING = """
import asyncio, logging, os, sys
from forge.app.process.workshop import open_workshop
from forge.settings import load

async def main():
    async with open_workshop(load(os.environ), os.environ):
        logging.getLogger("a.library.of.strangers").error("with %s", sys.argv[1])

asyncio.run(main())
"""


@pytest.mark.req("X-06")
def test_an_address_with_a_login_is_set_and_never_shown(client: httpx.Client) -> None:
    name = "providers.workshop.base_url"
    changed = client.put(f"/api/settings/{name}", json={"value": "http://me:planted-pw@models.example/v1"})
    assert changed.json()["value"] == "http://…@models.example/v1"
    told = [client.get(f"/api/settings{rest}").text for rest in ("", "/providers", f"/{name}")]
    assert "planted" not in "".join([changed.text, *told])
    # What is shown is not the address, and must not take its place.
    again = client.put(f"/api/settings/{name}", json={"value": "http://…@models.example/v2"})
    assert code(again) == (422, "settings_invalid")


def test_settings_are_shown_without_secrets_and_changed(client: httpx.Client, house: House) -> None:
    changed = client.put("/api/settings/polish.max_iterations", json={"value": 7})
    assert changed.json()["value"] == 7
    assert client.get("/api/settings/polish.max_iterations").json()["value"] == 7
    assert client.put("/api/settings/keys.openai", json={"value": "sk-planted-0123456789"}).status_code == 200
    everything = client.get("/api/settings").text
    assert "sk-planted" not in everything
    assert "keys.openai" in everything
    names = [each["name"] for each in client.get("/api/settings", params={"name": "server"}).json()["settings"]]
    assert "server.port" in names
    assert code(client.put("/api/settings/polish.max_iterations", json={"value": "many"})) == (422, "settings_invalid")
    assert client.get("/api/settings/none.such").status_code in (404, 422)
    with house.client(house.user("plain")) as plain:
        assert code(plain.get("/api/settings")) == (403, "scope_missing")


def test_prompts_are_saved_compared_and_reset(client: httpx.Client) -> None:
    before = client.get("/api/prompts/chat").json()
    assert before["text"] == before["default"]
    assert client.put("/api/prompts/chat", json={"text": "Be brief.\n"}).json()["text"] == "Be brief.\n"
    assert "+Be brief." in client.get("/api/prompts/chat/diff").json()["diff"]
    origins = {each["name"]: each["origin"] for each in client.get("/api/prompts").json()["prompts"]}
    assert origins["chat"] == "override"
    assert client.post("/api/prompts/chat/reset").json()["text"] == before["text"]
    assert code(client.get("/api/prompts/none")) == (404, "prompt_missing")
    assert code(client.put("/api/prompts/chat", json={"text": "  "})) == (422, "prompt_unusable")


def test_models_costs_questions_and_notifications(client: httpx.Client, house: House) -> None:
    models = client.get("/api/models").json()
    assert models["chat"]
    costs = client.get("/api/costs", params={"by": "model"}).json()
    assert costs["total"]["requests"] == 0
    of_one = client.get("/api/costs", params={"repository": house.repository()})
    assert of_one.json()["rows"] == {}
    assert code(client.get("/api/costs", params={"repository": "none"})) == (404, "repository_missing")
    assert code(client.get("/api/costs", params={"by": "colour"})) == (422, "request_invalid")
    assert client.get("/api/questions").json() == {"questions": []}
    assert code(client.get("/api/questions/none")) == (404, "question_unknown")
    assert code(client.post("/api/questions/none/answer", json={"text": "yes"})) == (404, "question_unknown")
    assert client.post("/api/notifications/test").json() == {"channels": []}


def test_users_and_keys_are_made_and_taken_away(client: httpx.Client, house: House) -> None:
    user = client.post("/api/users", json={"name": "cy"}).json()
    assert code(client.post("/api/users", json={"name": "cy"})) == (409, "user_exists")
    made = client.post("/api/keys", json={"user": "cy", "scopes": ["read"]})
    assert made.status_code == 201
    text, id_ = made.json()["text"], made.json()["key"]["id"]
    with house.client(text) as hers:
        assert hers.get("/api/sign-in").json()["scopes"] == ["read"]
        assert [each["id"] for each in hers.get("/api/keys").json()["keys"]] == [id_]
        assert code(hers.get("/api/users")) == (403, "scope_missing")
        assert code(hers.get("/api/audit")) == (403, "scope_missing")
        assert [each["id"] for each in hers.get("/api/keys", params={"user": "cy"}).json()["keys"]] == [id_]
        for somebody_else in ("local", "nobody", ""):
            assert code(hers.get("/api/keys", params={"user": somebody_else})) == (403, "scope_missing")
        assert code(hers.post("/api/keys/none/revoke")) == (404, "key_unknown")
    assert text not in client.get("/api/keys").text
    assert client.post(f"/api/keys/{id_}/revoke").json()["revoked"]
    assert client.post(f"/api/users/{user['id']}/disable").json()["disabled"]
    assert code(client.post("/api/users/none/disable")) == (404, "user_unknown")
    assert code(client.post("/api/keys", json={"user": "cy", "scopes": ["read"]})) == (409, "user_disabled")
    actions = [each["action"] for each in client.get("/api/audit", params={"limit": 1000}).json()["items"]]
    assert {"user.add", "key.new", "key.revoke", "user.disable"} <= set(actions)
    lines = client.get("/api/audit", params={"limit": 2}, headers={"Accept": "application/x-ndjson"})
    assert len(lines.text.splitlines()) == len(actions)
    assert LOCAL_KEY not in lines.text


def test_the_files_of_the_interface_are_served_and_nothing_beside_them(house: House) -> None:
    with house.client("") as browser:
        assert "Interface" in browser.get("/").text
        assert "Interface" in browser.get("/projects/7").text
        script = browser.get("/assets/app.js")
        assert script.text == "let a = 1"
        assert "immutable" in script.headers["cache-control"]
        for path in ("/assets/none.js", "/..%2Foutside.txt", "/%2e%2e/outside.txt", "/a%00b.txt"):
            assert browser.get(path).status_code == 404, path
        assert browser.post("/").status_code in (401, 405)


def test_without_an_interface_a_plain_page_says_what_to_do(tmp_path: Path) -> None:
    from starlette.testclient import TestClient  # noqa: PLC0415

    from forge.api.static_files import Pages  # noqa: PLC0415

    async def nothing(*_: object) -> None:
        raise AssertionError("not the API")

    browser = TestClient(Pages(nothing, gate=None, static=tmp_path / "none"))  # type: ignore[arg-type]
    assert "/api/openapi.json" in browser.get("/").text
    assert browser.get("/elsewhere").status_code == 404


@pytest.mark.parametrize("path", ["/api/projects?limit=5", "/api/board", "/api/repositories"])
def test_a_request_changes_threads_once(client: httpx.Client, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    client.get(path)
    changes: list[object] = []
    change = anyio.to_thread.run_sync

    async def counted(function: Callable[..., object], *args: object, **options: object) -> object:
        changes.append(function)
        return await change(function, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(anyio.to_thread, "run_sync", counted)
    assert client.get(path).status_code == 200
    assert len(changes) == 1


def test_the_doctor_looks_at_the_machine_and_at_a_repository(house: House, client: httpx.Client) -> None:
    found = client.get("/api/doctor")
    assert found.status_code == 200, found.text
    names = [check["name"] for check in found.json()["checks"]]
    assert {"settings", "git", "database", "disk"} <= set(names)
    assert "branches" not in names
    within = client.get("/api/doctor", params={"repository": house.repository()}).json()
    assert "branches" in [check["name"] for check in within["checks"]]
    assert within["ok"] is all(check["state"] != "failed" for check in within["checks"])
    assert code(client.get("/api/doctor", params={"repository": "none"})) == (404, "repository_missing")
    with house.client(house.user("patient")) as patient:
        assert code(patient.get("/api/doctor")) == (403, "scope_missing")
