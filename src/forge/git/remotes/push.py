"""Sending one commit to one branch of a remote, by git itself: its transports, credentials, hooks and configuration.

The refspec is always a commit and a branch, so nothing below `refs/forge/` is ever sent. git moves the remote-tracking
ref; no other ref of this repository moves.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.process.git_command import environment, not_runnable
from forge.git.refs.branch_names import branch_ref
from forge.git.remotes.errors import LeaseStale, PushRejected, RemoteDenied, RemoteUnreachable
from forge.git.remotes.remotes import without_credentials

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.values import CommitId

SECONDS = 300.0
_HOOK = 1
"""How git ends where a hook of this repository said no; of what it cannot do itself it ends with 128."""
_STATUS = re.compile(r"(?P<flag>[ +*=!-])\t(?P<refs>[^\t]*)\t(?P<told>.*)")
_PREFIX = re.compile(r"^(?:fatal|error|remote): ?")
_DENIED = re.compile(
    r"authentication failed|could not read (?:username|password)|permission denied|access denied|not authorized"
    r"|terminal prompts disabled|invalid credentials|HTTP 40[13]|returned error: 40[13]|host key verification failed",
    re.IGNORECASE,
)
_KINDS = {" ": "updated", "+": "replaced", "*": "created", "=": "unchanged"}
_NO_QUESTIONS = {"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "", "SSH_ASKPASS": "", "SSH_ASKPASS_REQUIRE": "never"}


@dataclass(frozen=True, slots=True)
class Lease:
    """The branch over there may be replaced if it is still here; None: only if it is not there."""

    expected: CommitId | None


@dataclass(frozen=True, slots=True)
class Sent:
    kind: str
    """`created`, `updated`, `replaced` or `unchanged`."""


def send(
    objects: Objects,
    commit: CommitId,
    remote: str,
    branch: str,
    *,
    lease: Lease | None = None,
    may_ask: bool = False,
    seconds: float = SECONDS,
) -> Sent:
    """`may_ask`: a person sits at this terminal, so git may ask for a password there."""
    ref = branch_ref(branch)
    options = ["--porcelain", "--no-follow-tags", "--recurse-submodules=no"]
    if lease is not None:
        options.append(f"--force-with-lease={ref}:{lease.expected or ''}")
    done = _run(objects, ["push", *options, "--", remote, f"{commit}:{ref}"], may_ask=may_ask, seconds=seconds)
    told = [found for line in done.stdout.splitlines() if (found := _STATUS.fullmatch(line))]
    status = next((found for found in told if found["refs"].endswith(f":{ref}")), None)
    if status is not None and status["flag"] == "!":
        raise _refused(branch, remote, status["told"], _said(done.stderr))
    if done.returncode == _HOOK and status is None:
        raise PushRejected(
            f"git did not push: {_said(done.stderr, every=True) or 'a hook stopped it'}",
            hint="A `pre-push` hook of this repository decides this.",
        )
    if done.returncode or status is None:
        raise _failed(remote, _said(done.stderr) or f"git push ended with {done.returncode}")
    return Sent(_KINDS.get(status["flag"], "updated"))


def _run(objects: Objects, args: list[str], *, may_ask: bool, seconds: float) -> subprocess.CompletedProcess[str]:
    place = objects.handle.workdir or str(objects.git_dir)
    env = environment({"GIT_TERMINAL_PROMPT": "1"} if may_ask else _NO_QUESTIONS)
    try:
        return subprocess.run(
            ["git", "-C", place, "-c", "gc.auto=0", "-c", "maintenance.auto=false", *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=env,
            timeout=seconds,
            check=False,
            start_new_session=not may_ask,
        )
    except subprocess.TimeoutExpired as e:
        raise RemoteUnreachable(
            f"The push did not end within {seconds:.0f} seconds.", hint="Check the network and push again."
        ) from e
    except OSError as e:
        raise not_runnable(e) from e


def _refused(branch: str, remote: str, told: str, said: str) -> PushRejected | LeaseStale:
    if "stale info" in told:
        return LeaseStale(
            f"{branch} on {remote} is not where it was when it was last seen; it was not replaced.",
            hint=f"`git fetch {remote}`, look at what is new there, then push again.",
        )
    if "non-fast-forward" in told or "fetch first" in told:
        return PushRejected(
            f"{branch} on {remote} has commits that your branch does not have.",
            hint=f"`git fetch {remote}` and merge them, or replace the branch there: name it with --to and add "
            "--force-with-lease.",
        )
    reason = without_credentials(told)
    return PushRejected(
        f"{remote} refused the push to {branch}: {reason}" + (f" ({said})" if said else ""),
        hint="A rule or a hook over there decides this; push to another branch.",
    )


def _failed(remote: str, said: str) -> RemoteDenied | RemoteUnreachable:
    if _DENIED.search(said):
        return RemoteDenied(
            f"{remote} refused access: {said}",
            hint=f"Forge uses git's own credentials: `git push {remote}` must work in a terminal without a question.",
        )
    return RemoteUnreachable(
        f"{remote} could not be reached: {said}", hint=f"`git remote get-url {remote}` shows the address."
    )


def _said(stderr: str, *, every: bool = False) -> str:
    """What git and the other side say, without credentials, advice and progress; `every` line: a hook's too."""
    lines = [line.strip() for line in stderr.splitlines() if "failed to push some refs" not in line]
    kept = [_PREFIX.sub("", line) for line in lines if every or _PREFIX.match(line)]
    plain = (without_credentials("".join(c for c in line if c.isprintable())).strip() for line in kept)
    return " ".join(line for line in plain if line)[:500]
