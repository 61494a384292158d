"""What plugins bring, loaded once for each directory of a person's own ones."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from forge.plugins.loading import Plugins, load_plugins
from forge.settings import Settings


def plugins_of(settings: Settings) -> Plugins:
    return _loaded(settings.plugins_directory)


@cache
def _loaded(directory: Path) -> Plugins:
    return load_plugins(directory)
