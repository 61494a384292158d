"""Secrets are planted wherever Forge comes by them; then everything it wrote, sent or showed is searched for them.

What a person put somewhere themselves stays there: a key file that they committed, a resource that they added.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pygit2
import pytest
from pygit2.enums import ConfigLevel

from forge.app.access.identity import LOCAL
from forge.app.access.local_access import opened_access
from forge.app.access.users import add_user, new_key
from forge.cli.main import main
from forge.settings import load
from tests.conftest import GIT_CONFIG, run_git, write_files
from tests.support.notice_server import serving as notified
from tests.support.stand_in import Reply, StandIn, anthropic

pytestmark = pytest.mark.slow

MODEL = "anthropic:claude-sonnet-5"
# Of no shape that gives them away: known only because this process was given them.
KEYS = {
    "provider key in a variable": "planted.anthropic.4471",
    "provider key in the settings": "planted.openai.4472",
    "notification token": "planted.telegram.4473",
    "password of a channel": "planted.ntfy.4474",
    "connector token": "planted.notion.4475",
    "database password": "planted.database.4476",
    "token in a variable": "planted.service.4477",
}


def private_key(number: int) -> tuple[str, str]:
    """In the form of one, and a line of it to search for."""
    body = base64.b64encode(f"planted private key {number} ".encode() * 12).decode()
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    return "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----"]), lines[1]


IN_FILE, IN_DUMP, IN_RESOURCE, IN_MESSAGE = (private_key(number) for number in range(4))
IDEA = """We want to plan a summer party for our club of forty people. The budget is 1500 euros and must not be
exceeded. It should be on the second Saturday in July, in the garden of the club house. We need food for vegetarians.
"""


@dataclass
class Planted:
    """A machine with secrets on it, and everything that came out of it."""

    place: Path
    repo: Path
    shown: dict[str, str] = field(default_factory=dict)
    sent: list[str] = field(default_factory=list)
    forge_key: str = ""

    @property
    def secrets(self) -> dict[str, str]:
        return {
            **KEYS,
            "private key in a file": IN_FILE[1],
            "private key in a brain dump": IN_DUMP[1],
            "private key in a resource": IN_RESOURCE[1],
            "private key in a message": IN_MESSAGE[1],
            "forge-key": self.forge_key,
        }

    def forge(self, *args: str, repo: Path | None = None) -> int:
        """In this process, as a person would; what it showed is kept."""
        streams = {name: io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for name in ("stdout", "stderr")}
        streams["stdin"] = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            for name, stream in streams.items():
                patch.setattr(sys, name, stream)
            with pytest.raises(SystemExit) as ended:
                main(["-C", str(repo or self.repo), *args])
            for name in ("stdout", "stderr"):
                streams[name].flush()
                text = streams[name].buffer.getvalue().decode()  # type: ignore[attr-defined]
                self.shown[f"{name} of forge {' '.join(args)[:40]} ({len(self.shown)})"] = text
        return int(ended.value.code or 0)


@contextmanager
def provider(replies: list[Reply]) -> Iterator[StandIn]:
    """On a loop of its own. The last reply is repeated."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = StandIn(anthropic, replies)
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def config(channel: str) -> str:
    return f"""
keys: {{openai: {KEYS["provider key in the settings"]}}}
notifications:
  channels:
    ntfy: {{enabled: true, url: "{channel.replace("//", f"//ada:{KEYS['password of a channel']}@")}", topic: forge}}
    telegram: {{enabled: false, bot_token: "{KEYS["notification token"]}", chat_id: "42"}}
connectors: {{notion: {{enabled: false, api_token: "{KEYS["connector token"]}"}}}}
network: {{retry_seconds: 0}}
"""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    """Everything is done once; the tests only search."""
    place = tmp_path_factory.mktemp("planted")
    repo = place / "repo"
    with notified() as channel, pytest.MonkeyPatch.context() as patch:
        _at_home(place / "home", patch)
        run_git(place, "init", "--quiet", str(repo))
        write_files(repo, {"README.md": "# Club\n", "server.key": IN_FILE[0] + "\n"}, executable=(), symlinks={})
        run_git(repo, "add", "--all")
        run_git(repo, "commit", "--quiet", "--message", "first")
        refusal = {"code": 40301, "error": f"{KEYS['password of a channel']} is not welcome"}
        channel.answers += [(403, refusal)] * 50
        (place / "config.yaml").write_text(config(channel.url))
        variables = {
            "FORGE_DATA_DIR": place / "data",
            "FORGE_CONFIG": place / "config.yaml",
            "FORGE_WORKSPACE": place / "workspace",
            "ANTHROPIC_API_KEY": KEYS["provider key in a variable"],
            "SERVICE_TOKEN": KEYS["token in a variable"],
            "OLLAMA_BASE_URL": "http://127.0.0.1:9",
        }
        for name, value in variables.items():
            patch.setenv(name, str(value))
        made = Planted(place, repo)
        with opened_access(load(os.environ), os.environ) as access:
            user = add_user(access, LOCAL, "grace")
            made.forge_key = new_key(access, LOCAL, access.secret, user.id).text
        for flow in (talks, writes, fails, plans, looks):
            flow(made)
        assert channel.told, "nobody was notified, so no notification can have failed"
        yield made


def _at_home(home: Path, patch: pytest.MonkeyPatch) -> None:
    home.mkdir()
    (home / ".gitconfig").write_text(GIT_CONFIG)
    for name in list(os.environ):
        hides = ("_API_KEY", "_BASE_URL", "_TOKEN", "_PASSWORD", "_SECRET")
        if name.startswith(("GIT_", "XDG_", "FORGE_")) or name.endswith(hides):
            patch.delenv(name)
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        patch.setenv(name, str(home))
    patch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    pygit2.settings.search_path[ConfigLevel.GLOBAL] = str(home)


def spoken(*secrets: str) -> tuple[str, ...]:
    return ("You gave me ", *(f"{secret} " for secret in secrets), "and I tell it.")


def talks(planted: Planted) -> None:
    """A turn in which everybody is careless: the person, a file, a command, the model."""
    variable, service = KEYS["provider key in a variable"], KEYS["token in a variable"]
    replies = [
        Reply(("I look.",), (("read_file", {"path": "server.key"}),)),
        Reply((), (("run_command", {"command": f"env; cat server.key; echo {service}"}),)),
        Reply((), (("run_command", {"command": "env; cat server.key"}),)),
        Reply(spoken(variable, service, IN_FILE[0], KEYS["provider key in the settings"])),
    ]
    with provider(replies) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANTHROPIC_BASE_URL", server.url)
            text = f"Look at server.key, {service} and\n{IN_MESSAGE[0]}\n{planted.forge_key}"
            assert planted.forge("chat", "--branch", "ai/x", "--model", MODEL, "-m", text) == 0
            assert planted.forge("session", "show", "--branch", "ai/x", "--json") == 0
        planted.sent += [request.body.decode() for request in server.requests]
    assert len(planted.sent) == len(replies)


def writes(planted: Planted) -> None:
    """A model that has come by a key puts it into a file, in a repository of its own."""
    other = planted.place / "other"
    run_git(planted.place, "init", "--quiet", str(other))
    run_git(other, "commit", "--quiet", "--allow-empty", "--message", "first")
    content = f"key: {KEYS['provider key in a variable']}\n"
    replies = [Reply((), (("write_file", {"path": "notes.md", "content": content}),)), Reply(("Done.",))]
    with provider(replies) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_BASE_URL", server.url)
        assert planted.forge("chat", "--branch", "ai/x", "--model", MODEL, "-m", "note it", repo=other) == 0


def fails(planted: Planted) -> None:
    """Providers put the key into their error; so does one that sends rubbish."""
    variable = KEYS["provider key in a variable"]
    error = {"type": "error", "error": {"type": "authentication_error", "message": f"invalid x-api-key: {variable}"}}
    for status in (401, 500):
        with provider([Reply(status=status, error=error)]) as server, pytest.MonkeyPatch.context() as patch:
            patch.setenv("ANTHROPIC_BASE_URL", server.url)
            assert planted.forge("chat", "--branch", f"ai/f{status}", "--model", MODEL, "-m", "hello") != 0
            assert planted.forge("chat", "--branch", f"ai/g{status}", "--model", MODEL, "-m", "hi", "--json") != 0
            idea = planted.place / "idea.md"
            idea.write_text(IDEA)
            name = f"Failing {status}"
            assert planted.forge("run", str(idea), "--name", name, "--agent", MODEL) != 0
            planted.sent += [request.body.decode() for request in server.requests]


def plans(planted: Planted) -> None:
    """A project by rules, and one by a model that is told all there is; nobody can be notified."""
    idea, key = planted.place / "dump.md", planted.place / "access.txt"
    idea.write_text(f"{IDEA}\nThe server is reached with\n{IN_DUMP[0]}\n")
    key.write_text(f"Our key:\n{IN_RESOURCE[0]}\n")
    assert (
        planted.forge("run", str(idea), "--name", "Party", "--agent", "builtin", "--file", str(key), "--auto-confirm")
        == 4
    ), "an outline waits for its person"
    with provider([Reply(spoken(KEYS["provider key in a variable"]))]) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_BASE_URL", server.url)
        planted.forge("run", str(idea), "--name", "Second", "--agent", MODEL, "--file", str(key))
        planted.sent += [request.body.decode() for request in server.requests]


def looks(planted: Planted) -> None:
    """Whatever shows settings, keys, states and errors."""
    for words in (
        ("config", "show"), ("config", "show", "--origin", "--json"), ("config", "check"),
        ("config", "get", "keys.openai"),
        ("models",), ("models", "--json"), ("doctor",), ("doctor", "--json"), ("doctor", "--repair"), ("key", "list"),
        ("project", "list", "--json"), ("project", "status", "party", "--json"), ("board",), ("cost", "--json"),
        ("notify", "test"), ("session", "list"), ("log",), ("project", "log", "party"),
    ):  # fmt: skip
        planted.forge(*words)
    password = KEYS["database password"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORGE_DATABASE", f"postgresql://ada:{password}@127.0.0.1:1/forge?application_name=x")
        for words in (
            ("config", "show"),
            ("doctor", "--json"),
            ("project", "list"),
            ("chat", "-m", "hi"),
            ("key", "list"),
        ):
            planted.forge(*words)


def rows(file: Path) -> Iterator[tuple[str, str]]:
    """Every value of every table, as text."""
    connection = sqlite3.connect(file)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                yield f"{file.name} {table}", " ".join(map(str, row))
    finally:
        connection.close()


def objects(repo: Path) -> Iterator[tuple[str, str]]:
    """Every object of a repository, reachable or not."""
    command = ["git", "cat-file", "--batch-all-objects", "--batch", "--unordered"]
    yield (
        f"git {repo.name}",
        subprocess.run(command, cwd=repo, capture_output=True, check=True).stdout.decode("utf-8", "replace"),
    )


def projects(planted: Planted) -> list[Path]:
    return sorted((planted.place / "workspace" / "projects").iterdir())


def files(planted: Planted) -> Iterator[tuple[str, str]]:
    """What lies in the data directory and in projects, but for databases and git's own files."""
    for folder in ("data", "workspace"):
        for file in sorted((planted.place / folder).rglob("*")):
            if file.is_file() and ".git" not in file.parts and ".db" not in file.name:
                yield str(file.relative_to(planted.place)), file.read_bytes().decode("utf-8", "replace")


def leaks(planted: Planted, parts: Iterable[tuple[str, str]], *names: str) -> set[tuple[str, str]]:
    """Which secrets are where. `names` are those to look for; all of them if none is named."""
    wanted = {name: planted.secrets[name] for name in names} if names else planted.secrets
    return {
        (name, where)
        for where, text in parts
        for name, secret in wanted.items()
        if secret in text or json.dumps(secret)[1:-1] in text
    }


@pytest.mark.req("X-06")
def test_nothing_that_is_shown_holds_a_secret(planted: Planted) -> None:
    assert len(planted.shown) > 50
    assert leaks(planted, planted.shown.items()) == set()
    shown = "\n".join(planted.shown.values())
    assert "[redacted:key]" in shown, "the errors of the provider were not shown at all"


@pytest.mark.req("X-06")
def test_nothing_that_a_model_is_sent_holds_a_secret(planted: Planted) -> None:
    assert leaks(planted, (("prompt", text) for text in planted.sent)) == set()
    assert any("[redacted:private-key]" in text for text in planted.sent)
    assert any("summer party" in text for text in planted.sent)


@pytest.mark.req("X-06")
def test_a_repository_holds_only_the_secret_that_a_person_committed(planted: Planted) -> None:
    assert leaks(planted, objects(planted.repo)) == {("private key in a file", "git repo")}
    (where,) = {kind for kind, text in objects(planted.repo) if IN_FILE[1] in text}
    text = dict(objects(planted.repo))[where]
    assert text.count(IN_FILE[1]) == 1, "it was copied"
    assert "[redacted:private-key]" in text


@pytest.mark.req("X-06")
def test_logs_events_outbox_and_errors_hold_no_key(planted: Planted) -> None:
    logs = [(where, text) for where, text in files(planted) if where.endswith(".log")]
    assert logs
    assert leaks(planted, logs) == set()
    told = list(rows(planted.place / "data" / "forge.db"))
    assert {where for where, _ in told} >= {"forge.db events", "forge.db outbox", "forge.db runs", "forge.db keys"}
    assert leaks(planted, told, *KEYS, "forge-key", "private key in a file", "private key in a message") == set()


@pytest.mark.req("X-06")
def test_project_directories_hold_no_key_of_this_machine(planted: Planted) -> None:
    kept = [*files(planted), *(part for place in projects(planted) for part in objects(place))]
    assert any(where.endswith("outline.md") for where, _ in kept)
    assert leaks(planted, kept, *KEYS, "forge-key", "private key in a file", "private key in a message") == set()


@pytest.mark.req("X-06")
def test_a_private_key_in_a_brain_dump_is_in_no_commit_and_no_event(planted: Planted) -> None:
    kept = [*files(planted), *(part for place in projects(planted) for part in objects(place))]
    kept += rows(planted.place / "data" / "forge.db")
    assert leaks(planted, kept, "private key in a brain dump") == set()


@pytest.mark.req("X-06")
def test_a_model_cannot_commit_a_key_of_this_machine(planted: Planted) -> None:
    assert leaks(planted, objects(planted.place / "other")) == set()


@pytest.mark.req("X-06")
def test_a_private_key_in_a_resource_stays_in_that_file(planted: Planted) -> None:
    written = [(where, text) for where, text in files(planted) if "/resources/" not in where]
    assert leaks(planted, written, "private key in a resource") == set()


@pytest.mark.req("X-06")
def test_the_records_of_the_engine_hold_no_secret(planted: Planted) -> None:
    assert leaks(planted, rows(planted.place / "data" / "forge-runs.db")) == set()


def test_only_their_owner_can_read_databases_and_settings_of_the_server(planted: Planted) -> None:
    data = planted.place / "data"
    open_to_others = [file.name for file in data.iterdir() if file.name != "forge.log" and file.stat().st_mode & 0o077]
    assert open_to_others == []
