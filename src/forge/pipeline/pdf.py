"""The text of a PDF, read in a confined process with bounds on its time, memory, pages and output."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from forge.counts import counted
from forge.pipeline import pdf_child
from forge.sandbox import CommandResult, Limits, SandboxFailed, run
from forge.sandbox.view import shows

_MIB = 1 << 20
_MEMORY = 1024 * _MIB
_TROUBLES = {
    "encrypted": "encrypted PDF: it needs a password",
    "memory": "PDF given up: reading it takes more memory than is allowed",
}
_BROKEN = "broken PDF: it cannot be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How far a single PDF is read."""

    seconds: float = 30
    pages: int = 500
    characters: int = 400_000


@dataclass(frozen=True, slots=True)
class Extract:
    """What a PDF says. `reason` is why there is nothing to read; `note` what is missing of it."""

    text: str = ""
    note: str = ""
    reason: str = ""
    pages: tuple[int, ...] = ()
    """Where each page begins in `text`; one without text begins where the next one does."""


def extract(data: bytes, bounds: Bounds | None = None) -> Extract:
    """The text of all pages, one after the other."""
    bounds = bounds or Bounds()
    limits = Limits(
        seconds=bounds.seconds,
        memory_bytes=_MEMORY,
        processes=16,
        output_bytes=bounds.characters * 6 + _MIB,  # six bytes are the longest that JSON makes of a character
        file_bytes=_MIB,
        scratch_bytes=16 * _MIB,
    )
    with tempfile.TemporaryDirectory(prefix="forge-pdf-", ignore_cleanup_errors=True) as directory:
        try:
            result = run(_command(bounds), Path(directory), limits, stdin=data, readonly=_places(), plain=True)
        except SandboxFailed as e:
            return Extract(reason=f"PDF not read: {e.message}")
    return _read(result, bounds)


def _read(result: CommandResult, bounds: Bounds) -> Extract:
    if "time" in result.limited:
        return Extract(reason=f"PDF given up: reading it takes longer than {bounds.seconds:g} seconds")
    if "memory" in result.limited:
        return Extract(reason=_TROUBLES["memory"])
    try:
        answer = json.loads(result.stdout)
    except ValueError:
        return Extract(reason=_BROKEN)
    if trouble := answer.get("trouble"):
        return Extract(reason=_TROUBLES.get(trouble) or f"{_BROKEN} ({answer.get('detail', '')})")
    pages, read, broken = answer["pages"], answer["read"], answer["broken"]
    if not answer["text"]:
        return Extract(reason=_BROKEN if broken else "scanned PDF: no text in it")
    notes = []
    if read < pages:
        notes.append(f"only the first {read} of {pages} pages were read")
    if broken:
        notes.append(f"{broken} of {counted(read, 'page')} {'is' if broken == 1 else 'are'} broken")
    return Extract(text=answer["text"], note="; ".join(notes), pages=tuple(answer["starts"]))


def _command(bounds: Bounds) -> tuple[str, ...]:
    python = os.path.realpath(sys.executable)
    source = Path(pdf_child.__file__).read_text(encoding="utf-8")
    numbers = (bounds.pages, bounds.characters, _MEMORY)
    return (python, "-I", "-S", "-B", "-X", "utf8", "-c", source, str(_library()), *map(str, numbers))


def _library() -> Path:
    """The folder that the PDF library lies in, with what it needs to decrypt."""
    spec = find_spec("pypdf")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent.parent


def _places() -> tuple[Path, ...]:
    return tuple(path for path in (_library(), Path(sys.base_prefix).resolve()) if not shows(path))
