"""The remotes that git's configuration names, and where their branches were when git last looked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.git.remotes.errors import RemoteMissing

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects
    from forge.git.refs.ref_store import Refs
    from forge.git.values import CommitId

_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_NAMED = re.compile(r"remote\.(?P<name>.+)\.url", re.IGNORECASE)
_FIRST = "origin"


@dataclass(frozen=True, slots=True)
class Remote:
    name: str
    url: str
    """Where pushes go, without a name or password in it."""
    default_branch: str | None
    """As git last heard; None: it never asked."""


def remotes(objects: Objects) -> tuple[Remote, ...]:
    """By name, `origin` first."""
    names = {found["name"] for key in _keys(objects) if (found := _NAMED.fullmatch(key))}
    return tuple(_remote(objects, name) for name in sorted(names, key=lambda name: (name != _FIRST, name)))


def remote_named(objects: Objects, name: str | None) -> Remote:
    """Without a name: the only one, or `origin`."""
    known = remotes(objects)
    found = next((each for each in known if each.name == name), None)
    if name is None and (len(known) == 1 or (known and known[0].name == _FIRST)):
        found = known[0]
    if found is not None:
        return found
    there = ", ".join(each.name for each in known)
    if name is None and known:
        raise RemoteMissing("There are several remotes.", hint=f"Name one of them: {there}.")
    what = "No remote is configured." if name is None else f"There is no remote {name}."
    raise RemoteMissing(what, hint=f"Known: {there}." if known else "`git remote add origin URL` adds one.")


def last_seen(refs: Refs, remote: str, branch: str) -> CommitId | None:
    """Where a branch of a remote was when git last fetched or pushed it."""
    return refs.target(f"refs/remotes/{remote}/{branch}")


def seen_branches(refs: Refs, remote: str) -> dict[str, CommitId]:
    """The branches of a remote where they were when git last fetched or pushed them."""
    above = f"refs/remotes/{remote}/"
    found = ((ref.removeprefix(above), tip) for ref, tip in refs.under(above))
    return {name: tip for name, tip in found if name != "HEAD"}


def without_credentials(text: str) -> str:
    return _CREDENTIALS.sub("", text)


def _keys(objects: Objects) -> list[str]:
    told = objects.git.text("config", "--null", "--name-only", "--get-regexp", r"^remote\..*\.url$", ok=(0, 1))
    return told.split("\0")


def _remote(objects: Objects, name: str) -> Remote:
    url = objects.git.text("remote", "get-url", "--push", "--", name).splitlines()[0]
    head = objects.git.text("symbolic-ref", "--quiet", f"refs/remotes/{name}/HEAD", ok=(0, 1)).strip()
    default = head.removeprefix(f"refs/remotes/{name}/")
    return Remote(name, without_credentials(url), default if head else None)
