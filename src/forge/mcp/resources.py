"""Resources: contracts, documents, the plan and transcripts of conversations, as addresses that a client can attach."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

import mcp_types as types

from forge.errors import InvalidInput, NotFound
from forge.mcp.session import project_of, session_of

if TYPE_CHECKING:
    from forge.mcp.call import Call

_SCHEME = "forge://"
_TURNS = 50
_LONGEST_ADDRESS = 2000
_MARKDOWN = "text/markdown"
TEMPLATES = (
    types.ResourceTemplate(
        name="rules",
        uri_template="forge://rules/{name}",
        description="Texts that come with Forge: builder_contract, auditor_prompt, and an example of each contract.",
        mime_type=_MARKDOWN,
    ),
    types.ResourceTemplate(
        name="contract",
        uri_template="forge://project/{project}/contract/{type}",
        description="A contract of a project, whole.",
    ),
    types.ResourceTemplate(
        name="document",
        uri_template="forge://project/{project}/document/{name}",
        description="A document of a project, such as intent.md.",
        mime_type=_MARKDOWN,
    ),
    types.ResourceTemplate(
        name="plan",
        uri_template="forge://project/{project}/plan",
        description="The plan of a project.",
        mime_type=_MARKDOWN,
    ),
    types.ResourceTemplate(
        name="session",
        uri_template="forge://session/{repository}/{+branch}",
        description="What was said and done on a branch.",
        mime_type=_MARKDOWN,
    ),
)


class ResourceMissing(NotFound):
    code = "resource_missing"


@dataclass(frozen=True, slots=True)
class Read:
    text: str
    mime_type: str
    topic: str | None = None
    """Where changes of it are published."""


async def listed(call: Call) -> list[types.Resource]:
    """The rules, and the contracts and documents of the session's project."""
    from forge.app.projects.contract_reads import RULES  # noqa: PLC0415 - loads projects

    found = [_resource(f"rules/{name}", name, line) for name, line in RULES.items()]
    session = await session_of(call, None)
    if session.project is None and session.build is None:
        return found
    from forge.app.projects.contracts import list_contracts  # noqa: PLC0415
    from forge.app.projects.project_access import documents  # noqa: PLC0415

    shop, id_ = await project_of(call, None)
    own = (await call.in_thread(lambda: list_contracts(shop, call.who, id_))).items
    files = await call.in_thread(lambda: documents(shop, call.who, id_))
    found += [
        _resource(f"project/{id_}/contract/{each.contract_type}", each.contract_type.value, each.line)
        for each in own
        if each.version
    ]
    return found + [_resource(f"project/{id_}/document/{each.name}", each.name) for each in files]


async def read(call: Call, uri: str) -> Read:
    """What is at an address. Another person's ends like one that does not exist."""
    gone = ResourceMissing(f"There is no resource {uri[:200]!r}.", hint="resources/templates/list shows what there is.")
    if not uri.startswith(_SCHEME) or len(uri) > _LONGEST_ADDRESS:
        raise gone
    parts = [unquote(each) for each in uri.removeprefix(_SCHEME).split("/")]
    try:
        match parts:
            case ["rules", name]:
                return await _rules(call, name)
            case ["project", project, "contract", kind]:
                return await _contract(call, project, kind)
            case ["project", project, "document", name]:
                return await _document(call, project, name)
            case ["project", project, "plan"]:
                return await _document(call, project, "plan.md")
            case ["session", repository, *branch] if branch:
                return await _transcript(call, repository, "/".join(branch))
    except (NotFound, InvalidInput) as e:
        raise gone from e
    raise gone


async def _rules(call: Call, name: str) -> Read:
    from forge.app.projects.contract_reads import rule_text  # noqa: PLC0415

    return Read(await call.in_thread(lambda: rule_text(name)), _MARKDOWN)


async def _contract(call: Call, project: str, kind: str) -> Read:
    from forge.app.projects.contracts import read_contract  # noqa: PLC0415

    shop, id_ = await project_of(call, project)
    found = await call.in_thread(lambda: read_contract(shop, call.who, id_, kind))
    if not found.version:
        raise ResourceMissing(f"The project has no {kind}.")
    form = {"yaml": "application/yaml", "json": "application/json"}.get(found.contract_type.form, _MARKDOWN)
    return Read(found.content, form, f"project:{id_}")


async def _document(call: Call, project: str, name: str) -> Read:
    from forge.app.projects.project_access import document  # noqa: PLC0415

    shop, id_ = await project_of(call, project)
    file = await call.in_thread(lambda: document(shop, call.who, id_, name))
    return Read(await call.in_thread(lambda: file.path.read_text("utf-8", "replace")), _MARKDOWN, f"project:{id_}")


async def _transcript(call: Call, repository: str, branch: str) -> Read:
    from forge.app.repositories.catalog import id_of  # noqa: PLC0415
    from forge.app.sessions.conversation import conversation, sessions_of, turn_entry  # noqa: PLC0415

    _, repo = await call.host.repository(call.who, repository, "read")
    settings = await call.host.settings()

    def told() -> str:
        found = conversation(sessions_of(repo, settings), branch, limit=_TURNS)
        turns = [turn_entry(each) for each in reversed(found.moments)]
        lines = [f"# {branch}", ""]
        for each in turns:
            lines += [f"## Turn {each.number} ({each.status})", "", each.asked, "", each.answered, ""]
        return "\n".join(lines)

    # A repository that no server manages has no events.
    topic = f"branch:{id_of(repo)}:{branch}" if call.host.directory is None else None
    return Read(await call.in_thread(told), _MARKDOWN, topic)


def _resource(path: str, name: str, line: str = "") -> types.Resource:
    uri = _SCHEME + quote(path, safe="/")
    return types.Resource(uri=uri, name=name, description=line or None)


def contents(uri: str, found: Read) -> types.ReadResourceResult:
    text = found.text.encode("utf-8", "replace").decode()
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type=found.mime_type, text=text)]
    )
