"""Globs on paths, much as in `.gitignore`.

- A glob without a slash matches a name at any depth: `*.py`, `node_modules`. With a slash, at the start or inside, it
  is tied to the root: `/setup.py`, `src/*.py`. A glob that matches a folder matches everything in it; with a slash at
  the end it matches folders only.
- `*` and `?` stay within a name, `[a-z]` and `[!a-z]` are classes, `**` between slashes crosses folders,
  `{py,pyi}` lists alternatives, a backslash takes the next character literally. Case counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from forge.git.search.query import InvalidQuery

MAX_LENGTH = 1_000
MAX_ALTERNATIVES = 64

_TOKEN = re.compile(
    r"(?P<literal>\\.|[^\\*?\[])|(?P<star>\*+)|(?P<one>\?)|(?P<class>\[[!^]?\]?[^\]]*\])|(?P<broken>.)", re.DOTALL
)
_BRACES = re.compile(r"(?<!\\)\{([^{}]*)\}")
_END_OF_NAME = r"(?=/|\Z)"


def accepting(include: Sequence[str], exclude: Sequence[str]) -> Callable[[str], bool] | None:
    """Whether a path is to be searched; None when every path is."""
    wanted, unwanted = _compiled(include), _compiled(exclude)
    if wanted is None and unwanted is None:
        return None

    def accepts(path: str) -> bool:
        return (wanted is None or wanted.match(path) is not None) and (unwanted is None or unwanted.match(path) is None)

    return accepts


def _compiled(globs: Iterable[str]) -> re.Pattern[str] | None:
    alternatives = [_translated(plain, glob) for glob in globs for plain in _expanded(glob)]
    if len(alternatives) > MAX_ALTERNATIVES * 16:
        raise InvalidQuery("There are too many globs.", hint="Name folders instead of files.")
    return re.compile("|".join(alternatives), re.DOTALL) if alternatives else None


def _expanded(glob: str) -> list[str]:
    if not glob.strip("/") or len(glob) > MAX_LENGTH:
        raise InvalidQuery(
            f"A glob is empty or longer than {MAX_LENGTH:,} characters.", hint="Write one such as src/**/*.py."
        )
    done, waiting = [], [glob]
    while waiting:
        each = waiting.pop()
        found = _BRACES.search(each)
        if not found:
            done.append(each)
            continue
        waiting += [each[: found.start()] + choice + each[found.end() :] for choice in found[1].split(",")]
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise _unusable(glob, f"its braces stand for more than {MAX_ALTERNATIVES} globs")
    return done


def _translated(plain: str, glob: str) -> str:
    """The glob as an expression that takes each part at its first place: that is enough, and never slow."""
    names = [name for name in plain.split("/") if name]
    if not plain.startswith("/") and len(names) == 1:
        names.insert(0, "**")
    chunks: list[list[str]] = [[]]
    for name in names:
        if name == "**":
            chunks.append([])
        else:
            chunks[-1].append(_name(name, glob))
    parts = []
    for place, chunk in enumerate(chunks):
        if chunk:
            text = "/".join(chunk) + _END_OF_NAME
            parts.append(f"(?>(?:[^/]+/)*?{text})" if place else text)
    folders = plain.endswith("/")
    end = "/.*" if folders else "(?:/.*)?"
    if not chunks[-1]:
        end = ("/" if parts else "") + ("[^/]+/.*" if folders else ".+")
    return f"(?:{'/'.join(parts)}{end})\\Z"


def _name(name: str, glob: str) -> str:
    pieces = [""]
    for token in _TOKEN.finditer(name):
        if token["star"]:
            pieces.append("")
        elif token["one"]:
            pieces[-1] += "[^/]"
        elif token["class"]:
            pieces[-1] += _class(token["class"], glob)
        elif token["literal"]:
            pieces[-1] += re.escape(token["literal"][-1])
        else:
            raise _unusable(glob, "a bracket is not closed or a backslash ends it")
    first, *rest = pieces
    if not rest:
        return first
    middle = "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1] if piece)
    return f"{first}{middle}[^/]*{rest[-1]}{_END_OF_NAME}"


def _class(text: str, glob: str) -> str:
    inner = text[1:-1]
    negated = inner[:1] in ("!", "^") and len(inner) > 1
    members = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner[1:] if negated else inner).replace("--", r"-\-")
    expression = f"(?:(?!/)[{'^' if negated else ''}{members}])"
    try:
        re.compile(expression)
    except re.error as e:
        raise _unusable(glob, f"a class is not valid: {e.msg}") from e
    return expression


def _unusable(glob: str, why: str) -> InvalidQuery:
    return InvalidQuery(f"The glob {glob!r} cannot be used: {why}.", hint="Write one such as src/**/*.py.")
