"""With `--json`, every command prints exactly one document on standard output, wherever the option stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from forge.api.shapes import history, sessions
from forge.cli.main import COMMANDS
from forge.cli.terminal.parser import Commands
from forge.cli.terminal.session import Session, run
from forge.errors import NotFound
from tests.cli.conftest import Forge, Installed
from tests.conftest import Git, MakeRepo

RUNS = [
    ["branch", "list"],
    ["branch", "list", "--kept"],
    ["branch", "new", "fresh"],
    ["branch", "fork", "topic", "fresh"],
    ["branch", "rename", "topic", "fresh"],
    ["branch", "rewind", "topic", "main"],
    ["branch", "delete", "topic"],
    ["file", "list"],
    ["file", "show", "a.txt"],
    ["file", "search", "a"],
    ["file", "save", "a.txt"],
    ["file", "rename", "a.txt", "b.txt"],
    ["file", "delete", "a.txt"],
    ["exec", "--", "echo", "out"],
    ["log"],
    ["plugins"],
    ["diff", "topic"],
    ["graph"],
    ["blame", "a.txt"],
    ["merge", "topic"],
    ["rebase", "topic", "--onto", "main"],
    ["cherry-pick", "topic"],
    ["undo", "--list"],
    ["undo"],
    ["doctor"],
    ["show"],
    ["chat", "--branch", "ai/x", "-m", "find a"],
    ["session", "list"],
    ["session", "show", "-b", "topic"],
    ["session", "cancel", "-b", "topic"],
    ["context", "show"],
    ["context", "add", "a.txt", "-b", "topic"],
    ["context", "remove", "t.txt", "-b", "topic"],
    ["tools", "list"],
    ["models"],
    ["cost"],
    ["export", "--without-sessions", "-b", "topic"],
    ["push", "-b", "topic"],
    ["worker", "--until-idle"],
    ["project", "new", "Party"],
    ["project", "list"],
    ["board"],
    ["memory", "show"],
    ["config", "show"],
    ["prompts", "list"],
    ["notify", "test"],
    ["notify", "list"],
    ["user", "list"],
    ["user", "add", "ana"],
    ["key", "list"],
    ["tests"],
    ["test", "--show"],
    ["env", "show"],
    ["env", "setup"],
    ["env", "clear"],
]

ELSEWHERE = {"run", "demo", "serve", "completion", "contracts", "mcp", "notes", "explore"}
"""Tried by their own tests: they take seconds, go on until they are ended, or need a project."""


@pytest.fixture
def repo(make_repo: MakeRepo, git: Git, forge: Forge, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    repo = make_repo({"a.txt": "a\n"})
    monkeypatch.chdir(repo)
    git(repo, "init", "-q", "--bare", str(tmp_path / "remote.git"))
    git(repo, "remote", "add", "origin", str(tmp_path / "remote.git"))
    forge("branch", "new", "topic")
    forge("file", "save", "-b", "topic", "t.txt", stdin="t\n")
    forge("context", "add", "t.txt", "-b", "topic")
    return repo


def test_every_command_is_tried_here() -> None:
    assert {words[0] for words in RUNS} | ELSEWHERE == set(COMMANDS)


@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_one_document_and_nothing_else(forge: Forge, repo: Path, words: list[str]) -> None:
    done = forge("--json", *words, stdin="new\n")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert isinstance(document, dict | list)
    assert done.out == json.dumps(document, indent=2) + "\n"


@pytest.mark.parametrize("words", RUNS, ids=" ".join)
def test_without_the_option_people_get_no_json(forge: Forge, repo: Path, words: list[str]) -> None:
    done = forge(*words, stdin="new\n")
    assert done.code == 0
    assert not done.out.startswith(("{", "["))
    # Who finds nothing is told so, in one line, beside the output.
    assert done.out or done.err.count("\n") == 1


@pytest.mark.parametrize("end", [KeyboardInterrupt(), NotFound("gone")], ids=["interrupt", "error"])
def test_what_comes_after_the_document_adds_none(end: BaseException, capsys: pytest.CaptureFixture[str]) -> None:
    app = Commands("`forge one`: two.")

    @app.add()
    def one(context: typer.Context) -> None:
        context.obj.output.result({"done": True})
        raise end

    code = run(app, "one", [], Session(json=True))
    told = capsys.readouterr()
    assert (code, json.loads(told.out)) == (130 if isinstance(end, KeyboardInterrupt) else 1, {"done": True})
    assert told.err.startswith("forge: ")


@pytest.mark.parametrize(
    "words",
    [["chat", "-b", "ai/x", "-m", "x\udcff"], ["chat", "-b", "x\udcff", "-m", "x"], ["key", "list", "x\udcff"]],
    ids=["message", "branch", "user"],
)
def test_bytes_that_are_not_text_are_an_error_like_any_other(forge: Forge, repo: Path, words: list[str]) -> None:
    done = forge("--json", *words)
    assert (done.code, done.error) == (1, "not_utf8")


@pytest.mark.parametrize(
    ("words", "error", "hint"),
    [
        (["project"], "bad_usage", "|provide-input|"),
        (["prompts", "edit", "chat", "--file", "nowhere"], "not_found", "standard input"),
        (["export", "--without-sessions", "--bundle", "nowhere/b"], "not_found", "nothing was done"),
        (["-C", "y" * 5000, "branch", "list"], "not_found", "Check the path"),
        (["-C", "nowhere", "serve", "--open"], "not_found", "-C DIR"),
        (["serve", "--host", "a..b"], "address_unusable", "127.0.0.1"),
    ],
    ids=["usage", "prompt", "bundle", "long", "nowhere", "host"],
)
def test_errors_say_what_to_do_next(
    forge: Forge, repo: Path, git: Git, words: list[str], error: str, hint: str
) -> None:
    branches = git(repo, "branch")
    done = forge("--json", *words)
    assert done.error == error
    assert hint in done.document["error"]["hint"]
    assert git(repo, "branch") == branches


def test_a_server_after_the_demo_would_give_a_second_document(forge: Forge) -> None:
    done = forge("demo", "--open", "--json")
    assert (done.code, done.error) == (2, "bad_usage")


def test_the_installed_program_does_the_same(installed: Installed, repo: Path) -> None:
    done = installed("log", "--json", "-n", "1", cwd=repo)
    assert (done.code, done.err) == (0, "")
    assert done.document[0]["subject"] == "first"
    failed = installed("--json", "log", "nowhere", cwd=repo)
    assert (failed.code, failed.error) == (1, "revision_missing")
    saved = installed("file", "save", "--branch", "topic", "a.txt", "--message", "M", "--json", stdin="b\n", cwd=repo)
    assert (saved.code, saved.document["files"]) == (0, {"a.txt": "modified"})
    ran = installed("exec", "--branch", "topic", "--json", "--", "cat", "a.txt", cwd=repo)
    assert (ran.code, ran.document["stdout"]) == (0, "b\n")


@pytest.mark.req("X-02")
def test_a_document_has_the_names_that_the_api_gives(
    make_repo: MakeRepo, forge: Forge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(make_repo({"a.txt": "a\n"}))
    assert forge("chat", "--branch", "ai/x", "-m", "find a", "--json").code == 0
    [commit, *_] = forge("log", "--json").document
    [row, *_] = forge("graph", "--json").document["rows"]
    whole = forge("session", "show", "-b", "ai/x", "--turn", "1", "--json").document
    [short] = forge("session", "show", "-b", "ai/x", "--json").document["turns"]
    assert commit.keys() == history.CommitShape.model_fields.keys()
    assert row.keys() == history.GraphShape.model_fields.keys()
    names = sessions.TurnShape.model_fields.keys()
    assert whole.keys() - {"turn"} == names, "`turn` is the id under its older name"
    assert short.keys() - {"turn"} == names - {"messages"}
