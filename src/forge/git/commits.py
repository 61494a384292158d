"""Commits as git stores them: read from bytes, and written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from forge.errors import InvalidInput
from forge.git.values import Commit, CommitId, ObjectId, Signature

_PERSON = re.compile(r"(?P<name>.*?)\s*<(?P<email>[^>]*)>\s*(?P<time>-?\d+)?\s*(?P<offset>[+-]\d{4,})?\s*$")
_TRAILER_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_UNSAFE = re.compile(r"[<>\x00-\x1f\x7f]+")


def decoded(commit_id: CommitId, raw: bytes) -> Commit:
    head, _, body = raw.partition(b"\n\n")
    tree = author = committer = b""
    parents: list[CommitId] = []
    charset = "utf-8"
    for line in head.split(b"\n"):
        key, _, value = line.partition(b" ")
        match key:
            case b"tree":
                tree = value
            case b"parent":
                parents.append(CommitId(value.decode()))
            case b"author":
                author = value
            case b"committer":
                committer = value
            case b"encoding":
                charset = value.decode("ascii", "replace")
    return Commit(
        commit_id,
        ObjectId(tree.decode()),
        tuple(parents),
        _signature(_text(author, charset)),
        _signature(_text(committer, charset)),
        _text(body, charset),
    )


def encoded(
    tree: ObjectId, parents: Sequence[CommitId], author: Signature, committer: Signature, message: str
) -> bytes:
    lines = [f"tree {tree}", *(f"parent {p}" for p in parents)]
    lines += [f"author {_line(author)}", f"committer {_line(committer)}"]
    return ("\n".join(lines) + "\n\n" + message).encode("utf-8", "surrogateescape")


def message_with(message: str, trailers: Mapping[str, str] | None = None) -> str:
    """The message as git would store it, `trailers` in their own last paragraph."""
    if "\0" in message:
        raise InvalidInput("A commit message cannot contain a NUL character.", hint="Remove it.")
    text = "\n".join(line.rstrip() for line in message.splitlines()).strip("\n")
    if not text:
        raise InvalidInput("The commit message is empty.", hint="Say in a few words what changed.")
    block = []
    for key, value in (trailers or {}).items():
        if not _TRAILER_KEY.fullmatch(key):
            raise InvalidInput(f"{key!r} is not a trailer name.", hint="Use letters, digits and hyphens.")
        if not value.strip() or any(ord(c) < 32 for c in value):
            raise InvalidInput(f"The trailer {key} needs a value on one line.", hint="Remove line breaks.")
        block.append(f"{key}: {value.strip()}")
    return f"{text}\n\n" + "\n".join(block) + "\n" if block else f"{text}\n"


def _signature(text: str) -> Signature:
    found = _PERSON.match(text)
    if not found:
        return Signature(text, "", 0)
    zone = found["offset"] or "+0000"
    minutes = int(zone[1:-2]) * 60 + int(zone[-2:])
    return Signature(
        found["name"], found["email"], int(found["time"] or 0), -minutes if zone[0] == "-" else minutes
    )


def _line(who: Signature) -> str:
    name = _UNSAFE.sub(" ", who.name).strip(" .,:;\"'") or "unknown"
    email = _UNSAFE.sub("", who.email).strip() or "unknown@localhost"
    sign = "-" if who.offset < 0 else "+"
    hours, minutes = divmod(abs(who.offset), 60)
    return f"{name} <{email}> {max(0, who.time)} {sign}{hours:02d}{minutes:02d}"


def _text(raw: bytes, charset: str) -> str:
    try:
        return raw.decode(charset)
    except (UnicodeDecodeError, LookupError):
        return raw.decode("utf-8", "replace")
