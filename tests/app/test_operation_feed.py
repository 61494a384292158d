"""The operation feed: every recorded move becomes events and one audit row, whoever made it and whenever."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from forge.app.access.identity import LOCAL, audited
from forge.app.events import heard_after, topic_for
from forge.app.repositories import operation_feed, write
from forge.app.repositories.catalog import add_repository, forget_repository, id_of, opened, subject_of
from forge.app.repositories.edits import save_file
from forge.app.repositories.operation_feed import OperationFeed
from forge.events import BOARD, BranchChanged, RepositoryChanged
from forge.git import PERSON, Repository
from forge.sessions.redaction import Redactor
from forge.store import operation_cursors
from forge.store.database import Database
from forge.store.events import Events
from tests.app.facade import BO, Place, place, shop
from tests.conftest import MakeRepo
from tests.support.postgres import Server, postgres

__all__ = ["place", "postgres", "shop"]

pytestmark = pytest.mark.req("P-04", "X-04")


def elsewhere(place: Place, text: str, path: str = "a.txt") -> str:
    """A save by a process that does not open the database."""
    landed = write.save(Repository.open(place.path), "main", path, text.encode())
    assert landed.commit
    return landed.commit


def git(place: Place, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(place.path), *arguments], check=True, capture_output=True)


def another_feed(place: Place) -> OperationFeed:
    """As the next process has it."""
    return OperationFeed(place.shop.database, place.shop.events, Redactor([]))


def test_a_save_by_another_process_is_published_and_audited_like_one_through_the_api(place: Place) -> None:
    save_file(place.shop, LOCAL, place.id, "main", "a.txt", b"here\n")
    made = elsewhere(place, "there\n")
    assert len(place.told("main")) == 1
    place.shop.feed.poll()
    here, there = place.told("main")
    assert isinstance(here, BranchChanged)
    assert there == replace(here, commit=made)
    second, first, _ = audited(place.shop, LOCAL)
    assert replace(second, id=first.id, time=first.time) == first
    assert (first.user, first.key, first.action, first.detail) == ("local", None, "file.save", "main: a.txt")


def test_nothing_is_lost_or_repeated_when_no_process_followed(place: Place) -> None:
    commits = [elsewhere(place, f"{number}\n") for number in range(3)]
    another_feed(place).catch_up()
    another_feed(place).catch_up()
    place.shop.feed.poll()
    assert [event.commit for event in place.told("main") if isinstance(event, BranchChanged)] == commits
    assert place.deeds() == ["repository.add", *["file.save"] * 3]


def test_processes_that_follow_at_once_publish_each_move_once(place: Place) -> None:
    feeds = [another_feed(place) for _ in range(4)]
    commits = [elsewhere(place, f"{number}\n") for number in range(20)]
    threads = [threading.Thread(target=feed.catch_up) for feed in feeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [event.commit for event in place.told("main") if isinstance(event, BranchChanged)] == commits
    assert place.deeds().count("file.save") == 20


def test_many_operations_are_published_in_parts(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation_feed, "_TOGETHER", 2)
    commits = [elsewhere(place, f"{number}\n") for number in range(5)]
    another_feed(place).catch_up()
    assert [event.commit for event in place.told("main") if isinstance(event, BranchChanged)] == commits


def test_the_history_of_a_repository_that_is_added_is_not_news(place: Place, make_repo: MakeRepo) -> None:
    other = Place(place.shop, make_repo({"a.txt": "one\n"}, name="other"), "")
    elsewhere(other, "old\n")
    other = replace(other, id=add_repository(place.shop, LOCAL, other.path).id)
    another_feed(place).catch_up()
    assert other.told("main") == []
    new = elsewhere(other, "new\n")
    another_feed(place).catch_up()
    assert other.told("main") == [BranchChanged("main", new, "you")]


def test_a_list_of_repositories_from_before_begins_at_the_end_of_each_log(place: Place) -> None:
    elsewhere(place, "old\n")
    place.shop.feed.forget(place.id)
    feed = another_feed(place)
    feed.catch_up()
    assert place.told("main") == []
    new = elsewhere(place, "new\n")
    feed.poll()
    assert place.told("main") == [BranchChanged("main", new, "you")]


def test_a_repository_that_is_gone_stops_no_other_and_goes_on_when_it_is_back(
    place: Place, make_repo: MakeRepo, tmp_path: Path
) -> None:
    other = make_repo({"a.txt": "one\n"}, name="other")
    second = Place(place.shop, other, add_repository(place.shop, LOCAL, other).id)
    before = elsewhere(place, "before\n")
    place.shop.feed.poll()
    missed = elsewhere(place, "missed\n")
    place.path.rename(tmp_path / "away")
    seen = elsewhere(second, "seen\n")
    for feed in (place.shop.feed, another_feed(place)):
        feed.catch_up()
        feed.poll()
    assert second.told("main") == [BranchChanged("main", seen, "you")]
    (tmp_path / "away").rename(place.path)
    for feed in (place.shop.feed, another_feed(place)):
        feed.catch_up()
        feed.poll()
    assert place.told("main") == [BranchChanged("main", commit, "you") for commit in (before, missed)]


def test_a_log_that_was_deleted_breaks_nothing(place: Place) -> None:
    elsewhere(place, "1\n")
    place.shop.feed.poll()
    shutil.rmtree(place.path / ".git/forge")
    place.shop.feed.poll()
    made = elsewhere(place, "two\n")
    place.shop.feed.poll()
    assert place.told("main")[-1] == BranchChanged("main", made, "you")
    assert place.deeds().count("file.save") == 2


def test_a_log_out_of_a_backup_is_not_published_again(place: Place, tmp_path: Path) -> None:
    elsewhere(place, "1\n")
    shutil.copytree(place.path / ".git/forge", tmp_path / "backup")
    elsewhere(place, "2\n")
    place.shop.feed.poll()
    shutil.rmtree(place.path / ".git/forge")
    (tmp_path / "backup").rename(place.path / ".git/forge")
    place.shop.feed.poll()
    assert place.deeds().count("file.save") == 2
    made = elsewhere(place, "3\n")
    place.shop.feed.poll()
    assert place.told("main")[-1] == BranchChanged("main", made, "you")
    assert place.deeds().count("file.save") == 3


def test_a_database_that_fails_keeps_the_cursor_where_it_was(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    made = elsewhere(place, "1\n")

    def fails(*_: object) -> None:
        raise OSError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(operation_cursors, "add_deed", fails)
        place.shop.feed.poll()
        assert place.told("main") == []
    place.shop.feed.poll()
    assert place.told("main") == [BranchChanged("main", made, "you")]
    assert place.deeds() == ["repository.add", "file.save"]


@pytest.mark.parametrize(
    "damage", [{"time": float("nan")}, {"time": float("inf")}, {"moves": [["refs/heads/a\0b", None, "0" * 40]]}]
)
def test_a_line_that_no_forge_wrote_holds_up_nothing(place: Place, damage: dict[str, object]) -> None:
    elsewhere(place, "1\n")
    log = place.path / ".git/forge/operations.jsonl"
    begun, ended = log.read_text().splitlines()
    strange = {**json.loads(begun), "id": "strange", "reason": "a\0b \udcff", **damage}
    with log.open("a") as file:
        file.write(f"{json.dumps(strange)}\n{json.dumps({**json.loads(ended), 'end': 'strange'})}\n")
    made = elsewhere(place, "2\n")
    place.shop.feed.poll()
    assert place.told("main")[-1] == BranchChanged("main", made, "you")
    assert place.deeds().count("file.save") == 2


def test_words_that_sql_cannot_keep_are_audited_without_them(place: Place) -> None:
    repo = Repository.open(place.path)
    files = repo.workspace("main", actor=PERSON.doing("file.save", "main: a\0b\udcff"))
    files.write_file("a.txt", "1\n")
    files.commit("edit")
    place.shop.feed.poll()
    assert audited(place.shop, LOCAL)[0].detail == "main: ab\\udcff"


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation_feed, "_NOTICE_AGAIN", 0.0)
    monkeypatch.setattr(operation_feed, "_SHARE", 0)


@pytest.mark.usefixtures("at_once")
def test_a_plain_git_commit_on_a_repository_that_somebody_looks_at_is_published(place: Place) -> None:
    assert place.repo is not None
    place.shop.feed.poll()
    git(place, "commit", "--allow-empty", "-m", "theirs")
    place.shop.feed.poll()
    tip = place.repo.resolve("main")
    assert place.told("main") == [BranchChanged("main", tip, "outside Forge")]
    deed = audited(place.shop, LOCAL)[0]
    assert (deed.user, deed.action, deed.detail) == ("nobody", "branch.move", "outside Forge: main")
    for _ in range(3):
        place.shop.feed.poll()
    assert len(place.told("main")) == 1


@pytest.mark.usefixtures("at_once")
def test_a_repository_that_nobody_looks_at_is_not_searched_for_moves(place: Place) -> None:
    feed = another_feed(place)
    feed.catch_up()
    git(place, "commit", "--allow-empty", "-m", "theirs")
    feed.poll()
    assert place.told("main") == []


@pytest.mark.usefixtures("at_once")
def test_what_plain_git_did_while_nothing_ran_is_published_at_the_next_look(place: Place) -> None:
    assert place.repo is not None
    place.shop.feed.poll()
    git(place, "branch", "new")
    feed = another_feed(place)
    feed.catch_up()
    feed.look(place.id, opened(place.path))
    feed.poll()
    assert place.told("new") == [BranchChanged("new", place.repo.resolve("main"), "outside Forge")]


def test_followers_hear_of_a_move_by_another_process_within_a_second(place: Place) -> None:
    async def heard() -> BranchChanged:
        following = asyncio.create_task(place.shop.feed.follow())
        try:
            events = place.shop.events.follow(subject_of(place.repo, "main").topic)
            coming = asyncio.ensure_future(anext(events))
            await asyncio.sleep(0.1)
            await asyncio.to_thread(elsewhere, place, "x\n")
            item = await asyncio.wait_for(coming, 5)
            await events.aclose()
            assert isinstance(item.event, BranchChanged)
            return item.event
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    assert operation_feed._POLL < 1
    assert asyncio.run(heard()).branch == "main"


def test_added_and_forgotten_repositories_are_told_to_whoever_may_see_them(place: Place, make_repo: MakeRepo) -> None:
    other = make_repo({"a.txt": "one\n"}, name="other")
    added = add_repository(place.shop, LOCAL, other)
    add_repository(place.shop, LOCAL, other)
    forget_repository(place.shop, LOCAL, added.id)
    asyncio.run(place.shop.events.flush())
    told = [each.event for each in place.shop.events.after(BOARD)]
    assert told[1:] == [
        RepositoryChanged(added.id, "added", "other"),
        RepositoryChanged(added.id, "forgotten", "other"),
    ]
    elsewhere(replace(place, path=other), "later\n")
    place.shop.feed.poll()
    assert place.shop.events.after(subject_of(Repository.open(other), "main").topic) == []
    assert heard_after(place.shop, topic_for(place.shop, BO, "board"), 0, 10)[0] == ()
    assert len(heard_after(place.shop, topic_for(place.shop, LOCAL, "board"), 0, 10)[0]) == 3


def test_cursors_are_kept_in_postgresql_too(postgres: Server, make_repo: MakeRepo) -> None:
    database = Database.open(postgres.new_database())
    events = Events(database)
    try:
        path = make_repo({"a.txt": "one\n"})
        repo = Repository.open(path)
        feeds = [OperationFeed(database, events, Redactor([])) for _ in range(2)]
        feeds[0].add(repo)
        commits = [write.save(repo, "main", "a.txt", f"{n}\n".encode()).commit for n in range(3)]
        for feed in feeds:
            feed.publish(repo)
        told = [each.event for each in events.after(subject_of(repo, "main").topic)]
        assert told == [BranchChanged("main", commit, "you") for commit in commits]
        feeds[0].forget(id_of(repo))
    finally:
        events.close()
        database.close()
