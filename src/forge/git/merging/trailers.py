"""Where the trailers of a commit message begin, by the rules of git, and the line that names where a commit was picked.

White space is git's: a line with nothing but CR is blank.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forge.git.values import CommitId

_COMMENT = b"#"
_SCISSORS = b"# ------------------------ >8 ------------------------\n"
_TOKEN = re.compile(rb"[A-Za-z0-9-]+[ \t]*:")
_GENERATED = (b"Signed-off-by: ", b"(cherry picked from commit ")
_SPACE = b" \t\n\v\f\r"


def with_origin(message: bytes, origin: CommitId) -> bytes:
    """`message` with the line of `cherry-pick -x`: below its trailers, else in a paragraph of its own."""
    text = message
    if text and not text.endswith(b"\n"):
        text += b"\n"
    between = b"" if ends_with_trailers(text) else b"\n"
    return _cleaned(text + between + f"(cherry picked from commit {origin})\n".encode())


def _cleaned(message: bytes) -> bytes:
    """Without white space at the ends of lines, and without blank lines but single ones between others."""
    lines = [line.rstrip(_SPACE) for line in message.split(b"\n")]
    paragraphs = itertools.groupby(lines, key=bool)
    return b"\n\n".join(b"\n".join(part) for filled, part in paragraphs if filled) + b"\n"


def _is_blank(line: bytes) -> bool:
    return not line.strip(_SPACE)


def _without_comments(message: bytes) -> list[bytes]:
    """Lines without the comments, the list of conflicts and the cut at the end, which git does not count."""
    cut = 0 if message.startswith(_SCISSORS) else message.find(b"\n" + _SCISSORS) + 1 or len(message)
    lines = message[:cut].removesuffix(b"\n").split(b"\n") if cut else []
    end: int | None = None
    conflicts = False
    for at, line in enumerate(lines):
        if line == b"Conflicts:":
            conflicts, end = True, at if end is None else end
        elif not line or line.startswith(_COMMENT):
            end = at if end is None else end
        elif not (conflicts and line.startswith(b"\t")):
            conflicts, end = False, None
    return lines[:end]


def ends_with_trailers(message: bytes) -> bool:
    """The last paragraph is trailers alone, or a quarter of it with one that git itself writes. Never the first one."""
    lines = _without_comments(message.partition(b"\0")[0])
    title = next((at for at, line in enumerate(lines) if _is_blank(line)), len(lines))
    trailers = others = continued = 0
    generated = begun = False
    for line in reversed(lines[title:]):
        if line.startswith(_COMMENT):
            others, continued = others + continued, 0
        elif _is_blank(line):
            if begun:
                others += continued
                return (generated and trailers * 3 >= others) or (trailers > 0 and not others)
        else:
            begun = True
            if line.startswith(_GENERATED):
                trailers, continued, generated = trailers + 1, 0, True
            elif _TOKEN.match(line):
                trailers, continued = trailers + 1, 0
            elif line[:1] in _SPACE:
                continued += 1
            else:
                others, continued = others + continued + 1, 0
    return False
