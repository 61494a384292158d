"""What plugins bring, loaded once for each directory of a person's own ones, and the prompts in force with them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from forge.plugins.loader import Plugins, load_plugins
from forge.prompts import Prompts
from forge.settings import Settings


def plugins_of(settings: Settings) -> Plugins:
    return _loaded(settings.plugins_directory)


@cache
def _loaded(directory: Path) -> Plugins:
    return load_plugins(directory)


def prompts_of(settings: Settings) -> Prompts:
    """Those that come with Forge and with plugins, with the person's own in their place."""
    brought = plugins_of(settings).prompts
    return Prompts(settings.prompts_directory, {name: prompt.text for name, prompt in brought.items()})
