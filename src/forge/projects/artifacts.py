"""Documents that came out of a conversation, saved under `artifacts/` by their type."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from forge.git import CommitId
from forge.projects import state
from forge.projects.errors import InvalidArtifactName
from forge.projects.records import Read, Records

FOLDER = "artifacts"
_NAMES = {"problem_brief": "problem_brief", "solution_evaluation_brief": "solution_evaluation"}
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")


def path_of(artifact_type: str) -> str:
    """Where an artifact of this type is saved, from the root of the project directory."""
    name = _NAMES.get(artifact_type, artifact_type)
    if not _SAFE.fullmatch(name):
        raise InvalidArtifactName(
            f"{artifact_type[:80]!r} cannot name an artifact.", hint="Use letters, digits, `-` and `_`."
        )
    return f"{FOLDER}/{name}.md"


def save(records: Records, artifact_type: str, text: str, *, step: str | None = None) -> CommitId | None:
    """Write the document, and into `state.json` as the latest one."""
    path = path_of(artifact_type)

    def change(read: Read) -> dict[str, str | bytes | None]:
        saved = state.loaded(read(state.FILE))
        latest = replace(saved, values={**saved.values, "latest_artifact": text})
        return {path: text, state.FILE: state.formatted(latest, now=datetime.now(UTC))}

    return records.update(change, f"artifact: {path}", step=step)


def names(records: Records) -> Sequence[str]:
    """Paths of the artifacts that are there now, those added by hand included."""
    folder = records.directory / FOLDER
    found = (path.relative_to(records.directory) for path in folder.rglob("*") if path.is_file())
    return sorted(path.as_posix() for path in found)
