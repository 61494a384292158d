"""Commits as git stores them: read from bytes, and written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from forge.errors import InvalidInput
from forge.git.errors import RepositoryUnreadable
from forge.git.values import Commit, CommitId, ObjectId, Signature

_SECONDS = re.compile(r"-?[0-9]{1,18}")
_ZONE = re.compile(r"[+-][0-9]{4}")
_TRAILER_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*")
_UNSAFE = re.compile(r"[<>\x00-\x1f\x7f]+")
_GAP = re.compile(r"\n{3,}")
_ID = re.compile(rb"[0-9a-f]{40}")
# What git can still read back as a date and a time zone.
_LAST_SECOND = 1 << 55
_WIDEST_OFFSET = 99 * 60 + 59


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
            case b"parent" if _ID.fullmatch(value):
                parents.append(CommitId(value.decode()))
            case b"author":
                author = value
            case b"committer":
                committer = value
            case b"encoding":
                charset = value.decode("ascii", "replace")
    if not _ID.fullmatch(tree):
        raise RepositoryUnreadable(f"Commit {commit_id} is malformed.", hint="Run `git fsck` on the repository.")
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
    return ("\n".join(lines) + "\n\n" + message).encode("utf-8", "replace")


def message_with(message: str, trailers: Mapping[str, str] | None = None) -> str:
    """The message as git would store it, `trailers` in their own last paragraph."""
    if "\0" in message:
        raise InvalidInput("A commit message cannot contain a NUL character.", hint="Remove it.")
    # Half a surrogate pair, as cut-off model output has it, is no reason to lose a turn.
    lines = message.encode("utf-8", "replace").decode().split("\n")
    text = _GAP.sub("\n\n", "\n".join(line.rstrip(" \t\r") for line in lines)).strip("\n")
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
    who, closed, when = text.rpartition(">")
    name, opened, email = who.rpartition("<")
    if not closed or not opened:
        return Signature(text, "", 0)
    moment, zone, *_ = [*when.split(), "", ""]
    seconds = int(moment) if _SECONDS.fullmatch(moment) else 0
    minutes = int(zone[1:3]) * 60 + int(zone[3:]) if _ZONE.fullmatch(zone) else 0
    return Signature(name.rstrip(), email, seconds, -minutes if zone.startswith("-") else minutes)


def _line(who: Signature) -> str:
    name = _UNSAFE.sub(" ", who.name).strip(" .,:;\"'") or "unknown"
    email = _UNSAFE.sub("", who.email).strip() or "unknown@localhost"
    sign = "-" if who.offset < 0 else "+"
    hours, minutes = divmod(min(abs(who.offset), _WIDEST_OFFSET), 60)
    return f"{name} <{email}> {min(max(0, int(who.time)), _LAST_SECOND)} {sign}{hours:02d}{minutes:02d}"


def _text(raw: bytes, charset: str) -> str:
    try:
        return raw.decode(charset)
    except (ValueError, LookupError):  # a wrong charset, or no charset at all
        return raw.decode("utf-8", "replace")


def trailer(message: str, name: str) -> str | None:
    """What a line `name: …` of a message says; of several the first."""
    start = f"{name}: "
    return next((line[len(start) :].strip() for line in message.splitlines() if line.startswith(start)), None)
