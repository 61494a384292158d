"""Test runs on record, by the files, the command and the environment they ran with; the last run of each branch."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from forge.git.process import disk
from forge.tools.suites.cases import Case, Result
from forge.tools.suites.outcome import Outcome, gravest

if TYPE_CHECKING:
    from forge.git import WorkInProgressVFS
    from forge.json_value import Json
    from forge.tools.suites.combined import CombinedRun
    from forge.tools.suites.suite import Suite

_FORM = 1
_KEPT = 300
_PRINTED = 32_000


@dataclass(frozen=True, slots=True)
class SuiteRecord:
    command: str
    outcome: Outcome
    exit_code: int
    passed: int
    failed: int
    skipped: int
    flaky: tuple[str, ...] = ()
    missing: str = ""
    lacks_runner: bool = False
    printed: str = ""
    """The end of what the runner printed for people."""


@dataclass(frozen=True, slots=True)
class Record:
    """One run of the tests of a branch. `tests` are those that the runners name, failed ones first."""

    key: str
    branch: str
    commit: str | None
    words: tuple[str, ...]
    """What selected some of the tests; empty for all of them."""
    started: float
    seconds: float
    suites: tuple[SuiteRecord, ...]
    tests: tuple[Case, ...] = ()
    content: str = ""
    """The mark of the files that were tested."""
    stopped: str = ""
    """Why the run was ended before it was over."""

    @property
    def outcome(self) -> Outcome:
        return Outcome.CANNOT_RUN if self.stopped else gravest(each.outcome for each in self.suites)

    @property
    def command(self) -> str:
        return "; ".join(each.command for each in self.suites)

    @property
    def passed(self) -> int:
        return sum(each.passed for each in self.suites)

    @property
    def failed(self) -> int:
        return sum(each.failed for each in self.suites)

    @property
    def skipped(self) -> int:
        return sum(each.skipped for each in self.suites)

    @property
    def flaky(self) -> tuple[str, ...]:
        return tuple(name for each in self.suites for name in each.flaky)

    @property
    def missing(self) -> str:
        parts = [f"{each.missing} (`{each.command}`)" for each in self.suites if each.missing]
        return self.stopped or "; ".join(parts)

    @property
    def lacks_runner(self) -> bool:
        return any(each.lacks_runner for each in self.suites)

    @property
    def is_reusable(self) -> bool:
        """What is missing today may be there tomorrow; what ran says the same again."""
        return self.outcome is not Outcome.CANNOT_RUN

    def to_json(self) -> Json:
        return {"form": _FORM, **asdict(self)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        told = {name: values[name] for name in cls.__dataclass_fields__ if name in values}
        suites = (SuiteRecord(**{**each, "flaky": tuple(each["flaky"])}) for each in told["suites"])
        told["suites"] = tuple(_with_outcome(each) for each in suites)
        told["tests"] = tuple(Case(**{**each, "result": Result(each["result"])}) for each in told["tests"])
        return cls(**{**told, "words": tuple(told["words"])})


def _with_outcome(read: SuiteRecord) -> SuiteRecord:
    return SuiteRecord(**{**asdict(read), "flaky": read.flaky, "outcome": Outcome(read.outcome)})


def suite_records(done: CombinedRun) -> tuple[SuiteRecord, ...]:
    return tuple(
        SuiteRecord(
            run.command,
            run.outcome,
            run.exit_code,
            run.counts.passed,
            run.counts.failed,
            run.counts.skipped,
            run.flaky,
            run.missing,
            run.lacks_runner,
            printed[-_PRINTED:],
        )
        for run, printed in zip(done.runs, done.printed, strict=True)
    )


def record_key(content: str, found: Sequence[Suite], words: Sequence[str], environment: str) -> str:
    parts = [content, environment, *(suite.command for suite in found), "--", *words]
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Records:
    """Files in the repository's own directory; every checkout, process and face finds them there."""

    def __init__(
        self,
        common_dir: Path,
        redact: Callable[[str], str],
        environment: Callable[[WorkInProgressVFS], str] = lambda _: "",
    ) -> None:
        """`redact` takes secrets out of what is kept. `environment` names what the tests of a workspace run with."""
        self._folder = common_dir / "forge" / "test-runs"
        self._redact = redact
        self.environment = environment

    def get(self, key: str) -> Record | None:
        return self._read(self._folder / f"{key}.json")

    def last(self, branch: str) -> Record | None:
        """Of this branch, whatever it ran with."""
        return self._read(self._pointer(branch))

    def redacted(self, record: Record) -> Record:
        """What the tests printed may hold secrets; a record keeps none."""
        return replace(
            record,
            suites=tuple(replace(each, printed=self._redact(each.printed)) for each in record.suites),
            tests=tuple(replace(each, message=self._redact(each.message)) for each in record.tests),
        )

    def save(self, record: Record) -> None:
        data = json.dumps(record.to_json()).encode()
        with disk.reporting():
            self._folder.mkdir(parents=True, exist_ok=True)
            if record.is_reusable:
                disk.replace_synced(self._folder / f"{record.key}.json", data)
            disk.replace_synced(self._pointer(record.branch), data)
            self._drop_old()

    def _pointer(self, branch: str) -> Path:
        name = hashlib.sha256(os.fsencode(branch)).hexdigest()[:32]
        return self._folder / f"last-{name}.json"

    def _read(self, path: Path) -> Record | None:
        """None for what cannot be read or another version wrote, too: the tests just run again."""
        try:
            values = json.loads(path.read_bytes())
            return Record.from_json(values) if values["form"] == _FORM else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def _drop_old(self) -> None:
        files = sorted(self._folder.glob("*.json"), key=_changed, reverse=True)
        for path in files[_KEPT:]:
            with suppress(FileNotFoundError):
                path.unlink()


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process dropped it
        return 0.0
