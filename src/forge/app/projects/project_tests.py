"""The tests of a project as people are shown them: the command, the last run, the run before the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from forge.app.access.identity import Who, audit
from forge.app.process.workshop import Workshop
from forge.app.projects.change import change_project
from forge.app.projects.lookup import project_for
from forge.app.projects.repository_rights import shown
from forge.app.projects.view import last_tests, lines_of
from forge.app.repositories.branch_tests import BranchTests, tests_shown
from forge.git import Repository
from forge.json_value import Json
from forge.pipeline.desk import TEST_RUNS
from forge.pipeline.draft import Draft
from forge.pipeline.suite_record import baseline_of
from forge.projects.project import Project
from forge.tools.suites.command import TestCommand, checked_command, command_of
from forge.tools.suites.outcome import Outcome, named_few
from forge.tools.suites.suite import named


@dataclass(frozen=True, slots=True)
class ProjectTests:
    command: BranchTests
    last: Json | None
    """The last run, as `ProjectView.tests` has it."""
    baseline: Json | None
    """The run before the first task."""
    unproven: str
    """What was missing when a person decided to continue without tests; empty where nobody did."""


def project_tests(shop: Workshop, who: Who, id_: str) -> ProjectTests:
    return _for(shop, who, project_for(shop, who, id_))


def _for(shop: Workshop, who: Who, project: Project) -> ProjectTests:
    """The repository of somebody else stays unknown."""
    return tests_found(project, shown(shop, who, project).repository)


def tests_found(project: Project, repository: str | None) -> ProjectTests:
    info = project.info()
    lines = lines_of(project, TEST_RUNS)
    before = baseline_of(lines)
    return ProjectTests(
        command=_command(repository, info.branch, info.test_command),
        last=last_tests(lines),
        baseline=None if before is None else last_tests([asdict(before)]),
        unproven=info.tests_unproven,
    )


def _command(repository: str | None, branch: str | None, chosen: str) -> BranchTests:
    """A project without a repository has nothing to look at yet, except what a person set."""
    place = Path(repository) if repository else None
    if place is None or not place.exists():
        found = (named(chosen),) if chosen else ()
        return tests_shown(TestCommand(found, "project" if chosen else "none"), chosen)
    repo = Repository.open(place)
    at = branch if branch and repo.refs.tip(branch) else "HEAD"
    return tests_shown(command_of(repo, repo.commit_vfs(at), project=chosen), chosen)


def tests_from_json(data: Json) -> ProjectTests:
    """As the API gives it."""
    command = BranchTests(**{**data["command"], "suites": tuple(data["command"]["suites"])})
    return ProjectTests(command, data["last"], data["baseline"], data["unproven"])


def set_test_command(shop: Workshop, who: Who, id_: str, command: str) -> ProjectTests:
    project = project_for(shop, who, id_, "run")
    set_command_found(shop, who, project, command)
    return _for(shop, who, project)


def set_command_found(shop: Workshop, who: Who, project: Project, command: str) -> None:
    """For this project alone; an empty command goes by the repository again."""
    text = checked_command(shop.redactor.text(command))

    def choose(draft: Draft) -> None:
        draft.info = replace(draft.info, test_command=text)

    change_project(shop, project, choose, "tests: command")
    audit(shop, who, "project.set_test_command", f"project:{project.id}", text)


def in_words(tests: Mapping[str, Any]) -> str:
    """One run in one line: figures first, then names."""
    if tests["outcome"] == Outcome.CANNOT_RUN:
        return f"cannot run: {tests['missing']}. {tests['supply']}"
    if tests["outcome"] == Outcome.NO_TESTS:
        return "no tests were found"
    parts = [f"{tests['passed']} of {tests['total']} pass"]
    if tests["skipped"]:
        parts.append(f"{tests['skipped']} skipped")
    if tests["new_failures"]:
        parts.append(f"new failures: {named_few(tests['new_failures'])}")
    if tests["known_failures"]:
        parts.append(f"failed before the work, too: {named_few(tests['known_failures'])}")
    if tests.get("flaky"):
        parts.append(f"flaky, passed when run again: {named_few(tests['flaky'])}")
    return ", ".join(parts)
