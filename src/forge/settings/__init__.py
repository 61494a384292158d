"""The settings of a person, as one frozen value; where each came from is known."""

from forge.settings.errors import SettingsInvalid
from forge.settings.keys import Key, find_key
from forge.settings.loading import default_text, load
from forge.settings.values import Context, Limits, Models, Network, Provider, Settings

__all__ = [
    "Context",
    "Key",
    "Limits",
    "Models",
    "Network",
    "Provider",
    "Settings",
    "SettingsInvalid",
    "default_text",
    "find_key",
    "load",
]
