"""How a turn is shown while it runs: prose that is pleasant to read, one JSON document, or one a line."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from forge.cli.terminal.options import short
from forge.cli.terminal.output import Output, cut, plain
from forge.counts import counted
from forge.events import (
    ContextCompacted,
    Event,
    ModelAnswered,
    ModelRetryScheduled,
    QuestionAsked,
    QuestionClosed,
    TextRestarted,
    TextStreamed,
    ToolEnded,
    ToolStarted,
    TurnSetAside,
    TurnStarted,
    to_json,
)

if TYPE_CHECKING:
    from forge.app.sessions.turn_end import TurnEnd
    from forge.errors import ForgeError


class TurnDisplay:
    """Says nothing until the end, and then one JSON document: what programs want."""

    def __init__(self, out: Output) -> None:
        self.out = out

    def welcome(self, branch: str, answering: str) -> None: ...

    def prompt(self, *, more: bool) -> None: ...

    def event(self, event: Event) -> None: ...

    def rest(self) -> None:
        """End a line of text that is still open."""

    def cancelling(self) -> None:
        self.out.note("Cancelling …")

    def leaving(self, branch: str, *, server: bool) -> None:
        how = "" if server else f"; the next message on {branch} or `forge worker` ends it"
        self.out.note(f"Leaving before the turn has ended{how}.")

    def unanswered(self, branch: str) -> None:
        self.out.note(f"The turn waits. `forge session answer --branch {branch}` answers it; Ctrl-C ends it.")

    def failed(self, error: ForgeError) -> None:
        self.out.error(error)

    def end(self, end: TurnEnd) -> None:
        self.out.result(document(end))


class LineTurnDisplay(TurnDisplay):
    """One JSON document a line: each event, and the result as the last one."""

    def event(self, event: Event) -> None:
        self._line(to_json(event))

    def failed(self, error: ForgeError) -> None:
        self._line({"type": "error", "code": error.code, "message": error.message, "hint": error.hint})

    def end(self, end: TurnEnd) -> None:
        self._line({"type": "result", **document(end)})

    def _line(self, value: dict[str, object]) -> None:
        self.out.raw(json.dumps(plain(value), ensure_ascii=False).encode("utf-8", "replace") + b"\n")


class ProseTurnDisplay(TurnDisplay):
    """For people: text as it comes, a line for each tool, and at the end what became of it."""

    def __init__(self, out: Output) -> None:
        super().__init__(out)
        self._in_text = False
        self._said = ""
        self._heard = ""
        """Of the answer that is being told."""

    def welcome(self, branch: str, answering: str) -> None:
        out = self.out
        out.line(f"{out.styled(answering, 'bold')} on {out.styled(branch, 'cyan')}. Each turn becomes one commit.")
        out.line(out.styled("Ctrl-C ends a turn, Ctrl-D the conversation; a line ending in \\ continues.", "dim"))

    def prompt(self, *, more: bool) -> None:
        sys.stdout.write(self.out.styled("… ", "bold") if more else f"\n{self.out.styled('you › ', 'bold')}")
        self.out.flush()

    def event(self, event: Event) -> None:
        match event:
            case TurnStarted(model=model):
                self._line(self.out.styled(f"{model} …", "dim"))
            case TextStreamed(text=text, answer=answer, at=at):
                self._piece(text, len(self._heard) if answer == 0 else at)
            case ModelAnswered(text=text):
                if text.startswith(self._heard):  # pieces of it may have been heard by somebody else, or by nobody
                    self._text(text[len(self._heard) :])
                self._heard = ""
                self._line()
            case ToolStarted(name=name, about=about):
                self._line(f"  {self.out.styled(name, 'cyan')} {self.out.styled(cut(about, 80), 'dim')}")
            case ToolEnded(failed=True, text=text):
                first = next(iter(text.splitlines()), "")
                self._line(f"    {self.out.styled('✗', 'red')} {self.out.styled(cut(first, 100))}")
            case QuestionAsked(text=text, options=options):
                for line in text.splitlines():
                    self._line(self.out.styled(line, "bold"))
                for number, option in enumerate(options, 1):
                    self._line(f"  {number}. {self.out.styled(option)}")
            case QuestionClosed(how="answered", answer=answer):
                self._line(self.out.styled(f"Answered: {cut(answer or '', 200)}", "dim"))
            case _:
                self._aside(event)

    def _aside(self, event: Event) -> None:
        """What happens to the turn from outside."""
        match event:
            case ModelRetryScheduled(model=model, text=text):
                self._line(self.out.styled(f"{model}: {text}", "yellow"))
            case TextRestarted():
                self._heard = ""
                self._line(self.out.styled("(the answer broke off and is asked for again)", "dim"))
            case ContextCompacted(before_tokens=before, after_tokens=after):
                self._line(self.out.styled(f"(the conversation was condensed: {before:,} → {after:,} tokens)", "dim"))
            case TurnSetAside(branch=branch, kept_on=kept_on):
                note = f"{branch} was moved by somebody else meanwhile; the work is on {kept_on}."
                self._line(self.out.styled(note, "yellow"))

    def end(self, end: TurnEnd) -> None:
        out = self.out
        self._line()
        where = out.styled(end.set_aside or end.branch, "cyan")
        commit = out.styled(short(end.commit), "yellow") if end.commit else "no commit"
        if end.status != "done":
            out.line(f"{out.styled(f'Stopped ({end.status})', 'red')}: {out.styled(end.reason)}")
            out.line(f"No file was changed on {where}; the conversation is kept in {commit}.")
        elif end.files:
            named = ", ".join(end.files[:5]) + (f" and {len(end.files) - 5} more" if len(end.files) > 5 else "")
            out.line(f"{out.styled('Saved', 'green')} → {commit} on {where}: {out.styled(named)}")
        else:
            out.line(f"No file was changed; the conversation is kept in {commit} on {where}.")
        out.line(out.styled(usage_line(end), "dim"))

    def rest(self) -> None:
        self._line()

    def failed(self, error: ForgeError) -> None:
        self._line()
        super().failed(error)

    def _piece(self, text: str, at: int) -> None:
        """Each character once: what comes again is left out, and what comes after a gap waits for the whole."""
        if at <= len(self._heard):
            new = text[len(self._heard) - at :]
            self._heard += new
            self._text(new)

    def _text(self, text: str) -> None:
        if not text:
            return
        self._in_text = True
        self.out.raw(text.encode("utf-8", "replace"))
        self._said = (self._said + text)[-2:]

    def _line(self, text: str = "") -> None:
        """A line of its own, after whatever text is still open."""
        if self._in_text and not self._said.endswith("\n"):
            self.out.line()
        self._in_text = False
        if text:
            self.out.line(text)
        self.out.flush()


def telling(out: Output, *, stream: bool) -> TurnDisplay:
    if stream:
        return LineTurnDisplay(out)
    return TurnDisplay(out) if out.json else ProseTurnDisplay(out)


def document(end: TurnEnd) -> dict[str, object]:
    """The result as programs get it. `stopped` is null for a turn that did what it was for."""
    stopped = None if end.status == "done" else {"why": end.status.value, "reason": end.reason}
    return {
        "branch": end.branch,
        "commit": end.commit,
        "files": list(end.files),
        "text": end.text,
        "usage": asdict(end.usage),
        "stopped": stopped,
        "turn": end.turn,
        "set_aside": end.set_aside,
    }


def usage_line(end: TurnEnd) -> str:
    used = end.usage
    if not used.input_tokens and not used.output_tokens and (used.cost == 0 or not used.requests):
        asked = used.cost == 0 or end.status == "done"
        return "No model was asked: nothing to pay." if asked else "No request is known to have reached a model."
    requests = counted(used.requests, "request")
    cost = "price unknown" if used.cost is None else f"${used.cost:.4f}"
    if not used.input_tokens and not used.output_tokens:
        return f"{requests} · no tokens reported · {cost}"
    cached = f" ({used.cache_read_tokens * 100 // max(used.input_tokens, 1)} % cached)" if used.input_tokens else ""
    return f"{requests} · {used.input_tokens:,} tokens in{cached} · {used.output_tokens:,} out · {cost}"
