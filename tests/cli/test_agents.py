"""The commands around agents: chat, session, context, tools, models, cost, worker, export."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Forge
from tests.cli.terminals import Terminal
from tests.conftest import Git, MakeRepo

TOOL = """
def get_schema():
    return {"name": "shout", "description": "Shout.", "parameters": {"type": "object", "properties": {}}}

def execute(vfs, args):
    return "LOUD"
"""


@pytest.fixture
def repo(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A repository, and a machine on which nothing is configured."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FORGE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("OLLAMA_BASE_URL", "http://127.0.0.1:9")
    path = make_repo({"calc.py": "def add(a, b):\n    return a + b\n", "README.md": "# Calc\n", "tools/shout.py": TOOL})
    monkeypatch.chdir(path)
    return path


@pytest.mark.req("X-03", "G-06")
def test_chat_works_on_a_fresh_machine_and_says_who_answers(forge: Forge, repo: Path, git: Git) -> None:
    ran = forge("chat", "--branch", "ai/x", "-m", "what is in this repository?")
    assert ran.code == 0
    assert "built-in engine: rules, not a language model" in ran.out
    assert "the conversation is kept in" in ran.out
    assert git(repo, "log", "-1", "--format=%s", "ai/x") == "chat: what is in this repository?"
    assert git(repo, "status", "--porcelain") == ""
    assert git(repo, "rev-parse", "--abbrev-ref", "HEAD") == "main"


@pytest.mark.req("X-02", "G-06", "G-17")
def test_chat_ends_with_one_document(forge: Forge, repo: Path, git: Git) -> None:
    ran = forge("chat", "--branch", "ai/x", "-m", 'replace "a + b" with "b + a" in calc.py', "--json")
    assert ran.code == 0
    document = ran.document
    assert {"branch", "commit", "files", "text", "usage", "stopped"} <= document.keys()
    assert (document["branch"], document["files"], document["stopped"]) == ("ai/x", ["calc.py"], None)
    assert document["commit"] == git(repo, "rev-parse", "ai/x")
    assert git(repo, "show", "ai/x:calc.py").endswith("return b + a")
    assert set(document["usage"]) >= {"input_tokens", "output_tokens", "cache_read_tokens", "cost"}


@pytest.mark.parametrize("words", [("session", "show"), ("session", "cancel"), ("context", "show"), ("tools", "list")])
def test_a_branch_that_is_not_there_is_an_error(forge: Forge, repo: Path, words: tuple[str, ...]) -> None:
    ran = forge(*words, "--branch", "nosuch", "--json")
    assert (ran.code, ran.error) == (1, "branch_missing")
    assert "forge branch list" in ran.document["error"]["hint"]


def test_who_names_nobody_is_told_who_there_is(forge: Forge, repo: Path) -> None:
    hint = forge("chat", "-b", "ai/x", "-m", "hi", "--agent", "nobody", "--json").document["error"]["hint"]
    assert hint.startswith("There are `builtin`, models as `provider:model`, and ")
    assert hint.endswith("`forge models` shows who can answer.")


def test_a_message_without_words_is_a_wrong_command_line(forge: Forge, repo: Path) -> None:
    for words in (["-m", "  "], ["-m", "-"], []):
        ran = forge("chat", "--branch", "ai/x", *words, "--json")
        assert (ran.code, ran.error) == (2, "bad_usage")


def test_a_turn_that_is_refused_is_a_line_too(forge: Forge, repo: Path) -> None:
    ran = forge("chat", "--branch", "main", "-m", "find add", "--stream-json")
    assert (ran.code, ran.document["type"], ran.document["code"]) == (5, "error", "protected_branch")


@pytest.mark.req("X-02")
def test_chat_streams_a_document_a_line(forge: Forge, repo: Path) -> None:
    ran = forge("chat", "--branch", "ai/x", "-m", "find add", "--stream-json")
    lines = [json.loads(line) for line in ran.out.splitlines()]
    assert lines[0]["type"] == "TurnStarted"
    assert {"ToolStarted", "ToolEnded", "ModelAnswered", "TurnCommitted"} <= {line["type"] for line in lines}
    assert lines[-1]["type"] == "result"
    assert lines[-1]["commit"]


@pytest.mark.req("X-02")
def test_chat_takes_the_name_of_a_model_as_agent_like_projects_do(forge: Forge, repo: Path) -> None:
    ran = forge("chat", "--branch", "ai/x", "-m", "find add", "--agent", "builtin", "--stream-json")
    assert ran.code == 0
    assert json.loads(ran.out.splitlines()[0])["model"] == "builtin"


def test_chat_reads_the_message_from_standard_input(forge: Forge, repo: Path, git: Git) -> None:
    assert forge("chat", "--branch", "ai/x", stdin="find add").code == 0
    assert git(repo, "log", "-1", "--format=%s", "ai/x") == "chat: find add"


@pytest.mark.req("C-14", "G-09")
@pytest.mark.parametrize(
    ("args", "code", "error"),
    [
        (("--branch", "main", "-m", "hello"), 5, "protected_branch"),
        (("--branch", "ai/x", "-m", "  "), 2, "bad_usage"),
        (("--branch", "ai/x", "-m", "hi", "--model", "nobody:x"), 1, "model_unknown"),
        (("--branch", "ai/x", "-m", "hi", "--model", "anthropic:claude-sonnet-5-5"), 5, "key_missing"),
        (("--branch", "ai/x", "-m", "hi", "--agent", "nobody"), 1, "program_missing"),
        (("--branch", "ai/x", "-m", "hi", "--agent", "nobody:x"), 1, "model_unknown"),
        (("--branch", "ai/x", "-m", "hi", "--agent", "builtin", "--model", "builtin"), 1, "program_missing"),
        (("--branch", "a..b", "-m", "hi"), 1, "invalid_name"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_changes(
    forge: Forge, repo: Path, git: Git, args: tuple[str, ...], code: int, error: str
) -> None:
    before = git(repo, "for-each-ref")
    ran = forge("chat", *args, "--json")
    assert (ran.code, ran.error) == (code, error)
    assert git(repo, "for-each-ref") == before


def test_a_branch_that_cannot_be_read_keeps_no_other_from_the_list_of_sessions(
    forge: Forge, repo: Path, git: Git
) -> None:
    assert forge("chat", "--branch", "ai/x", "-m", "find add").code == 0
    forge("branch", "new", "ai/newer")
    git(repo, "worktree", "add", "-q", "../newer", "ai/newer")
    (repo.parent / "newer/.forge").mkdir()
    (repo.parent / "newer/.forge/session.json").write_text('{"schema_version": 999}')
    git(repo.parent / "newer", "add", "-A")
    git(repo.parent / "newer", "commit", "-qm", "by another Forge")
    (repo / ".git/refs/heads/gone").write_text("1234567890123456789012345678901234567890\n")
    listed = forge("session", "list", "--json")
    assert [each["branch"] for each in listed.document] == ["ai/x"]
    assert forge("session", "show", "--branch", "ai/newer", "--json").error == "session_unreadable"
    assert forge("session", "show", "--branch", "gone", "--json").error == "revision_missing"


@pytest.mark.req("G-08")
def test_sessions_are_listed_shown_forked_and_rewound(forge: Forge, repo: Path, git: Git) -> None:
    assert forge("session", "list").out == ""
    for text in ("find add", "create note.txt with hello", "find hello"):
        assert forge("chat", "--branch", "ai/x", "-m", text).code == 0
    (listed,) = forge("session", "list", "--json").document
    assert (listed["branch"], listed["turns"], listed["working"]) == ("ai/x", 3, None)
    shown = forge("session", "show", "--branch", "ai/x", "--json").document
    assert [turn["asked"] for turn in shown["turns"]] == ["find add", "create note.txt with hello", "find hello"]
    assert shown["turns"][1]["files"] == ["note.txt"]
    second = shown["turns"][1]["commit"]
    at = forge("session", "show", "--branch", "ai/x", "--at", second, "--json").document
    assert [turn["number"] for turn in at["turns"]] == [1, 2]
    whole = forge("session", "show", "--branch", "ai/x", "--turn", "2", "--json").document
    assert "write_file" in json.dumps(whole["messages"])
    prose = forge("session", "show", "--branch", "ai/x").out
    assert "you › find add" in prose
    assert forge("session", "fork", "2", "ai/y", "--branch", "ai/x").code == 0
    assert git(repo, "rev-parse", "ai/y") == second
    assert forge("session", "rewind", "1", "--branch", "ai/x").code == 0
    assert forge("session", "list", "--json").document[0]["turns"] == 1
    assert forge("undo").code == 0
    assert forge("session", "list", "--json").document[0]["turns"] == 3
    shown = forge("session", "show", "--branch", "ai/x", "--json").document
    assert [m["role"] for m in shown["messages"] if m["role"] == "user"] == ["user"] * 3
    assert shown["active_files"] == []
    assert forge("session", "show", "--branch", "ai/x", "--turn", "9", "--json").error == "turn_missing"
    assert forge("session", "cancel", "--branch", "ai/x", "--json").document["cancelled"] is None


@pytest.mark.req("G-13")
def test_files_are_put_into_the_context_and_taken_out(forge: Forge, repo: Path) -> None:
    forge("branch", "new", "ai/x")
    assert forge("context", "show", "-b", "ai/x", "--json").document["active_files"] == []
    added = forge("context", "add", "calc.py:1-2", "*.md", "-b", "ai/x", "--json").document
    assert added["active_files"] == [{"path": "calc.py", "ranges": [[1, 2]]}, {"path": "README.md", "ranges": []}]
    assert added["commit"] is None
    assert "◐ calc.py 1–2" in forge("context", "show", "-b", "ai/x").out
    left = forge("context", "remove", "calc.py", "-b", "ai/x", "--json").document
    assert [file["path"] for file in left["active_files"]] == ["README.md"]
    assert forge("context", "add", "nowhere", "-b", "ai/x", "--json").error == "file_missing"
    assert forge("context", "add", "calc.py:9-2", "-b", "ai/x").code == 2


@pytest.mark.req("G-11")
def test_every_built_in_tool_is_listed_also_those_that_need_a_sandbox_or_a_person(forge: Forge, repo: Path) -> None:
    named = [tool["name"] for tool in forge("tools", "list", "-b", "main", "--json").document["built_in"]]
    assert {"read_file", "undo_edit", "run_command", "run_tests", "ask_user", "use_skill"} <= set(named)
    assert forge("tools", "list", "-b", "main").out.startswith(f"Built in, no approval needed: {', '.join(named)}\n")


@pytest.mark.req("G-12")
def test_tools_are_approved_and_one_changed_byte_ends_that(forge: Forge, repo: Path) -> None:
    forge("branch", "new", "ai/x")

    def state() -> str:
        (tool,) = forge("tools", "list", "-b", "ai/x", "--json").document["own"]
        return str(tool["state"])

    assert state() == "new"
    assert forge("tools", "approve", "shout", "-b", "ai/x").code == 0
    assert state() == "approved"
    forge("file", "save", "tools/shout.py", "-b", "ai/x", stdin=TOOL + "\n")
    assert state() == "changed"
    forge("tools", "approve", "shout", "-b", "ai/x")
    assert forge("tools", "revoke", "shout", "-b", "ai/x").code == 0
    assert state() == "new"
    assert forge("tools", "approve", "nothing", "-b", "ai/x", "--json").error == "user_tool_missing"


@pytest.mark.req("G-17", "X-06")
def test_models_tells_where_a_key_comes_from_and_never_the_key(
    forge: Forge, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert forge("models", "--json").document["chat"] == "builtin"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret-key-0123456789")
    ran = forge("models")
    assert "very-secret" not in ran.out + ran.err
    found = forge("models", "--json").document
    assert found["chat"].startswith("anthropic:")
    (anthropic,) = [each for each in found["providers"] if each["provider"] == "anthropic"]
    assert anthropic["usable"]
    assert "ANTHROPIC_API_KEY" in anthropic["how"]


@pytest.mark.req("G-17")
def test_costs_are_added_up(forge: Forge, repo: Path) -> None:
    assert "No model has been asked yet." in forge("cost").err
    forge("chat", "--branch", "ai/x", "-m", "find add")
    found = forge("cost", "--by", "branch", "--json").document
    assert found["rows"]["ai/x"]["requests"] == found["total"]["requests"] > 0


@pytest.mark.req("G-07")
def test_a_branch_is_exported_without_its_conversations(forge: Forge, repo: Path, git: Git, tmp_path: Path) -> None:
    forge("chat", "--branch", "ai/x", "-m", "find add")
    forge("chat", "--branch", "ai/x", "-m", "create note.txt with hello")
    bundle = tmp_path / "out.bundle"
    made = forge("export", "--without-sessions", "-b", "ai/x", "--bundle", str(bundle), "--json").document
    assert (made["branch"], made["rewritten"], made["left_out"]) == ("ai/x-export", 1, 1)
    assert ": 1 commit rewritten, 1 left out" in forge("export", "--without-sessions", "-b", "ai/x", "--to", "once").out
    assert git(repo, "diff", "--stat", "ai/x", "ai/x-export", "--", ".", ":!.forge") == ""
    assert git(repo, "log", "--format=%h", "ai/x-export", "--", ".forge") == ""
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "-b", "ai/x-export", str(bundle), str(clone))
    assert not (clone / ".forge").exists()
    assert (clone / "note.txt").exists()
    assert forge("export", "--without-sessions", "--conversation", "keep", "-b", "ai/x").code == 2
    git(repo, "fsck", "--full", "--strict")


def test_a_worker_ends_when_nothing_is_left(forge: Forge, repo: Path) -> None:
    assert forge("worker", "--until-idle", "--json").document == {"stopped": False}


def test_a_person_at_a_terminal_talks_until_the_input_ends(repo: Path, git: Git) -> None:
    with Terminal("chat", "--branch", "ai/x", cwd=repo) as terminal:
        terminal.read_until("you › ")
        terminal.type("find add\n")
        assert "calc.py" in terminal.read_until("you › ")
        terminal.type("create note.txt \\\nwith hello\n")
        assert "Saved" in terminal.read_until("you › ")
        terminal.type("\x04")
        assert terminal.wait() == 0
    assert git(repo, "log", "--format=%s", "main..ai/x").count("\n") == 1


TOOL = """\
def get_schema():
    return {"name": "greet", "description": "d", "parameters": {"type": "object", "properties": {}}}


def execute(vfs, args):
    return "hello"
"""


@pytest.mark.req("G-12")
def test_no_command_writes_a_record_and_a_copy_alone_approves_nothing(forge: Forge, repo: Path, git: Git) -> None:
    approvals = ".forge/approved_tools.json"
    forge("branch", "new", "ai/x")
    assert forge("file", "save", "--branch", "ai/x", "tools/greet.py", stdin=TOOL).code == 0
    for path in (approvals, ".forge/session.json", ".forge/session/0000/x.json", ".FORGE/Session.json"):
        for who in ((), ("--as", "bot")):
            saved = forge("file", "save", "--branch", "ai/x", *who, path, "--json", stdin="{}")
            assert (saved.code, saved.error) == (5, "record_protected")
    ran = forge(
        "exec",
        "--branch",
        "ai/x",
        "--save",
        "--as",
        "bot",
        "--json",
        "--",
        "sh",
        "-c",
        f"mkdir .forge; echo '{{}}' > {approvals}; date > d",
    )
    assert ran.document["changes"] == {"d": "added"}
    assert ran.document["notes"] == [f"{approvals}: not collected: it is a record that only Forge writes"]
    assert forge("tools", "approve", "greet", "--branch", "ai/x", "--json").code == 0
    # Another clone has the copy alone, as a forged commit would.
    git(repo, "clone", "-q", "-b", "ai/x", str(repo), "../clone")
    clone = ("-C", str(repo.parent / "clone"))
    listed = forge(*clone, "tools", "list", "--json").document
    (greet,) = (tool for tool in listed["own"] if tool["name"] == "greet")
    assert greet["state"] == "new"
    assert listed["listed_only"] == ["greet"]
    told = forge(*clone, "tools", "list")
    assert "! greet: .forge/approved_tools lists an approval by " in told.out
    assert told.err.count("forge tools approve --again") == 1
    chat = (*clone, "chat", "--branch", "ai/x", "-m", "find add")
    assert "forge: greet will not run: " in forge(*chat).err
    assert "will not run" not in forge(*chat).err, "told once"
    waits = forge(*clone, "tools", "approve", "--again")
    assert waits.code == 4
    assert greet["hash"][:12] in waits.out
    assert forge(*clone, "tools", "approve", "--again", "--yes", "--json").document["approved"][0]["name"] == "greet"
    assert "approved" in [tool["state"] for tool in forge(*clone, "tools", "list", "--json").document["own"]]
    assert forge(*clone, "tools", "list").err == ""


@pytest.mark.req("G-12")
def test_a_changed_tool_is_shown_with_what_changed(forge: Forge, repo: Path) -> None:
    forge("branch", "new", "ai/x")
    forge("file", "save", "--branch", "ai/x", "tools/greet.py", stdin=TOOL)
    read = forge("tools", "show", "greet", "--branch", "ai/x", "--json").document["hash"]
    assert forge("tools", "approve", "greet", "--hash", read[:12], "--branch", "ai/x").code == 0
    forge("file", "save", "--branch", "ai/x", "tools/greet.py", stdin=TOOL.replace("hello", "goodbye"))
    shown = forge("tools", "show", "greet", "--branch", "ai/x").out
    assert '-    return "hello"\n+    return "goodbye"' in shown
    assert shown.count("Since it was approved, tools/greet.py changed.") == 1
    assert forge("tools", "approve", "greet", "--hash", read, "--branch", "ai/x", "--json").error == "tool_changed"
    assert '+    return "goodbye"' in forge("tools", "approve", "greet", "--branch", "ai/x").out
    assert forge("tools", "show", "nope", "--branch", "ai/x", "--json").error == "user_tool_missing"
    assert forge("tools", "approve", "--json").error == "bad_usage"
