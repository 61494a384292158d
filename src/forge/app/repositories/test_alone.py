"""The tests of a branch in the process of a command: the same events and audit rows as a run of the server."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from forge.app.access.identity import Who, audit
from forge.app.access.local_access import Access
from forge.app.repositories.catalog import id_of, subject_of
from forge.app.repositories.environments import Environments
from forge.app.repositories.test_runs import TestRunView, Wanted, checked_pattern, run_branch_tests, shown_run
from forge.errors import ForgeError
from forge.events import TestsEnded, TestsStarted
from forge.git import Repository


def run_alone(
    shop: Access,
    who: Who,
    repo: Repository,
    branch: str,
    wanted: Wanted,
    *,
    on_line: Callable[[str], None],
    environments: Environments,
) -> TestRunView:
    checked_pattern(wanted.pattern)
    run, topic = f"tests-{uuid.uuid4().hex}", subject_of(repo, branch).topic
    audit(shop, who, "repository.run_tests", f"repository:{id_of(repo)}", f"{branch}: {run}")
    shop.events.append(topic, TestsStarted(run, branch, wanted.pattern))
    try:
        found = run_branch_tests(
            repo, branch, wanted, redact=shop.redactor.text, on_line=on_line, environments=environments
        )
    except KeyboardInterrupt:
        shop.events.append(topic, TestsEnded(run, branch, None, "cancelled", 0, 0, 0))
        raise
    except ForgeError as e:
        shop.events.append(topic, TestsEnded(run, branch, None, "cannot run", 0, 0, 0, f"{e.message} {e.hint}".strip()))
        raise
    record = found.record
    counts = (record.passed, record.failed, record.skipped)
    shop.events.append(topic, TestsEnded(run, branch, record.commit, str(record.outcome), *counts))
    return shown_run(repo, branch, found)
