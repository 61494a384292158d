"""The roles that agents can have here, each with its prompt, its tools and its model role."""

from __future__ import annotations

from forge.agents.profile import SHIPPED, Profile, Profiles, shipped_profiles
from forge.app.admin.plugins import plugins_of, prompts_of
from forge.settings import Settings
from forge.tools.access import ToolAccess


def profiles_of(settings: Settings) -> Profiles:
    """Those that come with Forge, and one for each prompt that a plugin brings."""
    plugins = plugins_of(settings)
    brought = [
        Profile(
            prompt.name,
            prompt.model_role,
            tools=ToolAccess(prompt.tools | plugins.tools_for(prompt.name), prompt.aliases, prompt.own_tools),
        )
        for prompt in plugins.prompts.values()
    ]
    shipped = shipped_profiles({role: plugins.tools_for(role) for role in SHIPPED})
    return Profiles((*shipped, *brought), prompts_of(settings).get)
