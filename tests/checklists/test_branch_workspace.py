"""The branch workspace, item by item: branches without a checkout, saves as commits, turns as one commit each.

A person saves, an agent with recorded answers works on two branches; each test looks at what is there afterwards.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from forge.git import VFS, GitCommitVFS, Repository, WorkInProgressVFS
from forge.git.errors import ReadOnlyView
from tests.cli.conftest import Ran, run_here
from tests.conftest import run_git

Json = dict[str, Any]

TOOL = """\
def get_schema():
    return {"name": "greet", "description": "Greets.", "parameters": {"type": "object", "properties": {}}}


def execute(vfs, args):
    vfs.write_file("greeting.txt", "hello\\n")
    return {"success": True}
"""
FILES = {
    "README.md": "# Garden\n",
    "CLAUDE.md": "Be brief.\n",
    "AGENTS.md": "Write tests.\n",
    "beds/north.md": "tulips\n",
    "tools/greet.py": TOOL,
}
BUILT_IN = {
    "write_file",
    "delete_file",
    "search_replace",
    "update_context",
    "grep_open",
    "get_lines",
    "rename_file",
}


def call(tool: str, **arguments: Any) -> Json:
    return {"text": "", "calls": [{"name": tool, "arguments": arguments}]}


@dataclass
class Garden:
    path: Path
    recordings: Path
    ran: dict[str, Ran] = field(default_factory=dict)
    tips: dict[str, str] = field(default_factory=dict)
    before: Json = field(default_factory=dict)
    after: Json = field(default_factory=dict)

    def git(self, *words: str) -> str:
        return run_git(self.path, *words)

    def forge(self, *words: str, stdin: str = "") -> Ran:
        return run_here("-C", str(self.path), *words, "--json", stdin=stdin)

    def step(self, name: str, branch: str, *words: str, stdin: str = "") -> Ran:
        self.ran[name] = self.forge(*words, "--branch", branch, stdin=stdin)
        self.tips[name] = self.git("rev-parse", branch)
        return self.ran[name]

    def turn(self, name: str, branch: str, text: str, *answers: Json) -> Ran:
        recording = self.recordings / f"{name}.jsonl"
        recording.write_text("".join(f"{json.dumps(answer)}\n" for answer in answers))
        return self.step(name, branch, "chat", "-m", text, "--model", f"recorded:{recording}")

    def own(self) -> Json:
        """What is the person's: files, index, HEAD, and what git says of them."""
        files = {
            path: path.read_bytes() for path in self.path.rglob("*") if path.is_file() and ".git" not in path.parts
        }
        index = hashlib.sha256((self.path / ".git/index").read_bytes()).hexdigest()
        return {
            "files": files,
            "index": index,
            "head": self.git("symbolic-ref", "HEAD"),
            "main": self.git("rev-parse", "main"),
        }

    def session(self, branch: str, *more: str) -> Json:
        return dict(self.forge("session", "show", "--branch", branch, *more).document)

    def asked(self, branch: str, *more: str) -> list[str]:
        return [turn["asked"] for turn in self.session(branch, *more)["turns"]]


@pytest.fixture(scope="module")
def garden(machine: Path) -> Garden:
    made = Garden(machine / "garden", machine)
    run_git(machine, "init", "--quiet", str(made.path))
    for path, text in FILES.items():
        (made.path / path).parent.mkdir(exist_ok=True)
        (made.path / path).write_text(text)
    made.git("add", "--all")
    made.git("commit", "--quiet", "--message", "first")
    (made.path / "README.md").write_text("# Garden, as I am writing it\n")
    made.git("status")
    made.before = made.own()
    made.forge("branch", "new", "feature")
    made.step("saved", "feature", "file", "save", "notes.txt", stdin="first\n")
    made.turn(
        "planted",
        "ai/plant",
        "Plant roses.",
        call("write_file", path="beds/south.md", content="roses\n"),
        call("search_replace", path="beds/south.md", search="roses", replace="red roses"),
        call("update_context", add=[{"path": "beds/south.md"}]),
        {"text": "Planted.\n\nCommit: Plant red roses in the south"},
    )
    made.turn(
        "silent", "ai/plant", "Water them.", call("write_file", path="can.txt", content="full\n"), {"text": "Done."}
    )
    made.forge("branch", "fork", "ai/plant", "ai/weed")
    made.turn("weeded", "ai/weed", "Weed the north.", call("delete_file", path="beds/north.md"), {"text": "Done."})
    made.turn("refused", "ai/plant", "Greet.", call("greet"), {"text": "It may not run."})
    made.turn(
        "lost",
        "ai/plant",
        "Mend it.",
        call("search_replace", path="can.txt", search="ful1", replace="x"),
        {"text": "No."},
    )
    made.ran["protected"] = made.forge("chat", "-m", "find roses", "--branch", "main", "--model", "builtin")
    made.after = made.own()
    return made


@pytest.mark.req("G-01")
@pytest.mark.parametrize("what", ["files", "index", "head", "main"])
def test_work_on_branches_touches_nothing_of_the_persons_checkout(garden: Garden, what: str) -> None:
    assert garden.after[what] == garden.before[what]


@pytest.mark.req("G-05")
def test_a_save_is_one_commit_called_an_edit_of_the_file(garden: Garden) -> None:
    assert garden.git("log", "--format=%s", "main..feature") == "edit: notes.txt"


@pytest.mark.req("G-05")
def test_a_save_says_its_commit(garden: Garden) -> None:
    assert garden.ran["saved"].document["commit"] == garden.tips["saved"]


@pytest.mark.req("G-06")
def test_a_turn_is_exactly_one_commit_however_many_tools_it_used(garden: Garden) -> None:
    assert garden.git("rev-list", "--count", f"main..{garden.tips['planted']}") == "1"


@pytest.mark.req("G-02", "G-06")
def test_within_a_turn_a_later_tool_sees_what_an_earlier_one_wrote(garden: Garden) -> None:
    assert garden.git("show", f"{garden.tips['planted']}:beds/south.md") == "red roses"


@pytest.mark.req("G-06", "G-07")
def test_the_commit_of_a_turn_holds_its_files_and_its_conversation(garden: Garden) -> None:
    changed = garden.git("show", "--format=", "--name-only", garden.tips["planted"]).splitlines()
    assert "beds/south.md" in changed
    assert ".forge/session.json" in changed


@pytest.mark.req("G-06")
def test_the_message_of_a_turns_commit_is_the_models(garden: Garden) -> None:
    assert garden.git("log", "-1", "--format=%s", garden.tips["planted"]) == "Plant red roses in the south"


@pytest.mark.req("G-06")
def test_without_a_message_of_the_model_the_commit_tells_what_was_asked(garden: Garden) -> None:
    assert garden.git("log", "-1", "--format=%s", garden.tips["silent"]) == "ai: Water them."


@pytest.mark.req("G-07")
def test_the_documented_reader_gives_messages_and_active_files(garden: Garden) -> None:
    shown = garden.session("ai/plant", "--at", garden.tips["planted"])
    assert [each["text"] for each in shown["messages"] if each["role"] == "user"] == ["Plant roses."]
    assert "beds/south.md" in [each["path"] for each in shown["active_files"]]


@pytest.mark.req("G-07")
def test_every_branch_with_a_conversation_has_its_session_file(garden: Garden) -> None:
    for branch in ("ai/plant", "ai/weed"):
        assert json.loads(garden.git("show", f"{branch}:.forge/session.json"))["schema_version"]


@pytest.mark.req("G-07")
def test_forking_a_branch_forks_the_conversation(garden: Garden) -> None:
    assert garden.asked("ai/weed") == ["Plant roses.", "Water them.", "Weed the north."]


@pytest.mark.req("G-07")
def test_after_a_fork_the_conversations_go_their_own_ways(garden: Garden) -> None:
    assert garden.asked("ai/plant") == ["Plant roses.", "Water them.", "Greet.", "Mend it."]


@pytest.mark.req("G-09")
def test_branches_do_not_interfere_with_each_other(garden: Garden) -> None:
    assert garden.git("show", "ai/plant:beds/north.md") == "tulips"
    assert "beds/north.md" not in garden.git("ls-tree", "-r", "--name-only", "ai/weed").splitlines()


@pytest.mark.req("G-08")
def test_any_commit_shows_the_code_as_it_was(garden: Garden) -> None:
    listed = garden.forge("file", "list", "--at", garden.tips["planted"]).document
    assert "beds/south.md" in listed
    assert "can.txt" not in listed


@pytest.mark.req("G-08")
def test_any_commit_shows_the_conversation_that_led_to_it(garden: Garden) -> None:
    assert garden.asked("ai/plant", "--at", garden.tips["planted"]) == ["Plant roses."]


@pytest.mark.req("G-09", "C-14")
def test_an_agent_is_refused_on_the_default_branch(garden: Garden) -> None:
    assert (garden.ran["protected"].code, garden.ran["protected"].error) == (5, "protected_branch")


@pytest.mark.req("G-11")
@pytest.mark.parametrize("tool", sorted(BUILT_IN))
def test_the_built_in_tools_need_no_approval(garden: Garden, tool: str) -> None:
    listed = garden.forge("tools", "list", "--branch", "main").document["built_in"]
    assert tool in {each["name"] for each in listed}


@pytest.mark.req("G-11")
def test_a_text_that_is_not_found_is_told_to_the_model_with_the_nearest(garden: Garden) -> None:
    (turn,) = [each for each in garden.session("ai/plant")["messages"] if each["role"] == "tool"][-1:]
    assert "full" in json.dumps(turn)


@pytest.mark.req("G-12")
def test_a_tool_of_the_repository_does_not_run_before_it_is_approved(garden: Garden) -> None:
    assert "greeting.txt" not in garden.git("ls-tree", "-r", "--name-only", garden.tips["refused"]).splitlines()


@pytest.fixture(scope="module")
def approved(garden: Garden) -> Garden:
    """The repository's tool is approved on a branch of its own, used by the name it gives itself, and then changed."""
    garden.forge("branch", "new", "ai/tool")
    garden.step("approved", "ai/tool", "tools", "approve", "greet")
    garden.turn("used", "ai/tool", "Greet.", call("greet"), {"text": "Greeted."})
    garden.step("changed", "ai/tool", "file", "save", "tools/greet.py", stdin=TOOL.replace("hello", "bye"))
    garden.ran["tools"] = garden.forge("tools", "list", "--branch", "ai/tool")
    garden.turn("used again", "ai/tool", "Greet.", call("greet"), {"text": "No."})
    return garden


@pytest.mark.req("G-12")
def test_approvals_are_kept_in_the_branch_by_the_hash_of_the_tool(approved: Garden) -> None:
    tip = approved.tips["approved"]
    kept = approved.git("ls-tree", "-r", "--name-only", tip, ".forge/approved_tools/").splitlines()
    assert any(approved.ran["approved"].document["hash"] in approved.git("show", f"{tip}:{path}") for path in kept)


@pytest.mark.req("G-12")
def test_an_approved_tool_runs_under_its_own_name_and_without_asking(approved: Garden) -> None:
    assert approved.git("show", f"{approved.tips['used']}:greeting.txt") == "hello"


@pytest.mark.req("G-12")
def test_a_changed_tool_needs_a_new_approval(approved: Garden) -> None:
    assert [each["state"] for each in approved.ran["tools"].document["own"]] == ["changed"]


@pytest.mark.req("G-12")
def test_a_changed_tool_does_not_run(approved: Garden) -> None:
    assert approved.git("show", f"{approved.tips['used again']}:greeting.txt") == "hello"


@pytest.mark.req("G-13")
@pytest.mark.parametrize("file", ["CLAUDE.md", "AGENTS.md"])
def test_instruction_files_are_in_the_context_from_the_start(garden: Garden, file: str) -> None:
    context = garden.forge("context", "show", "--branch", "feature").document
    assert file in json.dumps(context)


@pytest.mark.req("G-02")
@pytest.mark.parametrize("method", ["read_file", "write_file", "delete_file", "list_files", "file_exists"])
def test_the_interface_of_files_has_its_five_methods(method: str) -> None:
    assert all(callable(getattr(each, method)) for each in (VFS, GitCommitVFS, WorkInProgressVFS))


@pytest.mark.req("G-02")
@pytest.mark.parametrize("method", ["write_file", "delete_file"])
def test_a_view_of_a_commit_refuses_to_be_changed(garden: Garden, method: str) -> None:
    view = Repository.open(garden.path).commit_vfs("main")
    with pytest.raises(ReadOnlyView):
        getattr(view, method)("README.md", *(["x"] if method == "write_file" else []))


@pytest.mark.req("G-02")
def test_a_workspace_reads_pending_text_first_and_else_the_commit(garden: Garden) -> None:
    files = Repository.open(garden.path).workspace("feature")
    files.write_file("README.md", "pending\n")
    assert (files.read_file("README.md"), files.read_file("notes.txt")) == ("pending\n", "first\n")
