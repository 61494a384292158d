"""Which symlinks of a tree stay inside it, each followed through every other one."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping

# As many as Linux follows before it gives up.
_MAX_HOPS = 40
_MAX_TARGET_BYTES = 4095

Spelling = Callable[[str], str]
"""A name as the file system sees it: itself, or folded where case does not count."""


def complaints(links: Mapping[str, str], spelling: Spelling) -> dict[str, str]:
    """Why a symlink is not safe, by its path; safe ones are left out. `links` has the target of every symlink."""
    by_spelling = {spelling(path): target for path, target in links.items()}
    found = {path: _complaint(path, target, by_spelling, spelling) for path, target in links.items()}
    return {path: why for path, why in found.items() if why}


def _complaint(path: str, target: str, links: Mapping[str, str], spelling: Spelling) -> str:
    if not target or "\0" in target:
        return "a symlink that points to nothing"
    if len(target.encode("utf-8", "surrogateescape")) > _MAX_TARGET_BYTES:
        return "a symlink with a target too long to follow"
    here = path.split("/")[:-1]
    ahead = deque([target])
    hops = 0
    while ahead:
        step = ahead.popleft()
        if step.startswith("/"):
            return f"a symlink that leads outside, to {target}"
        for at, name in enumerate(names := step.split("/")):
            if name in ("", "."):
                continue
            if name == "..":
                if not here:
                    return f"a symlink that leads outside, to {target}"
                here.pop()
                continue
            here.append(name)
            further = links.get(spelling("/".join(here)))
            if further is not None:
                hops += 1
                if hops > _MAX_HOPS:
                    return f"a symlink that leads in a circle, to {target}"
                here.pop()
                ahead.appendleft("/".join(names[at + 1 :]))
                ahead.appendleft(further)
                break
    return ""
