"""Who the person is to git: the name and address that commits are signed with."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from forge.git.values import Signature

if TYPE_CHECKING:
    from forge.git.objects.object_store import Objects


def signature(objects: Objects) -> Signature:
    """The person's name and address as git is configured, now."""
    name = configured(objects, "user.name") or "Forge user"
    email = configured(objects, "user.email") or "forge@localhost"
    now = time.time()
    return Signature(name, email, int(now), (time.localtime(now).tm_gmtoff or 0) // 60)


def configured(objects: Objects, key: str) -> str:
    """A value of git's configuration, now; empty where it is not set."""
    config = objects.config
    try:
        return str(config[key])
    except KeyError:
        return ""
    except UnicodeDecodeError:  # written in the days before UTF-8
        return objects.git.text("config", "--get", key).strip().encode("utf-8", "replace").decode()
