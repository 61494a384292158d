"""What a licence's name means for whoever ships software with the component in it."""

from __future__ import annotations

import re
from enum import Enum, auto


class LicenceKind(Enum):
    PERMISSIVE = auto()
    COPYLEFT = auto()
    """GPL or AGPL, which the scorecard names."""
    OTHER = auto()


_COPYLEFT = re.compile(r"\bA?GPL|\bGeneral Public Licen[cs]e|\bAffero\b", re.IGNORECASE)
_LESSER = re.compile(r"\bLGPL|\b(?:Lesser|Library) General Public", re.IGNORECASE)
_EXCEPTION = re.compile(r"\sWITH\s.*", re.IGNORECASE | re.DOTALL)
_WORD = re.compile(r"[a-z0-9.]+")
# Each of these words names a permissive licence, as long as nothing but the words below stands around it.
_NAMES = re.compile(
    r"mit|x11|iscl?|zlib|unlicense|0bsd|bsd|boost|apache2?|asl|psf|python|hpnd|cc0|postgresql|wtfpl|blueoak|ncsa|domain"
)
_AROUND = re.compile(
    r"the|a|new|modified|simplified|revised|expat|license|licence|licensed|software|foundation|version|clause|universal"
    r"|public|only|cmu|no|attribution|libpng|or|later|v?\d+(?:\.\d+)*"
)
_JOINT = re.compile(r"(?<=[\s)])(AND|OR)(?=[\s(])|([()])", re.IGNORECASE)
_LATER = re.compile(r"\s+or\s+(?:any\s+)?(?:later|newer)\b", re.IGNORECASE)
_TOO_MUCH = 200


def kind_of(licence: str) -> LicenceKind:
    """By name or by an expression such as `MIT OR GPL-2.0-only`: of alternatives the most liberal one counts, of
    several at once the strictest.
    """
    text = _LATER.sub("-or-later", " ".join(licence.split()))
    if len(text) > _TOO_MUCH or "…" in text:
        return LicenceKind.OTHER
    whole = _single(text)
    if whole is not LicenceKind.OTHER and not re.search(r"\s(?:AND|OR)\s", text, re.IGNORECASE):
        return whole
    return _Expression(text).kind()


def _single(name: str) -> LicenceKind:
    bare = _EXCEPTION.sub("", name).strip() or name
    if _LESSER.search(bare):
        return LicenceKind.OTHER
    if _COPYLEFT.search(bare):
        return LicenceKind.COPYLEFT
    words = _WORD.findall(bare.lower().removesuffix("."))
    rest = [word for word in words if not _NAMES.fullmatch(word)]
    permissive = len(rest) < len(words) and all(_AROUND.fullmatch(word) for word in rest)
    return LicenceKind.PERMISSIVE if permissive else LicenceKind.OTHER


class _Expression:
    """Reads alternatives of combinations of names and brackets, from left to right."""

    def __init__(self, text: str) -> None:
        pieces = [piece.strip() for piece in _JOINT.split(text) if piece and piece.strip()]
        self._pieces = [piece.upper() if piece.upper() in {"AND", "OR"} else piece for piece in pieces]
        self._place = 0

    def kind(self) -> LicenceKind:
        kind = self._alternatives(depth=0)
        return kind if self._place == len(self._pieces) else LicenceKind.OTHER

    def _next(self) -> str:
        return self._pieces[self._place] if self._place < len(self._pieces) else ""

    def _alternatives(self, depth: int) -> LicenceKind:
        kinds = [self._combination(depth)]
        while self._next() == "OR":
            self._place += 1
            kinds.append(self._combination(depth))
        return next(kind for kind in (LicenceKind.PERMISSIVE, LicenceKind.OTHER, LicenceKind.COPYLEFT) if kind in kinds)

    def _combination(self, depth: int) -> LicenceKind:
        kinds = [self._one(depth)]
        while self._next() == "AND":
            self._place += 1
            kinds.append(self._one(depth))
        return next(kind for kind in (LicenceKind.COPYLEFT, LicenceKind.OTHER, LicenceKind.PERMISSIVE) if kind in kinds)

    def _one(self, depth: int) -> LicenceKind:
        piece = self._next()
        self._place += 1
        if piece != "(":
            return _single(piece)
        inner = self._alternatives(depth + 1) if depth < 20 else LicenceKind.OTHER
        self._place += self._next() == ")"
        return inner
