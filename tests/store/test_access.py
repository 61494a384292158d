"""Rows of users, keys, owners, shares and the audit, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import text

from forge.store.audit import Audit
from forge.store.database import Database
from forge.store.keys import KeptKeys, KeyRows
from forge.store.ownership import Ownership, Share, Standing
from forge.store.repositories import Repositories
from forge.store.users import Users


@pytest.fixture
def rows(database: Database) -> KeyRows:
    Users(database).add("u_ada", "Ada", now=1.0)
    return KeyRows(database)


def add(rows: KeyRows, id_: str = "k_1", *, hash_: str = "h1", expires: float | None = None) -> None:
    rows.add(
        id_,
        user="u_ada",
        name="laptop",
        prefix="fk_abc",
        hash_=hash_,
        scopes={"write", "read"},
        now=2.0,
        expires=expires,
    )


@pytest.mark.req("X-06")
def test_a_name_is_taken_once_however_it_is_capitalised(database: Database) -> None:
    users = Users(database)
    assert users.add("u_1", "Ada", now=1.0)
    assert not users.add("u_2", "Ada", now=1.0)
    assert not users.add("u_3", "ADA", now=1.0)
    assert [user.id for user in users.list()] == ["u_1"]


def test_of_many_who_add_a_name_at_once_one_succeeds(database: Database) -> None:
    with ThreadPoolExecutor(6) as pool:
        added = list(pool.map(lambda n: Users(database).add(f"u_{n}", "Ada", now=1.0), range(6)))
    assert added.count(True) == 1


def test_a_user_is_found_by_name_and_by_id_and_disabled_once(database: Database) -> None:
    users = Users(database)
    users.add("u_1", "Ada", now=1.0)
    assert users.find("Ada") == users.find("u_1")
    assert users.find("Bob") is None
    assert users.disable("u_1", now=5.0)
    assert not users.disable("u_1", now=6.0)
    found = users.find("Ada")
    assert found is not None
    assert found.disabled == 5.0


def test_a_key_is_found_by_its_hash_with_its_user(rows: KeyRows) -> None:
    add(rows)
    found = rows.by_hash("h1")
    assert found is not None
    assert (found.key.user_name, found.key.scopes, found.hash) == ("Ada", ("read", "write"), "h1")
    assert rows.by_hash("h2") is None
    assert rows.by_id("k_1") == found


@pytest.mark.req("C-10")
def test_a_key_opens_until_it_expires_is_revoked_or_its_user_disabled(database: Database, rows: KeyRows) -> None:
    add(rows, expires=100.0)
    (key,) = rows.list(user="u_ada")
    assert key.opens(99.9)
    assert not key.opens(100.0)
    assert rows.revoke("k_1", now=50.0)
    assert not rows.revoke("k_1", now=51.0)
    (key,) = rows.list()
    assert (key.revoked, key.opens(60.0)) == (50.0, False)
    add(rows, "k_2", hash_="h2")
    Users(database).disable("u_ada", now=60.0)
    assert not any(key.opens(61.0) for key in rows.list())


def test_the_last_use_is_written_once_a_minute(rows: KeyRows) -> None:
    add(rows)
    clock = [1000.0]
    kept = KeptKeys(rows, fresh=1.0, now=lambda: clock[0])
    noted = []
    for moment in (1000.0, 1030.0, 1058.0, 1060.0, 1100.0, 500.0):
        clock[0] = moment
        assert kept.by_hash("h1") is not None
        noted.append(rows.list()[0].last_used)
    assert noted == [1000.0, 1000.0, 1000.0, 1060.0, 1060.0, 500.0]


def test_a_revoked_key_is_believed_for_the_time_given_and_no_longer(rows: KeyRows) -> None:
    add(rows)
    clock = [1000.0]
    kept = KeptKeys(rows, fresh=1.0, now=lambda: clock[0])
    assert kept.by_hash("h1") is not None
    rows.revoke("k_1", now=1000.0)
    clock[0] = 1000.9
    assert kept.by_hash("h1") is not None
    clock[0] = 1001.0
    assert kept.by_hash("h1") is None
    assert kept.by_id("k_1") is None


@pytest.mark.req("X-06")
@pytest.mark.parametrize("way", ["by_hash", "by_id"])
def test_what_was_read_before_a_revocation_is_not_believed_after_it(
    rows: KeyRows, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    add(rows)
    mark = {"by_hash": "h1", "by_id": "k_1"}[way]
    kept = KeptKeys(rows, fresh=60.0, now=lambda: 1000.0)
    read = getattr(rows, way)

    def slowly(mark: str) -> Any:
        found = read(mark)
        rows.revoke("k_1", now=1000.0)
        kept.forget()
        return found

    monkeypatch.setattr(rows, way, slowly)
    getattr(kept, way)(mark)
    assert kept.remembered(mark) is None
    assert getattr(kept, way)(mark) is None


def test_a_key_that_expires_while_it_is_remembered_stops_at_once(rows: KeyRows) -> None:
    add(rows, expires=1000.5)
    clock = [1000.0]
    kept = KeptKeys(rows, fresh=60.0, now=lambda: clock[0])
    assert kept.by_hash("h1") is not None
    clock[0] = 1000.5
    assert kept.by_hash("h1") is None


@pytest.mark.req("X-06")
def test_the_standing_is_one_row_whether_or_not_the_thing_exists(database: Database) -> None:
    ownership = Ownership(database)
    ownership.begin("project", "p", "u_ada")
    assert ownership.standing("project", "p", "u_ada") == Standing("u_ada", None)
    assert ownership.standing("project", "p", "u_bob") == Standing("u_ada", None)
    assert ownership.standing("project", "none", "u_bob") == Standing(None, None)
    assert ownership.standing("repository", "p", "u_ada") == Standing(None, None)


@pytest.mark.req("X-06")
def test_what_is_made_anew_under_an_old_id_belongs_to_who_made_it_alone(database: Database) -> None:
    ownership = Ownership(database)
    ownership.begin("project", "p", "u_ada")
    ownership.share("project", "p", "u_bob", "write")
    ownership.begin("project", "p", "u_eve")
    assert ownership.standing("project", "p", "u_bob") == Standing("u_eve", None)
    assert ownership.seen_by("project", "u_ada") == frozenset()


def test_a_share_replaces_the_one_before_and_goes_with_its_thing(database: Database) -> None:
    ownership = Ownership(database)
    ownership.begin("project", "p", "u_ada")
    ownership.share("project", "p", "u_bob", "read")
    ownership.share("project", "p", "u_bob", "write")
    ownership.begin("project", "q", "u_bob")
    assert ownership.shares_of("project", "p") == (Share("u_bob", "write"),)
    assert ownership.seen_by("project", "u_bob") == {"p", "q"}
    assert ownership.seen_by("repository", "u_bob") == frozenset()
    ownership.forget("project", "p")
    assert ownership.seen_by("project", "u_bob") == {"q"}
    ownership.begin("project", "p", "u_eve")
    assert ownership.standing("project", "p", "u_bob") == Standing("u_eve", None)


def test_deeds_are_listed_newest_first_and_page_by_page(database: Database) -> None:
    audit = Audit(database)
    for n in range(5):
        audit.add(time=float(n), user=f"u_{n % 2}", key=None, action="a", subject=f"s{n}", detail="")
    first = audit.list(limit=2)
    assert [deed.subject for deed in first] == ["s4", "s3"]
    assert [deed.subject for deed in audit.list(before=first[-1].id)] == ["s2", "s1", "s0"]
    assert [deed.subject for deed in audit.list(user="u_1")] == ["s3", "s1"]


def test_keys_of_a_database_from_before_get_no_scope(url: str) -> None:
    database = Database.open(url)
    Users(database).add("u_ada", "Ada", now=1.0)
    with database.transaction() as connection:
        columns = '(id, "user", name, prefix, hash, created)'
        connection.execute(text(f"INSERT INTO keys {columns} VALUES ('k', 'u_ada', 'n', 'p', 'h', 1)"))
    (key,) = KeyRows(database).list()
    assert key.scopes == ()
    database.close()


@pytest.mark.req("X-05")
def test_a_repository_is_new_once_in_either_database(database: Database) -> None:
    repositories = Repositories(database)
    assert repositories.add("one", path="/one", name="one")
    assert not repositories.add("one", path="/one", name="one")
    assert repositories.add("two", path="/one", name="one"), "another repository at the same place"
    assert [row.id for row in repositories.list()] == ["two"]
