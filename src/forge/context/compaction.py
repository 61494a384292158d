"""Makes a conversation fit a window: the person's words stay, old tool results go first, then old turns become digests.

Only what is sent changes; the messages handed in stay as they are. Every call keeps its result, or both go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from forge.context import tokens
from forge.context.digest import digest, files_read, worded
from forge.sessions.messages import AssistantMessage, ContextMessage, Message, ToolCall, ToolResult, UserMessage

SHARE = 0.8
"""Of the window: when more is taken, it is time."""
TARGET = 0.5
"""Of the window: what may be taken afterwards, so that it does not happen again at once."""
KEEP = 3
_OLD_RESULT = 150
_ANSWER = 200
_BRIEF_ANSWER = 40
_NOT_RUN = "This call was not carried out: the turn ended before it."
_AGAIN = "{left:,} characters left out; ask again if they are needed"
_MOST_PATHS = 60


@dataclass(frozen=True, slots=True)
class Compacted:
    messages: tuple[Message, ...]
    before: int
    """Estimated tokens."""
    after: int

    @property
    def changed(self) -> bool:
        return self.after != self.before


def taken_by(messages: Sequence[Message]) -> int:
    return sum(map(tokens.of_message, messages))


def due(taken: int, window: int, *, share: float = SHARE) -> bool:
    """Whether a prompt of `taken` tokens is too close to the end of the window."""
    return taken > window * share


def compacted(messages: Sequence[Message], *, limit: int, keep: int = KEEP) -> Compacted:
    """At most `limit` tokens where that can be done; the last `keep` turns stay as they are if at all possible."""
    whole = completed(messages)
    before = taken_by(whole)
    if before <= limit:
        return Compacted(whole, before, before)
    turns = _turns(whole)
    best, least = whole, before
    for attempt in _attempts(turns, max(keep, 1), limit):
        taken = taken_by(attempt)
        if taken <= limit:
            return Compacted(attempt, before, taken)
        if taken < least:
            best, least = attempt, taken
    return Compacted(best, before, least)


def completed(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Each call directly followed by its result, as providers demand: missing ones say so, stray ones are left out."""
    whole: list[Message] = []
    asked: tuple[ToolCall, ...] = ()
    place = 0
    given: dict[str, ToolResult] = {}

    def close() -> None:
        # Ids count only between one answer and the next: some providers begin anew with each.
        whole[place:place] = [
            given.get(call.id) or ToolResult(call.id, call.name, _NOT_RUN, failed=True) for call in asked
        ]

    for message in messages:
        if isinstance(message, ToolResult):
            given.setdefault(message.call_id, message)
            continue
        if isinstance(message, AssistantMessage | UserMessage):
            close()
            asked, given = (), {}
        whole.append(message)
        if isinstance(message, AssistantMessage):
            asked, place = message.calls, len(whole)
    close()
    return tuple(whole)


Turn = tuple[Message, ...]
Change = Callable[[Message], Message]


def _turns(messages: Sequence[Message]) -> list[Turn]:
    """Each from a person's message to the next; what comes before the first is a separate turn."""
    turns: list[list[Message]] = []
    for message in messages:
        if isinstance(message, UserMessage) or not turns:
            turns.append([])
        turns[-1].append(message)
    return [tuple(turn) for turn in turns]


def _attempts(turns: Sequence[Turn], keep: int, limit: int) -> Iterator[tuple[Message, ...]]:
    """From what loses least to what loses most."""
    old, last = list(turns[:-keep]), list(turns[-keep:])
    trimmed = [_changed(turn, _result_within(_OLD_RESULT)) for turn in old]
    yield _joined([*trimmed, *last])
    yield from _digested_one_by_one(turns, old, trimmed, last, limit)
    brief = [_brief(turn, _BRIEF_ANSWER) for turn in old]
    yield (_note(turns, len(old)), *_flat(brief), *_flat(last))
    for most in (1_000, _OLD_RESULT):
        smaller = [_changed(turn, _result_within(most)) for turn in last[:-1]]
        yield (_note(turns, len(old)), *_flat(brief), *_flat(smaller), *last[-1])
    gone = len(turns) - 1
    brief = [_brief(turn, _BRIEF_ANSWER) for turn in turns[:-1]]
    now = turns[-1]
    yield (_note(turns, gone), *_flat(brief), *now)
    for most in (2_000, 500, _OLD_RESULT):
        yield (_note(turns, gone), *_flat(brief), *_with_last_steps_whole(now, most))
    for steps in (8, 4, 2, 1):
        yield (_note(turns, gone), *_flat(brief), *_last_steps(now, steps))
    yield from _with_shorter_words(turns, now, gone)


def _digested_one_by_one(
    turns: Sequence[Turn], old: Sequence[Turn], trimmed: Sequence[Turn], last: Sequence[Turn], limit: int
) -> Iterator[tuple[Message, ...]]:
    """The oldest turns become digests first: the fewest of them with which the rest fits."""
    digests = [_brief(turn, _ANSWER) for turn in old]
    note = _note(turns, len(old))
    taken = taken_by([note]) + taken_by(_flat(trimmed)) + taken_by(_flat(last))
    for count in range(1, len(old) + 1):
        taken += taken_by(digests[count - 1]) - taken_by(trimmed[count - 1])
        if taken <= limit or count == len(old):
            yield (_note(turns, count), *_flat(digests[:count]), *_flat(trimmed[count:]), *_flat(last))
            return


def _with_shorter_words(turns: Sequence[Turn], now: Turn, gone: int) -> Iterator[tuple[Message, ...]]:
    """The last resort: long messages of the person are shortened, too, the first and the newest one least."""
    first = next((message for turn in turns for message in turn if isinstance(message, UserMessage)), None)
    newest = next((message for message in now if isinstance(message, UserMessage)), None)
    for others, most in ((500, 4_000), (100, 1_000), (25, 250)):

        def shorter(message: Message, others: int = others, most: int = most) -> Message:
            if not isinstance(message, UserMessage):
                return message
            room = most if message is first or message is newest else others
            note = "{left:,} characters of this message left out to fit the window"
            return replace(message, text=tokens.shortened(message.text, room, note=note))

        words = [_changed(tuple(_words([turn])), shorter) for turn in turns[:-1]]
        latest = _changed(_last_steps(_changed(now, shorter), 1), _everything_within(most))
        yield (_note(turns, gone), *_flat(words), *latest)


def _words(turns: Sequence[Turn]) -> list[Message]:
    return [message for turn in turns for message in turn if isinstance(message, UserMessage)]


def _brief(turn: Turn, answer: int) -> Turn:
    """The person's words as they are, and what came of them."""
    text = worded(digest(turn), answer_tokens=answer)
    return (*_words([turn]), *((_context(f"[Shortened] {text}"),) if text else ()))


def _note(turns: Sequence[Turn], gone: int) -> ContextMessage:
    dropped = [message for turn in turns[:gone] for message in turn]
    text = (
        "The conversation was shortened to fit. The person's own messages are all here; of older turns there is what "
        "came of them. The full transcript is kept on the branch."
    )
    paths = files_read(dropped)
    if paths:
        more = f" and {len(paths) - _MOST_PATHS} more" if len(paths) > _MOST_PATHS else ""
        text += f" Files that were read can be read again: {', '.join(paths[-_MOST_PATHS:])}{more}."
    return _context(text)


def _context(text: str) -> ContextMessage:
    return ContextMessage(text, kind="compaction")


def _flat(turns: Sequence[Turn]) -> list[Message]:
    return [message for turn in turns for message in turn]


def _joined(turns: Sequence[Turn]) -> tuple[Message, ...]:
    return tuple(_flat(turns))


def _changed(turn: Turn, change: Change) -> Turn:
    return tuple(change(message) for message in turn)


def _result_within(most: int) -> Change:
    def change(message: Message) -> Message:
        if isinstance(message, ToolResult) and tokens.of_text(message.text) > most:
            return replace(message, text=tokens.shortened(message.text, most, note=_AGAIN))
        return message

    return change


def _everything_within(most: int) -> Change:
    """Results, texts of the assistant and long arguments."""
    result = _result_within(most)

    def change(message: Message) -> Message:
        if isinstance(message, AssistantMessage):
            calls = tuple(_call_within(call, most) for call in message.calls)
            return replace(message, text=tokens.shortened(message.text, most), calls=calls)
        return result(message)

    return change


def _call_within(call: ToolCall, most: int) -> ToolCall:
    arguments = {
        name: tokens.shortened(value, most) if isinstance(value, str) else value
        for name, value in call.arguments.items()
    }
    return replace(call, arguments=arguments)


def _steps(turn: Turn) -> list[Turn]:
    """An answer with the results of its calls; messages of others stand alone."""
    steps: list[list[Message]] = []
    for message in turn:
        if not isinstance(message, ToolResult) or not steps:
            steps.append([])
        steps[-1].append(message)
    return [tuple(step) for step in steps]


def _with_last_steps_whole(turn: Turn, most: int, whole: int = 2) -> Turn:
    steps = _steps(turn)
    return tuple(_flat([*(_changed(step, _result_within(most)) for step in steps[:-whole]), *steps[-whole:]]))


def _last_steps(turn: Turn, count: int) -> Turn:
    """The person's words, a digest of the earlier steps, and the last steps."""
    steps = _steps(turn)
    early, late = steps[:-count], steps[-count:]
    if not early:
        return turn
    done = worded(digest(_flat(early)), answer_tokens=_BRIEF_ANSWER)
    note = (_context(f"[Shortened] Earlier in this turn: {done}"),) if done else ()
    return (*_words(early), *note, *_flat(late))
