"""The name that a TLS client greets in its first message, read from its bytes (RFC 8446, RFC 6066)."""

from __future__ import annotations

_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME = 22, 1, 0
_RECORD_HEADER, _HELLO_HEADER, _VERSION_AND_RANDOM = 5, 4, 34


def greeting_size(data: bytes) -> int:
    """How many bytes the first record has, as far as its beginning tells."""
    if data[:1] != bytes([_HANDSHAKE]):
        return 0
    return _RECORD_HEADER + _number(data, 3) if len(data) >= _RECORD_HEADER else _RECORD_HEADER


def server_name(data: bytes) -> str | None:
    """None where the bytes are no greeting, or one without a name; empty where a greeting cannot be read."""
    if data[:1] != bytes([_HANDSHAKE]):
        return None
    try:
        return _name(data) if data[_RECORD_HEADER] == _CLIENT_HELLO else ""
    except (IndexError, UnicodeDecodeError):
        return ""


def _name(data: bytes) -> str | None:
    at = _RECORD_HEADER + _HELLO_HEADER + _VERSION_AND_RANDOM
    at += 1 + data[at]  # session id
    at += 2 + _number(data, at)  # cipher suites
    at += 1 + data[at]  # compression
    end = at + 2 + _number(data, at)
    at += 2
    while at + 4 <= end:
        kind, size = _number(data, at), _number(data, at + 2)
        if kind == _SERVER_NAME:
            length = _number(data, at + 7)
            return data[at + 9 : at + 9 + length].decode("ascii")
        at += 4 + size
    return None


def _number(data: bytes, at: int) -> int:
    return data[at] << 8 | data[at + 1]
