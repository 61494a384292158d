"""Files as programs and browsers send them: a name that any folder can hold, and no more bytes than allowed."""

from __future__ import annotations

from typing import IO

from forge.errors import InvalidInput

_LONGEST_NAME = 200


class FileTooLarge(InvalidInput):
    code = "file_too_large"
    status = 413


def plain_name(name: str, refused: type[InvalidInput]) -> str:
    """Without what is before the last slash, and without letters that nobody sees. Else `refused` is raised."""
    last = name.replace("\\", "/").rpartition("/")[2]
    kept = "".join(letter for letter in last if letter.isprintable()).strip()
    if not kept.strip(". ") or len(kept.encode("utf-8", "replace")) > _LONGEST_NAME:
        raise refused(f"The file needs a name of at most {_LONGEST_NAME} bytes.", hint="Send it under another name.")
    return kept


def content_of(sent: IO[bytes], most: int) -> bytes:
    data = sent.read(most + 1)
    if len(data) > most:
        raise FileTooLarge(f"The file is larger than {most:,} bytes.", hint="Send a part of it.")
    return data
