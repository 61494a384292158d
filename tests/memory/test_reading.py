"""The order of reading, damaged files, and sources that disagree."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.memory import Initiative, Memory, Milestone, MilestoneStatus, NoteKind, Source, Status
from forge.memory.claims import Claim, winner
from forge.memory.read_order import time_ago
from tests.memory.conftest import NOON, Clock, codes, contents

ACTIVE = "documentation/milestones/_active"


@pytest.fixture
def begun(memory: Memory, tmp_path: Path) -> Initiative:
    """All sources there and of one mind."""
    folder = tmp_path / ACTIVE / "cart"
    folder.mkdir(parents=True)
    (folder / "1-totals.md").write_text("# Totals\n- [x] add\n- [x] round\n")
    (folder / "2-taxes.md").write_text("# Taxes\n- [x] rates\n- [ ] rules\n")
    (folder / "3-later.md").write_text("nothing yet\n")
    memory.start("Cart", "APEX", "the cart")
    found = memory.advance("analyze", "plan").initiative
    assert found is not None
    return found


@pytest.mark.req("M-03")
def test_the_first_source_that_knows_rules(memory: Memory, tmp_path: Path, begun: Initiative) -> None:
    live = replace(begun, phase="review")
    found = memory.read(session=live)
    assert found.initiative is not None
    assert (found.source, found.initiative.phase) == (Source.SESSION, "review")
    expected = [
        (Source.FILE, ".claude/initiative.json"),
        (Source.NOTES, "MEMORY.md"),
        (Source.WORKFLOW_STATUS, "WORKFLOW-STATUS.yaml"),
    ]
    for source, path in expected:
        before = contents(tmp_path)
        found = memory.read()
        assert found.initiative is not None
        assert (found.source, found.initiative.phase, found.initiative.id) == (source, "plan", begun.id)
        assert contents(tmp_path) == before
        (tmp_path / path).unlink()
    found = memory.read()
    assert found.initiative is not None
    assert (found.source, found.initiative.phase, found.initiative.title) == (Source.SCAN, "implement", "cart")
    assert found.initiative.milestones == (
        Milestone("cart/1-totals", "Totals", MilestoneStatus.COMPLETED, 2, 2),
        Milestone("cart/2-taxes", "Taxes", MilestoneStatus.IN_PROGRESS, 1, 2),
        Milestone("cart/3-later", "3-later", MilestoneStatus.PENDING, 0, 0),
    )
    assert found.initiative.milestone == "cart/2-taxes"


@pytest.mark.req("M-03")
def test_later_sources_enrich_the_one_that_rules(memory: Memory, tmp_path: Path, begun: Initiative) -> None:
    memory.learn("cents")
    found = memory.read()
    assert found.initiative is not None
    assert found.source is Source.FILE
    assert found.enriched_by == (Source.NOTES, Source.WORKFLOW_STATUS, Source.SCAN)
    assert len(found.initiative.milestones) == 3
    assert [entry.text for entry in found.lines(NoteKind.LEARNING)] == ["cents"]


@pytest.mark.req("M-03")
def test_lines_that_another_tool_wrote_in_the_same_words_are_read(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text('# Notes\n- "Active APEX workflow: plan approved, implementing the cart"\n')
    found = memory.read()
    assert found.initiative is not None
    assert (found.source, found.initiative.phase, found.initiative.context) == (Source.NOTES, "implement", "the cart")
    resumed = memory.resume()
    assert resumed.initiative is not None
    assert resumed.initiative.id
    assert ".claude/initiative.json" in resumed.brought_up
    assert memory.resume().brought_up == ()


@pytest.mark.req("M-03")
def test_nothing_gives_nothing_and_writes_nothing(memory: Memory, tmp_path: Path) -> None:
    assert memory.read().initiative is None
    assert contents(tmp_path) == {}
    assert memory.resume().initiative is None


@pytest.mark.req("M-03", "M-06")
@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"id": 1, "status": "odd"}', b"\xff\xfe\x00", b"[" * 100_000])
def test_damaged_state_is_kept_beside_and_the_next_source_rules(
    memory: Memory, tmp_path: Path, begun: Initiative, damage: bytes
) -> None:
    path = tmp_path / ".claude/initiative.json"
    path.write_bytes(damage)
    found = memory.read()
    assert found.source is Source.NOTES
    assert codes(found.warnings) == ["memory_damaged"]
    assert path.read_bytes() == damage
    result = memory.advance("plan", "implement")
    assert codes(result.warnings) == ["memory_damaged", "memory_kept_aside", "memory_rebuilt"]
    assert (tmp_path / ".claude/initiative.json.broken-1").read_bytes() == damage
    assert json.loads(path.read_text())["id"] == begun.id
    path.write_bytes(b"other damage")
    memory.resume()
    assert (tmp_path / ".claude/initiative.json.broken-2").read_bytes() == b"other damage"
    assert json.loads(path.read_text())["currentPhase"] == "implement"


@pytest.mark.req("M-08")
def test_damaged_interviews_are_kept_beside(memory: Memory, tmp_path: Path) -> None:
    memory.confidence("scope", 0.5, "spec")
    path = tmp_path / ".claude/interview-state.json"
    torn = path.read_bytes()[:40]
    path.write_bytes(torn)
    assert "memory_damaged" in codes(memory.confidence("scope", 0.6, "spec").warnings)
    assert (tmp_path / ".claude/interview-state.json.broken-1").read_bytes() == torn
    assert memory.read().interview.topics[0].confidence == 0.6


@pytest.mark.req("M-04")
def test_resuming_when_all_agree_writes_nothing_and_warns_of_nothing(
    memory: Memory, tmp_path: Path, begun: Initiative, clock: Clock
) -> None:
    memory.resume()  # takes in the milestone files
    before = contents(tmp_path)
    clock.pass_(days=3)
    resumed = memory.resume()
    assert (resumed.source, resumed.brought_up, resumed.warnings) == (Source.FILE, (), ())
    assert contents(tmp_path) == before


@pytest.mark.req("M-04")
@pytest.mark.parametrize(("minutes", "warned"), [(4, False), (6, True)])
def test_stale_files_are_brought_up_and_more_than_five_minutes_are_told(
    memory: Memory, tmp_path: Path, begun: Initiative, clock: Clock, minutes: int, warned: bool
) -> None:
    old = {path: (tmp_path / path).read_bytes() for path in ("MEMORY.md", "WORKFLOW-STATUS.yaml")}
    clock.pass_(minutes=minutes)
    memory.advance("plan", "implement")
    for path, data in old.items():
        (tmp_path / path).write_bytes(data)
    clock.pass_(hours=3)
    resumed = memory.resume()
    assert resumed.initiative is not None
    assert (resumed.source, resumed.initiative.phase) == (Source.FILE, "implement")
    assert {"MEMORY.md", "WORKFLOW-STATUS.yaml"} <= set(resumed.brought_up)
    assert "plan approved, implementing the cart" in (tmp_path / "MEMORY.md").read_text()
    assert "phase: implement" in (tmp_path / "WORKFLOW-STATUS.yaml").read_text()
    assert codes(resumed.warnings) == (["initiative_stale"] if warned else [])
    if warned:
        assert "last updated 3 hours ago" in resumed.warnings[0].message
    assert memory.resume().brought_up == ()


@pytest.mark.req("M-04")
def test_a_stale_state_file_follows_what_was_written_below_it(
    memory: Memory, tmp_path: Path, begun: Initiative, clock: Clock
) -> None:
    path = tmp_path / ".claude/initiative.json"
    old = path.read_bytes()
    clock.pass_(days=-1)  # a clock that runs behind does not make the newer write older
    memory.advance("plan", "implement")
    memory.complete("all right")
    path.write_bytes(old)
    clock.pass_(days=1)
    resumed = memory.resume()
    assert resumed.initiative is not None
    assert resumed.source in (Source.NOTES, Source.WORKFLOW_STATUS)
    assert (resumed.initiative.status, resumed.initiative.counter) == (Status.COMPLETED, 4)
    assert json.loads(path.read_text())["status"] == "completed"
    assert codes(resumed.warnings) == ["initiative_stale", "initiative_clock"]


def claim(source: Source, id_: str, counter: int, seconds: int) -> Claim:
    return Claim(source, Initiative(id_, "t", "APEX", counter=counter, updated=NOON + timedelta(seconds=seconds)))


DAY = 86_400
CLAIMS = st.lists(
    st.builds(claim, st.sampled_from(Source), st.sampled_from("ab"), st.integers(0, 5), st.integers(-DAY, DAY)),
    min_size=1,
    max_size=5,
)


@pytest.mark.req("M-04")
@given(CLAIMS)
def test_the_winner_does_not_depend_on_the_order_of_the_sources(claims: list[Claim]) -> None:
    found = {repr(winner(order)) for order in itertools.permutations(claims)}
    assert len(found) == 1


@pytest.mark.req("M-04")
@given(st.lists(st.integers(-DAY, DAY), min_size=2, max_size=8), st.randoms())
def test_within_one_initiative_the_later_write_wins_whatever_the_clocks_say(skews: list[int], chance: object) -> None:
    written = [claim(Source.FILE, "a", number, number + skew) for number, skew in enumerate(skews, 1)]
    last = written[-1]
    chance.shuffle(written)  # type: ignore[attr-defined]
    assert winner(written) == last


@pytest.mark.req("M-04")
@given(st.integers(0, 9), st.integers(0, 9), st.integers(-DAY, DAY), st.integers(-DAY, DAY))
def test_between_initiatives_the_newest_wins_unless_one_followed_the_other(
    one: int, two: int, at: int, by: int
) -> None:
    first, second = claim(Source.FILE, "a", one, at), claim(Source.NOTES, "b", two, by)
    assert winner([first, second]) == (second if by > at else first)
    after = replace(first, initiative=replace(first.initiative, previous=("b",)))
    assert winner([after, second]) == after


@pytest.mark.req("M-04")
def test_time_is_told_in_one_unit() -> None:
    told = [time_ago(NOON - timedelta(seconds=s), NOON) for s in (5, 60, 7200, 200_000, -7200)]
    assert told == ["just now", "1 minute ago", "2 hours ago", "2 days ago", "2 hours in the future (a clock is wrong)"]
