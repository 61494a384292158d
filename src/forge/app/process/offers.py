"""What a process that serves has for runs: the providers that it can ask and the programs that it can start."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress

from forge.errors import ForgeError
from forge.settings import Settings


def offered(settings: Settings, environ: Mapping[str, str]) -> frozenset[str]:
    """By name, never a key. May ask the keyring."""
    from forge.agents.models import registry  # noqa: PLC0415 - only whoever serves needs them
    from forge.agents.models.names import RECORDED, known_providers  # noqa: PLC0415
    from forge.app.admin.agent_programs import programs  # noqa: PLC0415

    path = environ.get("PATH", "")
    names = {name for name, program in programs(settings).items() if shutil.which(program.command[0], path=path)}
    for provider in known_providers(settings):
        with suppress(ForgeError):  # no key, no address: it is not offered
            if provider != RECORDED:
                registry.endpoint(provider, "any", settings)
                names.add(provider)
    return frozenset(names)
