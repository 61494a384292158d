"""A conversation in a few lines: what a merge keeps of it in place of its turns, and where those are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from forge.git import CommitId, GitCommitVFS
from forge.git.objects.object_store import Objects
from forge.git.workspace.forge_records import is_session
from forge.sessions.conversation import newest_first, read_head
from forge.sessions.layout import FOLDER, RECORDS, SCHEMA_VERSION, SessionUnreadable, json_bytes, lane_of, ref_at
from forge.sessions.messages import usage_json
from forge.sessions.turns import TurnMissing

_SHOWN = 20
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Brought:
    """What of Forge's own comes along with a change of files."""

    turns: int
    files: int
    summaries: int = 0

    def __str__(self) -> str:
        is_short = self.summaries == self.files
        what = "summary of a conversation" if is_short else f"conversation of {_count(self.turns, 'turn')}"
        return f"{what}, {_count(self.files, 'file')} in .forge/"


def brought(paths: Iterable[str]) -> Brought | None:
    """What the files of a conversation among `paths` are; None where there is none."""
    own = [path for path in paths if is_session(path)]
    turns = sum(ref_at(path.removeprefix(f"{FOLDER}/")) is not None for path in own)
    summaries = sum(path.startswith(f"{RECORDS}/") for path in own)
    return Brought(turns, len(own), summaries) if own else None


def summary(objects: Objects, commit: CommitId, branch: str | None) -> dict[str, bytes]:
    """The file, by its path, that tells of the conversation at `commit`. No other merge writes to that path."""
    files = GitCommitVFS(objects, commit, branch=branch)
    try:
        head = read_head(files)
        turns = list(islice(newest_first(files, head), _SHOWN))
    except (SessionUnreadable, TurnMissing):  # of what cannot be read, nothing can be told
        return {}
    if head.last is None:
        return {}
    lane = head.lane or lane_of(branch or head.last)
    data = {
        "schema_version": SCHEMA_VERSION,
        "branch": branch or turns[0].branch,
        "commit": commit,
        "last": head.last,
        "last_lane": head.lane,
        "started": turns[0].started,
        "turns": head.turns,
        "usage": usage_json(head.usage),
        "asked": [" ".join(turn.asked.split())[:_LONGEST] for turn in reversed(turns)],
    }
    return {f"{RECORDS}/{lane}/{head.last}-{commit[:12]}/merged.json": json_bytes(data, unlike=f"{head.last}-{commit}")}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
