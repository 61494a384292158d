"""What agents can do and who answers: tools of a branch with their approvals, models and agent programs.

Functions on a `Repository` serve every face; those that take a workshop check what the person may do, and tell others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.app.repositories.catalog import actor_of, author_of, id_of, repository
from forge.context import use_skill
from forge.errors import Denied, ForgeError
from forge.git import PERSON, Actor, ActorKind, CommitId, Operation, Repository, Signature, WorkInProgressVFS
from forge.git.errors import BranchMissing, InvalidName
from forge.tools.approval_records import ApprovalRecords
from forge.tools.registry import schemas
from forge.tools.user_tools import (
    ApprovalState,
    UserTool,
    UserToolMissing,
    approve,
    differences,
    listed_only,
    revoke,
    since_approved,
    user_tools,
)

if TYPE_CHECKING:
    from forge.app.access.identity import Shop, Who
    from forge.app.process.workshop import Workshop

__all__ = ["ApprovalState"]


class ApprovalDenied(Denied):
    """Only a person decides which tools may run."""

    code = "approval_denied"


@dataclass(frozen=True, slots=True)
class BuiltInTool:
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class OwnTool:
    """A tool of the repository, as it is on a branch."""

    name: str
    path: str
    state: ApprovalState
    reason: str
    hash: str
    files: tuple[str, ...]
    approved_by: str | None
    """Of the approval that it has, or had before it changed."""
    approved_at: str | None
    differs: str
    """How the copy of approvals in the branch and the record differ about it; empty where they agree."""
    difference: str
    """For a changed tool: what changed since it was approved, as a unified diff."""


@dataclass(frozen=True, slots=True)
class Tools:
    built_in: tuple[BuiltInTool, ...]
    """All that a turn can have: commands need a sandbox that works, questions a person who can answer."""
    own: tuple[OwnTool, ...]
    differences: tuple[str, ...]
    """Where the copy of approvals in the branch and the record differ, also about tools that are gone."""
    listed_only: tuple[str, ...]
    """Tools that the branch lists as approved as they are, but no person has approved in this repository."""


@dataclass(frozen=True, slots=True)
class ToolChange:
    """An approval given or taken back. Without a commit it was so already."""

    name: str
    hash: str
    files: tuple[str, ...]
    commit: str | None
    left: str = ""
    """What is still to be done: the branch could not be changed."""


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


def approve_tool(
    shop: Workshop, who: Who, repo_id: str, branch: str, name: str, *, expected: str | None = None
) -> ToolChange:
    """Let it run as it is now: one changed byte, and it must be approved again.

    `expected` is the hash of what the person read. Needs the scope `run` besides `write`: it lets code run.
    """
    from forge.app.access.identity import require  # noqa: PLC0415

    repo = repository(shop, who, repo_id, "write")
    require(who, "run")
    by, author = actor_of(who), author_of(repo, who)
    seen = {name: expected} if expected else {}
    (change,), _ = approved(repo, branch, [name], actor=by, author=author, user=who.id, expected=seen)
    shop.feed.publish(repo)
    return change


def revoke_tool(shop: Workshop, who: Who, repo_id: str, branch: str, name: str) -> ToolChange:
    repo = repository(shop, who, repo_id, "write")
    change = revoke_found(lambda: shop, who, repo, branch, name)
    shop.feed.publish(repo)
    return change


def revoke_found(shop: Callable[[], Shop], who: Who, repo: Repository, branch: str, name: str) -> ToolChange:
    """For a person with the permission. `shop` is asked for only where the operation log does not tell of it."""
    from forge.app.access.identity import audit  # noqa: PLC0415

    change, operation = revoked(repo, branch, name, actor=actor_of(who), author=author_of(repo, who))
    if operation is None:  # it counts all the same
        audit(shop(), who, "tool.revoke", f"repository:{id_of(repo)}", f"{branch}: {name}")
    return change


def models(shop: Workshop, who: Who) -> Models:
    """Who can answer here. Looks for programs and a local server, so it takes a moment."""
    from forge.app.access.identity import require  # noqa: PLC0415
    from forge.app.admin.models import answerers  # noqa: PLC0415 - only this one needs models

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
    from forge.app.access.identity import require  # noqa: PLC0415
    from forge.app.access.provider_keys import ProviderUnknown  # noqa: PLC0415

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
    files = repo.workspace(branch)
    differing = tuple(f"{name}: {text}" for name, text in differences(files).items())
    own = tuple(_own(files, tool) for tool in user_tools(files))
    return Tools(built_in, own, differing, tuple(tool.name for tool in listed_only(files)))


def tool_of(repo: Repository, branch: str, name: str) -> OwnTool:
    """One tool of the repository, as it is on the branch."""
    for tool in tools_of(repo, branch).own:
        if tool.name == name:
            return tool
    raise UserToolMissing(f"There is no tool {name} on {branch}.", hint="`forge tools list` shows what there is.")


def approvals_to_repeat(repo: Repository, branch: str) -> tuple[str, ...]:
    """Tools that the branch lists as approved but no person approved here; given once, then no more."""
    try:
        found = listed_only(repo.workspace(branch))
    except (BranchMissing, InvalidName):
        return ()  # the turn makes the branch, or says what is wrong with its name
    about = "\n".join(tool.hash for tool in found)
    return tuple(tool.name for tool in found) if found and ApprovalRecords(repo.common_dir).first_told(about) else ()


def approved(
    repo: Repository,
    branch: str,
    names: Sequence[str],
    *,
    actor: Actor = PERSON,
    author: Signature | None = None,
    user: str = "local",
    expected: Mapping[str, str] | None = None,
) -> tuple[tuple[ToolChange, ...], Operation | None]:
    """Counts when the commit with the visible copy is made, and the record outside of the branch after it."""
    _refuse_unless_person(actor)
    files = repo.workspace(branch, actor=actor)
    by = author or repo.signature()
    found = approve(files, names, f"{by.name} <{by.email}>", user=user, expected=expected or {})
    approvals = ", ".join(f"{tool.name} {tool.hash}" for tool in found.tools)
    files.actor = actor.doing("tool.approve", f"{branch}: {approvals}")
    commit = files.commit(f"tools: approve {', '.join(names)}"[:72], author) if files.pending else None
    found.record(repo.common_dir)
    return tuple(_change(tool, commit) for tool in found.tools), files.last_operation


def revoked(
    repo: Repository, branch: str, name: str, *, actor: Actor = PERSON, author: Signature | None = None
) -> tuple[ToolChange, Operation | None]:
    """Counts at once and on every branch; the visible copy of this one follows where it can be changed now."""
    _refuse_unless_person(actor)
    files = repo.workspace(branch, actor=actor.doing("tool.revoke", f"{branch}: {name}"))
    by = author or repo.signature()
    revoke(files, name, f"{by.name} <{by.email}>")
    try:
        commit = files.commit(f"tools: revoke {name}", author) if files.pending else None
    except ForgeError as e:
        return ToolChange(name, "", (), None, f"The copy on {branch} still lists it: {e.message}"), None
    return ToolChange(name, "", (), commit), files.last_operation


def _refuse_unless_person(actor: Actor) -> None:
    if actor.kind is not ActorKind.PERSON:
        raise ApprovalDenied(
            f"{actor.kind} {actor.name} may not decide which tools run.", hint="A person runs `forge tools approve`."
        )


def _change(tool: UserTool, commit: CommitId | None) -> ToolChange:
    return ToolChange(tool.name, tool.hash, tuple(sorted(tool.files)), commit)


def _own(files: WorkInProgressVFS, tool: UserTool) -> OwnTool:
    return OwnTool(
        tool.name,
        tool.path,
        tool.state,
        tool.reason,
        tool.hash,
        tuple(sorted(tool.files)),
        tool.approval.approved_by if tool.approval else None,
        tool.approval.approved_at if tool.approval else None,
        tool.differs,
        since_approved(files, tool.name),
    )
