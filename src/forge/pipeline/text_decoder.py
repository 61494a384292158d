"""What bytes are: text in one of the usual encodings, or an image of a known format."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

_MARKS = (
    (codecs.BOM_UTF8, "utf-8", ""),
    # The mark of UTF-32 begins with that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32-be", "UTF-32"),
    (codecs.BOM_UTF16_LE, "utf-16-le", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16-be", "UTF-16"),
)
_BINARY = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_SAMPLE = 4_096


@dataclass(frozen=True, slots=True)
class Text:
    content: str
    note: str = ""


def decoded(data: bytes, *, text_expected: bool) -> Text | None:
    """The text that `data` is; None for anything else.

    Latin-1 fits all bytes, so it is tried only where the name of the file promises text.
    """
    for mark, encoding, name in _MARKS:
        if data.startswith(mark):
            return _strict(data[len(mark) :], encoding, f"read as {name}" if name else "")
    sample = data[:_SAMPLE]
    if b"\0" in sample:
        unmarked = _unmarked_utf16(sample)
        return _strict(data, unmarked, "read as UTF-16") if unmarked else None
    found = _strict(data, "utf-8", "")
    if found is not None or not text_expected or _BINARY.search(sample):
        return found
    return Text(data.decode("latin-1"), "read as Latin-1: it is not UTF-8")


def _strict(data: bytes, encoding: str, note: str) -> Text | None:
    try:
        content = data.decode(encoding)
    except UnicodeDecodeError:
        return None
    return None if "\0" in content else Text(content, note)


def _unmarked_utf16(sample: bytes) -> str | None:
    """Western text in UTF-16 has a zero in nearly every second byte, and never in the others."""
    even, odd = sample[0::2], sample[1::2]
    if not even.count(0) and odd.count(0) > 0.7 * len(odd):
        return "utf-16-le"
    if not odd.count(0) and even.count(0) > 0.7 * len(even):
        return "utf-16-be"
    return None


def media_type(data: bytes) -> str | None:
    """The image format that the first bytes tell, as models want it named."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None
