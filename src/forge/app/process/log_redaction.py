"""What any part of the process logs, libraries included, is logged without secrets."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from forge.sessions.redaction import Redactor

_FORMATTER = logging.Formatter()


class _Redaction:
    """Makes the records of the process. A filter of a logger would miss those of the loggers below it."""

    def __init__(self, made: Callable[..., logging.LogRecord]) -> None:
        self._made = made
        self._known: tuple[Redactor, ...] = ()
        self._lock = threading.Lock()

    def add(self, known: Redactor) -> None:
        with self._lock:
            self._known = (*self._known, known)

    def remove(self, known: Redactor) -> None:
        with self._lock:
            self._known = tuple(each for each in self._known if each is not known)

    def __call__(self, *about: Any, **more: Any) -> logging.LogRecord:
        record = self._made(*about, **more)
        if self._known:
            record.msg, record.args = self._text(_message(record)), ()
            if record.exc_info and record.exc_info[0] is not None:
                # Handlers take this text for that of the exception, which they are not given any more.
                record.exc_text = self._text(_FORMATTER.formatException(record.exc_info))
                record.exc_info = None
            if record.stack_info:
                record.stack_info = self._text(record.stack_info)
        return record

    def _text(self, text: str) -> str:
        for known in self._known:
            text = known.text(text)
        return text


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):  # words that do not fit; a handler would print them as they are
        return f"{record.msg} {record.args}"


_installing = threading.Lock()
_redaction: list[_Redaction] = []


@contextmanager
def redacted_logs(known: Redactor) -> Iterator[None]:
    """Meanwhile every record is free of what `known` takes for a secret, before any handler sees it."""
    with _installing:
        if not _redaction:
            _redaction.append(_Redaction(logging.getLogRecordFactory()))
            logging.setLogRecordFactory(_redaction[0])
    _redaction[0].add(known)
    try:
        yield
    finally:
        _redaction[0].remove(known)
