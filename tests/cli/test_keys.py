"""`forge user` and `forge key`: made, listed and taken away, straight on the database."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.app.access.identity import server_secret
from forge.app.access.users import Keys
from forge.app.admin.settings import load_settings
from forge.app.process.workshop import database_url
from forge.cli.main import COMMANDS, Command
from forge.store.database import Database
from tests.cli.conftest import Forge


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("user", "key"):
        monkeypatch.setitem(COMMANDS, name, Command(name, ""))
    monkeypatch.setenv("FORGE_DATA_DIR", str(tmp_path / "data"))


def whose(text: str) -> str | None:
    """The name of the user whom a server would let in with this key."""
    settings = load_settings(None, os.environ)
    database = Database.open(database_url(settings))
    try:
        who = Keys(database, server_secret(settings.data_dir)).verify(text)
    finally:
        database.close()
    return None if who is None else who.name


@pytest.mark.req("C-10", "X-02")
def test_a_key_is_made_shown_once_used_and_revoked(forge: Forge) -> None:
    assert forge("user", "add", "Ada").code == 0
    made = forge("key", "new", "Ada", "--scope", "read", "--scope", "run", "--days", "7", "--name", "ci", "--json")
    key = made.document
    assert key["text"].startswith("fk_")
    assert (key["user"], key["scopes"], key["name"], key["opens"]) == ("Ada", ["read", "run"], "ci", True)
    assert key["text"] not in made.err
    assert whose(key["text"]) == "Ada"

    listed = forge("key", "list", "--json")
    assert [each["id"] for each in listed.document] == [key["id"]]
    assert listed.document[0]["last_used"] is not None
    for told in (listed, forge("key", "list"), forge("key", "list", "Ada")):
        assert key["text"] not in told.out + told.err
        assert key["prefix"] in told.out

    assert forge("key", "revoke", key["id"]).code == 0
    assert whose(key["text"]) is None
    assert "revoked" in forge("key", "list").out
    assert forge("key", "revoke", key["id"], "--json").document["opens"] is False


def test_for_people_the_key_stands_alone_on_standard_output(forge: Forge) -> None:
    forge("user", "add", "Ada")
    made = forge("key", "new", "Ada")
    assert made.out.startswith("fk_")
    assert len(made.out.splitlines()) == 1
    assert "not shown again" in made.err
    assert whose(made.out.strip()) == "Ada"


@pytest.mark.req("X-06")
def test_a_disabled_user_does_not_get_in(forge: Forge) -> None:
    forge("user", "add", "Ada")
    text = forge("key", "new", "Ada", "--json").document["text"]
    assert forge("user", "disable", "Ada").code == 0
    assert whose(text) is None
    assert forge("user", "list", "--json").document[0]["disabled"] is not None
    assert "disabled" in forge("user", "list").out
    assert "user disabled" in forge("key", "list").out
    refused = forge("key", "new", "Ada", "--json")
    assert (refused.code, refused.error) == (1, "user_disabled")
    assert len(forge("key", "list", "--json").document) == 1


@pytest.mark.parametrize(
    ("args", "error"),
    [
        (("user", "add", "a/b"), "user_name_invalid"),
        (("user", "add", "ADA"), "user_exists"),
        (("user", "disable", "Bob"), "user_unknown"),
        (("key", "new", "Bob"), "user_unknown"),
        (("key", "list", "Bob"), "user_unknown"),
        (("key", "new", "Ada", "--scope", "root"), "key_options_invalid"),
        (("key", "new", "Ada", "--days", "0"), "key_options_invalid"),
        (("key", "revoke", "k_0"), "key_unknown"),
    ],
)
def test_what_cannot_be_is_said_with_its_code(forge: Forge, args: tuple[str, ...], error: str) -> None:
    forge("user", "add", "Ada")
    ran = forge(*args, "--json")
    assert (ran.code, ran.error) == (1, error)


def test_where_there_is_nobody_yet_the_next_step_is_told(forge: Forge) -> None:
    assert "forge user add" in forge("user", "list").err
    assert "forge key new" in forge("key", "list").err
    assert forge("user", "list", "--json").document == []
