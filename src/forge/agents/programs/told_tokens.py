"""Tokens that an answer of a model API tells of, whichever API it is: read off the answer as it passes."""

from __future__ import annotations

import re

from forge.sessions.messages import Usage

_KEPT = 64 << 10
_FIGURE = re.compile(rb'"(\w+)"\s*:\s*(\d{1,12})\b')
_INPUT = (b"input_tokens", b"prompt_tokens", b"promptTokenCount")
_OUTPUT = (b"output_tokens", b"completion_tokens", b"candidatesTokenCount")
_READ = (b"cached_tokens", b"cachedContentTokenCount")
_READ_BESIDE, _WRITTEN_BESIDE = b"cache_read_input_tokens", b"cache_creation_input_tokens"
"""Anthropic counts these beside the input, others within it."""


class ToldTokens:
    """Keeps the beginning and the end of an answer: that is where all of them say what it took."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""

    def hear(self, data: bytes) -> None:
        room = _KEPT - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[max(room, 0) :])[-_KEPT:]

    def usage(self) -> Usage:
        """Figures grow while an answer is streamed, so the largest of each name counts."""
        found: dict[bytes, int] = {}
        for part in (self._head, self._tail):
            for name, value in _FIGURE.findall(part):
                found[name] = max(found.get(name, 0), int(value))
        read, written = found.get(_READ_BESIDE, 0), found.get(_WRITTEN_BESIDE, 0)
        return Usage(
            _largest(found, _INPUT) + read + written,
            _largest(found, _OUTPUT),
            read or _largest(found, _READ),
            written,
        )


def _largest(found: dict[bytes, int], names: tuple[bytes, ...]) -> int:
    return max(found.get(name, 0) for name in names)
