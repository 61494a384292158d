"""What an agent asks a person at a terminal: who can be asked there, and what they type."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence


def can_ask(*, json: bool) -> bool:
    """Whether a person sits here: they read prose and can type."""
    return not json and sys.stdin.isatty() and sys.stdout.isatty()


def says_yes(question: str, *, json: bool) -> bool:
    """Ask at the terminal, even where standard input is something else; no where there is none."""
    if json or not sys.stderr.isatty():
        return False
    try:
        with (
            open("/dev/tty", encoding="utf-8", errors="replace") as keys,
            open("/dev/tty", "w", encoding="utf-8") as screen,
        ):
            screen.write(f"{question} [y/N] ")
            screen.flush()
            return keys.readline().strip().casefold() in ("y", "yes")
    except OSError:
        return False


async def typed_line() -> str | None:
    """What the person types; None at the end of the input. Unlike a thread that reads, it can be given up."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    # A terminal hands over whole lines, so this does not wait.
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None


def meant(text: str, choices: Sequence[str]) -> str:
    """A choice by its number, else the words themselves."""
    said = text.strip()
    if said.isascii() and said.isdigit() and 1 <= int(said) <= len(choices):
        return choices[int(said) - 1]
    return said
