"""Checks of the machine, of places and of a repository."""

from __future__ import annotations

import json
import os
import time
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import pytest

from forge.app.admin import notifications
from forge.app.admin.checks import Check, CheckState, Place, machine, models, places, repository
from forge.app.process.workshop import database_url
from forge.git import Repository
from forge.git.refs.reservations import reserve
from forge.notices.errors import NotDelivered
from forge.settings import load
from forge.store.inspection import Inspection
from tests.agents.conftest import only_this_machine  # noqa: F401 - keys of the developer are not seen
from tests.conftest import Git, MakeRepo
from tests.support.machine import write_program
from tests.support.scripted_projects import Office


@pytest.fixture
def repo(make_repo: MakeRepo) -> Path:
    return make_repo({"a": "a\n"})


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office.at(tmp_path / "office")


def place_of(office: Office, repo: Path | None = None, **options: object) -> Place:
    environ = {**office.environ, **options.pop("environ", {})}  # type: ignore[dict-item]
    settings = load(environ)
    records = Inspection(database_url(settings))
    opened = Repository.open(repo) if repo else None
    return Place(office.place, environ, settings, records, opened, **options)  # type: ignore[arg-type]


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory on PATH."""
    place = tmp_path / "programs"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place))
    return place


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("git version 2.38.0", CheckState.OK),
        ("git version 2.39.2.windows.1", CheckState.OK),
        ("git version 3.0", CheckState.OK),
        ("git version 2.37.9", CheckState.FAILED),
        ("git version 1.9", CheckState.FAILED),
        ("nothing", CheckState.FAILED),
    ],
)
def test_git_must_be_new_enough(programs: Path, office: Office, answer: str, state: CheckState) -> None:
    write_program(programs / "git", f"echo {answer}")
    assert machine.git(place_of(office)).state is state


@pytest.mark.req("X-03")
@pytest.mark.parametrize(
    ("version", "database", "state"),
    [
        ((3, 35, 0), "", CheckState.OK),
        ((3, 34, 1), "", CheckState.FAILED),
        ((3, 34, 1), "postgresql://h/d", CheckState.OK),
    ],
)
def test_sqlite_must_be_new_enough_where_it_is_used(
    office: Office, monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...], database: str, state: CheckState
) -> None:
    monkeypatch.setattr(machine.sqlite3, "sqlite_version_info", version)
    more = {"FORGE_DATABASE": database} if database else {}
    assert machine.sqlite(place_of(office, environ=more)).state is state


def test_missing_programs_are_named_with_what_to_do(programs: Path, office: Office) -> None:
    place = place_of(office)
    git, sandbox = machine.git(place), machine.confined(place)
    assert (git.state, git.hint) == (CheckState.FAILED, "Install git 2.38 or newer.")
    assert sandbox.state is CheckState.WARNING
    assert "bubblewrap" in sandbox.hint
    browser = machine.browser(place)
    assert (browser.state, browser.detail) == (CheckState.OK, "Not found; only tests in a browser need it.")
    write_program(programs / "chromium", "echo")
    assert machine.browser(place_of(office)).detail == str(programs / "chromium")


@pytest.mark.parametrize(("away", "told"), [(90.0, "90 s behind"), (-90.0, "90 s ahead")])
def test_a_clock_that_disagrees_with_the_disk_is_told(
    office: Office, monkeypatch: pytest.MonkeyPatch, away: float, told: str
) -> None:
    place = place_of(office)
    now = time.time()
    monkeypatch.setattr(machine.time, "time", lambda: now + away)
    check = machine.clock(place)
    assert check.state is CheckState.WARNING
    assert check.detail == f"the file system is {told}."
    assert list(office.place.iterdir()) == [office.place / "config.yaml"]


def test_only_old_locks_are_worth_a_warning(office: Office, repo: Path, git: Git) -> None:
    git(repo, "worktree", "add", "--quiet", str(repo.parent / "linked"))
    place = place_of(office, repo)
    fresh = repo / ".git" / "index.lock"
    fresh.touch()
    assert repository.locks(place).state is CheckState.OK
    for name in ("refs/heads/main.lock", "packed-refs.lock", "worktrees/linked/index.lock"):
        lock = repo / ".git" / name
        lock.touch()
        os.utime(lock, (time.time() - 3600,) * 2)
    check = repository.locks(place)
    assert check.state is CheckState.WARNING
    git_dir = repo / ".git"
    old = [f"{git_dir}/{name}" for name in ("packed-refs.lock", "refs/heads/main.lock", "worktrees/linked/index.lock")]
    assert check.detail == f"Old lock files: {', '.join(old)}."
    assert check.hint.endswith(f"`rm {' '.join(old)}`")


def test_a_lock_that_goes_while_we_look_is_no_trouble(tmp_path: Path) -> None:
    assert repository.age(tmp_path / "gone.lock") == 0


def test_leftovers_of_dead_processes_are_removed_only_on_demand(office: Office, repo: Path) -> None:
    scratch = repo / ".git" / "forge" / "tmp"
    scratch.mkdir(parents=True)
    left = scratch / "left"
    left.write_bytes(b"x")
    os.utime(left, (1, 1))
    check = repository.leftovers(place_of(office, repo))
    assert (check.state, check.hint) == (CheckState.WARNING, "Run `forge doctor --repair`.")
    assert left.exists()
    mended = repository.leftovers(place_of(office, repo, repair=True))
    assert (mended.state, mended.detail) == (CheckState.OK, "Removed 1 file that dead processes had left.")
    assert not left.exists()
    assert repository.leftovers(place_of(office, repo)).detail == "Nothing was left by processes that died."


def test_a_branch_that_only_a_dead_process_kept_is_released_on_demand(office: Office, repo: Path) -> None:
    common = repo / ".git"
    reserve(common, "ai/mine", "a1", "builtin")
    reserve(common, "ai/left", "a2", "builtin")
    for file in (common / "forge" / "reserved").iterdir():
        branch, holder, who, since, process = json.loads(file.read_bytes())
        if branch == "ai/left":
            gone = {**json.loads(process), "started": "1"}
            file.write_text(json.dumps([branch, holder, who, since, json.dumps(gone)]))
    check = repository.turns(place_of(office, repo))
    assert (check.state, check.detail) == (CheckState.WARNING, "Still reserved by turns that have ended: ai/left.")
    assert "Released ai/left" in repository.turns(place_of(office, repo, repair=True)).detail
    assert repository.turns(place_of(office, repo)).detail == "1 at work."


def test_a_branch_that_cannot_be_read_is_named(office: Office, repo: Path) -> None:
    (repo / ".git" / "refs" / "heads" / "broken").write_text("1" * 40 + "\n")
    check = repository.branches(place_of(office, repo))
    assert check.state is CheckState.FAILED
    assert check.detail.startswith("broken: ")
    assert "git fsck" in check.hint


@pytest.mark.parametrize("content", ["", "not a commit\n", "1" * 39])
def test_a_branch_whose_file_names_no_commit_is_named(office: Office, repo: Path, content: str) -> None:
    heads = repo / ".git" / "refs" / "heads"
    (heads / "ai").mkdir()
    (heads / "ai" / "torn").write_text(content)
    (heads / "main.lock").write_text("")
    (heads / "alias").write_text("ref: refs/heads/main\n")
    check = repository.branches(place_of(office, repo))
    assert (check.state, check.detail) == (CheckState.FAILED, "ai/torn: Its file names no commit.")


def test_what_cannot_be_written_is_told(office: Office, repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = place_of(office, repo)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    check = repository.writing(place)
    assert (check.state, check.detail) == (CheckState.FAILED, f"{repo / '.git'} cannot be written.")
    data = places.data(place)
    assert (data.state, data.detail) == (CheckState.FAILED, f"{office.place} cannot be written.")
    assert "FORGE_DATA_DIR" in data.hint


def test_a_data_directory_that_cannot_be_made_is_told_whoever_asks(office: Office) -> None:
    place = place_of(office, environ={"FORGE_DATA_DIR": "/proc/forge", "FORGE_WORKSPACE": "/proc/work"})
    assert places.data(place).detail == "/proc cannot be written."
    assert {places.data(place).state, places.workspace(place).state} == {CheckState.FAILED}


def test_a_file_in_the_place_of_the_workspace_is_told(office: Office) -> None:
    (office.place / "workspace").touch()
    check = places.workspace(place_of(office))
    assert (check.state, check.detail) == (CheckState.FAILED, f"{office.place / 'workspace'} is no directory.")


def test_a_disk_that_is_nearly_full_is_told(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=500 << 20))
    check = places.disk(place_of(office))
    assert (check.state, check.detail) == (CheckState.WARNING, "0.5 GiB free")


def test_a_plugin_that_cannot_be_loaded_is_named(office: Office) -> None:
    folder = office.place / "plugins"
    folder.mkdir()
    (folder / "broken.py").write_text("import nothing_like_this\n")
    check = places.plugins(place_of(office))
    assert check.state is CheckState.WARNING
    assert "broken" in check.detail


def test_a_server_that_died_is_forgotten_on_demand(office: Office) -> None:
    data = office.place / "data"
    data.mkdir()
    assert places.server(place_of(office)).detail == "None runs here; `forge serve` starts one."
    (data / "server.json").write_text('{"pid": 1, "host": "127.0.0.1", "port": 1, "secret": "hush-hush-hush"}')
    check = places.server(place_of(office))
    assert check.state is CheckState.WARNING
    assert "hush" not in repr(check)
    assert places.server(place_of(office, repair=True)).detail == "Removed the announcement of a server that died."
    assert not (data / "server.json").exists()


def providers(config: str, tmp_path: Path, **options: object) -> Check:
    return models.providers(place_of(Office.at(tmp_path / "office", config), **options))


def test_providers_are_told_with_where_their_key_comes_from_and_never_with_the_key(tmp_path: Path) -> None:
    key = "sk-ant-0123456789abcdef0123"
    assert "built-in engine" in providers("", tmp_path).detail
    check = providers("", tmp_path, environ={"ANTHROPIC_API_KEY": key})
    assert check.detail == "anthropic: key from variable ANTHROPIC_API_KEY"
    assert key not in repr(check)


def test_providers_are_asked_only_online_and_without_a_key(tmp_path: Path) -> None:
    dead = "providers: {workshop: {base_url: 'http://127.0.0.1:1/v1', model: any}}\n"
    assert providers(dead, tmp_path).detail == "workshop: no key"
    check = providers(dead, tmp_path, online=True)
    assert check.state is CheckState.FAILED
    assert check.detail == "workshop at 127.0.0.1:1 does not answer: ConnectError"
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        heard: list[str] = []
        handler = type(
            "Hears", (SimpleHTTPRequestHandler,), {"log_message": lambda self, *_: heard.append(str(self.headers))}
        )
        server.RequestHandlerClass = handler
        Thread(target=server.handle_request, daemon=True).start()
        alive = dead.replace("127.0.0.1:1/", f"127.0.0.1:{server.server_address[1]}/")
        check = providers(alive, tmp_path, online=True, environ={"WORKSHOP_API_KEY": "kept-to-ourselves-77"})
    assert (check.state, check.detail) == (CheckState.OK, "workshop: no key; all answer")
    assert heard
    assert "kept-to-ourselves-77" not in heard[0]


def test_an_ollama_that_was_asked_for_and_does_not_answer_is_told(tmp_path: Path) -> None:
    wanted = Office.at(tmp_path / "a", "providers: {ollama: {base_url: 'http://127.0.0.1:1'}}\n")
    check = models.ollama(place_of(wanted))
    assert (check.state, check.detail) == (CheckState.WARNING, "127.0.0.1:1 does not answer, or has no model.")


def test_agent_programs_are_told_with_their_versions(office: Office, tmp_path: Path) -> None:
    package = tmp_path / "lib" / "node_modules" / "claude"
    (package / "bin").mkdir(parents=True)
    (package / "package.json").write_text('{"name": "claude", "version": "9.8.7"}')
    write_program(package / "bin" / "claude", "echo")
    check = models.agents(place_of(office, environ={"PATH": str(package / "bin")}))
    assert check.detail == "claude 9.8.7"
    assert "No agent program" in models.agents(place_of(office, environ={"PATH": ""})).detail


def test_who_failed_to_send_a_test_is_not_told_to_send_one(office: Office, monkeypatch: pytest.MonkeyPatch) -> None:
    class Deaf:
        async def send(self, notice: object) -> None:
            raise NotDelivered("ntfy did not take the notice", hint="check the channel with `forge notify test`")

    plugins = SimpleNamespace(made_channels=lambda _: [("ntfy", Deaf())])
    monkeypatch.setattr(notifications, "plugins_of", lambda _: plugins)
    (sent,) = office.do(notifications.send_test)
    assert not sent.sent
    assert sent.reason.endswith("Check its settings: `forge config show notifications.channels.ntfy`.")
    assert "notify test" not in sent.reason
