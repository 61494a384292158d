"""Words as programs send them: some are no text that git, SQL or a disk could hold."""

from __future__ import annotations

from forge.errors import InvalidInput


class HalfACharacter(InvalidInput):
    """The first half of a surrogate pair, or the second alone: JSON can say it, nothing can keep it."""

    code = "half_a_character"


def sound(*words: str | None) -> None:
    """Names that git gave us, with bytes that are not UTF-8, pass."""
    for word in words:
        try:
            if word is not None:
                word.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError as e:
            raise HalfACharacter("The text has half a character in it.", hint="Send whole characters.") from e
