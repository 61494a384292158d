"""How each program's own word on its end is read: exit code 0 is not success."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.agents.programs.reports import REPORTS, Said

pytestmark = pytest.mark.req("P-14")
SIZE = 100_000


def read(kind: str, *events: dict[str, Any] | str) -> tuple[Said, str]:
    report = REPORTS[kind](SIZE)
    lines = [event if isinstance(event, str) else json.dumps(event) for event in events]
    shown = report.take("".join(f"{line}\n" for line in lines).encode())
    return report.said(), shown


def claude_text(*pieces: str) -> list[dict[str, Any]]:
    start = {"type": "content_block_start", "content_block": {"type": "text", "text": ""}}
    deltas = [{"type": "content_block_delta", "delta": {"type": "text_delta", "text": piece}} for piece in pieces]
    return [{"type": "stream_event", "event": event} for event in (start, *deltas)]


CLAUDE_DONE = {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "permission_denials": []}


def test_claude_tells_text_usage_and_cost() -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 2}
    end = CLAUDE_DONE | {"usage": usage, "num_turns": 3, "total_cost_usd": 0.25}
    said, shown = read("claude", *claude_text("Look", "ing."), *claude_text("Done."), end)
    assert (said.text, said.error, said.complete) == ("Done.", "", True)
    assert shown == "Looking.\n\nDone."
    assert (said.usage.input_tokens, said.usage.cache_read_tokens, said.usage.cache_write_tokens) == (42, 30, 2)
    assert (said.usage.output_tokens, said.usage.requests, said.usage.cost) == (5, 3, 0.25)


def test_claude_calls_errors_success_and_means_errors() -> None:
    said, _ = read("claude", CLAUDE_DONE | {"is_error": True, "result": "API Error: 529 overloaded"})
    assert "529" in said.error
    said, _ = read("claude", {"type": "result", "subtype": "error_max_turns", "is_error": False})
    assert said.error == "error_max_turns"


def test_claude_tells_what_it_was_refused() -> None:
    denials = [{"tool_name": "Bash"}, {"tool_name": "Write"}, {"tool_name": "Bash"}]
    assert read("claude", CLAUDE_DONE | {"permission_denials": denials})[0].denied == ("Bash", "Write")


def test_an_empty_result_falls_back_on_what_was_said_before_and_else_is_empty() -> None:
    assert read("claude", CLAUDE_DONE | {"result": ""})[0].text == ""
    assert read("claude", *claude_text("I write it now."), CLAUDE_DONE | {"result": ""})[0].text == "I write it now."


def test_codex_recovers_from_errors_that_it_overcame() -> None:
    message = {"type": "item.completed", "item": {"type": "agent_message", "text": "Done."}}
    done = {"type": "turn.completed", "usage": {"input_tokens": 9, "cached_input_tokens": 4, "output_tokens": 2}}
    lost = {"type": "error", "message": "Reconnecting... 1/5"}
    said, shown = read("codex", {"type": "turn.started"}, lost, message, done)
    assert (said.text, said.error, shown) == ("Done.", "", "Done.")
    assert (said.usage.input_tokens, said.usage.cache_read_tokens) == (9, 4)
    said, _ = read("codex", lost, {"type": "turn.failed", "error": {"message": "401 Unauthorized"}})
    assert said.error == "401 Unauthorized"
    assert not said.complete


def test_gemini_tells_errors_and_refusals() -> None:
    failed = {"type": "result", "status": "error", "error": {"type": "unknown", "message": "[API Error: 429]"}}
    assert read("gemini", failed)[0].error == "[API Error: 429]"
    said, shown = read(
        "gemini",
        {"type": "message", "role": "user", "content": "question"},
        {"type": "message", "role": "assistant", "content": "I ", "delta": True},
        {"type": "message", "role": "assistant", "content": "try.", "delta": True},
        {"type": "tool_use", "tool_name": "run_shell_command", "tool_id": "run_shell_command__1"},
        {"type": "tool_result", "tool_id": "run_shell_command__1", "status": "error", "output": "denied by policy"},
        {"type": "message", "role": "assistant", "content": "I could not.", "delta": True},
        {"type": "result", "status": "success", "stats": {"input_tokens": 7, "output_tokens": 3, "cached": 2}},
    )
    assert said.denied == ("run_shell_command",)
    assert (said.text, shown) == ("I could not.", "I try.\n\nI could not.")


def test_opencode_tells_errors_refusals_and_costs() -> None:
    error = {"type": "error", "error": {"name": "APIError", "data": {"message": "Unauthorized", "statusCode": 401}}}
    assert read("opencode", error)[0].error == "Unauthorized"
    tokens = {"input": 10, "output": 2, "reasoning": 1, "cache": {"read": 5, "write": 1}}
    refused = {"status": "error", "error": "The user has specified a rule which prevents you from using this tool"}
    said, _ = read(
        "opencode",
        {"type": "tool_use", "part": {"tool": "bash", "state": refused}},
        {"type": "text", "part": {"text": "I may not."}},
        {"type": "step_finish", "part": {"tokens": tokens, "cost": 0.5}},
        {"type": "step_finish", "part": {"tokens": tokens, "cost": 0.5}},
    )
    assert (said.text, said.denied) == ("I may not.", ("bash",))
    assert (said.usage.input_tokens, said.usage.output_tokens, said.usage.cost) == (32, 6, 1.0)


@pytest.mark.parametrize("kind", ["claude", "codex", "gemini", "opencode"])
def test_a_program_that_breaks_off_has_not_finished(kind: str) -> None:
    for printed in ([], ["{"], ["warning: no colour", '"text"', "[1]", "null", '{"type": 3}', '{"no": "type"}']):
        said, _ = read(kind, *printed)
        assert (said.text, said.complete) == ("", False)


@pytest.mark.parametrize("kind", ["claude", "codex", "gemini", "opencode"])
def test_a_line_without_end_is_given_up_in_bounded_memory(kind: str) -> None:
    report = REPORTS[kind](SIZE)
    for _ in range(200):
        report.take(b"x" * 65536)
    report.take(
        b"\n" + json.dumps({"type": "error", "message": "m", "error": "m", "severity": "error"}).encode() + b"\n"
    )
    assert report.said().error in ("m", "")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "event", "part", "item", "error", "text", "usage", "state", "delta", "result"]),
        inner | st.sampled_from(["result", "error", "text", "step_finish", "tool_use", "turn.completed", "message"]),
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.parametrize("kind", REPORTS)
@settings(max_examples=50)
@given(values=st.lists(_VALUES, max_size=4), junk=st.binary(max_size=20))
def test_no_output_whatever_breaks_the_reader(kind: str, values: list[Any], junk: bytes) -> None:
    report = REPORTS[kind](SIZE)
    for value in values:
        report.take(json.dumps(value).encode() + b"\n" + junk)
    said = report.said()
    assert isinstance(said.text, str)
    assert isinstance(said.error, str)
