"""The doctor as a whole: what it looks at, that no check stops another, that no secret is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from forge.app.admin import doctor
from forge.app.admin.checks import Check, CheckState, Place
from forge.app.admin.doctor import examine
from tests.conftest import MakeRepo
from tests.support.scripted_projects import Office

PASSWORD = "correct-horse-9-battery"
HERE = ["repository", "writing", "locks", "leftovers", "turns", "branches", "conversations"]


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office.at(tmp_path / "office")


def found(directory: Path, environ: Mapping[str, str], name: str, **options: bool) -> Check:
    (check,) = [check for check in examine(directory, environ, **options) if check.name == name]
    return check


@pytest.mark.req("X-06")
def test_outside_of_a_repository_the_machine_is_checked_and_nothing_fails(office: Office, tmp_path: Path) -> None:
    checks = list(examine(tmp_path, office.environ))
    assert {check.state for check in checks} == {CheckState.OK}
    assert (checks[-1].name, checks[-1].detail) == ("repository", "None here.")
    assert {"git", "sandbox", "database", "workers", "runs", "disk", "clock"} <= {check.name for check in checks}
    assert not (office.place / "data").exists(), "looking made something"
    assert not (office.place / "workspace").exists(), "looking made something"


def test_in_a_repository_it_is_looked_at_too(office: Office, make_repo: MakeRepo) -> None:
    checks = list(examine(make_repo({"a": "a\n"}), office.environ))
    assert [check.name for check in checks[-len(HERE) :]] == HERE
    assert {check.state for check in checks} == {CheckState.OK}


def test_a_repository_that_cannot_be_opened_is_a_failure(office: Office, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / ".git").write_text("gitdir: nowhere\n")
    assert found(broken, office.environ, "repository").state is CheckState.FAILED


@pytest.mark.parametrize("error", [ZeroDivisionError("by nought"), PermissionError(13, "Permission denied")])
def test_a_check_that_breaks_is_a_finding_and_stops_no_other(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def breaks(_: Place) -> Check:
        raise error

    monkeypatch.setitem(doctor._EVERYWHERE, "clock", breaks)
    checks = {check.name: check for check in examine(tmp_path, office.environ)}
    assert checks["clock"].state is CheckState.FAILED
    assert checks["clock"].detail.startswith("It could not be looked at: ")
    assert checks["server"].state is CheckState.OK


def test_settings_that_cannot_be_used_are_told_and_the_rest_is_still_looked_at(tmp_path: Path) -> None:
    office = Office.at(tmp_path / "office", "polish: {max_iterations: many}\n")
    checks = {check.name: check for check in examine(tmp_path, office.environ)}
    assert checks["settings"].state is CheckState.FAILED
    assert "max_iterations" in checks["settings"].detail
    assert checks["data"].detail == f"{office.place / 'data'}, not made yet."


@pytest.mark.req("X-06")
def test_a_password_in_what_a_check_says_is_not_told(
    office: Office, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def tells(_: Place) -> Check:
        raise ValueError(f"cannot log in with {PASSWORD}")

    monkeypatch.setitem(doctor._EVERYWHERE, "notices", tells)
    environ = {**office.environ, "SOME_PASSWORD": PASSWORD}
    check = found(tmp_path, environ, "notices")
    assert "cannot log in with" in check.detail
    assert PASSWORD not in repr(list(examine(tmp_path, environ)))


def test_a_database_server_that_does_not_answer_is_one_failure_without_its_password(tmp_path: Path) -> None:
    office = Office.at(tmp_path / "office", f"database: postgresql://ada:{PASSWORD}@127.0.0.1:1/forge\n")
    checks = list(examine(tmp_path, office.environ))
    assert [check.name for check in checks if check.state is CheckState.FAILED] == ["database"]
    assert [check.name for check in checks if check.detail == "Not looked at."] == [
        "workers",
        "runs",
        "projects",
        "notices",
        "answers",
    ]
    assert PASSWORD not in repr(checks)
