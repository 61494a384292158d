"""The settings in force for a repository, and changes to a person's own file."""

from __future__ import annotations

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from forge.errors import ForgeError
from forge.git import Repository
from forge.git.process import disk
from forge.plugins.loader import load_plugins
from forge.settings import Settings, SettingsInvalid, config_path, load
from forge.settings.catalog import listed, shown
from forge.settings.errors import SettingsNotEdited
from forge.settings.file_edit import changed
from forge.settings.validation import require_known

_FILE = ".forge/config.yaml"
_PRIVATE = 0o600
_MOST = 10**12
_WITHOUT_LOGIN = "…@"
"""What is shown of an address with a login: not to be taken for the address."""


def load_settings(repo: Repository | None, environ: Mapping[str, str]) -> Settings:
    """Without a repository, or with an empty one, only what the person has set."""
    return load(environ, repository=_repository_text(repo) if repo is not None else None)


def _repository_text(repo: Repository) -> str | None:
    try:
        files = repo.commit_vfs("HEAD")
        return files.read_file(_FILE) if files.file_exists(_FILE) else None
    except ForgeError:  # no commit yet, or a file that is no text: nothing that could be taken from it
        return None


def plugin_faults(settings: Settings) -> tuple[str, ...]:
    """Plugins that cannot be used, and what is enabled and nobody brings. Boards fail softly and are not asked here."""
    plugins = load_plugins(settings.plugins_directory)
    enabled = plugins.faults(connectors=settings.connectors, channels=settings.notifications.channels)
    return (*plugins.problems, *enabled)


@dataclass(frozen=True, slots=True)
class Changed:
    """What was written where. `origin` is where the value in force comes from, which a variable may still decide."""

    path: Path
    name: str
    value: Any
    origin: str


def change_setting(environ: Mapping[str, str], name: str, word: str) -> Changed:
    """Set `name` in the person's own file to what a word means. See `set_value`."""
    return _written(environ, name, _readings(word))


def set_value(environ: Mapping[str, str], name: str, value: Any) -> Changed:
    """Set `name` in the person's own file. Only a file that can be used afterwards is written."""
    return _written(environ, name, [value])


def _written(environ: Mapping[str, str], name: str, values: Sequence[Any]) -> Changed:
    if _WITHOUT_LOGIN in str(values):
        raise SettingsInvalid(
            f"`{name}`: this address has `…` in place of its login.", hint="Write it whole; the login is not shown."
        )
    path = config_path(environ)
    text = _own_text(path)
    require_known(name, [each.name for each in listed(Settings())])
    new, settings = _fitting(environ, path, text, name, values)
    if _own_text(path) != text:
        raise SettingsNotEdited(f"{path} was changed in the meantime; nothing was written.", hint="Try again.")
    _write(path, new)
    return Changed(path, name, shown(settings, name), settings.origin(name))


def _fitting(
    environ: Mapping[str, str], path: Path, text: str, name: str, values: Sequence[Any]
) -> tuple[str, Settings]:
    """The new text, with the first of these values that the settings take."""
    refused: SettingsInvalid | None = None
    for value in values:
        _refuse_huge(name, value)
        new = changed(text, name, value, path=path)
        try:
            return new, load(environ, path=path, text=new)
        except SettingsInvalid as e:
            refused = refused or e
    assert refused is not None
    raise refused


def _refuse_huge(name: str, value: Any) -> None:
    """No setting means anything beyond that, and some would stand for ever in the way of a program that counts."""
    if isinstance(value, int | float) and not isinstance(value, bool) and not -_MOST <= value <= _MOST:
        raise SettingsInvalid(f"The number for `{name}` is too large.", hint=f"Use one up to {_MOST:,}.")


def _readings(word: str) -> list[Any]:
    """As YAML, else as it is."""
    try:
        value = yaml.safe_load(word)
    except yaml.YAMLError:
        return [word]
    # A date is no setting, and an empty word is meant as such.
    if not isinstance(value, str | int | float | bool | list | dict | None) or not word.strip():
        return [word]
    return [value] if value == word else [value, word]


def _own_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as e:
        reason = e.strerror if isinstance(e, OSError) else "it is not UTF-8 text"
        raise SettingsInvalid(f"The settings file {path} cannot be read: {reason}.") from e


def _write(path: Path, text: str) -> None:
    # A person may keep the file elsewhere and link to it.
    real = path.resolve()
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        mode = stat.S_IMODE(real.stat().st_mode) if real.exists() else _PRIVATE
        disk.replace_synced(real, text.encode(), mode=mode)
    except OSError as e:
        raise SettingsNotEdited(
            f"{real} cannot be written: {e.strerror}; nothing was changed.", hint="Check who owns it and its folder."
        ) from e
