"""Drafts over drafts: a person's sections stay, whatever is drafted again and however often."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.pipeline.sections import edited, marks, merged

FIRST = "# Plan\n\n## Aim\n\nold aim\n\n## Risks\n\nold risks\n\n## Costs\n\nold costs\n"
SECOND = FIRST.replace("old", "new")
THIRD = FIRST.replace("old", "third")


@pytest.mark.req("P-05")
def test_what_a_person_edited_survives_every_later_draft() -> None:
    mine = FIRST.replace("old risks", "my risks")
    base = marks(FIRST)
    assert edited(base, mine) == ("## Risks",)
    once = merged(base, mine, SECOND)
    assert ("my risks" in once, "new aim" in once, "old" in once) == (True, True, False)
    twice = merged(marks(SECOND), once, THIRD)
    assert ("my risks" in twice, "third aim" in twice, "new" in twice) == (True, True, False)


@pytest.mark.req("P-05")
def test_what_a_person_added_or_removed_stays_so() -> None:
    mine = FIRST.replace("## Costs\n\nold costs\n", "") + "\n## Music\n\nAnna\n"
    once = merged(marks(FIRST), mine, SECOND)
    assert ("## Costs" in once, "Anna" in once, "new aim" in once) == (False, True, True)


@given(
    st.lists(st.sampled_from(["Aim", "Risks", "Costs", "Time"]), unique=True, min_size=1), st.text("ab \n", max_size=20)
)
def test_without_edits_a_draft_is_simply_the_new_one(titles: list[str], body: str) -> None:
    old = "# T\n\n" + "".join(f"## {title}\n\n{body}\n\n" for title in titles)
    new = "# T\n\n" + "".join(f"## {title}\n\nnew\n\n" for title in titles)
    assert edited(marks(old), old) == ()
    assert marks(merged(marks(old), old, new)) == marks(new)
