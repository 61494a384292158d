"""The outbox: added once, taken by one, kept through crashes and wrong clocks, on both databases."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text

from forge.store.database import Database
from forge.store.outbox import LEASE_SECONDS, LONGEST_WAIT, Entry, Outbox

NOON = 1_794_744_000.0
NOTICE = {"project_id": "20261115-ab12", "summary": "It runs — “fine”."}

pytestmark = pytest.mark.req("P-18")


@pytest.fixture
def outbox(database: Database) -> Outbox:
    return Outbox(database)


def only(entries: tuple[Entry, ...]) -> Entry:
    (entry,) = entries
    return entry


def test_what_is_added_is_claimed_sent_and_done(outbox: Outbox) -> None:
    assert outbox.add("run/3/ntfy", "ntfy", NOTICE, now=NOON)
    claimed = only(outbox.claim(5, NOON))
    assert (claimed.notice, claimed.channel, claimed.attempts, claimed.state) == (NOTICE, "ntfy", 0, "sending")
    assert outbox.done(claimed.id)
    assert outbox.claim(5, NOON + 1e6) == ()
    assert only(outbox.list(state="sent")).key == "run/3/ntfy"


def test_a_step_that_runs_again_tells_nothing_again(outbox: Outbox) -> None:
    assert outbox.add("run/3/ntfy", "ntfy", NOTICE, now=NOON)
    assert not outbox.add("run/3/ntfy", "ntfy", {"summary": "other"}, now=NOON + 1)
    assert outbox.done(only(outbox.claim(5, NOON)).id)
    assert not outbox.add("run/3/ntfy", "ntfy", NOTICE, now=NOON + 2)
    assert outbox.claim(5, NOON + 1e6) == ()


def test_a_failed_delivery_waits_for_its_retry_and_is_then_given_up(outbox: Outbox) -> None:
    outbox.add("k", "ntfy", NOTICE, now=NOON)
    assert outbox.failed(only(outbox.claim(1, NOON)).id, "refused", NOON + 30)
    assert outbox.next_due() == NOON + 30
    assert outbox.claim(1, NOON + 29) == ()
    again = only(outbox.claim(1, NOON + 30))
    assert (again.attempts, again.error, again.interrupted) == (1, "refused", 0)
    assert outbox.failed(again.id, "refused again", None)
    assert outbox.claim(1, NOON + 1e6) == ()
    given_up = only(outbox.list(state="failed"))
    assert (given_up.attempts, given_up.error) == (2, "refused again")


def test_the_claim_of_a_dead_process_runs_out_and_is_no_try(database: Database) -> None:
    dead, alive = Outbox(database), Outbox(database)
    dead.add("k", "ntfy", NOTICE, now=NOON)
    first = only(dead.claim(1, NOON))
    assert alive.claim(1, NOON + LEASE_SECONDS - 1) == ()
    again = only(alive.claim(1, NOON + LEASE_SECONDS))
    assert (again.id, again.attempts, again.interrupted) == (first.id, 0, 1)


def test_a_claim_holds_for_one_that_looked_at_the_clock_before_it_and_came_after_it(database: Database) -> None:
    quick, held_up = Outbox(database), Outbox(database)
    quick.add("k", "ntfy", NOTICE, now=NOON - 10)
    assert quick.claim(1, NOON)
    assert held_up.claim(1, NOON - 0.5) == ()
    assert held_up.claim(1, NOON - 3 * LEASE_SECONDS)  # nobody is held up for that long: the clock was set back


def test_who_lost_its_claim_can_no_longer_decide(database: Database) -> None:
    late, other = Outbox(database), Outbox(database)
    late.add("k", "ntfy", NOTICE, now=NOON)
    lost = only(late.claim(1, NOON)).id
    assert other.claim(1, NOON + LEASE_SECONDS)
    assert not late.done(lost)
    assert not late.failed(lost, "x", None)
    assert only(other.list()).state == "sending"
    assert other.done(lost)


def test_a_delivery_that_was_broken_off_is_due_at_once_and_counted_apart(outbox: Outbox) -> None:
    outbox.add("k", "ntfy", NOTICE, now=NOON)
    assert outbox.interrupted(only(outbox.claim(1, NOON)).id, "cut off", now=NOON + 1)
    again = only(outbox.claim(1, NOON + 1))
    assert (again.attempts, again.interrupted) == (0, 1)


def test_one_channel_is_sent_in_order_and_does_not_hold_up_another(outbox: Outbox) -> None:
    for key, channel in (("1", "ntfy"), ("2", "ntfy"), ("3", "telegram")):
        outbox.add(key, channel, NOTICE, now=NOON)
    assert [entry.key for entry in outbox.claim(5, NOON)] == ["1", "3"]
    assert outbox.claim(5, NOON) == ()
    assert outbox.done(only(outbox.list(state="pending")).id - 1)
    assert [entry.key for entry in outbox.claim(5, NOON)] == ["2"]


def test_channels_that_are_not_there_are_left_alone(outbox: Outbox) -> None:
    outbox.add("1", "gone", NOTICE, now=NOON)
    outbox.add("2", "ntfy", NOTICE, now=NOON)
    assert [entry.key for entry in outbox.claim(5, NOON, channels=["ntfy"])] == ["2"]
    assert outbox.next_due(channels=["ntfy"]) is None
    assert outbox.next_due() == NOON


@pytest.mark.parametrize("jump", [-86_400.0, 86_400.0])
def test_a_clock_that_jumps_a_day_holds_nothing_up(database: Database, jump: float) -> None:
    before = Outbox(database)
    for key in ("claimed", "waiting"):
        before.add(key, key, NOTICE, now=NOON)
    claims = {entry.key: entry.id for entry in before.claim(5, NOON)}
    before.failed(claims["waiting"], "x", NOON + 30)
    after = Outbox(database)
    assert {entry.key for entry in after.claim(5, NOON + jump)} == {"claimed", "waiting"}


def test_a_retry_is_not_early_while_the_clock_is_right(outbox: Outbox) -> None:
    outbox.add("k", "ntfy", NOTICE, now=NOON)
    outbox.failed(only(outbox.claim(1, NOON)).id, "x", NOON + LONGEST_WAIT)
    assert outbox.claim(1, NOON) == ()


@pytest.mark.req("X-05")
def test_many_that_claim_at_once_get_each_notice_once(database: Database) -> None:
    Outbox(database).add("lone", "lone", NOTICE, now=NOON)
    for number in range(12):
        Outbox(database).add(f"{number}", f"channel {number}", NOTICE, now=NOON)
    with ThreadPoolExecutor(6) as pool:
        taken = list(pool.map(lambda _: Outbox(database).claim(4, NOON), range(24)))
    keys = [entry.key for entries in taken for entry in entries]
    assert sorted(keys) == sorted(["lone", *(str(number) for number in range(12))])


CLAIMS = """
import sys
from forge.store.database import Database
from forge.store.outbox import Outbox
database = Database.open(sys.argv[1])
outbox = Outbox(database)
print(outbox.claim(1, float(sys.argv[2]))[0].key, flush=True)
import os; os._exit(9)
"""


@pytest.mark.req("X-04")
def test_a_process_that_is_killed_with_a_claim_loses_nothing(url: str, outbox: Outbox) -> None:
    outbox.add("k", "ntfy", NOTICE, now=NOON)
    killed = subprocess.run(
        [sys.executable, "-c", CLAIMS, url, str(NOON)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (killed.returncode, killed.stdout) == (9, "k\n")
    assert outbox.claim(1, NOON + 1) == ()
    assert only(outbox.claim(1, NOON + LEASE_SECONDS + 1)).interrupted == 1


def test_what_is_given_back_is_as_it_was(outbox: Outbox) -> None:
    outbox.add("k", "ntfy", NOTICE, now=NOON)
    assert outbox.release(only(outbox.claim(1, NOON)).id)
    again = only(outbox.claim(1, NOON))
    assert (again.attempts, again.interrupted, again.error) == (0, 0, None)


def test_a_database_from_before_the_outbox_is_brought_up_to_date(url: str) -> None:
    older = Database.open(url)
    with older.transaction() as connection:
        connection.execute(text("INSERT INTO topics (name, last) VALUES ('kept', 7)"))
        for table in ("outbox", "repositories", "owners", "shares", "audit", "operation_cursors"):
            connection.execute(text(f"DROP TABLE {table}"))
        for column in ("scopes", "expires"):
            connection.execute(text(f"ALTER TABLE keys DROP COLUMN {column}"))
        connection.execute(text("ALTER TABLE workers DROP COLUMN serves"))
        connection.execute(text("UPDATE forge_schema SET version_num = '0001'"))
    older.close()
    newer = Database.open(url)
    assert Outbox(newer).add("k", "ntfy", NOTICE, now=NOON)
    with newer.reading() as connection:
        assert connection.execute(text("SELECT last FROM topics WHERE name = 'kept'")).scalar() == 7
    newer.close()
