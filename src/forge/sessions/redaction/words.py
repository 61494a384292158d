"""What a word looks like: a name made of words, a number, a version, a hash, or something random."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

_ENTROPY = 3.7
_LOWER = re.compile("[a-z]")
_UPPER = re.compile("[A-Z]")
_PRONOUNCEABLE = re.compile(r"[A-Za-z][a-z]{3,}|[A-Z]{4,}")
# Between separators short words count as well.
_PART = re.compile(r"(?<![A-Za-z0-9])(?:[A-Za-z]?[a-z]+|\d{1,5})(?![A-Za-z0-9])")
_VOWEL = re.compile("[aeiouyAEIOUY]")
_CONSONANTS = re.compile("[^aeiouyAEIOUY]{6}")
# Which letters follow which in 98.5 % of the pairs in the words of much source and documentation. Letters drawn by
# lot make such a pair in 38 %.
_FOLLOWERS = (
    "abcdfgiklmnprstuvy baeijlorsu cacehiklorstuy dadeimoprsu eabcdefgilmnpqrstuvwx faefiloruy gaehilnorsu haeiot "
    "iabcdefglmnoprstvz je keis ladefilopstuy mabeimopsu nacdefgiklnostuv oabcdfgijklmnoprstuvw padehiloprstuy qu "
    "racdegikmnorstuvy sacehikopstu tacefhiloprstuy uabcdeilmnoprst vaei waehino xacipt yopst zae"
)
_PAIRS = frozenset(row[0] + follower for row in _FOLLOWERS.split() for follower in row[1:])
_ORDERED = re.compile("abcdefgh|ABCDEFGH|01234567|12345678")
_HEX = re.compile(r"(?:0x)?[0-9a-fA-F-]+")
_LOWER_NAME = re.compile(r"[a-z_.:/-]+")
_NUMBER = re.compile(r"[+-]?[\d.,_/:%x+-]*\d(?:[eE][+-]?\d+)?[a-zA-Z%]{0,3}")
_VERSION = re.compile(
    r"(?:npm:|\^|~|[<>=!]=?|v)*\d+(?:\.(?:\d+|\*|x))+(?:[-+.]?[A-Za-z][A-Za-z0-9]{0,7}(?:[-+.]\w{1,12})*)?"
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ][\d:.]+(?:Z|[+-][\d:]+)?)?")


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def is_named(word: str, *, share: float = 0.5) -> bool:
    """Whether so much of `word` can be read aloud: an identifier, a path, a sentence without spaces."""
    if _LOWER_NAME.fullmatch(word):
        return True
    runs = _PRONOUNCEABLE.findall(word)
    read = sum(len(run) for run in runs if _is_readable(run))
    if read < len(word) * share:
        read = max(read, sum(len(part) + 1 for part in _PART.findall(word)))
    return read >= len(word) * share


def _is_readable(run: str) -> bool:
    """Whether letters sound like a word: a vowel, and at most one rare pair in each five letters."""
    if not _VOWEL.search(run) or _CONSONANTS.search(run):
        return False
    letters = run.lower()
    return sum(first + second not in _PAIRS for first, second in pairwise(letters)) <= len(run) // 5


def is_number(word: str) -> bool:
    return bool(_NUMBER.fullmatch(word) or _VERSION.fullmatch(word) or _DATE.fullmatch(word))


def is_hexadecimal(word: str) -> bool:
    return _HEX.fullmatch(word) is not None


def is_alphabet(word: str) -> bool:
    """Characters in their order, or each of many only once: a table, nothing chosen at random."""
    return (len(word) >= 40 and len(set(word)) == len(word)) or _ORDERED.search(word) is not None


def is_random(word: str) -> bool:
    """Whether `word` looks like letters and digits drawn by lot. A hash in hexadecimal does not."""
    if not (_LOWER.search(word) and _UPPER.search(word)) or is_hexadecimal(word) or is_alphabet(word):
        return False
    return entropy(word) > _ENTROPY and not is_named(word)


def is_mixed(word: str, *, share: float = 0.5) -> bool:
    """The same for shorter words and for those in hexadecimal, where a name beside them gives them away."""
    if is_named(word, share=share) or is_number(word):
        return False
    if re.search("[A-Za-z]", word) and re.search("[0-9]", word):
        return len(set(word)) >= 6
    return len(word) >= 20 and word.isascii() and word.isalpha() and not word.islower() and not word.isupper()


def entropy(word: str) -> float:
    """Bits for each character."""
    length = len(word)
    return math.log2(length) - sum(n * math.log2(n) for n in Counter(word).values() if n > 1) / length
