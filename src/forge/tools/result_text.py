"""How results look to a model: numbered lines, pages with a word on how to read on, and one cap for all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from forge.counts import counted
from forge.tools.tool import ToolFailed

if TYPE_CHECKING:
    from forge.git import VFS

RESULT_BYTES = 30_000
"""No result is longer."""
PAGE_BYTES = 26_000
"""What a page of a file or list may take, so that header and footer fit under the cap."""
LONGEST_LINE = 1_000


def text_of(vfs: VFS, path: str) -> str:
    """The text of an existing file, or a clear word on why there is none."""
    found = vfs.entry(path)
    data = vfs.read_bytes(path)
    if found is not None and found.is_symlink:
        raise ToolFailed(f"{path} is a symbolic link to {data.decode('utf-8', 'replace')}. Use that file.")
    if b"\0" in data[:8000]:
        raise ToolFailed(f"{path} is a binary file of {len(data):,} bytes; it has no lines to show or edit.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as e:
        raise ToolFailed(
            f"{path} is not UTF-8: byte {e.start:,} of {len(data):,} is {data[e.start]:#04x}. It cannot be shown or "
            "edited as text; write_file can replace it as a whole."
        ) from e


def lines_of(text: str) -> list[str]:
    """Lines without their ends. Only line feeds count, as in git and in every editor's line numbers."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def numbered(lines: Sequence[str], first: int) -> list[str]:
    return [f"{number:>6}\t{clipped(line)}" for number, line in enumerate(lines, first)]


def clipped(line: str, most: int = LONGEST_LINE) -> str:
    return line if len(line) <= most else f"{line[:most]}… [{len(line) - most:,} more characters]"


def fitting(rows: Sequence[str], budget: int = PAGE_BYTES) -> int:
    """How many of `rows`, each with a line end, fit into `budget` bytes; at least one."""
    used = 0
    for count, row in enumerate(rows):
        used += len(row.encode("utf-8", "replace")) + 1
        if used > budget:
            return max(count, 1)
    return len(rows)


def capped(text: str, most: int = RESULT_BYTES) -> str:
    """`text` as valid Unicode within the cap; the last line then tells what was cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most:
        return data.decode("utf-8")
    kept = data[: most - 200].decode("utf-8", "ignore")
    return f"{kept}\n[Cut here: {len(data):,} bytes in all, {most:,} are shown at most. Ask for a smaller part.]"


def tail(text: str, budget: int) -> str:
    """The end of `text`, whole lines where possible, with a word on what is missing."""
    lines = [clipped(line) for line in lines_of(text)]
    kept = fitting(list(reversed(lines)), budget)
    shown = "\n".join(lines[len(lines) - kept :]) if lines else ""
    missing = len(lines) - kept
    return (
        f"[{counted(missing, 'line before this is', 'lines before this are')} not shown]\n{shown}"
        if lines and missing > 0
        else shown
    )


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
