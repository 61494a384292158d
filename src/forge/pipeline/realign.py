"""Realigning: what a distillation starts from after "realign from here". Nothing is removed from the chat itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

_COMMAND = re.compile(r"""["'`*_\s]*realign\s+from\s+here[\s.!?…"'`*_]*""", re.IGNORECASE)
NO_CORRECTION = "There is no correction to realign from yet. Say first what should be different."


class Message(Protocol):
    """A message of the chat, as far as realigning looks at it."""

    @property
    def role(self) -> str: ...

    @property
    def content(self) -> str: ...

    @property
    def phase(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Basis:
    """What to distill from: the brain dump, and the corrections up to the one at index `baseline` of the chat."""

    brain_dump: tuple[str, ...]
    corrections: tuple[str, ...]
    previous: str
    """What Forge had said last before the baseline; empty where it had said nothing."""
    baseline: int
    excluded: tuple[int, ...]
    """Messages after the baseline: kept in the chat, left out of the work."""


@dataclass(frozen=True, slots=True)
class NoCorrection:
    """There is nothing to go back to; `message` tells the person."""

    message: str = NO_CORRECTION


def is_realign(text: str) -> bool:
    """Whether a message is the command and nothing else."""
    return _COMMAND.fullmatch(text) is not None


def brain_dump(messages: Sequence[Message], *, background: Collection[str] = ()) -> tuple[str, ...]:
    """What the person gave before the first distillation, without messages that are only team context."""
    said = (m.content for m in messages if m.phase == "brain_dump" and _substantive(m))
    return tuple(text for text in said if text not in background)


def corrections(messages: Sequence[Message]) -> tuple[str, ...]:
    """All that a person corrected, in its order."""
    return tuple(m.content for m in messages if _is_correction(m))


def realigned(messages: Sequence[Message]) -> Basis | NoCorrection:
    """Go back to the last correction of substance, past any number of realign commands."""
    baseline = next((n for n in reversed(range(len(messages))) if _is_correction(messages[n])), None)
    if baseline is None:
        return NoCorrection()
    kept = messages[: baseline + 1]
    said = [m.content for m in kept if m.role == "ai"]
    return Basis(
        brain_dump(kept), corrections(kept), said[-1] if said else "", baseline, tuple(range(len(kept), len(messages)))
    )


def _substantive(message: Message) -> bool:
    return message.role == "human" and bool(message.content.strip()) and not is_realign(message.content)


def _is_correction(message: Message) -> bool:
    return message.phase in {"distilling", "human_review"} and _substantive(message)
