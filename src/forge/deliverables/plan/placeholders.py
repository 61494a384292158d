"""Words that stand where something should have been said."""

from __future__ import annotations

import re
from collections.abc import Iterable

# Never content: each says that the text is not finished.
_UNFINISHED = re.compile(r"\bT\.?B\.?[DCA]\b\.?|\blorem ipsum\b|\bdolor sit amet\b|\bX{3,}\b|\?{3,}", re.IGNORECASE)
# `{{ name }}` is none: a plan may be about templates, and nothing in it is ever read as one.
# Content where a person wrote it first ("launch the TODO app"), otherwise a gap.
_GAP = re.compile(
    r"\bTO-?DO\b|\bFIXME\b"
    r"|[\[<](?:insert|your|add|fill|enter|placeholder|name|date|amount|to be)\b[^\]>\n]*[\]>]"
    r"|\bplaceholder (?:text|here)\b|\bto be (?:determined|filled in|added)\b",
    re.IGNORECASE | re.MULTILINE,
)
_SHOUTED = re.compile(r"TO-?DO|FIXME")


def placeholders(text: str, own_words: str = "", *, quoted: Iterable[str] = ()) -> tuple[str, ...]:
    """What in `text` is no content. Gaps that `own_words`, which people wrote, have as well are theirs, and so is
    everything in `quoted`, where the text repeats it word for word: a criterion may forbid a word by naming it.
    """
    for quote in quoted:
        text = text.replace(quote.rstrip("."), "")
    unfinished = [found[0] for found in _UNFINISHED.finditer(text)]
    gaps = [found[0] for found in _GAP.finditer(text) if _is_gap(found[0])]
    return tuple(dict.fromkeys([*unfinished, *(gap for gap in gaps if gap not in own_words)]))


def _is_gap(found: str) -> bool:
    """`todo` is a word like any other in small letters: a to-do list may be part of a plan."""
    return bool(_SHOUTED.fullmatch(found)) if found.upper().replace("-", "") in {"TODO", "FIXME"} else True
