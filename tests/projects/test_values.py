"""Formats of the project's files: what is written, and what is read back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.projects import chat, polish, state
from forge.projects.chat import ChatMessage
from forge.projects.context_file import OrgContext
from forge.projects.context_file import parse as context
from forge.projects.errors import InvalidRecord
from forge.projects.info import ProjectInfo
from forge.projects.log import OperationalLog
from forge.projects.polish import PolishState, Round
from forge.projects.status import Phase

NOW = datetime(2026, 2, 14, 10, 30, tzinfo=UTC)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.req("P-13")
def test_chat_messages_are_written_as_the_format_says_and_read_back() -> None:
    messages = (
        ChatMessage("human", "Täglich\n`{{x}}`", Phase.BRAIN_DUMP, "2026-02-14T10:30:00.000Z"),
        ChatMessage("ai", "", Phase.HALTED, "2026-02-14T10:31:00.000Z"),
    )
    text = chat.format(messages)
    assert json.loads(text)[0] == {
        "role": "human",
        "content": "Täglich\n`{{x}}`",
        "phase": "brain_dump",
        "timestamp": "2026-02-14T10:30:00.000Z",
    }
    assert chat.parse(text) == messages
    assert chat.parse(None) == chat.parse("[]") == ()


@pytest.mark.req("P-13")
@pytest.mark.parametrize(
    "entry",
    [
        {"role": "robot", "content": "", "phase": "building", "timestamp": ""},
        {"role": "ai", "content": "", "phase": "done", "timestamp": ""},
        {"role": "ai", "content": None, "phase": "building", "timestamp": ""},
        "text",
    ],
)
def test_what_is_no_chat_message_is_refused(entry: object) -> None:
    with pytest.raises(InvalidRecord):
        chat.parse(json.dumps([entry]))


@pytest.mark.req("P-11")
def test_polish_state_has_the_last_round_on_top_and_all_rounds_below() -> None:
    rounds = (Round(1, 2, 3, 4, 9, "t1"), Round(2, 0, 1, 2, 3, "t2"))
    written = PolishState(rounds, tests_passed=True, timestamp="t2")
    values = json.loads(polish.format(written))
    assert list(values) == [
        "iteration",
        "error_counts",
        "convergence_trajectory",
        "tests_passed",
        "timestamp",
        "completed",
        "halt_reason",
    ]
    assert values["iteration"] == 2
    assert values["error_counts"] == {"critical": 0, "medium": 1, "minor": 2, "total": 3}
    assert values["convergence_trajectory"][0] == {
        "iteration": 1,
        "critical": 2,
        "medium": 3,
        "minor": 4,
        "total": 9,
        "timestamp": "t1",
    }
    assert polish.parse(polish.format(written)) == written
    assert polish.parse(polish.format(PolishState())) == PolishState() == polish.parse(None)


@pytest.mark.req("P-11")
@pytest.mark.parametrize(
    "change", [{"iteration": 7}, {"convergence_trajectory": 1}, {"tests_passed": "yes"}, {"completed": 1}]
)
def test_what_is_no_polish_state_is_refused(change: dict[str, object]) -> None:
    values = json.loads(polish.format(PolishState((Round(1, 0, 0, 0, 0, "t"),), timestamp="t")))
    with pytest.raises(InvalidRecord):
        polish.parse(json.dumps(values | change))


@pytest.mark.req("P-11")
def test_a_round_in_the_polish_log_reads_like_the_format() -> None:
    polished = Round(3, 0, 1, 2, 3, "2026-02-14T10:30:00.000Z")
    words = {"guard": "termination", "result": "not yet", "issues": "A gap in section 2", "fixes": "Filled it"}
    entry = polish.log_entry(polished, **words, tests=polish.TestCounts(9, 8, 1))
    assert entry == (
        "## Iteration 3\n\n"
        "**Timestamp:** 2026-02-14T10:30:00.000Z\n"
        "**Error Counts:** 0 critical, 1 medium, 2 minor (3 total)\n"
        "**Guard Evaluated:** termination — not yet\n"
        "**Issues Found:** A gap in section 2\n"
        "**Fixes Applied:** Filled it\n"
        "**Test Results:** 9 total, 8 passed, 1 failed\n\n"
    )
    assert "Test Results" not in polish.log_entry(polished, **words)


@pytest.mark.req("P-01")
def test_project_values_are_read_back_with_those_of_other_versions() -> None:
    info = ProjectInfo("20260214-a3f2", "t", repository="/code", branch="forge/x", halted_in=Phase.BUILDING)
    info = replace(info, locked={"docs/intent.md": "ab"}, last_action={"action": "confirm"}, extra={"novelty": [1]})
    assert ProjectInfo.from_json(info.to_json()) == info
    assert json.loads(info.to_json())["novelty"] == [1]
    with pytest.raises(InvalidRecord):
        ProjectInfo.from_json(info.to_json().replace('"building"', '"done"'))


@pytest.mark.req("W-03")
def test_saved_state_has_the_keys_of_the_format_in_order() -> None:
    values = json.loads(state.formatted(state.fresh("Lights"), now=NOW))
    assert list(values) == [
        "schema_version",
        "project_name",
        "last_saved",
        "messages",
        "turn_count",
        "current_phase",
        "active_mode",
        "assumption_register",
        "assumption_counter",
        "document_skeleton",
        "routing_context",
        "org_context",
        "latest_artifact",
        "pending_questions",
    ]
    assert (values["schema_version"], values["project_name"]) == ("1.0", "Lights")


@pytest.mark.req("W-03")
def test_saved_state_leaves_out_what_is_not_saved() -> None:
    grown = state.SavedState("Lights", {**state.defaults(), "is_priming_turn": True})
    assert "is_priming_turn" not in json.loads(state.formatted(grown, now=NOW))


@pytest.mark.req("W-04")
@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from([*state.PERSISTED_KEYS, "unknown"]), JSON))
def test_any_saved_values_load_over_defaults(saved: dict[str, Any]) -> None:
    loaded = state.loaded(json.dumps(saved)).values
    assert set(loaded) == set(state.PERSISTED_KEYS)
    for key, default in state.defaults().items():
        value = saved.get(key)
        if key in state.MERGED_KEYS:
            assert loaded[key] == {**default, **(value if isinstance(value, dict) else {})}
        else:
            assert loaded[key] == (default if value is None else value)


@pytest.mark.req("W-04")
def test_defaults_are_fresh_each_time() -> None:
    state.defaults()["document_skeleton"]["stakeholders"]["pain_holder"].append("x")
    assert state.defaults()["document_skeleton"]["stakeholders"]["pain_holder"] == []


@pytest.mark.req("W-04", "W-10")
def test_values_under_earlier_names_move_to_those_of_the_tools() -> None:
    earlier = {
        "stakeholders": {"decision_makers": ["Ana"], "blockers": ["Legal"], "pain_holder": ["Bo"]},
        "success_metrics": {"anti_metrics": ["refunds"]},
        "go_no_go": {"go": ["A1 holds"], "no_go": ["law"]},
        "sizing": {"total": 5},
        "edge_cases": ["night shift"],
        "scope_drift": None,
    }
    saved = state.loaded(json.dumps({"document_skeleton": earlier})).values["document_skeleton"]
    people = {"decision_authority": ["Ana"], "pain_holder": ["Bo"], "status_quo_beneficiary": []}
    assert saved["stakeholders"] == {**people, "execution_dependency": ["Legal"]}
    assert saved["success_metrics"] == {"leading": [], "lagging": [], "anti_metric": ["refunds"]}
    assert (saved["go_no_go"]["conditions"], saved["go_no_go"]["dealbreakers"]) == (["A1 holds"], ["law"])
    assert (saved["value_estimate"], saved["edge_cases"]) == ({"total": 5}, ["night shift"])
    assert "scope_drift" not in saved
    assert state.loaded(json.dumps({"document_skeleton": saved})).values["document_skeleton"] == saved


@pytest.mark.req("W-05")
def test_team_context_has_three_sections_and_survives_a_round() -> None:
    written = OrgContext("Acme & Co", "Sells lights.\n\n### Markets\nNorth", "Bob decides.")
    text = written.to_markdown()
    assert text == (
        "# Acme & Co\n\n## Public Context\nSells lights.\n\n### Markets\nNorth\n\n## Internal Context\nBob decides.\n"
    )
    assert context(text) == written
    assert OrgContext().to_markdown() == ""
    assert context(None) == OrgContext()


@pytest.mark.req("W-05")
def test_what_a_person_wrote_without_sections_is_internal() -> None:
    assert context("We are five.\n\n```\n# not a heading\n```\n## Team\nAnn") == OrgContext(
        internal_context="We are five.\n\n```\n# not a heading\n```\n## Team\nAnn"
    )
    assert context("# Acme\nintro\n## public CONTEXT:\nout\n## Internal context\nin").internal_context == "intro\nin"


@pytest.mark.req("P-11")
def test_the_log_is_json_lines_without_secrets(tmp_path: Path) -> None:
    log = OperationalLog(tmp_path)
    assert log.write("info", "agent_call", Phase.POLISHING, "key sk-ant-abcdefghijklmnopqrstuvwx")
    assert log.write("error", "halt", "halted", "two\nlines")
    with log.path.open("ab") as file:
        file.write(b'{"cut')
    lines = list(log.lines())
    assert [list(line) for line in lines] == [["timestamp", "level", "event", "phase", "detail"]] * 2
    assert (lines[0]["level"], lines[0]["event"], lines[0]["phase"]) == ("info", "agent_call", "polishing")
    assert "abcdefghijkl" not in lines[0]["detail"]
    with pytest.raises(ValueError, match="loud"):
        log.write("loud", "halt", "halted", "")
