"""A person's reply to open questions: which words answer which question."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]
# A mark with a digit after it belongs to a number or a time, such as 2.5 or 1:30; a dash makes a range.
_NUMBERED = re.compile(r"^\s*(\d{1,2})[.):=](?!\d)\s*(\S.*)$")
ALL = "all"


def answered(text: str, open_: Sequence[Mapping[str, Any]]) -> list[Json]:
    """`1: …` lines answer by number; anything else answers the first open question, or all with `all: …`.

    What comes without an open question is a remark, which the next draft takes into account.
    """
    if not open_:
        return [{"question": "", "unknown": "", "answer": text.strip()}]
    if text.lower().startswith(f"{ALL}:"):
        return [_answer(item, text.partition(":")[2]) for item in open_]
    found: dict[int, list[str]] = {}
    before: list[str] = []
    current: int | None = None
    for line in text.splitlines():
        numbered = _NUMBERED.match(line)
        if numbered and 1 <= int(numbered[1]) <= len(open_):
            current = int(numbered[1])
            found[current] = [numbered[2]]
        elif current is not None and line.strip():
            found[current].append(line.strip())
        elif line.strip():
            before.append(line.strip())
    if not found:
        return [_answer(open_[0], text)]
    remark = [{"question": "", "unknown": "", "answer": " ".join(before)}] if before else []
    return [*remark, *(_answer(open_[number - 1], " ".join(lines)) for number, lines in found.items())]


def _answer(item: Mapping[str, Any], text: str) -> Json:
    return {"question": item["question"], "unknown": item["unknown"], "answer": text.strip()}
