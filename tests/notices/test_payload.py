"""What a notice says: the five fields, one line, nothing secret."""

from __future__ import annotations

import pytest

from forge.notices.errors import NoticeInvalid
from forge.notices.payload import EVENT_TYPES, LONGEST, from_json, notice, text, title, to_json
from forge.plugins.roles import Notice
from forge.sessions.redaction import Redactor

pytestmark = pytest.mark.req("P-18")

TOKEN = "ghp_" + "a1B2" * 9
FIELDS = {
    "project_id": "20261115-ab12",
    "project_name": "Wedding Plan",
    "phase": "polishing",
    "event_type": "convergence_success",
    "summary": "Converged. Ready for a last look.",
}


def made(**change: str) -> Notice:
    return notice(**(FIELDS | change), redact=Redactor(["hunter2hunter2"]).text)


def test_the_payload_has_the_fields_of_the_specification_and_reads_back() -> None:
    assert to_json(made()) == FIELDS
    assert from_json(to_json(made())) == made()


def test_there_are_exactly_five_types() -> None:
    assert set(EVENT_TYPES) == {"convergence_success", "guard_triggered", "human_needed", "milestone_complete", "error"}
    assert {made(event_type=kind).event_type for kind in EVENT_TYPES} == set(EVENT_TYPES)
    with pytest.raises(NoticeInvalid, match="party"):
        made(event_type="party")


def test_a_summary_is_one_line_and_short() -> None:
    long = made(summary="first\n\n  second\tthird " + "x" * 1000)
    assert long.summary.startswith("first second third x")
    assert (len(long.summary), "\n" in text(long)) == (LONGEST, False)


@pytest.mark.req("X-06")
def test_secrets_are_taken_out_of_what_people_wrote() -> None:
    told = made(summary=f"push with {TOKEN} failed", project_name="Site hunter2hunter2")
    assert TOKEN not in told.summary
    assert "hunter2" not in title(told)
    assert "[redacted:" in told.summary


def test_a_notice_reads_as_a_title_and_a_line() -> None:
    told = made()
    assert title(told) == "Wedding Plan: converged"
    assert text(told) == "Converged. Ready for a last look. (polishing, convergence_success, 20261115-ab12)"


def test_a_project_without_a_name_is_called_by_its_id() -> None:
    assert made(project_name=" ").project_name == "20261115-ab12"


@pytest.mark.parametrize("missing", ["project_id", "summary"])
def test_without_a_project_or_a_summary_there_is_no_notice(missing: str) -> None:
    with pytest.raises(NoticeInvalid):
        made(**{missing: ""})


def test_what_another_version_wrote_is_refused_in_words() -> None:
    with pytest.raises(NoticeInvalid, match="phase"):
        from_json({"project_id": "p", "project_name": "n"})
