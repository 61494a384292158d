"""The built-in engine: does plain orders with tools, says what it is, and does nothing where it does not understand."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from forge.agents.builtin import BuiltinEngine
from forge.agents.builtin.orders import orders
from forge.agents.model import Prompt
from forge.sessions.messages import AssistantMessage, ContextMessage, Message, ToolResult, UserMessage
from forge.tools.tool import ToolSchema

INTRODUCTION = "This is Forge's built-in engine: rules, not a language model."
NAMES = ["read_file", "list_files", "search", "write_file", "search_replace", "delete_file", "rename_file"]
NAMES += ["update_context", "run_command", "run_tests", "check_syntax"]
TOOLS = tuple(ToolSchema(name, name, {"type": "object"}) for name in NAMES)
OVERVIEW = """\
Files of the branch, one line each: path — kind, lines: main symbols.
README.md — Markdown, 10 lines: Title
app.py — Python, 20 lines: main
pyproject.toml — settings, 5 lines
src/shop/cart.py — Python, 90 lines: Cart
tests/test_cart.py — Python, 30 lines: test_total

Further files, by name:
src/shop/: old.py, older.py
./: setup.cfg

Files that are not named here:
vendor/ — 1,204 files (js 1,204)
"""


def answer(*messages: Message, tools: tuple[ToolSchema, ...] = TOOLS) -> AssistantMessage:
    heard: list[str] = []
    given = asyncio.run(BuiltinEngine().answer(Prompt("system", tools, messages), on_text=heard.append))
    assert "".join(heard) == given.text
    assert given.usage.cost == 0
    return given


def call_of(text: str) -> tuple[str, dict[str, Any]]:
    (call,) = answer(UserMessage(text)).calls
    return call.name, call.arguments


@pytest.mark.req("X-03")
@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("find parse_args", "search", {"pattern": "parse_args"}),
        ("Where is `def main` defined?", "search", {"pattern": "def main"}),
        ("show src/app.py", "read_file", {"path": "src/app.py"}),
        ("Show me README.md lines 3-9.", "read_file", {"path": "README.md", "start_line": 3, "end_line": 9}),
        ("what is in a.txt?", "read_file", {"path": "a.txt"}),
        ("list files in src", "list_files", {"path": "src"}),
        ("create notes.txt with hello world", "write_file", {"path": "notes.txt", "content": "hello world\n"}),
        ("Create a file called NOTES with abc", "write_file", {"path": "NOTES", "content": "abc\n"}),
        (
            "create a.py with:\n```python\nx = 1\n\ny = 2\n```",
            "write_file",
            {"path": "a.py", "content": "x = 1\n\ny = 2\n"},
        ),
        ("write 'hi there' to x.txt", "write_file", {"path": "x.txt", "content": "hi there\n"}),
        ("create an empty file pkg/__init__.py", "write_file", {"path": "pkg/__init__.py", "content": ""}),
        ("create a.txt with one\ntwo\nthree", "write_file", {"path": "a.txt", "content": "one\ntwo\nthree\n"}),
        ('replace "a b" with "c" in x/y.py', "search_replace", {"path": "x/y.py", "search": "a b", "replace": "c"}),
        (
            "replace all foo by bar in a.py.",
            "search_replace",
            {"path": "a.py", "search": "foo", "replace": "bar", "all": True},
        ),
        ("please delete the file Makefile", "delete_file", {"path": "Makefile"}),
        ("rename a.txt to b/c.txt", "rename_file", {"path": "a.txt", "new_path": "b/c.txt"}),
        ("add src/a.py and b.py to context", "update_context", {"add": [{"path": "src/a.py"}, {"path": "b.py"}]}),
        ("remove a.py from the context", "update_context", {"remove": ["a.py"]}),
        ("run tests", "run_tests", {}),
        ("Run the tests in tests/unit.", "run_tests", {"arguments": ["tests/unit"]}),
        ("run `ls -la | head`", "run_command", {"command": "ls -la | head"}),
        ("check syntax of a.py", "check_syntax", {"path": "a.py"}),
    ],
)
def test_a_plain_order_becomes_one_call(text: str, tool: str, arguments: dict[str, Any]) -> None:
    assert call_of(text) == (tool, arguments)


@pytest.mark.req("X-03")
@pytest.mark.parametrize(
    "text",
    [
        "fix the bug in login",
        "write a poem",
        "add a function to x.py",
        "add tests/test_x.py",
        "make app.js faster",
        "remove unused imports",
        "delete src and everything in it",
        "run rm -rf /",
        "write tests for src/app.py",
        "- create a.txt with x\n- refactor everything",
        "run tests, then fix them",
    ],
)
def test_what_it_does_not_understand_it_leaves_alone_and_says_how_to_get_a_model(text: str) -> None:
    given = answer(UserMessage(text))
    assert given.calls == ()
    assert given.text.startswith(INTRODUCTION)
    assert "ANTHROPIC_API_KEY" in given.text
    assert "Commit:" not in given.text


def test_several_orders_are_done_together_in_their_order() -> None:
    given = answer(UserMessage("1. create a.txt with x\n2. rename b.txt to c.txt\n- run tests"))
    assert [call.name for call in given.calls] == ["write_file", "rename_file", "run_tests"]
    assert len({call.id for call in given.calls}) == 3


@pytest.mark.req("X-03")
def test_results_are_reported_and_the_last_line_is_the_subject() -> None:
    asked = UserMessage("create a.txt with x\ndelete b.txt\nfind y")
    first = answer(asked)
    results = [ToolResult(call.id, call.name, f"{call.name} told this") for call in first.calls]
    last = answer(asked, first, *results)
    assert last.calls == ()
    assert last.text.startswith(INTRODUCTION)
    assert all(f"{call.name} told this" in last.text for call in first.calls)
    assert last.text.splitlines()[-1] == "Commit: Write a.txt and 1 more"


def test_a_failed_order_is_said_and_is_no_reason_for_a_commit() -> None:
    asked = UserMessage("delete gone.txt")
    first = answer(asked)
    last = answer(asked, first, ToolResult(first.calls[0].id, "delete_file", "There is no gone.txt.", failed=True))
    assert "could not" in last.text
    assert "There is no gone.txt." in last.text
    assert "Commit:" not in last.text


def test_looking_changes_nothing_so_there_is_no_subject() -> None:
    asked = UserMessage("show a.txt")
    first = answer(asked)
    long = "\n".join(f"line {i}" for i in range(500))
    last = answer(asked, first, ToolResult(first.calls[0].id, "read_file", long))
    assert "line 10" in last.text
    assert "440 more lines" in last.text
    assert "Commit:" not in last.text


def test_a_long_subject_stays_within_its_line() -> None:
    asked = UserMessage(f"delete {'deep/' * 30}a.txt\ndelete b.txt")
    first = answer(asked)
    last = answer(asked, first, *(ToolResult(c.id, c.name, "done") for c in first.calls))
    subject = last.text.splitlines()[-1].removeprefix("Commit: ")
    assert len(subject) <= 72
    assert subject.endswith("and 1 more")


def test_an_earlier_turn_does_not_count() -> None:
    old = UserMessage("delete a.txt")
    first = answer(old)
    messages = (old, first, ToolResult(first.calls[0].id, "delete_file", "done"), AssistantMessage("Done."))
    again = answer(*messages, UserMessage("delete b.txt"))
    assert [call.arguments for call in again.calls] == [{"path": "b.txt"}]
    assert again.calls[0].id != first.calls[0].id


@pytest.mark.req("X-03")
@pytest.mark.parametrize(
    "text", ["What is in this repository?", "describe the project", "how do I run the tests?", "overview"]
)
def test_the_repository_is_described_from_the_overview(text: str) -> None:
    said = answer(ContextMessage(OVERVIEW, kind="overview"), UserMessage(text)).text
    assert said.startswith(INTRODUCTION)
    assert "Python (5)" in said
    assert "\n\n- By language: " in said
    assert "\n- Main files: `README.md`, `app.py`, `pyproject.toml`" in said
    assert "pytest" in said
    assert "1,212 files, 8 of which" in said


def test_help_names_what_it_can_do() -> None:
    for text in ("help", "Hi!", "What can you do?"):
        said = answer(UserMessage(text)).text
        assert said.startswith(INTRODUCTION)
        assert "run tests" in said
        # What follows a list belongs to its last point where no empty line parts them.
        assert "\n\nSeveral orders may stand in one message" in said


def test_a_tool_that_its_role_may_not_use_is_not_called() -> None:
    given = answer(UserMessage("delete a.txt"), tools=TOOLS[:2])
    assert given.calls == ()
    assert "delete_file" in given.text


def test_hostile_lengths_are_read_quickly() -> None:
    begun = time.process_time()
    for text in ("create " * 4_000, "replace " + "a " * 10_000, "x" * 50_000, "add " + "a.py, " * 4_000, "`" * 20_000):
        orders(text)
    assert time.process_time() - begun < 5
