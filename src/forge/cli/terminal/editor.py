"""Texts that a person gives to a command: from a file, piped in, or written in their editor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forge.cli.terminal.session import BadUsage
from forge.errors import ForgeError, InvalidInput, NotFound, Upstream


def read_text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except FileNotFoundError as e:
        raise NotFound(f"There is no file {file}.", hint="Name a file with the text; - is standard input.") from e
    except (OSError, UnicodeDecodeError) as e:
        raise InvalidInput(f"{file} cannot be read as UTF-8 text.", hint="Choose another file.") from e


def given_text(file: str | None) -> str | None:
    """What `--file` names, or what is piped in; None where the person is to write it now."""
    if file is not None and file != "-":
        return read_text(file)
    return sys.stdin.read() if file == "-" or not sys.stdin.isatty() else None


@contextmanager
def edited(text: str, *, suffix: str, instead: str) -> Iterator[str]:
    """What the person makes of `text` in their editor. It is kept in a file if it cannot be saved within the block.

    `instead` is the command for whoever has no editor.
    """
    words = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    if not words:
        raise BadUsage("No editor is set.", hint=f"Set EDITOR, or: {instead}")
    with tempfile.NamedTemporaryFile("w", suffix=suffix, delete=False, encoding="utf-8") as draft:
        draft.write(text)
    file = Path(draft.name)
    try:
        code = subprocess.run([*words, str(file)], check=False).returncode
    except OSError as e:
        file.unlink()
        raise Upstream(f"The editor {words[0]} could not be started: {e.strerror}.", hint="Set EDITOR.") from e
    if code != 0:
        raise Upstream(f"The editor ended with {code}; nothing was saved.", hint=f"Your text is in {file}.")
    try:
        yield read_text(str(file))
    except ForgeError as e:
        raise type(e)(e.message, hint=f"{e.hint} Your text is in {file}.".strip()) from e
    file.unlink()
