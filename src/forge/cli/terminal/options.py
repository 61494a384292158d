"""Options that many commands share, and what they open."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from forge.app.repositories import files
from forge.app.repositories.catalog import (
    PERSON,
    Actor,
    ActorKind,
    Operation,
    Repository,
    branch_or_current,
    existing_branch,
    id_of,
    limited,
)
from forge.app.repositories.files import GitCommitVFS
from forge.app.repositories.recent import note_use
from forge.cli.terminal.output import Output
from forge.cli.terminal.session import BadUsage, Session

if TYPE_CHECKING:
    from forge.app.repositories.environments import Environments
    from forge.settings import Settings

__all__ = ["branch_or_current", "existing_branch"]

As = Annotated[
    str | None,
    typer.Option("--as", metavar="NAME", help="Act as this agent. Agents may not change the default branch."),
]
At = Annotated[str | None, typer.Option("--at", metavar="REV", help="Read this commit instead of the branch's tip.")]
Branch = Annotated[
    str | None, typer.Option("--branch", "-b", metavar="BRANCH", help="The branch. Default: the current branch.")
]
Large = Annotated[bool, typer.Option("--large", help="Allow files over the limit `limits.file_mb`.")]
Message = Annotated[str | None, typer.Option("--message", "-m", metavar="TEXT", help="The commit message.")]

MOST = 1_000_000_000
"""Nobody means to ask for more, and git takes no larger number."""
_MANY = 5


def opened(context: typer.Context) -> tuple[Repository, Output]:
    """The repository to work on and where to show the result."""
    session: Session = context.obj
    repo = Repository.open(session.directory)
    repo.sessions_beside = lambda: _settings_of(repo).sessions == "side-ref"
    note_use(id_of(repo), repo.work_tree or repo.git_dir, os.environ)
    return repo, session.output


def _settings_of(repo: Repository | None) -> Settings:
    from forge.app.admin.settings import load_settings  # noqa: PLC0415 - few commands need them

    return load_settings(repo, os.environ)


def with_file_limit(repo: Repository) -> Repository:
    """The repository, refusing files over the limit that the person has set; its own settings do not count."""
    beside = repo.sessions_beside
    limited(repo, _settings_of(None)).sessions_beside = beside
    return repo


def environments_of() -> Environments:
    """The environments of whoever runs this command."""
    from forge.app.repositories.environments import Environments  # noqa: PLC0415 - most commands need none

    return Environments.of_person(os.environ)


def acting(agent: str | None) -> Actor:
    if agent is None:
        return PERSON
    if not agent.strip():
        raise BadUsage("The agent has no name.", hint="Name it: --as NAME.")
    return Actor(ActorKind.AGENT, agent)


def branch_to_read(repo: Repository, branch: str | None) -> str:
    """The branch named, which must be there, else the current one."""
    return existing_branch(repo, branch_or_current(repo, branch))


def looked_at(repo: Repository, branch: str | None, at: str | None) -> GitCommitVFS:
    """The files of the commit or branch named, else of the checkout's commit, if there is one yet."""
    if branch is not None and at is not None:
        raise BadUsage("--branch and --at name two things to look at.", hint="Leave one of them out.")
    return files.looked_at(repo, branch, at)


def short(commit: str) -> str:
    return commit[:7]


def listed(names: tuple[str, ...]) -> str:
    """The first few of many names."""
    more = f" and {len(names) - _MANY} more" if len(names) > _MANY else ""
    return ", ".join(names[:_MANY]) + more


def tell_checkouts(out: Output, operation: Operation | None) -> None:
    """Say what became of the person's own checkouts of a branch that moved."""
    for update in operation.checkouts if operation else ():
        if update.state == "updated":
            out.line(f"Your checkout {out.styled(str(update.worktree))} follows.")
        elif update.own:
            out.line(f"Your checkout {out.styled(str(update.worktree))} follows where you have no changes.")
            for own in update.own[:_MANY]:
                out.note(own.sentence)
            if len(update.own) > _MANY:
                out.note(f"{len(update.own) - _MANY} more files like these; `git status` there lists them.")
        else:
            paths = f": {listed(update.paths)}" if update.paths else ""
            out.note(f"Your checkout {update.worktree} was left alone: {update.reason}{paths}")
