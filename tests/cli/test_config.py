"""`forge config` on the command line."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
import yaml

from forge.settings import default_text
from tests.cli.conftest import Forge

KEY = "sk-test-0123456789abcdefghij"
MINE = """\
# what I changed
limits:
  turn_usd: 2   # enough
"""


@pytest.fixture(autouse=True)
def file(monkeypatch: pytest.MonkeyPatch, home: Path, tmp_path: Path) -> Path:
    for name in ("FORGE_CONFIG", "FORGE_WORKSPACE", "FORGE_DATA", "FORGE_DATA_DIR", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    folder = home / "config" / "forge"
    folder.mkdir(parents=True)
    return folder / "config.yaml"


def write(file: Path, text: str) -> None:
    file.write_text(text)
    file.chmod(0o600)


@pytest.mark.req("P-17")
def test_settings_are_shown_with_their_origin(forge: Forge, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(file, MINE)
    monkeypatch.setenv("FORGE_WORKSPACE", "/work")
    shown = forge("config", "show", "--origin").out
    assert f"limits.turn_usd = 2.0  file {file}\n" in shown
    assert "polish.medium_max = 3  default\n" in shown
    assert "workspace = /work  variable FORGE_WORKSPACE\n" in shown
    assert forge("config", "show", "brain_dump").out == "brain_dump.min_word_count = 10\n"
    document = forge("config", "show", "limits.turn_usd", "--json").document
    assert document == {"path": str(file), "settings": {"limits.turn_usd": {"value": 2.0, "origin": f"file {file}"}}}
    assert forge("config", "show", "limts", "--json").error == "setting_unknown"


@pytest.mark.req("P-17")
def test_one_value_is_printed_for_scripts(forge: Forge, file: Path) -> None:
    assert forge("config", "get", "server.host").out == "127.0.0.1\n"
    assert forge("config", "get", "models.chat").out == "null\n"
    assert forge("config", "get", "boards", "--json").document == {
        "name": "boards",
        "value": {
            "vibekanban": {"enabled": False},
            "kanban": {"enabled": False},
            "backlog": {"enabled": False},
        },
        "origin": "default",
    }


@pytest.mark.req("P-17", "X-06")
def test_secrets_are_never_shown(forge: Forge, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(file, f"connectors: {{notion: {{enabled: true, api_token: {KEY}}}}}\nkeys: {{anthropic: {KEY}}}")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for args in (("show",), ("show", "--json"), ("get", "keys.openai"), ("get", "connectors", "--json"), ("check",)):
        ran = forge("config", *args)
        assert ran.code == 0
        assert KEY not in ran.out + ran.err
    assert forge("config", "get", "connectors.notion.api_token").out == "••••\n"
    assert KEY not in "".join(forge("config", "set", "keys.google", KEY).out)
    assert yaml.safe_load(file.read_text())["keys"] == {"anthropic": KEY, "google": KEY}


@pytest.mark.req("P-17")
def test_set_changes_one_value_and_keeps_the_rest(forge: Forge, file: Path) -> None:
    write(file, MINE)
    assert forge("config", "set", "limits.turn_usd", "3.5").code == 0
    assert file.read_text() == MINE.replace("turn_usd: 2 ", "turn_usd: 3.5 ")
    done = forge("config", "set", "sessions", "side-ref", "--json").document
    assert done == {"path": str(file), "name": "sessions", "value": "side-ref", "origin": f"file {file}"}
    assert file.read_text() == MINE.replace("turn_usd: 2 ", "turn_usd: 3.5 ") + "sessions: side-ref\n"
    assert forge("config", "get", "sessions").out == "side-ref\n"
    assert [each.name for each in file.parent.iterdir()] == ["config.yaml"]


def test_set_makes_a_private_file_where_there_is_none_and_keeps_the_mode_of_one(forge: Forge, file: Path) -> None:
    assert forge("config", "set", "polish.max_iterations", "9").code == 0
    assert file.read_text() == "polish:\n  max_iterations: 9\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o640)
    assert forge("config", "set", "polish.max_iterations", "8").code == 0
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_set_takes_numbers_as_text_where_text_is_wanted(forge: Forge, file: Path) -> None:
    assert forge("config", "set", "models.chat", "42").code == 0
    assert yaml.safe_load(file.read_text()) == {"models": {"chat": "42"}}


def test_a_file_kept_elsewhere_and_linked_stays_linked(forge: Forge, file: Path, tmp_path: Path) -> None:
    write(tmp_path / "dotfile.yaml", MINE)
    file.symlink_to(tmp_path / "dotfile.yaml")
    assert forge("config", "set", "limits.turn_usd", "4").code == 0
    assert file.is_symlink()
    assert "turn_usd: 4 " in (tmp_path / "dotfile.yaml").read_text()


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("limits.turn_us", "3", "settings_invalid"),
        ("limits.turn_usd", "many", "settings_invalid"),
        ("notifications.channels.telegram.enabled", "true", "settings_invalid"),
        ("limits", "3", "settings_not_edited"),
        ("path", "/x", "settings_invalid"),
    ],
)
def test_what_does_not_fit_is_not_written(forge: Forge, file: Path, name: str, value: str, error: str) -> None:
    write(file, MINE)
    ran = forge("config", "set", name, value, "--json")
    assert (ran.code, ran.error) == (1, error)
    assert file.read_text() == MINE


@pytest.mark.parametrize("name", ["limits.turn_dollars", "turn_usd"])
def test_a_name_that_is_not_there_is_told_with_the_whole_name_of_the_nearest(
    forge: Forge, file: Path, name: str
) -> None:
    write(file, MINE)
    ran = forge("config", "set", name, "3")
    assert ran.err.splitlines() == [
        f"forge: There is no setting `{name}`.",
        "  → Did you mean `limits.turn_usd`? `forge config show` lists all.",
    ]


def test_set_says_when_a_variable_still_decides(forge: Forge, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORGE_WORKSPACE", "/elsewhere")
    ran = forge("config", "set", "workspace", "/work")
    assert ran.code == 0
    assert "variable FORGE_WORKSPACE still decides" in ran.err


@pytest.mark.req("P-17")
def test_check_names_what_is_wrong(forge: Forge, file: Path) -> None:
    assert forge("config", "check").out == "There is no settings file; the defaults hold.\n"
    write(file, MINE)
    assert forge("config", "check").out == f"{file} is right.\n"
    write(file, "notifications: {channels: {ntfy: {enabled: true, url: ntfy.sh}}}")
    wrong = forge("config", "check", "--json")
    assert (wrong.code, wrong.error) == (1, "settings_invalid")
    assert wrong.document["error"]["message"] == "Notification channel 'ntfy' URL is malformed: ntfy.sh."
    assert forge("config", "set", "notifications.channels.ntfy.url", "http://127.0.0.1:8080").code == 0
    assert forge("config", "check").code == 0


@pytest.mark.req("P-15", "P-17")
def test_check_warns_of_plugins_that_cannot_be_used(forge: Forge, file: Path) -> None:
    (file.parent / "plugins").mkdir()
    (file.parent / "plugins" / "broken.py").write_text("import nothing_like_this")
    write(file, "notifications: {channels: {pigeon: {enabled: true, loft: north}}}")
    ran = forge("config", "check", "--json")
    assert ran.code == 0
    warnings = "\n".join(ran.document["warnings"])
    assert "broken.py cannot be loaded: ModuleNotFoundError" in warnings
    assert "No plugin brings the notification channel 'pigeon'" in warnings


def test_path_and_default_work_with_a_broken_file(forge: Forge, file: Path) -> None:
    write(file, "{")
    assert forge("config", "path").out == f"{file}\n"
    assert forge("config", "path", "--json").document == {"path": str(file), "exists": True}
    assert forge("config", "default").out == default_text()
    assert forge("config", "show", "--json").error == "settings_invalid"
