"""Settings: what may be set where, what is refused, and that keys never show."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace

import keyring
import pytest
import yaml
from keyring.errors import KeyringError

from forge.settings import Settings, SettingsInvalid, default_text, find_key, load
from forge.settings.keys import keyring_password
from forge.settings.values import DERIVED

KEY = "sk-test-0123456789abcdefghij"


def no_keyring(name: str) -> None:
    return None


def write(path: Path, text: str, *, mode: int = 0o600) -> Path:
    path.write_text(text)
    path.chmod(mode)
    return path


def test_nothing_set_gives_the_defaults(tmp_path: Path) -> None:
    settings = load({}, path=tmp_path / "none.yaml")
    assert settings.limits == Settings().limits
    assert settings.origin("limits.turn_usd") == "default"
    assert settings.warnings == ()


def test_the_shipped_file_says_exactly_the_defaults(tmp_path: Path) -> None:
    loaded = load({}, path=write(tmp_path / "c.yaml", default_text()))
    assert loaded.model_dump(exclude=set(DERIVED)) == Settings().model_dump(exclude=set(DERIVED))
    shown = yaml.safe_load(default_text())
    for name, field in Settings.model_fields.items():
        if name not in DERIVED | {"data_dir"}:  # a directory of this machine is no default to ship
            assert name in shown, name
            inner = getattr(field.annotation, "model_fields", {})
            assert set(inner) == set(shown[name] if inner else ()), name


def test_the_file_is_found_in_the_config_directory_and_by_variable(home: Path, tmp_path: Path) -> None:
    folder = home / "config" / "forge"
    folder.mkdir(parents=True)
    write(folder / "config.yaml", "sessions: side-ref")
    assert load({}).sessions == "side-ref"
    other = write(tmp_path / "other.yaml", "limits: {turn_usd: 1}")
    chosen = load({"FORGE_CONFIG": str(other)})
    assert (chosen.sessions, chosen.limits.turn_usd) == ("tree", 1)
    assert chosen.origin("limits.turn_usd") == f"file {other}"


def test_a_file_named_by_variable_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="does not exist"):
        load({"FORGE_CONFIG": str(tmp_path / "gone.yaml")})


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("limts: {}", "`limts`", "`limits`"),
        ("limits: {turn_us: 3}", "`limits.turn_us`", "`turn_usd`"),
        ("models: {chatt: x}", "`models.chatt`", "`chat`"),
        ("providers: {antropic: {model: x}}", "providers.antropic", "`anthropic`"),
        ("providers: {openai: {base_ur: x}}", "`providers.openai.base_ur`", "`base_url`"),
        ("path: /x", "`path`", ""),
        ("limits: {turn_usd: many}", "limits.turn_usd", ""),
        ("providers: {openai: {base_url: 'file:///etc'}}", "base_url", ""),
        ("providers: {openai: {base_url: 'http://'}}", "base_url", ""),
        ("agents: {mine: {command: 'rm -rf /'}}", "list of words", ""),
        ("- a", "names and values", ""),
        ("a: &x [1]\nb: *x", "aliases", ""),
    ],
)
def test_what_does_not_fit_is_refused_by_name(tmp_path: Path, text: str, said: str, hint: str) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        load({}, path=write(tmp_path / "c.yaml", text))
    assert said in refused.value.message
    assert hint in refused.value.hint


def test_variables_win_over_the_file_and_are_named_as_origin(tmp_path: Path) -> None:
    path = write(
        tmp_path / "c.yaml", "providers: {anthropic: {base_url: 'http://a', model: m}}\nmodels: {default: x:y}"
    )
    settings = load({"ANTHROPIC_BASE_URL": "http://b/", "FORGE_MODEL": "builtin"}, path=path)
    assert settings.provider("anthropic").base_url == "http://b"
    assert settings.provider("anthropic").model == "m"
    assert settings.origin("providers.anthropic.base_url") == "variable ANTHROPIC_BASE_URL"
    assert settings.models.named("chat") == "builtin"


@pytest.mark.req("X-06")
@pytest.mark.parametrize(
    "text",
    [
        f"keys: {{anthropic: {KEY}}}",
        "providers: {openai: {base_url: 'http://evil'}}",
        "agents: {x: {command: [sh]}}",
        "limits: {turn_usd: 1000}",
        "database: postgresql://x",
        "data_dir: /tmp",
        "network: {idle_seconds: 1}",
        "models: {chat: 'recorded:/etc/passwd'}",
        "models: {chat: claude}",
        "models: {chat: 'mine:model'}",
    ],
)
def test_a_repository_may_not_set_keys_commands_or_addresses(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        load({}, path=tmp_path / "none", repository=text)
    assert KEY not in str(refused.value) + refused.value.hint


def test_a_repository_may_choose_models_and_context_below_the_person(tmp_path: Path) -> None:
    repository = "models: {chat: 'openai:a', builder: 'openai:b'}\ncontext: {exclude: ['vendor/**']}"
    own = write(tmp_path / "c.yaml", "models: {chat: 'anthropic:c', builder: null}")
    settings = load({}, path=own, repository=repository)
    assert (settings.models.chat, settings.models.builder) == ("anthropic:c", "openai:b")
    assert settings.context.exclude == ("vendor/**",)
    assert "repository" in settings.origin("models.builder")


@pytest.mark.req("G-17", "X-06")
def test_keys_come_from_the_environment_then_the_keyring_then_the_file(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", f"keys: {{anthropic: {KEY}}}")
    filed = load({}, path=path)
    key = find_key("anthropic", filed, keyring=no_keyring)
    assert key is not None
    assert (key.value, key.origin) == (KEY, f"file {path}")
    kept = find_key("anthropic", filed, keyring=lambda name: f"kept-{name}")
    assert kept is not None
    assert (kept.value, "keyring" in kept.origin) == ("kept-anthropic", True)
    both = load({"ANTHROPIC_API_KEY": "from-env"}, path=path)
    first = find_key("anthropic", both, keyring=lambda name: pytest.fail("the keyring was asked"))
    assert first is not None
    assert (first.value, first.origin) == ("from-env", "variable ANTHROPIC_API_KEY")
    assert find_key("openai", both, keyring=no_keyring) is None


def test_an_endpoint_of_ones_own_has_its_own_key_variable(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", "providers: {shop: {base_url: 'http://s/v1', key_variable: SHOP_KEY}}")
    key = find_key("shop", load({"SHOP_KEY": KEY}, path=path), keyring=no_keyring)
    assert key is not None
    assert key.value == KEY


def test_the_keyring_of_a_headless_machine_is_no_key_and_no_wait(tmp_path: Path) -> None:
    assert find_key("anthropic", load({}, path=tmp_path / "none")) is None


class Locked:
    """A keyring of the desktop that would open a window when it is asked."""

    def get_password(self, service: str, name: str) -> str:
        pytest.fail("a locked keyring was asked")


class Open:
    def get_password(self, service: str, name: str) -> str | None:
        return f"{service}-{name}"


class Broken:
    def get_password(self, service: str, name: str) -> str | None:
        raise KeyringError("out of order")


class Stuck:
    def get_password(self, service: str, name: str) -> str | None:
        time.sleep(30)
        return None


def use_keyrings(monkeypatch: pytest.MonkeyPatch, *backends: object) -> None:
    monkeypatch.setattr(keyring, "get_keyring", lambda: SimpleNamespace(backends=list(backends)))


@pytest.mark.req("G-17", "X-06")
def test_keyrings_that_would_ask_are_passed_by_and_broken_ones_survived(monkeypatch: pytest.MonkeyPatch) -> None:
    Locked.__module__ = "keyring.backends.kwallet"
    use_keyrings(monkeypatch, Locked(), Broken(), Open())
    assert keyring_password("anthropic") == "forge-anthropic"
    use_keyrings(monkeypatch, Broken())
    assert keyring_password("anthropic") is None


def test_the_desktops_secret_service_is_not_asked_where_it_cannot_be_seen_to_be_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Locked.__module__ = "keyring.backends.SecretService"
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent/bus")
    use_keyrings(monkeypatch, Locked())
    assert keyring_password("anthropic") is None


def test_a_keyring_that_hangs_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    use_keyrings(monkeypatch, Stuck())
    begun = time.monotonic()
    assert keyring_password("anthropic") is None
    assert time.monotonic() - begun < 10


@pytest.mark.req("X-06")
def test_a_key_is_in_no_repr_dump_or_error(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", f"keys: {{anthropic: {KEY}}}\ndatabase: postgresql://u:{KEY}@h/d")
    settings = load({"OPENAI_API_KEY": KEY}, path=path)
    shown = f"{settings!r}{settings}{settings.model_dump()}{settings.model_dump_json()}{settings.origins}"
    assert KEY not in shown + repr(find_key("openai", settings))
    broken = (f"keys: {{anthropic: {KEY}", f"keys: {{anthropic: [{KEY}]}}", f"limits: {{turn_usd: {KEY}}}", f"'{KEY}")
    for text in broken:
        with pytest.raises(SettingsInvalid) as refused:
            load({}, path=write(path, text))
        assert KEY not in f"{refused.value}{refused.value.hint}{refused.getrepr(style='long', chain=False).reprcrash}"


@pytest.mark.req("X-06")
def test_a_file_with_keys_that_others_can_read_is_warned_of(tmp_path: Path) -> None:
    assert load({}, path=write(tmp_path / "a", f"keys: {{openai: {KEY}}}", mode=0o600)).warnings == ()
    open_file = load({}, path=write(tmp_path / "b", f"keys: {{openai: {KEY}}}", mode=0o644))
    assert "chmod 600" in open_file.warnings[0]
    assert load({}, path=write(tmp_path / "c", "sessions: tree", mode=0o644)).warnings == ()


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Settings().sessions = "side-ref"  # type: ignore[misc]
