"""The environment of a branch: what it needs, who approved it, the layer that commands get."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from platformdirs import user_cache_path

from forge.environment.approval import SetupApprovals
from forge.environment.configuration import PATH, Configured, configured, parsed
from forge.environment.configuration import PERSON as PERSON_ORIGIN
from forge.environment.detection import proposal
from forge.environment.errors import (
    EnvironmentInvalid,
    EnvironmentMissing,
    ProposalChanged,
    SetupFailed,
    SetupNotApproved,
)
from forge.environment.image_store import ImageStore
from forge.environment.layer_store import Failure, Layer, LayerStore
from forge.environment.machine import Machine
from forge.environment.mounted import NOTHING, Mounted, mounted
from forge.environment.proposal import Proposal
from forge.environment.setup_log import OnProgress
from forge.errors import Denied
from forge.git import PERSON, Actor, ActorKind, GitCommitVFS, Repository, WorkInProgressVFS
from forge.git.process import disk
from forge.sandbox import available

__all__ = ["EnvironmentInvalid", "SetupFailed"]

if TYPE_CHECKING:
    from forge.settings import Settings

_LOG_LINES = 400
_OWN = "environment.yaml"

View = GitCommitVFS | WorkInProgressVFS


class EnvironmentStatus(StrEnum):
    NONE = "none"
    """The branch shows nothing to set up."""
    NOT_APPROVED = "not_approved"
    CHANGED = "changed"
    """Another proposal was approved before."""
    APPROVED = "approved"
    """Approved, and not set up yet."""
    SETTING_UP = "setting_up"
    READY = "ready"
    FAILED = "failed"


class SetupApprovalDenied(Denied):
    """Only a person decides what a setup runs and reaches."""

    code = "setup_approval_denied"


@dataclass(frozen=True, slots=True)
class EnvironmentState:
    """The environment of one branch, as it is now."""

    branch: str
    state: EnvironmentStatus
    proposal: Proposal
    layer: Layer | None
    failure: Failure | None
    approved_by: str
    approved_at: str
    difference: str
    """What changed since the last approval, where this proposal has none."""


class Environments:
    """All environments of this machine and person. `environ` is theirs; setups get nothing of it but their proxy."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], root: Path | None = None) -> None:
        self._settings = settings
        self._environ = environ
        self._given = root

    @property
    def _root(self) -> Path:
        return self._given or user_cache_path("forge", appauthor=False) / "environments"

    @property
    def store(self) -> LayerStore:
        return LayerStore(self._root)

    @classmethod
    def of_person(cls, environ: Mapping[str, str]) -> Environments:
        """With the settings of whoever runs this process."""
        from forge.app.admin.settings import load_settings  # noqa: PLC0415 - a server has them already

        return cls(load_settings(None, environ), environ)

    @cached_property
    def _machine(self) -> Machine:
        return Machine(self._environ, Path(self._environ.get("HOME") or "/"), self._root / "programs")

    def proposal(self, repo: Repository, vfs: View) -> Proposal:
        image = self._settings.environments.image
        return proposal(vfs, self._machine, own=own_configuration(repo), image=image)

    def state(self, repo: Repository, branch: str, vfs: View | None = None) -> EnvironmentState:
        found = self.proposal(repo, vfs or repo.commit_vfs(branch))
        approvals = SetupApprovals(repo.common_dir)
        approval = approvals.find(found)
        layer, failure = self.store.find(found.key), self.store.failure(found.key)
        if found.is_empty:
            state = EnvironmentStatus.NONE
        elif approval is None:
            state = EnvironmentStatus.CHANGED if approvals.latest() else EnvironmentStatus.NOT_APPROVED
        elif layer is not None:
            state = EnvironmentStatus.READY
        elif self.store.is_making(found.key):
            state = EnvironmentStatus.SETTING_UP
        else:
            state = EnvironmentStatus.FAILED if failure else EnvironmentStatus.APPROVED
        return EnvironmentState(
            branch,
            state,
            found,
            layer,
            failure if state is EnvironmentStatus.FAILED else None,
            approval.approval.approved_by if approval else "",
            approval.approval.approved_at if approval else "",
            approvals.difference(found) if state is EnvironmentStatus.CHANGED else "",
        )

    def test_command(self, repo: Repository, vfs: View) -> str:
        """The command that the environment names, where a person approved it: a branch alone cannot set it."""
        if not own_configuration(repo) and not vfs.file_exists(PATH):
            return ""
        try:
            found = self.proposal(repo, vfs)
        except EnvironmentInvalid:
            return ""
        approved = found.test_command and SetupApprovals(repo.common_dir).find(found) is not None
        return found.test_command if approved else ""

    def approve(
        self,
        repo: Repository,
        branch: str,
        *,
        by: str,
        actor: Actor = PERSON,
        user: str = "local",
        expected: str | None,
    ) -> EnvironmentState:
        """Let exactly this proposal run. `expected` is the hash of what the person read."""
        if actor.kind is not ActorKind.PERSON:
            raise SetupApprovalDenied(
                f"{actor.kind} {actor.name} may not approve a setup.", hint="A person runs `forge env setup`."
            )
        found = self._something(repo, branch)
        if expected is not None and expected != found.hash:
            raise ProposalChanged(
                f"The environment of {branch} changed since you read it.", hint="Read it again with `forge env show`."
            )
        SetupApprovals(repo.common_dir).keep(found, by=by, user=user, branch=branch)
        return self.state(repo, branch)

    def set_up(
        self,
        repo: Repository,
        branch: str,
        *,
        vfs: View | None = None,
        on_progress: OnProgress = lambda *_: None,
        cancel: threading.Event | None = None,
        wait: bool = False,
    ) -> Layer:
        """Make the layer of a branch. What no person approved does not run."""
        from forge.environment.setup_run import SetupJob, set_up  # noqa: PLC0415 - most commands find a layer

        view = vfs or repo.commit_vfs(branch)
        found = self.refuse_unless_approved(repo, branch, view)
        settings = self._settings.environments
        layer = set_up(
            SetupJob(
                proposal=found,
                view=view,
                materialise=repo.materialize,
                store=self.store,
                environ=self._environ,
                seconds=settings.setup_minutes * 60,
                disk_bytes=settings.disk_gb << 30,
                caches=self._root / "caches" / _mark(repo),
                cancel=cancel,
                on_progress=on_progress,
            ),
            wait=wait,
        )
        images = ImageStore(self._root)
        self.store.evict((settings.disk_gb << 30) - images.size(), keep=layer.key)
        images.remove_others({each.image for each in self.store.layers()})
        return layer

    @contextmanager
    def around(self, repo: Repository, vfs: View) -> Iterator[Mounted]:
        """What commands on these files get. An approved environment that is missing is set up first."""
        if not available().works:
            yield NOTHING
            return
        branch = vfs.branch or "HEAD"
        try:
            state = self.state(repo, branch, vfs)
        except EnvironmentInvalid as e:
            yield Mounted(notes=(f"without an environment: {e.message}",))
            return
        layer, note = state.layer, ""
        if state.state in (EnvironmentStatus.APPROVED, EnvironmentStatus.SETTING_UP):
            try:
                layer = self.set_up(repo, branch, vfs=vfs, wait=True)
            except SetupFailed as e:
                layer, note = None, f"without its environment: {e.message}"
        elif state.state is EnvironmentStatus.FAILED and state.failure is not None:
            note = f"without its environment: {state.failure.reason} `forge env show` tells more"
        elif state.state in (EnvironmentStatus.NOT_APPROVED, EnvironmentStatus.CHANGED):
            layer, note = None, "without its environment: it is not approved. Read it with `forge env show`"
        if layer is None:
            yield Mounted(notes=(note,) if note else ())
            return
        with mounted(self.store, layer, vfs) as found:
            yield found

    def layer_key(self, repo: Repository, vfs: View) -> str:
        """By which layer, or by which lack of one, results of commands on these files differ."""
        if not available().works:
            return ""
        try:
            state = self.state(repo, vfs.branch or "HEAD", vfs)
        except EnvironmentInvalid:
            return ""
        match state.state:
            case EnvironmentStatus.READY | EnvironmentStatus.APPROVED | EnvironmentStatus.SETTING_UP:
                return state.proposal.key
            case EnvironmentStatus.FAILED:
                return f"failed {state.proposal.key}"
        return ""

    def clear(self, repo: Repository, branch: str | None) -> tuple[Layer, ...]:
        """Remove the layer of a branch, or every layer. One in use stays."""
        keys = [layer.key for layer in self.store.layers()]
        if branch is not None:
            keys = [self.proposal(repo, repo.commit_vfs(branch)).key]
            self.store.forget_failure(keys[0])
        gone = self.store.clear(keys)
        ImageStore(self._root).remove_others({each.image for each in self.store.layers()})
        return gone

    def log(self, state: EnvironmentState) -> tuple[str, ...]:
        """The end of what the setup printed, also while it runs."""
        file = state.layer.log if state.layer else self.store.making_log(state.proposal.key)
        try:
            with file.open("rb") as opened:
                opened.seek(max(0, os.fstat(opened.fileno()).st_size - 200_000))
                lines = opened.read().decode("utf-8", "replace").splitlines()
        except FileNotFoundError:
            return ()
        return tuple(lines[-_LOG_LINES:])

    def refuse_unless_approved(self, repo: Repository, branch: str, vfs: View | None = None) -> Proposal:
        found = self._something(repo, branch, vfs)
        if SetupApprovals(repo.common_dir).find(found) is None:
            raise SetupNotApproved(
                f"The environment of {branch} is not approved.",
                hint="Read what would run with `forge env show`, then `forge env setup`.",
            )
        return found

    def _something(self, repo: Repository, branch: str, vfs: View | None = None) -> Proposal:
        found = self.proposal(repo, vfs or repo.commit_vfs(branch))
        if found.is_empty:
            raise EnvironmentMissing(
                f"Nothing on {branch} says what to set up.",
                hint=" ".join(found.notes) or "Add a lock file, or write .forge/environment.yaml.",
            )
        return found


def own_configuration(repo: Repository) -> str:
    """What the person set for this repository; no branch can change it."""
    try:
        return (repo.common_dir / "forge" / _OWN).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def set_own_configuration(repo: Repository, content: str) -> None:
    """In the form of `.forge/environment.yaml`; empty goes back to what the branch shows."""
    if content.strip():
        parsed(content, "The configuration", PERSON_ORIGIN)
    file = repo.common_dir / "forge" / _OWN
    with disk.reporting():
        if not content.strip():
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        disk.replace_synced(file, content.encode())


def allow_hosts(repo: Repository, branch: str, hosts: Sequence[str]) -> None:
    """Let setups of this repository reach further hosts; each change must be approved again."""
    setting = configured(repo.commit_vfs(branch), own_configuration(repo))
    data = _plain(setting)
    data["hosts"] = list(dict.fromkeys((*setting.hosts, *hosts)))
    set_own_configuration(repo, yaml.safe_dump(data, sort_keys=False))


def _plain(setting: Configured) -> dict[str, object]:
    data: dict[str, object] = {
        name: list(value) if isinstance(value, tuple) else value for name, value in asdict(setting).items()
    }
    return {name: value for name, value in data.items() if value and name != "origin"}


def environment_document(state: EnvironmentState) -> dict[str, object]:
    """The state as data, for every face."""
    found, layer, failure = state.proposal, state.layer, state.failure
    return {
        "branch": state.branch,
        "state": str(state.state),
        "origin": found.origin,
        "needs": [
            {
                "manager": need.manager,
                "because": need.because,
                "runtime": f"{need.runtime.name} {need.runtime.version}".strip() if need.runtime else "",
                "untried": need.untried,
            }
            for need in found.needs
        ],
        "commands": found.commands,
        "image": None if found.image is None else {"name": found.image.name, "id": found.image.id},
        "hosts": found.hosts,
        "setup_variables": found.setup_variables,
        "services": found.services,
        "variables": dict(found.variables),
        "caches": found.caches,
        "test_command": found.test_command,
        "notes": found.notes,
        "hash": found.hash,
        "key": found.key,
        "approved_by": state.approved_by,
        "approved_at": state.approved_at,
        "difference": state.difference,
        "layer": None
        if layer is None
        else {"size": layer.size, "seconds": layer.seconds, "created_at": layer.created_at, "refused": layer.refused},
        "failure": None
        if failure is None
        else {
            "reason": failure.reason,
            "hint": failure.hint,
            "command": failure.command,
            "lines": failure.lines,
            "refused": failure.refused,
            "at": failure.at,
        },
    }


def _mark(repo: Repository) -> str:
    return hashlib.sha256(os.fsencode(repo.common_dir)).hexdigest()[:16]
