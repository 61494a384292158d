"""Answers without a model: understands plain orders, does them with the real tools, reports what they said."""

from __future__ import annotations

from forge.agents.builtin import repository
from forge.agents.builtin.orders import Order, orders
from forge.agents.model import OnText, Prompt
from forge.sessions.messages import AssistantMessage, Message, ToolCall, ToolResult, Usage, UserMessage

NAME = "builtin"
INTRODUCTION = "This is Forge's built-in engine: rules, not a language model."
CANNOT = (
    "I cannot do that, so I did nothing; for real work set a key, such as ANTHROPIC_API_KEY=…, start a local Ollama, "
    'or choose an installed agent program. Say "help" for what I can do.'
)
ABILITIES = """\
I can do these, with the same tools that models use:

- what is in this repository
- find TEXT · show FILE · list files in FOLDER
- create FILE with TEXT (or a ``` block) · replace "A" with "B" in FILE · delete FILE · rename A to B
- add FILE to context · remove FILE from context
- run tests · run `COMMAND` · check syntax of FILE

Several orders may stand in one message, one on each line. For more, set a key, such as ANTHROPIC_API_KEY=…"""
_HELP = {"help", "hi", "hello", "hey", "what can you do", "?", "who are you", "what are you"}
_MOST_LINES = 60
_SUBJECT = 72


class BuiltinEngine:
    """Deterministic: the same prompt gives the same answer, in any process."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def context_window(self) -> int:
        return 1_000_000

    async def answer(self, prompt: Prompt, *, on_text: OnText) -> AssistantMessage:
        text, calls = _answer(prompt)
        if text:
            on_text(text)
        return AssistantMessage(text, calls, NAME, Usage(requests=1, cost=0.0))


def _answer(prompt: Prompt) -> tuple[str, tuple[ToolCall, ...]]:
    place = max((i for i, m in enumerate(prompt.messages) if isinstance(m, UserMessage)), default=-1)
    if place < 0:
        return _said(ABILITIES), ()
    message = prompt.messages[place]
    assert isinstance(message, UserMessage)
    since = prompt.messages[place + 1 :]
    asked = message.text.strip()
    if any(isinstance(m, ToolResult) for m in since):
        return _said(_report(asked, since)), ()
    if asked.lower().strip(" .!?") in _HELP or asked == "?":
        return _said(ABILITIES), ()
    wanted = orders(asked)
    if not isinstance(wanted, str):
        missing = {order.tool for order in wanted} - {tool.name for tool in prompt.tools}
        if missing:
            return _said(f"I did nothing, because here I may not use {', '.join(sorted(missing))}."), ()
        return "", tuple(ToolCall(f"builtin-{place}-{i}", o.tool, o.arguments) for i, o in enumerate(wanted))
    about = repository.described(prompt) if repository.ASKS.search(asked) else None
    if about is not None:
        return _said(about), ()
    puzzling = "" if wanted.strip() == asked else f'I do not understand "{_short(wanted)}". '
    return _said(puzzling + CANNOT), ()


def _said(text: str) -> str:
    return f"{INTRODUCTION} {text}" if "\n" not in text else f"{INTRODUCTION}\n\n{text}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 80 else line[:79] + "…"


def _report(asked: str, since: tuple[Message, ...]) -> str:
    """What each tool said, in order, and the subject of the commit if files were changed."""
    wanted = orders(asked)
    results = [m for m in since if isinstance(m, ToolResult)]
    known: tuple[Order, ...] = () if isinstance(wanted, str) else wanted
    parts = []
    subjects = []
    for place, result in enumerate(results):
        order = known[place] if place < len(known) else None
        parts.append(_told(result))
        if order is not None and order.subject and not result.failed:
            subjects.append(order.subject)
    if subjects:
        more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
        parts.append(f"Commit: {_subject(subjects[0], more)}")
    return "\n\n".join(parts)


def _subject(first: str, more: str) -> str:
    room = _SUBJECT - len(more)
    return (first if len(first) <= room else first[: room - 1] + "…") + more


def _told(result: ToolResult) -> str:
    lines = result.text.rstrip().splitlines() or ["(nothing)"]
    shown = lines[:_MOST_LINES]
    if len(lines) > len(shown):
        shown.append(f"… and {len(lines) - len(shown)} more lines")
    head = f"{result.name} {'could not do it' if result.failed else 'says'}:"
    if len(shown) == 1:
        return f"{head} {shown[0]}"
    return "\n".join([head, "", *(f"    {line}" for line in shown)])
