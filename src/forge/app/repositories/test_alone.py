"""The tests of a branch in the process of a command: the same events and audit rows as a run of the server."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, Self

from forge.app.access.identity import Who, audit
from forge.app.repositories.catalog import id_of, subject_of
from forge.app.repositories.environments import Environments
from forge.app.repositories.test_runs import TestRunView, Wanted, checked_pattern, run_branch_tests, shown_run
from forge.errors import ForgeError
from forge.events import TestsEnded, TestsStarted
from forge.git import Repository

if TYPE_CHECKING:
    from forge.app.access.local_access import Access

OpenAccess = Callable[[], AbstractContextManager["Access"]]


def run_alone(
    open_access: OpenAccess,
    who: Who,
    repo: Repository,
    branch: str,
    wanted: Wanted,
    *,
    on_line: Callable[[str], None],
    environments: Environments,
) -> TestRunView:
    checked_pattern(wanted.pattern)
    with _Told(open_access, who, repo, branch, wanted.pattern) as told:
        try:
            found = run_branch_tests(
                repo,
                branch,
                wanted,
                redact=told.redact,
                on_line=on_line,
                on_start=told.begin,
                environments=environments,
            )
        except KeyboardInterrupt:
            told.end(None, "cancelled")
            raise
        except ForgeError as e:
            told.end(None, "cannot run", reason=f"{e.message} {e.hint}".strip())
            raise
        record = found.record
        told.end(record.commit, str(record.outcome), (record.passed, record.failed, record.skipped))
    return shown_run(repo, branch, found)


class _Told:
    """Tells begin and end of a run. The database is opened while the tests start: they need not wait for it."""

    def __init__(self, open_access: OpenAccess, who: Who, repo: Repository, branch: str, pattern: str) -> None:
        self._run, self._topic = f"tests-{uuid.uuid4().hex}", subject_of(repo, branch).topic
        self._open, self._who, self._repository = open_access, who, f"repository:{id_of(repo)}"
        self._branch, self._pattern = branch, pattern
        self._stack = ExitStack()
        self._thread = ThreadPoolExecutor(1, "forge-told")
        self._begun: Future[Access] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()
        self._stack.close()

    def begin(self) -> None:
        if self._begun is None:
            self._begun = self._thread.submit(self._tell)

    def redact(self, text: str) -> str:
        return self._access.redactor.text(text)

    def end(
        self, commit: str | None, outcome: str, counts: tuple[int, int, int] = (0, 0, 0), *, reason: str = ""
    ) -> None:
        self._access.events.append(self._topic, TestsEnded(self._run, self._branch, commit, outcome, *counts, reason))

    @property
    def _access(self) -> Access:
        self.begin()
        assert self._begun is not None
        return self._begun.result()

    def _tell(self) -> Access:
        access = self._stack.enter_context(self._open())
        audit(access, self._who, "repository.run_tests", self._repository, f"{self._branch}: {self._run}")
        access.events.append(self._topic, TestsStarted(self._run, self._branch, self._pattern))
        return access
