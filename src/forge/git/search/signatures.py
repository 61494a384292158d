"""Which texts can contain a string: every three bytes of a text in lower case set one bit of its signature.

Signatures of many texts lie across: one row per bit, with one bit per text, so that a string asks for a few rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress

ROWS = 8192
_MOST_ROWS = 16
_BITS = bytes.maketrans(b"01", b"\0\1")


def _spread() -> bytes:
    """A number for each byte, the same for both cases of a letter, far apart for neighbours."""
    return bytes(byte * 167 + 13 & 0xFF for byte in bytes(range(256)).lower())


_NUMBERS = _spread()


def rows(text: bytes) -> memoryview:
    """The row of each three bytes in `text`, with repetitions.

    The row is `first << 5 ^ second << 2 ^ third` of the bytes' numbers. One long integer holds 16 bits for each byte,
    so that three shifts compute all of them at once.
    """
    count = len(text) - 2
    if count < 1:
        return memoryview(b"").cast("H")
    wide = bytearray(2 * len(text))
    wide[::2] = text.translate(_NUMBERS)
    numbers = int.from_bytes(wide, "little")
    mixed = (numbers << 5) ^ (numbers >> 16 << 2) ^ (numbers >> 32)
    return memoryview(mixed.to_bytes(2 * len(text), "little"))[: 2 * count].cast("H")


def table(texts: Iterable[bytes], count: int) -> bytes:
    """The rows of `count` texts, one after the other, each `width(count)` bytes."""
    wide = width(count)
    out = bytearray(ROWS * wide)
    for place, eight in enumerate(_by_eight(texts)):
        out[place::wide] = eight
    return bytes(out)


def width(count: int) -> int:
    """Bytes of one row."""
    return (count + 7) // 8


def _by_eight(texts: Iterable[bytes]) -> Iterator[bytes]:
    """For eight texts at a time one byte per row."""
    together, bit = 0, 1
    for text in texts:
        marks = bytearray(ROWS)
        for row in rows(text):
            marks[row] = bit
        together |= int.from_bytes(marks, "little")
        bit <<= 1
        if bit > 0x80:
            yield together.to_bytes(ROWS, "little")
            together, bit = 0, 1
    if bit > 1:
        yield together.to_bytes(ROWS, "little")


def asked(string: bytes) -> tuple[int, ...]:
    """Rows in which a text that contains `string` has its bit."""
    distinct = sorted(set(rows(string)))
    step = len(distinct) // _MOST_ROWS + 1
    return tuple(distinct[::step])


def chosen(ids: list[bytes], bits: int) -> Iterator[bytes]:
    """The ids whose bit is set; the first id has the lowest."""
    marks = bin(bits)[:1:-1].encode().translate(_BITS)
    return compress(ids, marks)
