"""Whoever answers for a project: the model or agent program that is chosen for each prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.agents.errors import ProgramMissing
from forge.agents.models import registry
from forge.agents.profile import SHIPPED
from forge.app.admin.agent_programs import found_program, programs
from forge.app.admin.profiles import profiles_of

if TYPE_CHECKING:
    from forge.app.process.workshop import Workshop
    from forge.projects.project import Project

_EXPLORER = tuple(role for role in SHIPPED if role.startswith("explore-"))
_PROMPTS = tuple(role for role in SHIPPED if role != "chat" and role not in _EXPLORER)
_BUILTIN = "builtin"
RECORDED = "recorded:"


@dataclass(frozen=True, slots=True)
class ChosenAgents:
    """`agent` is the project's own choice; empty goes by role."""

    shop: Workshop
    agent: str

    @property
    def name(self) -> str:
        return self.who("brain-dump-intake")

    @property
    def sees(self) -> bool:
        known = programs(self.shop.settings)
        if self.name in known:
            return self.shop.settings.agents.supports_vision(self.name)
        return self.name != _BUILTIN and not self.name.startswith(RECORDED)

    def who(self, prompt: str) -> str:
        """The project's own choice, else by role; before the built-in engine, the agent program that is installed."""
        if self.agent:
            return self.agent
        settings = self.shop.settings
        role = profiles_of(settings).model_role(prompt)
        chosen = registry.choose(role, settings, programs(settings))
        usual = settings.agents.default
        nothing_set = chosen == _BUILTIN and settings.models.named(role) is None
        return usual if nothing_set and usual and self._is_installed(usual) else chosen

    def by_rules(self, prompt: str) -> bool:
        return self.who(prompt) == _BUILTIN

    def _is_installed(self, program: str) -> bool:
        try:
            found_program(self.shop.settings, self.shop.environ, program)
        except ProgramMissing:
            return False
        return True


def chosen_agents_of(shop: Workshop, project: Project) -> ChosenAgents:
    """Who answers for a project, as it is set now."""
    return ChosenAgents(shop, project.info().agent)


def who_answers(shop: Workshop, project: Project) -> list[str]:
    """Whoever answers for a project, by the settings of this process."""
    agents = chosen_agents_of(shop, project)
    return sorted({agents.who(prompt) for prompt in _PROMPTS})


def explorers(shop: Workshop, project: Project) -> list[str]:
    """Whoever answers as explorer of a project."""
    agents = chosen_agents_of(shop, project)
    return sorted({agents.who(prompt) for prompt in _EXPLORER})
