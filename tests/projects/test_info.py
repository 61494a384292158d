"""`project.json`: read as earlier versions wrote it, kept whole, refused where it is not what it should be."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from forge.projects.errors import InvalidRecord
from forge.projects.info import (
    Acceptance,
    Acknowledgement,
    Failure,
    LastAction,
    NamedRun,
    ProjectInfo,
    Waiting,
)
from forge.projects.status import Phase

pytestmark = pytest.mark.req("P-01")
GOLDEN = Path(__file__).parent / "golden" / "project.json"


def test_a_file_of_an_earlier_version_has_all_its_values() -> None:
    info = ProjectInfo.from_json(GOLDEN.read_text())
    assert (info.halted_in, info.agent, info.unknowns, info.runs) == (Phase.BUILDING, "builtin", 2, 3)
    assert info.waiting == Waiting("halted", "A file cannot be written.", Failure("building", "project_unwritable"))
    assert info.run == NamedRun("deliver-20261116-4f2a-3", "deliver", ended=True)
    assert info.last_press == LastAction("resume", None, "deliver-20261116-4f2a-2.q1")
    assert (info.acknowledged_tests, info.accepted) == (Acknowledgement(8, 2), Acceptance(1794816000.5))
    assert (info.presses, info.background) == ((("k-1", "0123456789abcdef"),), ("We meet on Mondays.",))
    assert [item["question"] for item in info.open] == ["How much may it cost?"]
    assert (info.gate_passed, info.terminated, info.chained_from) == (True, True, "20261101-0a0a")
    assert info.extra == {"a_key_of_another_version": [1]}


def test_what_was_read_is_written_again() -> None:
    text = GOLDEN.read_text()
    info = ProjectInfo.from_json(text)
    before = json.loads(text)
    del before["last_press"]["id"]  # null, as is what is not there
    assert json.loads(info.to_json()) == before
    assert ProjectInfo.from_json(info.to_json()) == info


def test_what_has_no_value_is_not_written() -> None:
    text = replace(ProjectInfo.from_json(GOLDEN.read_text()), waiting=None, open=(), cards={}).to_json()
    assert not {"waiting", "open", "cards"} & json.loads(text).keys()


def test_a_file_of_the_first_version_is_enough() -> None:
    info = ProjectInfo.from_json('{"id": "a", "created_at": "t", "drafted": ["docs/spec.md"]}')
    assert (info.agent, info.open, info.waiting, info.phase_entered, info.drafted) == ("", (), None, None, {})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", 7),
        ("halted_in", "done"),
        ("locked", {"docs/intent.md": 1}),
        ("phase_times", {"building": "long"}),
        ("runs", -1),
        ("run", {"id": "x"}),
        ("waiting", "for you"),
        ("open", {"question": "?"}),
        ("background", [1]),
        ("archived", "no"),
        ("phase_entered", "yesterday"),
    ],
)
def test_a_value_of_another_shape_is_named(key: str, value: Any) -> None:
    with pytest.raises(InvalidRecord, match=f"`{key}` in project.json must be"):
        ProjectInfo.from_json(json.dumps({**json.loads(GOLDEN.read_text()), key: value}))
