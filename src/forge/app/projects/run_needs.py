"""What a run needs of the process that continues with it: the key of its model, its provider's settings, its program.

A run that was begun with a person's key, and whose process died, is not gone on with by a process that lacks the key:
it would only fail. It waits, and says for what.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from forge.agents.errors import KeyMissing, ModelUnknown, ProgramMissing
from forge.agents.models import registry
from forge.agents.models.names import BUILTIN, RECORDED
from forge.app.admin.agent_programs import found_program, programs
from forge.app.process.workshop import Workshop
from forge.errors import ForgeError
from forge.json_value import Json
from forge.projects.project import Project
from forge.settings.keys import VARIABLES


def turn_lacks(shop: Workshop, arguments: Json) -> str:
    again = f"`forge chat --direct --branch {arguments['branch']}`"
    return _lacks(shop, arguments["agent"] or arguments["model"], again)


def project_lacks(shop: Workshop, arguments: Json) -> str:
    try:
        project = Project.at(Path(arguments["directory"]))
        chosen = project.info().agent
    except ForgeError:  # whoever continues with it says what is wrong
        return ""
    names = [chosen] if chosen else arguments.get("agents", ())
    again = f"`forge project resume --direct {project.directory.name}`"
    return next((reason for name in names if (reason := _lacks(shop, name, again))), "")


def generation_lacks(shop: Workshop, arguments: Json) -> str:
    again = f"`forge contracts generate --direct {Path(arguments['directory']).name}`"
    return _lacks(shop, arguments["model"], again)


def generation_needs(arguments: Json) -> frozenset[str]:
    return _providers([arguments["model"]])


def turn_needs(arguments: Json) -> frozenset[str]:
    return _providers([arguments["agent"] or arguments["model"]])


def project_needs(arguments: Json) -> frozenset[str]:
    try:
        chosen = Project.at(Path(arguments["directory"])).info().agent
    except ForgeError:
        return frozenset()
    return _providers([chosen] if chosen else arguments.get("agents", ()))


def _providers(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name.partition(":")[0] for name in names) - {BUILTIN, RECORDED}


def _lacks(shop: Workshop, name: str, again: str) -> str:
    """A sentence; empty where `name` could answer here."""
    provider = name.partition(":")[0]
    if provider in (BUILTIN, RECORDED):
        return ""
    try:
        if provider in programs(shop.settings):
            found_program(shop.settings, shop.environ, provider)
        else:
            registry.resolve(name, shop.settings)
    except KeyMissing:
        what = VARIABLES.get(provider, (f"a key for {provider}",))[0]
    except ModelUnknown:
        what = f"the settings of {name}"
    except ProgramMissing:
        what = f"the program {provider}"
    else:
        return ""
    return f"It waits: it needs {what}, which this process does not have. Run {again} where it is set, or add it here."
