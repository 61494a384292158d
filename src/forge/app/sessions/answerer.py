"""Who answers a message: a model or an agent program, by what the person named and what is set. Loads no engine."""

from __future__ import annotations

from collections.abc import Mapping

from forge.agents.models import registry
from forge.agents.models.names import BUILTIN
from forge.app.admin.agent_programs import found_program, programs
from forge.settings import Settings


def meant(settings: Settings, model: str | None, agent: str | None) -> tuple[str | None, str | None]:
    """Model and agent program. As for projects, `agent` may name either: what no program is called is a model."""
    is_model = agent is not None and model is None and (agent == BUILTIN or ":" in agent)
    return (agent, None) if is_model and agent not in programs(settings) else (model, agent)


def chosen(settings: Settings, model: str | None, agent: str | None) -> tuple[str | None, str | None]:
    """As `meant`, with the model that the settings choose where none is named. Whether it can answer is not asked."""
    model, agent = meant(settings, model, agent)
    return (model or registry.choose("chat", settings), None) if agent is None else (model, agent)


def full_name(model: str | None, agent: str | None) -> str:
    return f"{agent}:{model}" if agent and model else agent or model or ""


def answering(settings: Settings, environ: Mapping[str, str], model: str | None, agent: str | None) -> str:
    """The full name of who will answer, if it can: what is missing is said before anything is begun."""
    model, agent = chosen(settings, model, agent)
    if agent is not None:
        found_program(settings, environ, agent)
    else:
        registry.resolve(model or "", settings)
    return full_name(model, agent)
