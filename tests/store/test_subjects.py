"""Subjects of runs: written, found again, and read from databases of earlier versions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import inspect, text

from forge.events import BranchChanged
from forge.question_kinds import QuestionKind
from forge.store.database import Database
from forge.store.events import Events
from forge.store.questions import Questions
from forge.store.runs import Runs
from forge.subjects import Subject, SubjectKind, branch_subject, project_subject, repository_id, subject_of_topic
from tests.store.old_database import open_at

pytestmark = pytest.mark.req("X-02")

RUN = """
INSERT INTO runs (id, name, topic, state, created, cancel_requested) VALUES (:id, 'turn', :topic, 'done', 1, false)
"""
EVENT = "INSERT INTO events (topic, id, time, data, origin) VALUES (:topic, :id, 1, :data, :origin)"
TOPIC = "INSERT INTO topics (name, last) VALUES (:name, :last)"


def said(branch: str) -> str:
    return f'{{"type": "BranchChanged", "branch": "{branch}", "commit": null, "by": "Ana"}}'


def test_runs_are_found_by_their_subject(database: Database) -> None:
    runs = Runs(database)
    main = branch_subject("0a1b2c3d4e5f", "main")
    for id_, subject in (("a", main), ("b", project_subject("p1")), ("c", main)):
        runs.add(id_, name="turn", subject=subject, queue=None, partition=None)
    assert [run.id for run in runs.list(subject=main)] == ["c", "a"]
    assert (found := runs.get("b")) is not None
    assert found.subject == Subject(SubjectKind.PROJECT, "p1")


def test_a_question_has_the_subject_of_its_run(database: Database) -> None:
    subject = branch_subject("0a1b2c3d4e5f", "main")
    Runs(database).add("a", name="turn", subject=subject, queue=None, partition=None)
    questions = Questions(database)
    assert questions.ask("q1", run="a", text="Which?").subject == subject
    assert questions.ask("q2", run="unknown", text="Which?").subject is None
    assert [each.subject for each in questions.list_open()] == [subject, None]


def test_rows_of_an_earlier_version_get_their_subject(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "garden: new" / ".git"
    place.mkdir(parents=True)
    named = f"branch:{place}:ai/x"
    topics = {"a": named, "b": "project:p1", "c": "run:c", "d": "something else"}
    old = open_at(url, "0004", monkeypatch)
    with old.transaction() as connection:
        connection.execute(text(RUN), [{"id": id_, "topic": topic} for id_, topic in topics.items()])
        connection.execute(text(TOPIC), [{"name": named, "last": 2}, {"name": "board", "last": 1}])
        events = [{"topic": named, "id": n, "data": said(f"{n}"), "origin": f"a/{n}"} for n in (1, 2)]
        connection.execute(text(EVENT), [*events, {"topic": "board", "id": 1, "data": said("b"), "origin": "b/1"}])
    old.close()

    database = Database.open(url)
    id_ = repository_id(place)
    found = {run.id: (str(run.subject.kind), run.subject.id) for run in Runs(database).list()}
    assert found == {"a": ("branch", f"{id_}:ai/x"), "b": ("project", "p1"), "c": ("run", "c"), "d": ("run", "d")}
    kept = Events(database)
    assert [each.id for each in kept.after(f"branch:{id_}:ai/x")] == [1, 2]
    assert kept.append(f"branch:{id_}:ai/x", BranchChanged("ai/x", None, "Ana")) == 3
    assert (kept.last(named), kept.last("board")) == (0, 1)
    kept.close()
    database.close()


def test_two_paths_of_one_repository_become_one_topic(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "garden").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "garden")
    names = [f"branch:{tmp_path / place}:main" for place in ("garden", "link")]
    old = open_at(url, "0004", monkeypatch)
    with old.transaction() as connection:
        connection.execute(text(TOPIC), [{"name": name, "last": 2} for name in names])
        rows: list[dict[str, Any]] = [
            {"topic": name, "id": n, "data": said("main"), "origin": f"{name}/{n}"} for name in names for n in (1, 2)
        ]
        connection.execute(text(EVENT), rows)
    old.close()

    database = Database.open(url)
    kept = Events(database)
    topic = branch_subject(repository_id(tmp_path / "garden"), "main").topic
    assert [each.id for each in kept.after(topic)] == [1, 2, 3, 4]
    assert kept.last(topic) == 4
    kept.close()
    database.close()


def test_the_topic_of_a_path_that_is_not_unicode_names_the_same_repository(tmp_path: Path) -> None:
    place = tmp_path / os.fsdecode(b"caf\xe9")
    topic = f"branch:{place}:main".encode("utf-8", "backslashreplace").decode()
    assert subject_of_topic(topic) == branch_subject(repository_id(place), "main")


@pytest.mark.parametrize("topic", ["board", "branch:", "nothing:1", ""])
def test_other_topics_have_no_subject(topic: str) -> None:
    assert subject_of_topic(topic) is None


def test_tables_without_code_are_gone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = open_at(url, "0004", monkeypatch)
    with old.reading() as connection:
        assert {"errors", "notes"} <= set(inspect(connection).get_table_names())
    old.close()
    database = Database.open(url)
    with database.reading() as connection:
        assert "errors" not in inspect(connection).get_table_names()
    database.close()


def test_open_questions_of_an_earlier_version_get_their_kind(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    old = open_at(url, "0004", monkeypatch)
    asked = "INSERT INTO questions (id, run, text, options, state, asked) VALUES (:id, :run, '?', '[]', 'open', 1)"
    with old.transaction() as connection:
        runs = {"a": "branch:0a1b2c3d4e5f:main", "b": "project:p1"}
        connection.execute(text(RUN), [{"id": id_, "topic": topic} for id_, topic in runs.items()])
        connection.execute(text(asked), [{"id": f"q{run}", "run": run} for run in ("a", "b", "c")])
    old.close()

    database = Database.open(url)
    questions = Questions(database)
    assert {each.id: str(each.kind) for each in questions.list_open()} == {"qa": "text", "qb": "decision", "qc": "text"}
    assert [each.id for each in questions.list_open(kind=QuestionKind.DECISION)] == ["qb"]
    database.close()
