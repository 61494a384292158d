"""Environments for every face: who may look, approve and set up, and setups in the background with their events."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, cast

from forge.app.repositories.catalog import actor_of, author_of, existing_branch, id_of, repository
from forge.app.repositories.environments import EnvironmentState, EnvironmentStatus, environment_document
from forge.environment.approval import SetupApprovals
from forge.environment.errors import SetupUnderWay
from forge.errors import ForgeError
from forge.events import EnvironmentChanged
from forge.json_value import Json
from forge.subjects import branch_subject

if TYPE_CHECKING:
    from forge.app.access.identity import Shop, Who
    from forge.app.process.workshop import Workshop
    from forge.app.repositories.environments import Environments
    from forge.environment.setup_log import OnProgress
    from forge.git import Repository
    from forge.sessions.redaction import Redactor
    from forge.store.events import Events


class Telling(Protocol):
    """What publishing an event needs of a workshop."""

    @property
    def events(self) -> Events: ...
    @property
    def redactor(self) -> Redactor: ...


_log = logging.getLogger(__name__)


def show_environment(shop: Workshop, who: Who, repo_id: str, branch: str) -> Json:
    repo = repository(shop, who, repo_id)
    return _document(shop, shop.environments.state(repo, existing_branch(repo, branch)))


def environment_log(shop: Workshop, who: Who, repo_id: str, branch: str) -> tuple[str, ...]:
    repo = repository(shop, who, repo_id)
    lines = shop.environments.log(shop.environments.state(repo, existing_branch(repo, branch)))
    return tuple(map(shop.redactor.text, lines))


def approve_environment(
    shop: Workshop, who: Who, repo_id: str, branch: str, *, expected: str | None, start: bool = True
) -> Json:
    """Approve what the branch proposes, as the person read it, and set it up. Needs the scope `run` besides `write`."""
    from forge.app.access.identity import require  # noqa: PLC0415 - loads the database

    require(who, "run")
    repo = repository(shop, who, repo_id, "write")
    where = existing_branch(repo, branch)
    state = approve_found(shop, who, shop.environments, repo, where, expected=expected)
    if start and state.state in (EnvironmentStatus.APPROVED, EnvironmentStatus.FAILED):
        _start(shop, repo, repo_id, where)
    else:
        _publish(shop, repo_id, where, str(state.state))
    return _document(shop, shop.environments.state(repo, where))


def approve_found(
    shop: Shop, who: Who, environments: Environments, repo: Repository, branch: str, *, expected: str | None
) -> EnvironmentState:
    """For a person with the permission."""
    from forge.app.access.identity import audit  # noqa: PLC0415 - loads the database

    by = author_of(repo, who) or repo.signature()
    state = environments.approve(
        repo, branch, by=f"{by.name} <{by.email}>", actor=actor_of(who), user=who.id, expected=expected
    )
    audit(shop, who, "environment.approve", f"repository:{id_of(repo)}", f"{branch}: {state.proposal.hash}")
    return state


def set_up_found(
    shop: Telling, environments: Environments, repo: Repository, branch: str, on_progress: OnProgress
) -> EnvironmentState:
    """Make the layer and wait for it; a setup of another process is waited for too."""

    def tell(step: int, steps: int, command: str) -> None:
        _publish(shop, id_of(repo), branch, str(EnvironmentStatus.SETTING_UP), progress=(step, steps, command))
        on_progress(step, steps, command)

    try:
        environments.set_up(repo, branch, on_progress=tell, wait=True)
    finally:
        state = environments.state(repo, branch)
        _publish(shop, id_of(repo), branch, str(state.state))
    return state


def publish_state(shop: Telling, environments: Environments, repo: Repository, branch: str) -> None:
    """Whoever looks at the branch shows its environment as it is now."""
    _publish(shop, id_of(repo), branch, str(environments.state(repo, branch).state))


def set_up_environment(shop: Workshop, who: Who, repo_id: str, branch: str) -> Json:
    """Start the setup in the background; its events tell how far it is. What is ready stays."""
    repo = repository(shop, who, repo_id, "run")
    where = existing_branch(repo, branch)
    state = shop.environments.state(repo, where)
    if state.state is not EnvironmentStatus.READY:
        shop.environments.refuse_unless_approved(repo, where)
        _start(shop, repo, repo_id, where)
    return _document(shop, shop.environments.state(repo, where))


def clear_environment(shop: Workshop, who: Who, repo_id: str, branch: str) -> Json:
    """Remove the layer of a branch, where no command uses it."""
    repo = repository(shop, who, repo_id, "run")
    where = existing_branch(repo, branch)
    shop.environments.clear(repo, where)
    state = shop.environments.state(repo, where)
    _publish(shop, repo_id, where, str(state.state))
    return _document(shop, state)


def follow_branch(shop: Workshop, repo: Repository, branch: str) -> None:
    """A branch moved: where an approved environment now needs another layer, start its setup in the background."""
    if SetupApprovals(repo.common_dir).latest() is None:
        return

    def look() -> None:
        try:
            if shop.environments.state(repo, branch).state is EnvironmentStatus.APPROVED:
                _start(shop, repo, id_of(repo), branch)
        except ForgeError as e:
            _log.info("The environment of %s was not looked at: %s", branch, e.message)

    threading.Thread(target=look, name=f"environment-{branch}", daemon=True).start()


def _start(shop: Workshop, repo: Repository, repo_id: str, branch: str) -> None:
    begun = threading.Event()

    def tell(step: int, steps: int, command: str) -> None:
        begun.set()
        _publish(shop, repo_id, branch, str(EnvironmentStatus.SETTING_UP), progress=(step, steps, command))

    def work() -> None:
        try:
            shop.environments.set_up(repo, branch, on_progress=tell)
        except SetupUnderWay:
            return
        except ForgeError as e:
            _log.info("The setup of %s failed: %s", branch, e.message.partition("\n")[0])
        finally:
            begun.set()
        _publish(shop, repo_id, branch, str(shop.environments.state(repo, branch).state))

    threading.Thread(target=work, name=f"setup-{branch}", daemon=True).start()
    begun.wait(1.0)


def _publish(
    shop: Telling, repo_id: str, branch: str, state: str, *, progress: tuple[int, int, str] = (0, 0, "")
) -> None:
    step, steps, command = progress
    event = EnvironmentChanged(branch, state, step, steps, shop.redactor.text(command))
    shop.events.publish(branch_subject(repo_id, branch).topic, event)


def _document(shop: Workshop, state: EnvironmentState) -> Json:
    return cast("Json", _redacted(environment_document(state), shop.redactor.text))


def _redacted(value: Any, text: Callable[[str], str]) -> Any:
    match value:
        case str():
            return text(value)
        case dict():
            return {name: each if name in ("hash", "key") else _redacted(each, text) for name, each in value.items()}
        case list() | tuple():
            return [_redacted(each, text) for each in value]
    return value
