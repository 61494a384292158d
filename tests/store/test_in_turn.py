"""Writers of one process: in the order in which they came."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from forge.store.write_lock import InTurn, write_in_turn

pytestmark = pytest.mark.req("P-14")


def waiting(lock: InTurn) -> int:
    return len(lock._waiting)


def test_who_has_waited_longest_goes_first() -> None:
    lock, order = InTurn(), list[int]()

    def work(number: int) -> None:
        with lock:
            order.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    with lock:
        for number, thread in enumerate(threads, 1):
            thread.start()
            while waiting(lock) < number:
                pass
    for thread in threads:
        thread.join(10)
    assert order == list(range(20))


def test_a_writer_that_fails_lets_the_next_one_in() -> None:
    lock = InTurn()
    with pytest.raises(ValueError, match="no"), lock:
        raise ValueError("no")
    with lock:
        assert waiting(lock) == 0


def test_an_engine_lets_one_transaction_write_at_a_time_and_reads_pass(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'x.db'}", connect_args={"timeout": 0.0})
    with engine.begin() as connection:
        connection.execute(text("PRAGMA journal_mode=WAL"))
        connection.execute(text("CREATE TABLE counts (n INTEGER)"))
    write_in_turn(engine)
    failed: list[Exception] = []

    def work() -> None:
        try:
            for _ in range(20):
                with engine.begin() as connection:
                    connection.execute(text("INSERT INTO counts VALUES (1)"))
                    connection.execute(text("UPDATE counts SET n = n + 1"))
        except Exception as error:  # noqa: BLE001 - told by the test
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    with engine.begin() as writer:
        writer.execute(text("INSERT INTO counts VALUES (0)"))
        for thread in threads:
            thread.start()
        with engine.connect() as reader:
            assert reader.execute(text("SELECT count(*) FROM counts")).scalar() == 0
    for thread in threads:
        thread.join(30)
    # Without waiting, SQLite itself would have refused the second writer at once.
    assert not failed
    with engine.connect() as reader:
        assert reader.execute(text("SELECT count(*) FROM counts")).scalar() == 8 * 20 + 1
    engine.dispose()
