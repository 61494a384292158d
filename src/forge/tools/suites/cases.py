"""One test of one run: what became of it, where it is, how long it took and what it said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

MOST = 100_000
_LONGEST_MESSAGE = 4_000
_LONGEST_NAME = 500


class Result(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


Results = Mapping[str, Result]


@dataclass(frozen=True, slots=True)
class Case:
    """`file` and `line` are where the test failed, else where it is defined; empty and 0 if unknown."""

    name: str
    result: Result
    file: str = ""
    line: int = 0
    seconds: float | None = None
    message: str = ""
    """What the runner says about a failure or a skip, the end of it where that is long."""
    flaky: bool = False
    """It failed first and passed when it was run again."""
    selector: str = ""
    """The word by which its runner selects this test alone."""
    broken: bool = False
    """No test, but a file or package that could not be loaded, so that none of its tests ran."""


def read_case(
    name: str,
    result: Result,
    *,
    file: object = "",
    line: object = 0,
    seconds: object = None,
    message: object = "",
    selector: str = "",
    broken: bool = False,
) -> Case:
    """From the values of a report, which may be of any type."""
    return Case(
        name[:_LONGEST_NAME] or "(unnamed)",
        result,
        file if isinstance(file, str) else "",
        _whole(line),
        _seconds(seconds),
        message.strip()[-_LONGEST_MESSAGE:] if isinstance(message, str) else "",
        selector=selector,
        broken=broken,
    )


def _whole(value: object) -> int:
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else 0
    return value if isinstance(value, int) and 0 < value < 1_000_000_000 else 0


def _seconds(value: object) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return number if 0 <= number < 1_000_000_000 else None


def unique(found: Iterable[Case]) -> tuple[Case, ...]:
    """Each name once, in the order they came; of two with one name, the failed one."""
    kept: dict[str, Case] = {}
    for each in found:
        before = kept.get(each.name)
        if before is None or each.result is Result.FAILED or before.result is not Result.FAILED:
            kept[each.name] = each
        if len(kept) >= MOST:
            break
    return tuple(kept.values())


def by_name(found: Iterable[Case]) -> Results:
    return {each.name: each.result for each in found}
