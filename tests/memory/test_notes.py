"""MEMORY.md: whose lines are whose, where new ones go, and the law of folding."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.memory import Entry, Memory, NoteKind
from forge.memory.compaction import LIMITS, MemoryLimits
from forge.memory.notes import Notes
from tests.memory.conftest import NOON, codes

PEOPLE = st.lists(
    st.one_of(
        st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=60),
        st.sampled_from(["## Learnings", "# Checkpoints", "```", "~~~ sh", "### Delegations ##", "- mine", "", "\r"]),
    ),
    max_size=60,
)
ENTRIES = st.lists(
    st.builds(
        Entry,
        kind=st.sampled_from(NoteKind),
        text=st.sampled_from(
            ["Active APEX workflow: analyze completed, planning x", "y" * 180, "ä <!-- z -->", "short"]
        ),
        at=st.integers(0, 10_000).map(lambda minutes: NOON + timedelta(minutes=minutes)),
        initiative=st.sampled_from(["", "20260301-ab12", "an id --> with spaces"]),
        counter=st.integers(0, 500),
    ),
    max_size=120,
)


def own(entry: Entry) -> tuple[NoteKind, str]:
    return entry.kind, entry.text


@pytest.mark.req("M-01")
@given(PEOPLE, st.booleans(), st.lists(ENTRIES, max_size=3))
def test_the_fold_law(people: list[str], ends: bool, batches: list[list[Entry]]) -> None:
    """Within the limits or nothing left to fold; people's lines all there and in order; no learning lost."""
    text = "\n".join(people) + ("\n" if ends else "")
    notes = Notes.parse(text.encode())
    assert notes.encode() == text.encode()
    limits = MemoryLimits(lines=60, bytes=6000)
    for batch in batches:
        notes = notes.with_entries(batch, limits)
        assert Notes.parse(notes.encode()) == notes
    theirs = iter([line.text.rstrip("\n") for line in notes.lines if line.own is None])
    assert all(line in theirs for line in [line for line in text.split("\n") if line])
    added = [entry for batch in batches for entry in batch]
    learnings = [own(entry) for entry in added if entry.kind is NoteKind.LEARNING]
    assert [own(entry) for entry in notes.entries if entry.kind is NoteKind.LEARNING] == learnings
    for kind in NoteKind:
        kept = [own(entry) for entry in notes.entries if entry.kind is kind]
        folded = sum(fold.count for fold in notes.folds if fold.kind is kind)
        all_of_kind = [own(entry) for entry in added if entry.kind is kind]
        assert kept == all_of_kind[folded:]
        if not notes.fits(limits):
            assert len(kept) <= 1 or kind is NoteKind.LEARNING


@pytest.mark.req("M-01")
def test_after_hundreds_of_changes_the_file_is_within_its_limits_and_the_persons_text_is_whole(
    memory: Memory, tmp_path: Path
) -> None:
    mine = "# Notes\n\nI wrote this.\n\n## Checkpoints\n\nAnd this.\n\n## Mine\n- last\n"
    (tmp_path / "MEMORY.md").write_text(mine)
    memory.start("Cart", "APEX", "the cart " * 20)
    memory.learn("the one lesson")
    for _ in range(30):
        memory.advance("analyze", "plan")
        memory.delegate("reviewer: look")
        assert not memory.advance("plan", "analyze").warnings
    data = (tmp_path / "MEMORY.md").read_bytes()
    assert data.count(b"\n") <= 200
    assert len(data) <= 25_000
    found = memory.read()
    (fold,) = found.folds
    assert fold.kind is NoteKind.CHECKPOINT
    assert fold.count + len(found.lines(NoteKind.CHECKPOINT)) == 60
    assert f"… {fold.count} earlier checkpoints folded (from 2026-03-01T12:00:00.000Z to" in data.decode()
    assert len(found.lines(NoteKind.DELEGATION)) == 30
    rest = iter(data.decode().splitlines())
    assert all(line in rest for line in mine.splitlines())


@pytest.mark.req("M-01")
def test_checkpoints_go_first_then_delegations_then_completions() -> None:
    notes = Notes().with_entries(Entry(kind, f"{kind.name} {i}", NOON) for i in range(6) for kind in NoteKind)
    seen = []
    for lines in range(len(notes.lines), 12, -1):
        folds = {fold.kind: fold.count for fold in notes.with_entries([], MemoryLimits(lines=lines)).folds}
        seen.append([folds.get(kind, 0) for kind in (NoteKind.CHECKPOINT, NoteKind.DELEGATION, NoteKind.COMPLETION)])
    assert seen[0] == [0, 0, 0]
    assert seen[-1] == [5, 6, 5]
    for checkpoints, delegations, completions in seen:
        assert not delegations or checkpoints == 5
        assert not completions or delegations == 6


@pytest.mark.req("M-01")
def test_text_that_alone_is_too_long_is_kept_and_told(memory: Memory, tmp_path: Path) -> None:
    mine = "".join(f"line {i}\n" for i in range(250))
    (tmp_path / "MEMORY.md").write_text(mine)
    assert codes(memory.learn("one more").warnings) == ["notes_too_long"]
    text = (tmp_path / "MEMORY.md").read_text()
    assert text.startswith(mine)
    assert "- one more" in text


@pytest.mark.req("M-01")
def test_a_line_that_a_person_changed_is_theirs_from_then_on() -> None:
    notes = Notes().with_entries([Entry(NoteKind.CHECKPOINT, f"point {i}", NOON) for i in range(5)])
    changed = Notes.parse(notes.encode().replace(b"- point 1", b"- point 1, which I explain"))
    assert [entry.text for entry in changed.entries] == ["point 0", "point 2", "point 3", "point 4"]
    short = changed.with_entries([], MemoryLimits(lines=1))
    assert b"- point 1, which I explain <!--" in short.encode()
    assert b"- point 2" not in short.encode()


@pytest.mark.req("M-01")
def test_lines_that_a_person_quotes_are_theirs() -> None:
    line = Notes().with_entries([Entry(NoteKind.CHECKPOINT, "point", NOON)]).encode()
    assert Notes.parse(b"```\n" + line + b"```\n").entries == ()
    assert len(Notes.parse(b"```\nnever closed\n" + line).entries) == 1


@pytest.mark.req("M-01")
def test_bytes_that_are_no_text_and_windows_line_ends_stay(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_bytes(b"caf\xe9\r\n\r\n## Learnings\r\nmine")
    memory.learn("theirs")
    data = (tmp_path / "MEMORY.md").read_bytes()
    assert data.startswith(b"caf\xe9\r\n\r\n## Learnings\r\nmine\n\r\n- theirs <!--")
    assert data.endswith(b"-->\r\n")


@pytest.mark.req("M-01")
def test_the_limits_are_those_that_programs_read() -> None:
    assert (LIMITS.lines, LIMITS.bytes) == (200, 25_000)
