"""A profile: what an agent is told, which tools it may use, how far it may go, and whose model answers.

A profile is a value. A run has it among its arguments, so that it continues after a crash, or in another process, with
the same rules that it began with.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from forge.agents.errors import ModelRoleUnknown, ProfileUnknown
from forge.json_value import Json
from forge.settings.values import MODEL_ROLES, CostLimits
from forge.tools.access import ToolAccess
from forge.tools.builtin import NAMES

CHAT = "chat"
ASK_USER = "ask_user"
SKILLS = "use_skill"
NEED_DECISION = "need_decision"
"""Ends a turn of a build with a question; in a chat, `ask_user` waits for the answer."""
READ_RESOURCE = "read_resource"
"""Reads what a person gave to the project that the branch is built for."""
CONTRACT_TOOLS = frozenset(
    {"get_project_intent", "get_technical_preferences", "get_user_stories", "get_prior_contract"}
)
"""What whoever writes a contract fetches with."""
WORK_TOOLS = frozenset({*NAMES, SKILLS} - {ASK_USER})
"""What an agent that works on a branch has, with nobody there to ask."""


@dataclass(frozen=True, slots=True)
class LoopLimits:
    """What a profile sets besides the limits that hold for everybody; the lower one counts."""

    requests: int | None = None
    """How often the model is asked at most."""
    usd: float | None = None

    def within(self, limits: CostLimits) -> CostLimits:
        least = [usd for usd in (self.usd, limits.turn_usd) if usd is not None]
        return limits.model_copy(update={"turn_usd": min(least) if least else None})


@dataclass(frozen=True, slots=True)
class Profile:
    role: str
    model_role: str
    """Whose model answers, by its name under `models` in the settings."""
    system: str = field(default="", repr=False)
    tools: ToolAccess = field(default_factory=ToolAccess)
    limits: LoopLimits = field(default_factory=LoopLimits)

    def __post_init__(self) -> None:
        check_model_role(self.model_role, f"the profile `{self.role}`")

    def without_tools(self, *names: str) -> Self:
        return replace(self, tools=replace(self.tools, names=self.tools.names - set(names)))

    def with_tools(self, *names: str) -> Self:
        return replace(self, tools=replace(self.tools, names=self.tools.names | set(names)))

    def to_json(self) -> Json:
        limits = {"requests": self.limits.requests, "usd": self.limits.usd}
        told = {"role": self.role, "model_role": self.model_role, "system": self.system}
        return {**told, "tools": self.tools.to_json(), "limits": limits}

    @classmethod
    def from_json(cls, data: Json) -> Self:
        limits, tools = LoopLimits(**data["limits"]), ToolAccess.from_json(data["tools"])
        return cls(data["role"], data["model_role"], data["system"], tools, limits)


class Profiles:
    """The registry: every role that an agent can have here. What is wrong with one is told when it is made."""

    def __init__(self, profiles: Iterable[Profile], system: Callable[[str], str]) -> None:
        """`system` gives the prompt of a role as it is now."""
        self._system = system
        self._profiles: dict[str, Profile] = {}
        for profile in profiles:
            if profile.role in self._profiles:
                raise ValueError(f"There are two profiles for the role {profile.role}.")
            self._profiles[profile.role] = profile

    def __iter__(self) -> Iterator[str]:
        return iter(self._profiles)

    def get(self, role: str) -> Profile:
        """Ready to be used: with its prompt."""
        return replace(self._found(role), system=self._system(role))

    def model_role(self, role: str) -> str:
        return self._found(role).model_role

    def _found(self, role: str) -> Profile:
        profile = self._profiles.get(role)
        if profile is None:
            raise ProfileUnknown(
                f"No model role is set for the prompt `{role}`.",
                hint=f"A plugin that asks for it offers it with one of {', '.join(MODEL_ROLES)}.",
            )
        return profile


def check_model_role(role: str, what: str) -> None:
    if role not in MODEL_ROLES:
        raise ModelRoleUnknown(
            f"{what[0].upper()}{what[1:]} names the model role `{role}`, which there is not.",
            hint=f"Use one of {', '.join(MODEL_ROLES)}.",
        )


def shipped_profiles(more_tools: Mapping[str, Collection[str]] | None = None) -> tuple[Profile, ...]:
    """The roles that come with Forge; `more_tools` are those that plugins add, by the role that may use them."""
    added = more_tools or {}
    with_tools = {"chat": (WORK_TOOLS | {ASK_USER}) - {NEED_DECISION}, "code-build": WORK_TOOLS, "code-fix": WORK_TOOLS}
    names = {**with_tools, "contract-author": CONTRACT_TOOLS}
    return tuple(
        Profile(
            role,
            model_role,
            tools=ToolAccess(names.get(role, frozenset()) | frozenset(added.get(role, ())), own=role in with_tools),
        )
        for role, model_role in SHIPPED.items()
    )


SHIPPED = {
    "chat": "chat",
    "team-context": "planner",
    "brain-dump-intake": "planner",
    "spec-building": "planner",
    "open-source": "planner",
    "plan-build": "writer",
    "plan-review": "reviewer",
    "plan-fix": "fixer",
    "completeness-gate": "reviewer",
    "contract-author": "planner",
    "code-build": "builder",
    "code-review": "reviewer",
    "code-fix": "fixer",
    "explore-route": "router",
    "explore-respond": "explorer",
    "explore-gathering": "explorer",
    "explore-discover": "explorer",
    "explore-evaluate": "explorer",
    "explore-constraints": "explorer",
    "explore-value": "explorer",
    "explore-priorities": "explorer",
    "explore-patterns": "explorer",
}
"""The roles that come with Forge, which are the names of their prompts, and the model role of each."""
