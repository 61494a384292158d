"""Long words that look random and nobody named. Most of them are no secrets: addresses, hashes, ids, encoded data.

What is public by its kind is kept, because a link or a digest that was replaced cannot be used any more.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator

from forge.sessions.redaction.words import is_named, is_random, word_set

_LONG = 32
_WORD = re.compile(rf"[A-Za-z0-9+/_=-]{{{_LONG},}}")
_NAME = re.compile(r"[A-Za-z_][\w-]*=(?!=*$)")  # in front of a value, without a space
# Longer than any key that is written in one piece: encoded data.
_DATA = 512
# Read backwards, to where the address, path or assignment began that a word is part of.
_CHUNK = re.compile(r"[^\s\"'`<>()\[\]{}|]*")
_NEAR = 300
_ADDRESS = re.compile(
    r"(?:^|[^\w@.-])(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?/|^(?:\.{1,2}|~|[A-Za-z]:)[/\\]",
    re.I,
)
_ROOTED = re.compile(r"/[A-Za-z]{2,}[/.]")
_DIGEST = re.compile(
    r"(?:sha-?\d+|md5|blake\w*|h1|crc\w*|ssri|pin-sha\d+|integrity|nonce)[\"']?\s*[-:=,]?\s*[\"']?$", re.I
)
_DATA_URI = re.compile(r"data:[\w.+/-]*(?:;[\w=.-]+)*,$", re.I)
_NAMED = re.compile(r"(?<![\w.-])(?P<name>[\w.-]+)[\"'\\\]]*\s*(?:=>|:=|[=:])\s*[\"'\\]*$")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# A value under such a name is no secret, however random it looks.
_PUBLIC = word_set(
    "public pub pubkey publishable fingerprint checksum digest integrity hash etag nonce cert certificate signature "
    "thumbprint mappings sum id ids uuid guid name ref commit revision version cursor image icon logo font data "
    "alphabet chars path file url uri link trace ray pair page next continuation sync"
)
_PRIVATE = word_set("secret session private sid")
_FILE = re.compile(
    r"\.(?:[cm]?[jt]sx?|s?css|map|html?|json|xml|ya?ml|toml|md|txt|log|pdf|png|jpe?g|gif|svg|webp|avif|ico|bmp|mp[34]|mov|wav|"
    r"woff2?|ttf|otf|eot|zip|gz|tgz|whl|jar|wasm|so|dll|dylib|exe|py|rb|go|rs|java|kt|swift|c|h|cpp|sh|sql|csv|docx?|xlsx?|pptx?)\b"
)
# The first bytes of images, fonts, archives, programs, documents, and of public keys, in base64.
_MAGIC = (
    *(
        "iVBORw0KGgo",
        "/9j/",
        "R0lGOD",
        "UklGR",
        "PHN2Zy",
        "PD94bWw",
        "JVBERi0",
        "UEsDB",
        "H4sI",
        "AAABAA",
        "d09GR",
        "T1RUTw",
    ),
    *(
        "AAEAAAA",
        "SUkq",
        "TU0AK",
        "AGFzbQ",
        "f0VMRg",
        "TVqQ",
        "Qk0",
        "KLUv",
        "QlpoO",
        "/Td6WFo",
        "T2dnUw",
        "SUQz",
        "GkXfo",
    ),
    *(
        "AAAAB3NzaC1",
        "AAAAC3NzaC1",
        "AAAAE2VjZHNh",
        "AAAAGnNrLX",
        "MIIBIjANBgkq",
        "MIICIjANBgkq",
        "MFkwEwYHKoZI",
        "MCowBQYDK2V",
    ),
    *("MHYwEAYHKoZI", "MIGfMA0GCSqG", "mQENB", "mQINB", "mDMEX", "mDMEY", "xsBNB", "xsFNB"),
)
_DOCUMENT = re.compile(r"1[A-Za-z0-9_-]{32}|1[A-Za-z0-9_-]{43}")  # as Google Drive gives them
_ID = re.compile(
    r"(?:chatcmpl|cmpl|msg|toolu|resp|run|thread|asst|file|batch|req|call|gen|evt|cs_test|cs_live|pi|in|sub)[-_]"
)
_HASHED = re.compile(r"(?:sha-?\d+|md5|blake\w+)[-=]", re.I)
_SYMBOL = re.compile(r"_{1,3}(?:Z|R)[A-Z0-9]|\$s")  # a mangled name
_ROOT = re.compile(
    r"/(?:usr|var|etc|home|opt|tmp|mnt|srv|lib|root|dev|proc|sys|run|nix|data|app|private|Users|Library|Volumes)/"
)
_PATH = re.compile(r"/?(?:[a-z]{3,}|[A-Z][a-z]{4,}|[a-z]+[_-][a-z_-]+)/|\d{4}/[A-Z]?[a-z]{3,}")
# So much of a path can be read aloud; base64 may have a slash after three small letters by chance.
_PATH_SHARE = 0.25
_ARMOUR = re.compile(r"-----BEGIN (?!(?:[A-Z0-9]+ )*PRIVATE)[A-Z0-9 ]+-----[\s\S]{0,100000}?-----END [A-Z0-9 ]+-----")
_TEXT = re.compile(r"[\t\n\r\x20-\x7e]{12,}")


def spans(text: str, redacted: Callable[[str], str]) -> Iterator[tuple[int, int, str]]:
    """Where random words begin and end. `redacted` judges what a word in base64 holds."""
    armoured: list[tuple[int, int]] | None = None
    for found in _WORD.finditer(text):
        start, end = found.span()
        if (name := _NAME.match(found[0])) and not _HASHED.match(found[0]):
            start += name.end()
        word = text[start:end]
        if len(word) < _LONG:
            continue
        held = _decoded(word)
        if held is not None:
            if redacted(held) != held:
                yield start, end, "high-entropy"
            continue
        if not is_random(word) or _is_ordinary(word) or _is_part(text, start, end):
            continue
        if armoured is None:
            armoured = [block.span() for block in _ARMOUR.finditer(text)] if "-----BEGIN " in text else []
        if not any(first <= start < last for first, last in armoured):
            yield start, end, "high-entropy"


def _is_ordinary(word: str) -> bool:
    """Whether the word itself tells that it is public."""
    if len(word) > _DATA or word.startswith(_MAGIC):
        return True
    if _HASHED.match(word) or _DOCUMENT.fullmatch(word) or _ID.match(word) or _SYMBOL.match(word):
        return True
    if _ROOT.match(word):
        return True
    return _PATH.match(word) is not None and is_named(word, share=_PATH_SHARE)


def _is_part(text: str, start: int, end: int) -> bool:
    """Whether what is around the word tells that it is public: an address, a path, a digest, a name."""
    near = text[max(0, start - _NEAR) : start]
    chunk = _CHUNK.match(near[::-1])
    before = chunk[0][::-1] if chunk is not None else ""
    if (
        "://" in before
        or _ROOTED.match(before)
        or _ADDRESS.search(before + text[start : start + 8])
        or _DATA_URI.search(before)
        or _FILE.match(text, end)
    ):
        return True
    if re.match(r"@[\w-]+\.[\w.-]+", text[end : end + 80]):
        return True
    return bool(_DIGEST.search(near[-40:])) or _is_named_public(near[-80:]) or _is_line_of_block(text, start, end)


def _is_named_public(before: str) -> bool:
    named = _NAMED.search(before)
    parts = {part.lower() for part in _PARTS.findall(named["name"])} if named else set()
    return not parts.isdisjoint(_PUBLIC) and parts.isdisjoint(_PRIVATE)


def _is_line_of_block(text: str, start: int, end: int) -> bool:
    """Whether the lines around the word are as long and as full: data that was wrapped."""
    if end - start < 60:
        return False
    line = text.rfind("\n", 0, start) + 1
    length = end - line
    above = text[max(0, line - 1 - length) : max(0, line - 1)]
    below = text[end + 1 : end + 1 + length]
    around = [part[start - line :] for part in (above, below)]
    return any(len(part) == end - start and _WORD.fullmatch(part) for part in around)


def _decoded(word: str) -> str | None:
    """The text that the word holds in base64, if it is one."""
    body = word.strip("=")
    if "=" in body or len(body) % 4 == 1:
        return None
    try:
        held = base64.b64decode(body.replace("-", "+").replace("_", "/") + "=" * (-len(body) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return held if _TEXT.fullmatch(held) else None
