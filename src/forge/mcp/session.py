"""Which project and build a call means: what it names, a handle of `forge_set_session`, or the defaults of its server.

A handle only says what it means; every call checks anew what its person may reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.errors import InvalidInput
from forge.json_value import Json

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.mcp.call import Call

_HANDLE = "session~"
SESSION: Json = {"type": "string", "description": "From forge_set_session, or a project id."}


class ProjectNeeded(InvalidInput):
    """No project was named, and the server has no default."""

    code = "project_needed"


@dataclass(frozen=True, slots=True)
class Session:
    """`build` names its project, too."""

    project: str | None = None
    build: str | None = None

    @property
    def handle(self) -> str:
        return f"{_HANDLE}{self.build or self.project}"


async def session_of(call: Call, named: str | None) -> Session:
    """What `named` says, else the defaults; not yet checked against anybody's rights."""
    if named is None:
        build = call.defaults.build
        project = call.defaults.project or call.who.project or (None if build else await call.host.project())
        return Session(project, build)
    wanted = named.removeprefix(_HANDLE)
    return Session(build=wanted) if named.startswith(_HANDLE) and "@" in wanted else Session(wanted)


async def project_of(call: Call, named: str | None) -> tuple[Workshop, str]:
    """The project, by id. Only at the machine a name is enough: elsewhere it would tell what others have."""
    shop = await call.host.shop()
    session = await session_of(call, named)
    wanted = session.project if session.build is None else session.build.partition("@")[0]
    if wanted is None:
        raise ProjectNeeded("Name a project.", hint="forge_list_projects in the toolset `projects` shows them.")
    if not call.who.is_local:
        return shop, wanted
    from forge.app.projects.catalog import workspace_of  # noqa: PLC0415 - loads projects

    return shop, (await call.in_thread(lambda: workspace_of(shop.settings).open(wanted))).id
