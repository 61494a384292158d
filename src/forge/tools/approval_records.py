"""The record of approvals, in `.git/forge/approvals`: outside every branch, where no commit, merge or command writes.

It belongs to the repository, so that every process, worker and user of a server sees the same, and another clone has
its own. One file for each tool and content; a second one beside it keeps the sources as the person approved them.
"""

from __future__ import annotations

import difflib
import json
import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from forge.git.process import disk
from forge.tools.approvals import Approval, approval_from_json

_SCHEMA_VERSION = 1
UNREADABLE = (
    "The approved version cannot be read, so there is no difference to show. "
    "Read the whole tool before you approve it.\n"
)
"""In place of a difference: an empty one would look like no change."""
_MOST_DIFFERENCE = 40_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecordedApproval:
    """Who let which content run, and whether somebody has taken it back since."""

    tool: str
    approval: Approval
    user: str
    """The id of the user on a server; `local` for the person at the machine."""
    branch: str
    """Where it was approved."""
    revoked_by: str | None = None
    revoked_at: str | None = None

    @property
    def counts(self) -> bool:
        return self.revoked_at is None


class ApprovalRecords:
    """The approvals of one repository."""

    def __init__(self, common_dir: Path) -> None:
        self._folder = common_dir / "forge" / "approvals"

    def find(self, tool: str, content: str) -> RecordedApproval | None:
        """The approval of `tool` with the hash `content`, also one that was taken back."""
        found = self._read(self._path(tool, content))
        return found if found is not None and found.tool == tool and found.approval.hash == content else None

    def of(self, tool: str) -> tuple[RecordedApproval, ...]:
        """Every approval of `tool`, newest first."""
        found = [each for each in self._all(f"{_mark(tool)}-*.json") if each.tool == tool]
        return tuple(sorted(found, key=lambda each: each.approval.approved_at, reverse=True))

    def keep(self, recorded: RecordedApproval, sources: Mapping[str, bytes]) -> None:
        """Durable when this returns. The sources come first: an approval never stands without them."""
        path = self._path(recorded.tool, recorded.approval.hash)
        texts = {name: data.decode("utf-8", "backslashreplace") for name, data in sources.items()}
        with disk.reporting():
            self._folder.mkdir(parents=True, exist_ok=True)
            disk.replace_synced(_sources(path), _json({"files": texts}))
            disk.replace_synced(path, _json({"schema_version": _SCHEMA_VERSION, **asdict(recorded)}))

    def revoke(self, tool: str, by: str, at: str) -> bool:
        """Take back every approval of `tool` that counts, on every branch. Whether there was one."""
        found = [each for each in self.of(tool) if each.counts]
        for each in found:
            taken_back = replace(each, revoked_by=by, revoked_at=at)
            with disk.reporting():
                disk.replace_synced(
                    self._path(tool, each.approval.hash),
                    _json({"schema_version": _SCHEMA_VERSION, **asdict(taken_back)}),
                )
        return bool(found)

    def difference(self, then: RecordedApproval, now: Mapping[str, bytes]) -> str:
        """What changed since, as a unified diff; a sentence where the approved sources cannot be read."""
        try:
            kept = json.loads(_sources(self._path(then.tool, then.approval.hash)).read_bytes())["files"]
            before = {str(path): str(text) for path, text in kept.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
            _log.warning("The approved sources of %s cannot be read: %s", then.tool, e)
            return UNREADABLE
        after = {path: data.decode("utf-8", "backslashreplace") for path, data in now.items()}
        text = "".join(_lines(before, after))
        if len(text) <= _MOST_DIFFERENCE:
            return text
        cut = text[:_MOST_DIFFERENCE]
        left = text.count("\n") - cut.count("\n")
        return f"{cut[: cut.rfind(chr(10)) + 1]}… {left:,} more lines; open the files to read them.\n"

    def first_told(self, about: str) -> bool:
        """Whether nobody was told `about` this yet; from now on they were."""
        with disk.reporting():
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                disk.write_new(self._folder / f"told-{sha256(about.encode()).hexdigest()[:16]}", b"")
            except FileExistsError:
                return False
        return True

    def _all(self, pattern: str) -> Iterator[RecordedApproval]:
        for path in self._folder.glob(pattern):
            if not path.name.endswith(".sources.json") and (found := self._read(path)) is not None:
                yield found

    def _read(self, path: Path) -> RecordedApproval | None:
        try:
            return _recorded(json.loads(path.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
            _log.warning("The approval in %s cannot be read and does not count: %s", path, e)
            return None

    def _path(self, tool: str, content: str) -> Path:
        return self._folder / f"{_mark(tool)}-{sha256(content.encode()).hexdigest()[:40]}.json"


def _recorded(data: Mapping[str, Any]) -> RecordedApproval:
    if data["schema_version"] > _SCHEMA_VERSION:
        raise ValueError(f"format {data['schema_version']} is of a newer Forge")
    return RecordedApproval(
        str(data["tool"]),
        approval_from_json(data["approval"]),
        str(data["user"]),
        str(data["branch"]),
        data["revoked_by"],
        data["revoked_at"],
    )


def _mark(tool: str) -> str:
    return sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _sources(path: Path) -> Path:
    return path.with_suffix(".sources.json")


def _json(data: Mapping[str, object]) -> bytes:
    return json.dumps(data, indent=1).encode() + b"\n"


def _lines(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        names = (f"a/{path}" if old is not None else "/dev/null", f"b/{path}" if new is not None else "/dev/null")
        rows = difflib.unified_diff(
            (old or "").splitlines(keepends=True), (new or "").splitlines(keepends=True), *names
        )
        yield from (row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)
