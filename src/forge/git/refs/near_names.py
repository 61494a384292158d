"""Names that somebody may have meant by one that is not there."""

from __future__ import annotations

from collections.abc import Collection

_ALIKE = 70
_MOST = 3


def did_you_mean(name: str, known: Collection[str]) -> str:
    """The question for a hint, such as `Did you mean ai/cache? `, or nothing."""
    from rapidfuzz import fuzz, process  # noqa: PLC0415 - only what went wrong needs it

    found = process.extract(name, list(known), scorer=fuzz.ratio, score_cutoff=_ALIKE, limit=_MOST)
    names = [choice for choice, _, _ in found]
    if not names:
        last = name.rpartition("/")[2]
        names = sorted(each for each in known if last and each.rpartition("/")[2] == last)[:_MOST]
    return f"Did you mean {' or '.join(names)}? " if names else ""
