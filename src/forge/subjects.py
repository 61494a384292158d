"""Subjects: what a run and all that belongs to it is about. The subject decides who may see it and names its topic."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

_ESCAPED = re.compile(r"\\u(dc[89a-f][0-9a-f])")


class SubjectKind(StrEnum):
    BRANCH = "branch"
    PROJECT = "project"
    BUILD = "build"
    SCOUT_RUN = "scout_run"
    EXPLORATION = "exploration"
    RUN = "run"
    """A run that is about nothing else."""


_KINDS = frozenset(SubjectKind)


@dataclass(frozen=True, slots=True)
class Subject:
    """`id` of a branch is `REPOSITORY:NAME`; of all others it is the id they have."""

    kind: SubjectKind
    id: str

    @property
    def topic(self) -> str:
        """The name under which its events are published, stored and subscribed to."""
        return f"{self.kind}:{self.id}"

    @property
    def project(self) -> str | None:
        return self.id if self.kind is SubjectKind.PROJECT else None

    @property
    def repository(self) -> str | None:
        return self.id.partition(":")[0] if self.kind is SubjectKind.BRANCH else None

    @property
    def branch(self) -> str | None:
        return self.id.partition(":")[2] if self.kind is SubjectKind.BRANCH else None


def branch_subject(repository: str, branch: str) -> Subject:
    """Names in git are bytes; SQL stores text."""
    return Subject(SubjectKind.BRANCH, f"{repository}:{branch}".encode("utf-8", "backslashreplace").decode())


def project_subject(id_: str) -> Subject:
    return Subject(SubjectKind.PROJECT, id_)


def run_subject(id_: str) -> Subject:
    return Subject(SubjectKind.RUN, id_)


def repository_id(common_dir: Path | str) -> str:
    """The same for every checkout of a repository, as long as it is not moved."""
    return hashlib.sha256(os.fsencode(os.path.realpath(common_dir))).hexdigest()[:12]


def subject_of_topic(topic: str) -> Subject | None:
    """Reads topics of earlier versions too, which named a branch by the path of its repository. None: of no subject."""
    kind, _, rest = topic.partition(":")
    if kind not in _KINDS or not rest:
        return None
    if kind == SubjectKind.BRANCH and rest.startswith("/"):
        place, _, branch = rest.rpartition(":")  # a branch name has no colon, a path may have one
        return branch_subject(repository_id(_ESCAPED.sub(_character, place)), branch)
    return Subject(SubjectKind(kind), rest)


def _character(escaped: re.Match[str]) -> str:
    return chr(int(escaped[1], 16))
