"""`.forge/environment.yaml`, and the same as a person sets it for a repository."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from forge.environment import services
from forge.environment.branch_files import text, yaml_object
from forge.environment.errors import EnvironmentInvalid
from forge.git import VFS

PATH = ".forge/environment.yaml"
PERSON = "person"
_KEYS = ("setup", "hosts", "services", "variables", "caches", "test", "python", "inputs", "image")
_HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS = (
    "PATH",
    "HOME",
    "TMPDIR",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
)
_MOST, _LONGEST = 100, 4_000
_HINT = "docs/environments.md shows its form."


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    origin: str = ""
    setup: tuple[str, ...] | None = None
    """None where the commands that Forge finds are used."""
    hosts: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    caches: tuple[str, ...] = ()
    test: str = ""
    python: str = ""
    image: str = ""
    """A container image as the base; `none` for the system of this machine."""
    inputs: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.setup or self.services or self.variables)


def configured(vfs: VFS, own: str) -> Configured:
    """What the person set, else what the branch sets."""
    if own.strip():
        return parsed(own, "What you set for this repository", PERSON)
    content = text(vfs, PATH)
    return parsed(content, PATH, PATH) if content.strip() else Configured()


def parsed(content: str, name: str, origin: str) -> Configured:
    try:
        data = yaml_object(content)
    except (yaml.YAMLError, RecursionError, ValueError) as e:
        raise EnvironmentInvalid(f"{name} is no YAML: {str(e).splitlines()[0]}.", hint=_HINT) from e
    if not isinstance(data, dict):
        raise EnvironmentInvalid(f"{name} holds no keys and values.", hint=_HINT)
    if unknown := [str(key) for key in data if key not in _KEYS]:
        raise EnvironmentInvalid(
            f"{name} has an unknown key `{unknown[0][:60]}`.", hint=f"It may have {', '.join(_KEYS)}."
        )
    reader = _Reader(name, data)
    return Configured(
        origin=origin,
        setup=reader.lines("setup") if data.get("setup") is not None else None,
        hosts=reader.lines("hosts", _HOST, "a host name, such as packages.example.com or localhost:3141"),
        services=reader.services(),
        variables=reader.variables(),
        caches=reader.lines("caches", re.compile(r"[\w.-]+"), "a name, such as `pip`"),
        test=reader.line("test"),
        python=reader.line("python"),
        image=reader.line("image"),
        inputs=reader.lines("inputs"),
    )


class _Reader:
    def __init__(self, name: str, data: dict[str, Any]) -> None:
        self._name = name
        self._data = data

    def lines(self, key: str, form: re.Pattern[str] | None = None, wanted: str = "") -> tuple[str, ...]:
        value = self._data.get(key)
        listed = [] if value is None else [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or len(listed) > _MOST:
            raise self._wrong(key, f"a list of at most {_MOST} lines")
        for each in listed:
            if not isinstance(each, str) or not each.strip() or len(each) > _LONGEST or "\0" in each:
                raise self._wrong(key, "a list of lines")
            if form is not None and not form.fullmatch(each.strip()):
                raise self._wrong(key, wanted)
        return tuple(each.strip() for each in listed)

    def line(self, key: str) -> str:
        value = self._data.get(key, "")
        if isinstance(value, float | int):
            value = str(value)
        if not isinstance(value, str) or len(value) > _LONGEST or not value.isprintable():
            raise self._wrong(key, "one line")
        return value.strip()

    def services(self) -> tuple[str, ...]:
        found = self.lines("services")
        for each in found:
            if each not in services.NAMES:
                raise self._wrong("services", f"some of {', '.join(services.NAMES)}")
        return tuple(dict.fromkeys(found))

    def variables(self) -> dict[str, str]:
        value = self._data.get("variables") or {}
        if not isinstance(value, dict) or len(value) > _MOST:
            raise self._wrong("variables", "names with their values")
        found: dict[str, str] = {}
        for name, each in value.items():
            if not isinstance(name, str) or not _VARIABLE.fullmatch(name) or isinstance(each, dict | list):
                raise self._wrong("variables", "names with their values")
            if name in _OURS or name.lower() in _OURS:
                raise EnvironmentInvalid(f"{self._name} may not set {name}.", hint="The sandbox sets it.")
            found[name] = "" if each is None else str(each)
        return found

    def _wrong(self, key: str, wanted: str) -> EnvironmentInvalid:
        return EnvironmentInvalid(f"`{key}` in {self._name} is not {wanted}.", hint=_HINT)
