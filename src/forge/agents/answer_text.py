"""An answer as it comes: passed on piece by piece without secrets, and remembered in case it is never finished."""

from __future__ import annotations

import re
from collections.abc import Callable

from forge.agents.listener import Retry
from forge.agents.steps import Steps
from forge.events import ModelRetryScheduled, TextRestarted, TextStreamed
from forge.sessions.messages import Usage
from forge.sessions.redaction import Redactor

# Up to here a line can be judged: what follows may be half of a secret.
_JUDGED = re.compile(r".*[^A-Za-z0-9+/_=.:@-]", re.DOTALL)
# Of a long line only the end is looked at with every piece, and with it as much as a secret and its name may take.
_LONG = 384
# A private key takes many lines, and each line alone may look like ordinary data.
_KEY_BEGINS = re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----(?!.*-----END )")
_KEY_GOES_ON = re.compile(r"[\s>|#*+-]*(?:[A-Za-z0-9+/=]*|[A-Za-z-]+: .*)\s*")
_NEAR = 192


class AnswerText:
    """Listens to a model or a program. What is passed on lags behind by the word that is not complete yet."""

    def __init__(
        self,
        turn: str,
        steps: Steps,
        redactor: Redactor,
        model: str = "",
        answer: int = 1,
        *,
        check: Callable[[Usage], None] = lambda _: None,
    ) -> None:
        """`turn` names events. `check` is given what an answer took, before it is asked for again, and may raise."""
        self.lost = Usage()
        self._turn = turn
        self._model = model
        self._answer = answer
        self._at = 0
        self._check = check
        self._steps = steps
        self._redactor = redactor
        self._text = self._line = self._told = ""
        self._in_key = False

    def __call__(self, piece: str) -> None:
        self._text += piece
        *complete, rest = (self._line + piece).split("\n")
        for line in complete:
            if not self._hides(line):
                self._tell(line, end="\n")
            self._told = ""
        self._line = rest
        if self._in_key:
            return
        judged = _JUDGED.match(rest)
        if judged:
            self._tell(judged[0])
            if len(judged[0]) > _LONG:
                self._leave_behind(judged[0])

    def _hides(self, line: str) -> bool:
        """Whether the line is inside of a private key, or its last one."""
        if not self._in_key:
            self._in_key = _KEY_BEGINS.search(line) is not None
            return False
        if "-----END " in line:
            self._in_key = False
            return True
        self._in_key = _KEY_GOES_ON.fullmatch(line) is not None
        return self._in_key

    def _leave_behind(self, judged: str) -> None:
        """The beginning of a line that was told already, at a place where nothing hidden goes across it."""
        cut = judged.rfind(" ", 0, len(judged) - _NEAR) + 1
        kept = self._redactor.text(judged[cut:])
        if cut and self._told.endswith(kept):
            self._line, self._told = self._line[cut:], kept

    def restart(self) -> None:
        """What was heard so far is void."""
        self._at = 0
        self._text = self._line = self._told = ""
        self._in_key = False
        self._steps.emit(TextRestarted(self._turn))

    def retrying(self, retry: Retry) -> None:
        self._check(retry.spent)
        self._steps.emit(
            ModelRetryScheduled(
                self._model, retry.kind, retry.attempt, retry.attempts, retry.wait, retry.text(), turn=self._turn
            )
        )

    def spent(self, usage: Usage) -> None:
        self.lost += usage

    def end(self) -> None:
        if not self._hides(self._line):
            self._tell(self._line)

    def broken_off(self) -> str:
        """The answer ends here, without its end. Gives what had come of it."""
        self.end()
        return self._redactor.text(self._text)

    def _tell(self, line: str, *, end: str = "") -> None:
        shown = self._redactor.text(line)
        if not shown.startswith(self._told):  # what looked harmless was the beginning of a secret
            shown = self._told
        if piece := shown[len(self._told) :] + end:
            self._steps.emit(TextStreamed(self._turn, piece, self._answer, self._at))
            self._at += len(piece)
        self._told = shown
