"""What context is made from, and how much of it: the values that the turn loop hands in."""

from __future__ import annotations

from dataclasses import dataclass, field

from forge.context import compaction
from forge.context.files import MOST_TOKENS
from forge.context.instructions import NAMES
from forge.context.overview import EXCLUDED
from forge.context.summaries import Redact
from forge.context.summary_cache import SummaryCache
from forge.git.objects.cache import Cache
from forge.git.objects.object_store import Objects
from forge.sessions.messages import ContextMessage

MOST_OVERVIEW_TOKENS = 6_000
"""Whatever the size of the window: the overview is paid for in every conversation."""
_KEPT_BYTES = 16 << 20


def _rendered() -> Cache[str, ContextMessage]:
    return Cache(_KEPT_BYTES, lambda message: len(message.text))


@dataclass(frozen=True, slots=True)
class Source:
    """Where references are looked up. Blocks rendered once are kept: each request of a turn needs them again."""

    objects: Objects
    summaries: SummaryCache
    redact: Redact
    rendered: Cache[str, ContextMessage] = field(default_factory=_rendered, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ContextSettings:
    overview_tokens: int = MOST_OVERVIEW_TOKENS
    file_tokens: int = MOST_TOKENS
    """Of one active file; of a longer one the beginning and the end are shown."""
    exclude: tuple[str, ...] = EXCLUDED
    """Globs of files that the overview only counts."""
    instructions: tuple[str, ...] = NAMES
    """Names of files that are in context from the start, at the root and above active files."""
    change_lines: int = 40
    """Most lines about changed files before one message."""
    seconds: float | None = 10.0
    """For making summaries when a conversation begins; None takes as long as it needs."""
    superseded_share: float = 0.25
    """Of the window: when more of it is replaced text, the stream begins anew."""
    compact_share: float = compaction.SHARE
    compact_target: float = compaction.TARGET
    keep_turns: int = compaction.KEEP

    @classmethod
    def for_window(cls, window: int) -> ContextSettings:
        """Sizes that leave most of a model's window to the conversation."""
        return cls(
            overview_tokens=min(max(window * 12 // 100, 1_000), MOST_OVERVIEW_TOKENS),
            file_tokens=min(max(window * 6 // 100, 1_000), 30_000),
        )
