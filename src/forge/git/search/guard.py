"""Runs expressions that may take for ever in helper processes, which the kernel ends when time is up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import IO, TYPE_CHECKING, Generic, Self, TypeVar

from forge.errors import Upstream
from forge.git.process import children
from forge.git.search import lines
from forge.git.search.query import TimeUp

if TYPE_CHECKING:
    from forge.git.search.dialect import Pattern
    from forge.git.search.lines import Hit

_BATCH_TEXTS = 64
_BATCH_BYTES = 128 << 10
_MOST_HELPERS = 4

T = TypeVar("T")


class HelperFailed(Upstream):
    code = "search_helper_failed"


class Helpers(Generic[T]):
    """Up to one process for each processor, started when there is work for it. Answers come in the order asked."""

    def __init__(self, pattern: Pattern, *, limit: int, deadline: float) -> None:
        self._first_message = *pattern.key, limit
        self._deadline = deadline
        self._helpers: list[subprocess.Popen[bytes]] = []
        self._waiting: deque[tuple[subprocess.Popen[bytes], list[tuple[T, bytes]]]] = deque()
        self._most = min(os.cpu_count() or 1, _MOST_HELPERS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for helper in self._helpers:
            children.end(helper)

    def hits(self, texts: Iterable[tuple[T, bytes]]) -> Iterator[tuple[T, bytes, list[Hit]]]:
        """For each text what was found in it, with whatever came along with the text."""
        batch: list[tuple[T, bytes]] = []
        size = 0
        for each in texts:
            batch.append(each)
            size += len(each[1])
            if len(batch) >= _BATCH_TEXTS or size >= _BATCH_BYTES:
                yield from self._passed_on(batch)
                batch, size = [], 0
        if batch:
            yield from self._passed_on(batch)
        while self._waiting:
            yield from self._answered()

    def _passed_on(self, batch: list[tuple[T, bytes]]) -> Iterator[tuple[T, bytes, list[Hit]]]:
        if len(self._waiting) == self._most:
            yield from self._answered()
        busy = [helper for helper, _ in self._waiting]
        free = next((helper for helper in self._helpers if helper not in busy), None) or self._started()
        try:
            lines.send(_pipe(free.stdin), [text for _, text in batch])
        except OSError as e:
            raise self._ended(free) from e
        self._waiting.append((free, batch))

    def _answered(self) -> Iterator[tuple[T, bytes, list[Hit]]]:
        helper, batch = self._waiting.popleft()
        answer = lines.receive(_pipe(helper.stdout))
        if answer is None:
            raise self._ended(helper)
        for (item, text), hits in zip(batch, answer, strict=True):
            yield item, text, hits

    def _started(self) -> subprocess.Popen[bytes]:
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeUp
        try:
            helper = subprocess.Popen(
                [sys.executable, "-I", "-S", lines.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as e:
            raise HelperFailed(f"No helper process could be started: {e}", hint="Try again later.") from e
        self._helpers.append(helper)
        try:
            lines.send(_pipe(helper.stdin), (*self._first_message, seconds))
        except OSError as e:
            raise self._ended(helper) from e
        return helper

    def _ended(self, helper: subprocess.Popen[bytes]) -> Exception:
        if helper.wait() == -signal.SIGALRM:
            return TimeUp()
        return HelperFailed(
            f"The helper process of the search ended with code {helper.returncode}.", hint="Simplify the expression."
        )


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream
