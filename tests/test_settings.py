"""Settings: what may be set where, what is refused, and that keys never show."""

from __future__ import annotations

import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote

import keyring
import pytest
import yaml
from keyring.errors import KeyringError

from forge.settings import Settings, SettingsInvalid, default_text, find_key, load
from forge.settings.catalog import HIDDEN, listed, shown
from forge.settings.errors import SettingsNotEdited, SettingUnknown
from forge.settings.file_edit import changed
from forge.settings.keys import keyring_password
from forge.settings.reference import MARK, updated
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
    written = yaml.safe_load(default_text())
    for name, field in Settings.model_fields.items():
        if name not in DERIVED | {"data_dir"}:  # a directory of this machine is no default to ship
            assert name in written, name
            inner = getattr(field.annotation, "model_fields", {})
            assert set(inner) == set(written[name] if inner else ()), name


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
    with pytest.raises(SettingsInvalid, match="does not exist") as caught:
        load({"FORGE_CONFIG": str(tmp_path / "gone.yaml")})
    assert "`forge config set NAME VALUE` makes it; `unset FORGE_CONFIG`" in caught.value.hint


def test_what_is_not_yaml_is_told_with_its_line(tmp_path: Path) -> None:
    file = write(tmp_path / "config.yaml", "sessions: tree\nlimits: [\n")
    with pytest.raises(SettingsInvalid, match="line 3") as caught:
        load({"FORGE_CONFIG": str(file)})
    assert caught.value.hint.startswith("Correct line 3, or the lines before it; ")


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("limts: {}", "`limts`", "`limits`"),
        ("limits: {turn_us: 3}", "`limits.turn_us`", "`limits.turn_usd`"),
        ("models: {chatt: x}", "`models.chatt`", "`models.chat`"),
        ("providers: {antropic: {model: x}}", "providers.antropic", "`anthropic`"),
        ("providers: {openai: {base_ur: x}}", "`providers.openai.base_ur`", "`providers.openai.base_url`"),
        ("path: /x", "`path`", ""),
        ("limits: {turn_usd: many}", "limits.turn_usd", ""),
        ("providers: {openai: {base_url: 'file:///etc'}}", "base_url", ""),
        ("providers: {openai: {base_url: 'http://'}}", "base_url", ""),
        ("agents: {mine: {command: 'rm -rf /'}}", "list of words", ""),
        ("- a", "names and values", ""),
        ("a: &x [1]\nb: *x", "aliases", ""),
        ('sessions: tree\nworkspace: "a\\0b"', "line 2 has a NUL", ""),
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
    printed = f"{settings!r}{settings}{settings.model_dump()}{settings.model_dump_json()}{settings.origins}"
    assert KEY not in printed + repr(find_key("openai", settings))
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


FULL = """
polish:
  {critical_max: 0, medium_max: 3, minor_max: 5, max_iterations: 50, stagnation_limit: 3, retry_malformed_output: 2}
concurrency:
  max_parallel_runs: 3
notifications:
  default_channel: "ntfy"
  channels:
    ntfy: {enabled: true, url: "https://ntfy.sh", topic: "of-my-own"}
    telegram: {enabled: false, bot_token: "", chat_id: ""}
resource:
  max_file_size_mb: 50
brain_dump:
  min_word_count: 10
phase3_completeness: {plan_min_chars: 100, code_require_tests: true}
connectors:
  notion: {enabled: false, api_token: ""}
  google_drive: {enabled: false, credentials_path: ""}
agents:
  default: "claude"
  call_timeout_seconds: 300
  available:
    claude: {command: "claude", flags: "--print", supports_vision: true}
    gemini: {command: "gemini", flags: "", supports_vision: true}
    codex: {command: "codex", flags: "", supports_vision: false}
plugins:
  directory: "./plugins"
prompts:
  directory: "./prompts"
vibekanban:
  enabled: true
server: {host: "127.0.0.1", port: 3000}
"""


@pytest.mark.req("P-17")
def test_a_whole_file_in_the_specified_form_is_taken_and_says_the_defaults(tmp_path: Path) -> None:
    path = write(tmp_path / "config.yaml", FULL)
    settings, plain = load({}, path=path), Settings()
    for name in ("polish", "concurrency", "resource", "brain_dump", "phase3_completeness", "connectors"):
        assert getattr(settings, name) == getattr(plain, name), name
    assert (settings.boards["vibekanban"].enabled, plain.boards["vibekanban"].enabled) == (True, False)
    assert (settings.server, settings.agents.default) == (plain.server, plain.agents.default)
    assert settings.agents.call_timeout_seconds == plain.agents.call_timeout_seconds == 300
    assert dict(settings.agents.items()) == {
        "claude": {"command": ["claude", "--print"]},
        "gemini": {"command": ["gemini"]},
        "codex": {"command": ["codex"]},
    }
    assert [settings.agents.supports_vision(name) for name in ("claude", "gemini", "codex", "mine")] == [1, 1, 0, 0]
    assert settings.notifications.channels["ntfy"].values() == {
        "enabled": True,
        "url": "https://ntfy.sh",
        "topic": "of-my-own",
    }
    assert settings.plugins_directory == tmp_path / "plugins"
    assert settings.prompts_directory == tmp_path / "prompts"
    assert settings.origin("boards.vibekanban.enabled") == f"file {path}"


@pytest.mark.req("P-17")
def test_the_guards_have_the_specified_numbers_and_nothing_is_sent_unasked() -> None:
    settings = Settings()
    assert settings.polish.model_dump() == {
        "critical_max": 0,
        "medium_max": 3,
        "minor_max": 5,
        "max_iterations": 50,
        "stagnation_limit": 3,
        "retry_malformed_output": 2,
        "hallucination_rise": 0.2,
        "hallucination_falling": 2,
        "fabrication_rise": 0.5,
        "fabrication_least": 2,
        "fabrication_window": 3,
        "near_factor": 2,
        "rotation_share": 0.7,
        "similarity": 0.8,
    }
    assert not any(channel.enabled for channel in settings.notifications.channels.values())
    assert not any(connector.enabled for connector in settings.connectors.values())


def channel(name: str, values: str) -> str:
    return f"notifications: {{channels: {{{name}: {{enabled: true, {values}}}}}}}"


@pytest.mark.req("P-17")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (channel("ntfy", "url: ''"), "Notification channel 'ntfy' is enabled but has no URL configured."),
        (channel("ntfy", "url: null"), "Notification channel 'ntfy' is enabled but has no URL configured."),
        (channel("ntfy", "url: ntfy.sh"), "Notification channel 'ntfy' URL is malformed: ntfy.sh."),
        (channel("ntfy", "url: 'https://'"), "Notification channel 'ntfy' URL is malformed: https://."),
        (channel("ntfy", "url: 'http://h:port'"), "Notification channel 'ntfy' URL is malformed: http://h:port."),
        (channel("slack", ""), "Notification channel 'slack' is enabled but has no URL configured."),
        (channel("slack", "url: ''"), "Notification channel 'slack' is enabled but has no URL configured."),
        (
            channel("telegram", "chat_id: 4"),
            "Notification channel 'telegram' is enabled but has no bot_token configured.",
        ),
        (
            channel("telegram", "bot_token: t"),
            "Notification channel 'telegram' is enabled but has no chat_id configured.",
        ),
        ("connectors: {notion: {enabled: true}}", "Connector 'notion' is enabled but missing required credentials."),
        (
            "connectors: {google_drive: {enabled: true, credentials_path: /nowhere/drive.json}}",
            "Connector 'google_drive': there is no file /nowhere/drive.json.",
        ),
        (
            "connectors: {google_drive: {enabled: true, credentials_path: ' '}}",
            "Connector 'google_drive' is enabled but missing required credentials.",
        ),
    ],
)
def test_what_is_enabled_and_cannot_work_stops_the_start_by_name(tmp_path: Path, text: str, said: str) -> None:
    path = write(tmp_path / "c.yaml", text)
    with pytest.raises(SettingsInvalid) as refused:
        load({}, path=path, keyring=no_keyring)
    assert refused.value.message == said
    assert str(path) in refused.value.hint
    assert load({}, path=write(path, text.replace("enabled: true", "enabled: false")), keyring=no_keyring)


@pytest.mark.req("P-17", "X-06")
def test_a_malformed_address_is_named_without_its_secrets(tmp_path: Path) -> None:
    for url in (f"me:{KEY}@h", f"h/{KEY}", f"h?token={KEY}", f"h/a b/{KEY}?x={KEY}"):
        with pytest.raises(SettingsInvalid, match="malformed") as refused:
            load({}, path=write(tmp_path / "c.yaml", channel("x", f"url: '{url}'")))
        assert KEY not in str(refused.value)


def test_a_channel_of_a_plugin_has_keys_of_its_own(tmp_path: Path) -> None:
    settings = load({}, path=write(tmp_path / "c.yaml", channel("book", f"path: /x, api_token: {KEY}")))
    book = settings.notifications.channels["book"]
    assert book.values() == {"enabled": True, "path": "/x", "api_token": KEY}
    assert KEY not in f"{settings!r}{settings.model_dump()}{settings.model_dump_json()}"
    assert set(settings.notifications.channels) == {"ntfy", "telegram", "book"}


@pytest.mark.req("P-17")
def test_tokens_come_from_variables_references_and_the_keyring(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", "connectors: {notion: {enabled: true}}")
    token = "connectors.notion.api_token"
    given = load({"FORGE_NOTION_TOKEN": KEY}, path=path, keyring=no_keyring)
    assert given.connectors["notion"].text("api_token") == KEY
    assert given.origin(token) == "variable FORGE_NOTION_TOKEN"
    kept = load({}, path=path, keyring=lambda name: f"kept-{name}")
    assert kept.connectors["notion"].text("api_token") == "kept-notion"
    assert "keyring" in kept.origin(token)
    write(path, "connectors: {notion: {enabled: true, api_token: '${MINE}'}}")
    named = load({"MINE": KEY}, path=path, keyring=lambda name: pytest.fail("the keyring was asked"))
    assert named.connectors["notion"].text("api_token") == KEY
    assert named.origin(token) == f"variable MINE, named in {path}"
    with pytest.raises(SettingsInvalid, match=r"refers to \$\{MINE\}, which is not set"):
        load({}, path=path, keyring=no_keyring)
    write(path, channel("telegram", "chat_id: 4711"))
    told = load({"FORGE_TELEGRAM_BOT_TOKEN": KEY}, path=path, keyring=no_keyring)
    assert told.notifications.channels["telegram"].text("bot_token") == KEY


def test_references_are_part_of_a_value_too_and_may_be_unset_in_what_is_off(tmp_path: Path) -> None:
    text = "connectors: {notion: {enabled: false, api_token: '${GONE}'}}\nkeys: {openai: 'a-${PART}'}"
    settings = load({"PART": "b"}, path=write(tmp_path / "c.yaml", text))
    assert settings.keys["openai"].get_secret_value() == "a-b"
    assert settings.connectors["notion"].text("api_token") == ""


def test_a_repository_cannot_read_variables(tmp_path: Path) -> None:
    settings = load({"HOME_KEY": KEY}, path=tmp_path / "none", repository="context: {exclude: ['${HOME_KEY}']}")
    assert settings.context.exclude == ("${HOME_KEY}",)


@pytest.mark.req("P-17", "X-06")
def test_a_file_with_tokens_is_warned_of_and_a_public_topic_too(tmp_path: Path) -> None:
    tokens = f"connectors: {{notion: {{api_token: {KEY}}}}}"
    assert "chmod 600" in load({}, path=write(tmp_path / "a", tokens, mode=0o644)).warnings[0]
    address = channel("ntfy", "url: 'https://ntfy.example.org', topic: t")
    assert load({}, path=write(tmp_path / "b", address, mode=0o644)).warnings == ()
    usual = load({}, path=write(tmp_path / "c", "notifications: {channels: {ntfy: {enabled: true}}}", mode=0o644))
    assert ["topic" in warning for warning in usual.warnings] == [True]


@pytest.mark.req("W-01")
def test_the_workspace_is_in_the_documents_unless_a_setting_or_a_variable_says_otherwise(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = tmp_path / "none"
    assert load({}, path=none).workspace == home / "Documents" / "forge-workspace"
    path = write(tmp_path / "c.yaml", "workspace: work\ndata_dir: ~/data")
    assert load({}, path=path).workspace == tmp_path / "work"
    assert load({}, path=path).data_dir == home / "data"
    monkeypatch.chdir(tmp_path)
    chosen = load({"FORGE_WORKSPACE": "other", "FORGE_DATA_DIR": "/a", "FORGE_DATA": "/b"}, path=path)
    assert (chosen.workspace, chosen.data_dir) == (tmp_path / "other", Path("/b"))
    assert chosen.origin("data_dir") == "variable FORGE_DATA"
    assert load({"FORGE_DATA_DIR": "/a"}, path=path).data_dir == Path("/a")


def test_agents_may_be_written_by_name_beside_the_other_shape(tmp_path: Path) -> None:
    text = "agents: {default: null, mine: {command: [m, -x]}, available: {codex: {flags: '-c \"a b\"'}}}"
    agents = load({}, path=write(tmp_path / "c.yaml", text)).agents
    assert dict(agents.items()) == {"mine": {"command": ["m", "-x"]}, "codex": {"command": ["codex", "-c", "a b"]}}
    assert "mine" in agents
    assert "claude" not in agents, "nothing was set on it"
    assert agents.default is None
    for wrong in (
        "{m: {flags: '\"'}}",
        "{available: {m: {command: 'a b', flags: c}}}",
        "{m: {supports_vision: no-idea}}",
    ):
        with pytest.raises(SettingsInvalid, match="m"):
            load({}, path=write(tmp_path / "c.yaml", f"agents: {wrong}"))


def test_the_default_channel_must_exist(tmp_path: Path) -> None:
    with pytest.raises(SettingsInvalid, match="none of the channels"):
        load({}, path=write(tmp_path / "c.yaml", "notifications: {default_channel: pigeon}"))


def test_a_list_of_settings_names_origins_and_hides_secrets(tmp_path: Path) -> None:
    path = write(tmp_path / "c.yaml", f"keys: {{openai: {KEY}}}\n{channel('x', f'url: https://u:{KEY}@h, topic: t')}")
    settings = load({}, path=path)
    every = {each.name: each for each in listed(settings)}
    assert every["keys.openai"].value == every["notifications.channels.x.url"].value == HIDDEN
    assert every["notifications.channels.ntfy.url"].value == "https://ntfy.sh"
    assert every["polish.medium_max"].origin == "default"
    assert every["keys.openai"].origin == f"file {path}"
    assert shown(settings, "notifications.channels.x") == {"enabled": True, "url": HIDDEN, "topic": "t"}
    assert KEY not in repr(every)
    with pytest.raises(SettingUnknown) as unknown:
        listed(settings, "polish.medum_max")
    assert "polish.medium_max" in unknown.value.hint


COMMENTED = """\
# mine
sessions: tree   # of files
limits:          # money
  # a lot
  turn_usd: 5.0  # dollars
context: {exclude: [], compact_at: 0.5}
polish:
database: "x"
"""


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("sessions", "side-ref", "sessions: side-ref   # of files"),
        ("limits.turn_usd", 7, "  turn_usd: 7  # dollars"),
        ("limits.day_usd", None, "  day_usd: null"),
        ("context.exclude", ["a, b", "c"], 'context: {exclude: ["a, b", "c"], compact_at: 0.5}'),
        ("context.file_tokens", 9, "context: {file_tokens: 9, exclude: [], compact_at: 0.5}"),
        ("polish.medium_max", 4, "polish: {medium_max: 4}"),
        ("database", "a: b # c", 'database: "a: b # c"'),
        ("server.port", 1, "server:\n  port: 1"),
        ("notifications.channels.x.url", "http://h", "notifications:\n  channels:\n    x:\n      url: http://h"),
    ],
)
def test_one_value_is_changed_and_every_other_byte_stays(name: str, value: object, line: str) -> None:
    new = changed(COMMENTED, name, value, path=Path("c.yaml"))
    assert f"\n{line}\n" in new
    gone = [each for each in COMMENTED.splitlines() if each not in new.splitlines()]
    assert len(gone) <= 1
    found = yaml.safe_load(new)
    for part in name.split("."):
        found = found[part]
    assert found == value


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("database: |\n  a\n  b\n", "database"),
        ("models:\n  chat: x\n", "models"),
        ("sessions: tree\nsessions: tree\n", "sessions"),
        ("sessions: tree\n", "sessions.deeper"),
        ("sessions: tree\n...\n", "server.port"),
        ("context:\n  exclude:\n    - a\n", "context.exclude"),
    ],
)
def test_a_file_that_cannot_be_changed_safely_is_left_to_the_person(text: str, name: str) -> None:
    with pytest.raises(SettingsNotEdited) as refused:
        changed(text, name, "x", path=Path("/c.yaml"))
    assert "/c.yaml" in refused.value.hint


def test_the_documentation_lists_every_setting() -> None:
    text = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text()
    assert MARK in text
    assert updated(text) == text, "run: python -m forge.settings.reference docs/configuration.md"


def test_values_of_the_shipped_file_can_be_changed_in_place(tmp_path: Path) -> None:
    text = default_text()
    names = [each.name for each in listed(load({}, path=write(tmp_path / "c.yaml", text))) if each.name != "data_dir"]
    assert len(names) > 60
    for name in names[::7]:
        new = changed(text, name, "other", path=tmp_path / "c.yaml")
        old_lines, new_lines = text.splitlines(), new.splitlines()
        assert len(old_lines) == len(new_lines)
        assert sum(old != new for old, new in zip(old_lines, new_lines, strict=True)) == 1, name


@pytest.mark.req("X-06")
@pytest.mark.parametrize("login", [f"me:{KEY}", KEY, f"me:{KEY}?x", f"me:a/{KEY}", f"me:{KEY.replace('-', '%2D')}"])
def test_addresses_with_a_login_are_shown_without_it(tmp_path: Path, login: str) -> None:
    text = f"""
providers: {{mine: {{base_url: "http://{login}@models.example/v1"}}}}
registries: {{python: "https://{login}@pypi.example/simple", npm: "https://npm.example"}}
agents: {{own: {{command: [talk, "--proxy=http://a,http://{login}@proxy.example"]}}}}
"""
    settings = load({}, path=write(tmp_path / "c.yaml", text))
    every = {each.name: each.value for each in listed(settings)}
    assert every["providers.mine.base_url"] == "http://…@models.example/v1"
    assert every["registries.python"] == "https://…@pypi.example/simple"
    assert every["registries.npm"] == "https://npm.example"
    assert shown(settings, "providers.mine")["base_url"] == "http://…@models.example/v1"
    assert "0123456789" not in repr(every)
    assert {login.removeprefix("me:"), unquote(login.removeprefix("me:"))} == set(settings.secret_values())


@pytest.mark.req("X-06")
def test_all_secrets_are_known_to_whoever_has_to_take_them_out(tmp_path: Path) -> None:
    text = "database: postgresql://u:pw-of-db@h/d\nkeys: {openai: k1}\nconnectors: {notion: {api_token: t1}}\n"
    settings = load({}, path=write(tmp_path / "c.yaml", text + channel("x", "url: 'https://u:p@h'")))
    assert set(settings.secret_values()) == {"pw-of-db", "k1", "t1", "https://u:p@h"}
