"""The roles that agents can have here, each with its prompt, its tools and its model role."""

from __future__ import annotations

from forge.agents.profile import Profiles, shipped_profiles
from forge.app.admin.prompts import prompts
from forge.settings import Settings


def profiles_of(settings: Settings) -> Profiles:
    return Profiles(shipped_profiles(), prompts(settings).get)
