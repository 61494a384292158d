"""The text of a change: hunks for a view, and patches that `git apply` takes."""

from __future__ import annotations

import re
import zlib
from base64 import b85encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from forge.git.history.diff import ChangeKind, FileChange, line_patch
from forge.git.objects.contents import Contents
from forge.git.objects.trees import encode

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.values import Entry

_NO_ID = b"0" * 40
_QUOTED = re.compile(rb'[\x00-\x1f"\\\x7f-\xff]')
_SHORT = {7: b"a", 8: b"b", 9: b"t", 10: b"n", 11: b"v", 12: b"f", 13: b"r", 34: b'"', 92: b"\\"}
_BYTES_A_LINE = 52


class Line(NamedTuple):
    sign: Literal[" ", "+", "-"]
    old_number: int | None
    new_number: int | None
    text: bytes
    """With its line break, if it has one."""


@dataclass(frozen=True, slots=True)
class Hunk:
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: str
    """The function or section that the hunk is in, where git can tell."""
    lines: tuple[Line, ...]


def hunks(
    objects: Objects,
    change: FileChange,
    *,
    context: int = 3,
) -> tuple[Hunk, ...]:
    """What changed inside the file, with `context` lines around; nothing for binary files."""
    contents = Contents(objects)
    if contents.is_binary(change.old) or contents.is_binary(change.new):
        return ()
    compared = line_patch(contents.data(change.old), contents.data(change.new), context=context)
    return tuple(
        Hunk(
            hunk.old_start,
            hunk.old_lines,
            hunk.new_start,
            hunk.new_lines,
            hunk.header.rpartition("@@")[2].strip(),
            tuple(_lines(hunk.lines)),
        )
        for hunk in compared.hunks
    )


def patch_text(
    objects: Objects,
    change: FileChange,
    *,
    context: int = 3,
    binary: bool = True,
) -> bytes:
    """The change in git's format. Without `binary` the content of binary files is left out."""
    contents = Contents(objects)
    if change.kind is not ChangeKind.TYPE_CHANGED:
        return b"".join(_patch(contents, change, context, with_binary=binary))
    # A file never turns into a link inside one patch: it goes, and the link comes.
    gone = replace(change, kind=ChangeKind.DELETED, new_path=None, new=None)
    came = replace(change, kind=ChangeKind.ADDED, old_path=None, old=None)
    return b"".join(part for half in (gone, came) for part in _patch(contents, half, context, with_binary=binary))


def quoted(path: bytes) -> bytes:
    """A path as git writes it in a patch: in quotes, with escapes, where it has odd bytes."""
    if not _QUOTED.search(path):
        return path
    return b'"' + _QUOTED.sub(_escape, path) + b'"'


def unquoted(path: bytes) -> bytes:
    """The path that git wrote, perhaps in quotes."""
    if not (path.startswith(b'"') and path.endswith(b'"') and len(path) > 1):
        return path
    plain = {letter: bytes([byte]) for byte, letter in _SHORT.items()}
    return re.sub(
        rb"\\([0-7]{3}|.)", lambda m: plain.get(m[1]) or bytes([int(m[1], 8) & 0xFF]), path[1:-1], flags=re.DOTALL
    )


def _escape(found: re.Match[bytes]) -> bytes:
    byte = found[0][0]
    return b"\\" + (_SHORT.get(byte) or b"%03o" % byte)


def _patch(contents: Contents, change: FileChange, context: int, *, with_binary: bool) -> Iterator[bytes]:
    old_path = encode(change.path if change.old_path is None else change.old_path)
    new_path = encode(change.path)
    yield b"diff --git %s %s\n" % (quoted(b"a/" + old_path), quoted(b"b/" + new_path))
    yield from _heading(change, old_path, new_path)
    old, new = change.old, change.new
    if old and new and old.id == new.id:
        return
    same_mode = b" %o" % new.mode if old and new and old.mode == new.mode else b""
    yield b"index %s..%s%s\n" % (_id(old), _id(new), same_mode)
    if contents.is_binary(old) or contents.is_binary(new):
        yield from _binary(contents, change) if with_binary else _binary_note(change)
        return
    text = bytes(line_patch(contents.data(old), contents.data(new), context=context).data)
    start = text.find(b"\n@@ ")
    if start >= 0:
        yield b"--- %s\n" % (_named(b"a/" + old_path) if old else b"/dev/null")
        yield b"+++ %s" % (_named(b"b/" + new_path) if new else b"/dev/null")
        yield text[start:]


def _heading(change: FileChange, old_path: bytes, new_path: bytes) -> Iterator[bytes]:
    old, new = change.old, change.new
    if old is None and new:
        yield b"new file mode %o\n" % new.mode
    elif new is None and old:
        yield b"deleted file mode %o\n" % old.mode
    elif old and new and old.mode != new.mode:
        yield b"old mode %o\nnew mode %o\n" % (old.mode, new.mode)
    if change.kind in (ChangeKind.RENAMED, ChangeKind.COPIED):
        verb = b"rename" if change.kind is ChangeKind.RENAMED else b"copy"
        yield b"similarity index %d%%\n" % (change.similarity or 0)
        yield b"%s from %s\n%s to %s\n" % (verb, quoted(old_path), verb, quoted(new_path))


def _named(path: bytes) -> bytes:
    """For the lines `---` and `+++`, where a tab ends a name that has spaces."""
    name = quoted(path)
    return name + b"\t" if b" " in name and name == path else name


def _id(entry: Entry | None) -> bytes:
    return entry.id.encode() if entry else _NO_ID


def _binary(contents: Contents, change: FileChange) -> Iterator[bytes]:
    """Both contents, so that the patch can also be taken back."""
    yield b"GIT binary patch\n"
    for entry in (change.new, change.old):
        data = contents.data(entry)
        yield b"literal %d\n" % len(data)
        packed = zlib.compress(data)
        for start in range(0, len(packed), _BYTES_A_LINE):
            part = packed[start : start + _BYTES_A_LINE]
            length = len(part) + (64 if len(part) <= 26 else 70)  # A–Z for 1–26 bytes, a–z for 27–52
            yield bytes([length]) + b85encode(part, pad=True) + b"\n"
        yield b"\n"


def _binary_note(change: FileChange) -> Iterator[bytes]:
    old = quoted(b"a/" + encode(change.old_path)) if change.old_path is not None else b"/dev/null"
    new = quoted(b"b/" + encode(change.new_path)) if change.new_path is not None else b"/dev/null"
    yield b"Binary files %s and %s differ\n" % (old, new)


def _lines(lines: object) -> Iterator[Line]:
    assert isinstance(lines, list)
    for line in lines:
        if line.origin in (" ", "+", "-"):  # others say that the file does not end in a line break
            old = line.old_lineno if line.old_lineno > 0 else None
            new = line.new_lineno if line.new_lineno > 0 else None
            yield Line(line.origin, old, new, bytes(line.raw_content))
