"""The settings of a person, as one frozen value; where each came from is known."""

from forge.settings.agents import Agents
from forge.settings.errors import SettingsInvalid
from forge.settings.keys import Key, find_key
from forge.settings.loader import config_path, default_text, load
from forge.settings.pipeline import BrainDump, Concurrency, Phase3Completeness, Polish, Resource, Server
from forge.settings.plugin_sections import Notifications, PluginSection
from forge.settings.values import Context, CostLimits, Models, Network, Provider, Retries, RetryKind, Settings

__all__ = [
    "Agents",
    "BrainDump",
    "Concurrency",
    "Context",
    "CostLimits",
    "Key",
    "Models",
    "Network",
    "Notifications",
    "Phase3Completeness",
    "PluginSection",
    "Polish",
    "Provider",
    "Resource",
    "Retries",
    "RetryKind",
    "Server",
    "Settings",
    "SettingsInvalid",
    "config_path",
    "default_text",
    "find_key",
    "load",
]
