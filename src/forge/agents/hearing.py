"""An answer as it comes: passed on piece by piece without secrets, and remembered in case it is never finished."""

from __future__ import annotations

import re

from forge.agents.desk import Desk
from forge.agents.steps import Steps
from forge.events import TextRestarted, TextStreamed
from forge.sessions.redaction import Redactor

# Up to here a line can be judged: what follows may be half of a secret.
_JUDGED = re.compile(r".*[^A-Za-z0-9+/_=.:@-]", re.DOTALL)
# Of a long line only the end is looked at with every piece, and with it as much as a secret and its name may take.
_LONG = 384
_NEAR = 192


class Heard:
    """Listens to a model or a program. What is passed on lags behind by the word that is not complete yet."""

    def __init__(self, desk: Desk, steps: Steps, redactor: Redactor) -> None:
        self._desk = desk
        self._steps = steps
        self._redactor = redactor
        self._text = self._line = self._told = ""

    def __call__(self, piece: str) -> None:
        self._text += piece
        *complete, rest = (self._line + piece).split("\n")
        for line in complete:
            self._tell(line, end="\n")
            self._told = ""
        self._line = rest
        judged = _JUDGED.match(rest)
        if judged:
            self._tell(judged[0])
            if len(judged[0]) > _LONG:
                self._leave_behind(judged[0])

    def _leave_behind(self, judged: str) -> None:
        """The beginning of a line that was told already, at a place where nothing hidden goes across it."""
        cut = judged.rfind(" ", 0, len(judged) - _NEAR) + 1
        kept = self._redactor.text(judged[cut:])
        if cut and self._told.endswith(kept):
            self._line, self._told = self._line[cut:], kept

    def restart(self) -> None:
        """What was heard so far is void."""
        self._text = self._line = self._told = ""
        self._steps.emit(TextRestarted(self._desk.turn))

    def end(self) -> None:
        self._tell(self._line)

    def broken_off(self) -> None:
        """The answer ends here, without its end."""
        self.end()
        self._desk.unfinished = self._redactor.text(self._text)

    def _tell(self, line: str, *, end: str = "") -> None:
        shown = self._redactor.text(line)
        if not shown.startswith(self._told):  # what looked harmless was the beginning of a secret
            shown = self._told
        if shown[len(self._told) :] + end:
            self._steps.emit(TextStreamed(self._desk.turn, shown[len(self._told) :] + end))
        self._told = shown
