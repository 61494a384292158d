"""Runs another board's command line program: words, never a shell line; no input; ten seconds at most."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from forge.boards.errors import BoardFailed, BoardInvalid
from forge.sessions.redaction import Redactor

SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Finished:
    code: int
    output: str
    errors: str


def command_words(board: str, settings: Mapping[str, Any], default: str) -> tuple[str, ...]:
    """`command` of the settings: a list of words, or one program."""
    given = settings.get("command") or default
    words = [given] if isinstance(given, str) else given
    if not isinstance(words, list | tuple) or not words or not all(isinstance(word, str) and word for word in words):
        raise BoardInvalid(f"boards.{board}.command must be a list of words", hint=f"for example [{default}]")
    return tuple(words)


async def run(board: str, words: Sequence[str], *, cwd: str | None, seconds: float = SECONDS) -> Finished:
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            cwd=cwd,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BoardFailed(
            f"{board} cannot be started: {reason}", hint=f"install it, or disable boards.{board}"
        ) from error
    try:
        async with asyncio.timeout(seconds):
            output, errors = await process.communicate()
    except TimeoutError as error:
        raise BoardFailed(f"{board} gave no answer within {seconds:g} s", hint="see whether it runs by hand") from error
    finally:
        await _end(process)
    return Finished(process.returncode or 0, _text(output), _text(errors))


async def _end(process: asyncio.subprocess.Process) -> None:
    """It and what it started, whatever became of them."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def refused(board: str, reason: str, *, hint: str = "") -> BoardFailed:
    said = " ".join(Redactor().text(reason).split())[:300] or "no reason given"
    return BoardFailed(f"{board} refused: {said}", hint=hint or f"see whether {board} works by hand")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
