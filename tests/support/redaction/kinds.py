"""Formats of secrets as providers document them: how a value is made up, and under which name it is kept.

In a format, `<hex:32>` is 32 random characters of that alphabet. No value is written down here: all are made at random.
"""

from __future__ import annotations

import base64
import random
import re
import string
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_ALPHABETS = {
    "an": string.ascii_letters + string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "low": string.ascii_lowercase + string.digits,
    "UP": string.ascii_uppercase + string.digits,
    "b32": string.ascii_uppercase + "234567",
    "dig": string.digits,
    "b58": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
    "pw": string.ascii_letters + string.digits + "!#*+-_.~^",
}
_FIELD = re.compile(r"<(\w+):(\d+)>")
_UUID = "<hex:8>-<hex:4>-4<hex:3>-a<hex:3>-<hex:12>"


class Kind(NamedTuple):
    """One format. One that is `known` is found without its name beside it."""

    name: str
    made: str
    known: bool


def fill(form: str, chance: random.Random) -> str:
    """The format with random characters in its fields."""
    return _FIELD.sub(lambda m: "".join(chance.choices(_ALPHABETS[m[1]], k=int(m[2]))), form)


def value(kind: Kind, chance: random.Random) -> str:
    """One secret of this kind, with a letter and a digit in each long part, as nearly all have."""
    while True:
        made = fill(kind.made, chance)
        if re.search("[0-9]", made) and re.search("[A-Za-z]", made):
            return made


def _kinds(file: str, *, known: bool) -> list[Kind]:
    """From lines of `NAME_OF_THE_VARIABLE format`."""
    lines = Path(__file__).with_name(file).read_text("utf-8").splitlines()
    rows = (line.split(" ", 1) for line in lines)
    return [Kind(name, made.replace("{uuid}", _UUID), known) for name, made in rows]


KINDS = (*_kinds("known.txt", known=True), *_kinds("named.txt", known=False))


def _armour(label: str) -> Callable[[random.Random], str]:
    def made(chance: random.Random) -> str:
        body = base64.b64encode(chance.randbytes(600)).decode()
        lines = [body[at : at + 64] for at in range(0, len(body), 64)]
        return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])

    return made


# Private keys: more than one line, found by their armour.
BLOCKS = {
    label: _armour(label)
    for label in (
        *("PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY", "OPENSSH PRIVATE KEY"),
        *("ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"),
    )
}
