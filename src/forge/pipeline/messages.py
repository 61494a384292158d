"""What a person wrote into the chat: enough words to begin with, and the links among them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from forge.counts import counted
from forge.errors import InvalidInput

MIN_WORDS = 10
# Chinese and Japanese are written without spaces; each character counts there.
_WORD = re.compile(
    r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+"
)
_LINK = re.compile(r"https?://[^\s<>\"'`|\\^{}]+", re.IGNORECASE)
_AFTER = ".,;:!?*_~"
_PAIRS = {")": "(", "]": "["}


class BrainDumpTooShort(InvalidInput):
    """Too few words to distill anything from."""

    code = "brain_dump_too_short"


def words(messages: Iterable[str]) -> int:
    """How many words the messages have together. A sign alone is no word."""
    return sum(any(map(str.isalnum, word)) for message in messages for word in _WORD.findall(message))


def check(messages: Iterable[str], *, minimum: int = MIN_WORDS) -> int:
    """The number of words, if they are enough."""
    count = words(messages)
    if count < minimum:
        raise BrainDumpTooShort(
            f"The brain dump has {counted(count, 'word')}; at least {minimum} are needed.",
            hint="Write more about what you want. Only chat messages count, not files.",
        )
    return count


def links(text: str) -> tuple[str, ...]:
    """The web addresses in a text, each once, without the punctuation of the sentence around them."""
    return tuple(dict.fromkeys(link for found in _LINK.findall(text) if len(link := _trimmed(found)) > len("https://")))


def _trimmed(link: str) -> str:
    while link:
        last = link[-1]
        unpaired = last in _PAIRS and link.count(last) > link.count(_PAIRS[last])
        if last not in _AFTER and not unpaired:
            break
        link = link[:-1]
    return link
