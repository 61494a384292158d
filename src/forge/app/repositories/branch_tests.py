"""How the tests of a branch run: shown before they are used, and the repository's own command set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.app.repositories.catalog import existing_branch, id_of, repository
from forge.git import Repository
from forge.json_value import Json
from forge.tools.suites.command import TestCommand, command_of, repository_command, set_repository_command

if TYPE_CHECKING:
    from forge.app.access.identity import Shop, Who
    from forge.app.process.workshop import Workshop


@dataclass(frozen=True, slots=True)
class BranchTests:
    suites: tuple[Json, ...]
    """`command` of each, and `because`, the file that shows it."""
    origin: str
    """`project`, `repository`, `files` or `none`."""
    set_command: str
    """What a person set here; empty where nobody did."""
    text: str
    """All of it in words."""


def tests_shown(found: TestCommand, set_command: str) -> BranchTests:
    each = tuple({"command": suite.command, "because": suite.because} for suite in found.suites)
    return BranchTests(each, found.origin, set_command, str(found))


def tests_of_branch(repo: Repository, branch: str) -> BranchTests:
    found = command_of(repo, repo.commit_vfs(existing_branch(repo, branch)))
    return tests_shown(found, repository_command(repo))


def branch_tests(shop: Workshop, who: Who, id_: str, branch: str | None) -> BranchTests:
    repo = repository(shop, who, id_)
    return tests_of_branch(repo, branch or repo.default_branch or "HEAD")


def set_test_command(shop: Workshop, who: Who, id_: str, command: str) -> BranchTests:
    """For every branch, turn and project of the repository that has no command of its own."""
    set_for_repository(shop, who, repository(shop, who, id_, "run"), command)
    return branch_tests(shop, who, id_, None)


def set_for_repository(shop: Shop, who: Who, repo: Repository, command: str) -> None:
    """For a person with the permission. An empty command goes by git's configuration again, else by the files."""
    from forge.app.access.identity import audit  # noqa: PLC0415 - loads the database

    text = shop.redactor.text(command)
    set_repository_command(repo, text)
    audit(shop, who, "repository.set_test_command", f"repository:{id_of(repo)}", text)
