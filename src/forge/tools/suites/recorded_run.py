"""Running the suites of a workspace once for the same files, command and environment; the record answers after that."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from forge.git import WorkInProgressVFS
from forge.tools.suites.combined import RunLine, run_all
from forge.tools.suites.places import by_path, placed
from forge.tools.suites.record import Record, Records, record_key, suite_records
from forge.tools.suites.suite import Suite


@dataclass(frozen=True, slots=True)
class RecordedRun:
    record: Record
    reused: bool
    """Nothing ran: the same files were tested by the same command before."""


def run_recorded(
    found: Sequence[Suite],
    vfs: WorkInProgressVFS,
    run_line: RunLine,
    *,
    records: Records | None,
    words: Sequence[str] = (),
    pattern: str = "",
    fresh: bool = False,
    stopped: Callable[[], str] = str,
    keeps: Callable[[], bool] = lambda: True,
) -> RecordedRun:
    """`stopped` says afterwards why the run was ended early, `keeps` whether it may be on record.

    `fresh` runs them whatever is on record.
    """
    content = vfs.content_mark()
    selection = [*words, *([f"pattern {pattern}"] if pattern else [])]

    def key_now() -> str:
        return record_key(content, found, selection, records.environment(vfs) if records is not None else "")

    known = records.get(key_now()) if records is not None and not fresh else None
    if known is not None:
        return RecordedRun(known, reused=True)
    started, clock = time.time(), time.monotonic()
    done = by_path(run_all(found, run_line, words, pattern=pattern, again=True), vfs)
    record = Record(
        key_now(),  # a run may set up its environment first, or fail to
        vfs.branch,
        vfs.base,
        (*words, *([pattern] if pattern else [])),
        started,
        round(time.monotonic() - clock, 3),
        suite_records(done),
        placed(done.cases, vfs),
        content,
        stopped(),
    )
    if records is not None:
        record = records.redacted(record)
        if keeps():
            records.save(record)
    return RecordedRun(record, reused=False)
