"""Replaces secrets in texts and JSON values.

The same text always gives the same result, and a result is not changed by a second pass, so a stored conversation
is byte for byte what was sent.
"""

from __future__ import annotations

import re
import string
import threading
from collections.abc import Iterable
from typing import Any

from forge.sessions.redaction import named_values, random_words, shapes

MARK = "[redacted:"
_SHORTEST = 8
# Other letters may take more characters in lower case; places would not be the same any more.
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

Span = tuple[int, int, str]


class Redactor:
    """Knows what secrets look like, and the ones that this very process uses."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._lock = threading.Lock()
        self._secrets: set[str] = set()
        self._own: re.Pattern[str] | None = None
        self.learn(*secrets)

    def learn(self, *secrets: str) -> None:
        """Know these as well, from now on and wherever this redactor is used. Short ones would hit too much."""
        with self._lock:
            self._secrets |= {secret for secret in secrets if len(secret) >= _SHORTEST}
            known = sorted(self._secrets, key=len, reverse=True)
            self._own = re.compile("|".join(map(re.escape, known))) if known else None

    def text(self, text: str) -> str:
        # What is replaced may leave a secret's beginning free beside it; a few passes settle that.
        for _ in range(5):
            once = self._once(text)
            if once == text:
                break
            text = once
        return text

    def _once(self, text: str) -> str:
        if self._own is not None:
            text = self._own.sub(f"{MARK}key]", text)
        long = shapes.long_words(text)
        if long or "PRIVATE KEY" in text:
            text = _replaced(text, shapes.spans(text, long))
        text = _replaced(text, named_values.spans_in_addresses(text))
        lower = text.lower() if text.isascii() else text.translate(_LOWER)
        text = _replaced(text, named_values.spans(text, lower))
        return _replaced(text, random_words.spans(text, self.text)) if long else text

    def is_own(self, value: Any) -> bool:
        """Whether a JSON value holds a secret of this very process, unlike what only looks like one."""
        match value:
            case str():
                return self._own is not None and self._own.search(value) is not None
            case dict():
                return any(map(self.is_own, value.values()))
            case list() | tuple():
                return any(map(self.is_own, value))
        return False

    def json(self, value: Any) -> Any:
        """The same for every string in a JSON value; keys are names, not content."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {key: self.json(item) for key, item in value.items()}
            case list() | tuple():
                return [self.json(item) for item in value]
        return value


def _replaced(text: str, spans: Iterable[Span]) -> str:
    """The text with a mark in place of each span; of two that overlap, the one that begins first and is longer."""
    found = sorted(spans, key=lambda span: (span[0], -span[1]))
    if not found:
        return text
    parts, at = [], 0
    for start, end, name in found:
        if start >= at:
            parts += [text[at:start], f"{MARK}{name}]"]
            at = end
    return "".join([*parts, text[at:]])
