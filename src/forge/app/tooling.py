"""What agents can do and who answers: tools of a branch with their approvals, models and agent programs.

Functions on a `Repository` serve every face; those that take a workshop check what the person may do, and tell others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.app.repositories import actor_of, author_of, moved_by, record, repository
from forge.context import use_skill
from forge.git import PERSON, Actor, CommitId, Operation, Repository, Signature
from forge.tools.shelf import schemas
from forge.tools.user_tools import State, UserTool, approve, revoke, user_tools

if TYPE_CHECKING:
    from forge.app.identity import Who
    from forge.app.workshop import Workshop

__all__ = ["State"]


@dataclass(frozen=True, slots=True)
class BuiltInTool:
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class OwnTool:
    """A tool of the repository, as it is on a branch."""

    name: str
    path: str
    state: State
    reason: str
    hash: str
    files: tuple[str, ...]
    approved_by: str | None


@dataclass(frozen=True, slots=True)
class Tools:
    built_in: tuple[BuiltInTool, ...]
    """All that a turn can have: commands need a sandbox that works, questions a person who can answer."""
    own: tuple[OwnTool, ...]


@dataclass(frozen=True, slots=True)
class ToolChange:
    """An approval given or taken back. Without a commit it was so already."""

    name: str
    hash: str
    files: tuple[str, ...]
    commit: str | None


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    usable: bool
    how: str
    """Where its key comes from, or what is missing. Never the key."""
    model: str | None
    input_price: float | None
    """Dollars for a million tokens, where known."""
    output_price: float | None


@dataclass(frozen=True, slots=True)
class KnownModel:
    name: str
    """As it is named with a message."""
    input_price: float | None
    output_price: float | None
    context_window: int | None


@dataclass(frozen=True, slots=True)
class AgentProgram:
    name: str
    version: str
    path: str


@dataclass(frozen=True, slots=True)
class Models:
    chat: str
    """Who answers where nobody is named."""
    providers: tuple[Provider, ...]
    programs: tuple[AgentProgram, ...]


def list_tools(shop: Workshop, who: Who, repo_id: str, branch: str) -> Tools:
    return tools_of(repository(shop, who, repo_id), branch)


def approve_tool(shop: Workshop, who: Who, repo_id: str, branch: str, name: str) -> ToolChange:
    """Let it run as it is now: one changed byte, and it must be approved again."""
    repo = repository(shop, who, repo_id, "write")
    by, author = actor_of(who), author_of(repo, who)
    change, operation = approved(repo, branch, name, actor=by, author=author)
    if operation is not None:
        record(shop, who, repo, "tool.approve", moved_by(operation), f"{branch}: {name} {change.hash}")
    return change


def revoke_tool(shop: Workshop, who: Who, repo_id: str, branch: str, name: str) -> ToolChange:
    repo = repository(shop, who, repo_id, "write")
    change, operation = revoked(repo, branch, name, actor=actor_of(who), author=author_of(repo, who))
    if operation is not None:
        record(shop, who, repo, "tool.revoke", moved_by(operation), f"{branch}: {name}")
    return change


def models(shop: Workshop, who: Who) -> Models:
    """Who can answer here. Looks for programs and a local server, so it takes a moment."""
    from forge.app.identity import require  # noqa: PLC0415
    from forge.app.models import answerers  # noqa: PLC0415 - only this one needs models

    require(who, "read")
    found = answerers(shop.settings, shop.environ)
    providers = tuple(
        Provider(
            each.provider,
            each.usable,
            each.how,
            each.model,
            float(each.price.input) if each.price else None,
            float(each.price.output) if each.price else None,
        )
        for each in found.providers
    )
    programs = tuple(AgentProgram(each.program.name, each.version, str(each.executable)) for each in found.programs)
    return Models(found.chat, providers, programs)


def provider_models(shop: Workshop, who: Who, provider: str) -> tuple[KnownModel, ...]:
    """Those that the price list knows, or that a local server holds. Others can be named all the same."""
    from forge.agents import pricing  # noqa: PLC0415 - as above
    from forge.agents.models import local_ollama  # noqa: PLC0415
    from forge.agents.models.endpoint import BASE_URLS  # noqa: PLC0415
    from forge.agents.models.names import BUILTIN, known_providers  # noqa: PLC0415
    from forge.app.identity import require  # noqa: PLC0415
    from forge.app.keys_of_providers import ProviderUnknown  # noqa: PLC0415

    require(who, "read")
    if provider == "ollama":
        held = local_ollama.models(shop.settings.provider("ollama").base_url or BASE_URLS["ollama"])
        return tuple(KnownModel(f"ollama:{name}", None, None, None) for name in held)
    if provider not in {*known_providers(shop.settings), BUILTIN}:
        raise ProviderUnknown("There is no such provider.", hint="List the models to see which there are.")
    found = []
    for name in pricing.known_models(provider):
        price = pricing.price(provider, name)
        window = pricing.context_window(provider, name)
        put_in, got_out = (price.input, price.output) if price else (None, None)
        found.append(KnownModel(f"{provider}:{name}", put_in, got_out, window))
    return tuple(found)


# On an open repository


def tools_of(repo: Repository, branch: str) -> Tools:
    every = (*schemas(), use_skill.get_schema())
    built_in = tuple(BuiltInTool(str(each["name"]), str(each["description"])) for each in every)
    return Tools(built_in, tuple(_own(tool) for tool in user_tools(repo.workspace(branch))))


def approved(
    repo: Repository, branch: str, name: str, *, actor: Actor = PERSON, author: Signature | None = None
) -> tuple[ToolChange, Operation | None]:
    """Counts from the commit on that it makes."""
    files = repo.workspace(branch, actor=actor)
    by = author or repo.signature()
    tool = approve(files, name, f"{by.name} <{by.email}>")
    commit = files.commit(f"tools: approve {name}", author) if files.pending else None
    return _change(tool, commit), files.last_operation


def revoked(
    repo: Repository, branch: str, name: str, *, actor: Actor = PERSON, author: Signature | None = None
) -> tuple[ToolChange, Operation | None]:
    files = repo.workspace(branch, actor=actor)
    revoke(files, name)
    commit = files.commit(f"tools: revoke {name}", author) if files.pending else None
    return ToolChange(name, "", (), commit), files.last_operation


def _change(tool: UserTool, commit: CommitId | None) -> ToolChange:
    return ToolChange(tool.name, tool.hash, tuple(sorted(tool.files)), commit)


def _own(tool: UserTool) -> OwnTool:
    by = tool.approval.approved_by if tool.approval else None
    return OwnTool(tool.name, tool.path, tool.state, tool.reason, tool.hash, tuple(sorted(tool.files)), by)
