"""Where package managers look for packages: their own configuration, without logins, as variables and hosts."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from forge.sandbox.view import shows

_PIP_ADDRESSES = ("index-url", "extra-index-url", "find-links")


@dataclass(frozen=True, slots=True)
class Index:
    """Where a package manager looks for packages: variables for the setup, hosts to approve, and what is left out."""

    variables: Mapping[str, str] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


NO_LOGIN = "{host} is configured with a login. Setups never get secrets: it is asked without one."


def python_indexes(settings: Mapping[str, Sequence[str]]) -> tuple[dict[str, str], list[str], list[str]]:
    variables: dict[str, str] = {}
    hosts: list[str] = []
    notes: list[str] = []
    for name, addresses in settings.items():
        usable = []
        for address in addresses:
            bare, had_login = without_login(address)
            if had_login:
                notes.append(NO_LOGIN.format(host=host_of(bare)))
            path = urlsplit(bare).path if bare.startswith("file:") else bare if bare.startswith("/") else ""
            if path and not shows(Path(path)):
                notes.append(f"{path} is not visible in the sandbox and is left out.")
                continue
            usable.append(bare)
            if host := host_of(bare):
                hosts.append(host)
        if usable:
            variables[f"PIP_{name.upper().replace('-', '_')}"] = " ".join(usable)
    for theirs, ours in (
        ("UV_DEFAULT_INDEX", "PIP_INDEX_URL"),
        ("UV_INDEX", "PIP_EXTRA_INDEX_URL"),
        ("UV_FIND_LINKS", "PIP_FIND_LINKS"),
    ):
        if ours in variables:
            variables[theirs] = variables[ours]
    return variables, hosts, notes


def pip_settings(environ: Mapping[str, str], home: Path) -> dict[str, list[str]]:
    """Files first, the person's over the machine's; then variables."""
    files = [Path("/etc/pip.conf"), Path("/etc/xdg/pip/pip.conf"), home / ".pip/pip.conf"]
    files += [Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip/pip.conf"]
    files += [Path(environ["PIP_CONFIG_FILE"])] if environ.get("PIP_CONFIG_FILE") else []
    found: dict[str, list[str]] = {}
    for file in files:
        parser = configparser.RawConfigParser(strict=False)
        with suppress(configparser.Error, OSError, UnicodeDecodeError):
            parser.read(file, encoding="utf-8")
        for section in ("global", "install"):
            for name in _PIP_ADDRESSES:
                if value := parser.get(section, name, fallback=""):
                    found[name] = value.split()
    for name in _PIP_ADDRESSES:
        if value := environ.get(f"PIP_{name.upper().replace('-', '_')}"):
            found[name] = value.split()
    return found


def uv_settings(environ: Mapping[str, str], home: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in (Path("/etc/uv/uv.toml"), Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "uv/uv.toml"):
        with suppress(OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
            told = tomllib.loads(file.read_text(encoding="utf-8"))
            for each in told.get("index", ()) if isinstance(told.get("index"), list) else ():
                if isinstance(each, dict) and isinstance(each.get("url"), str):
                    found.setdefault("index-url" if each.get("default") else "extra-index-url", []).append(each["url"])
    for variable, name in (
        ("UV_DEFAULT_INDEX", "index-url"),
        ("UV_INDEX_URL", "index-url"),
        ("UV_INDEX", "extra-index-url"),
    ):
        if value := environ.get(variable):
            found[name] = [word.rpartition("=")[2] if "=" in word.split("//")[0] else word for word in value.split()]
    return found


def without_login(address: str) -> tuple[str, bool]:
    parts = urlsplit(address.strip())
    if "@" not in parts.netloc:
        return address.strip(), False
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])), True


def host_of(address: str) -> str:
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    usual = {"http": 80, "https": 443}[parts.scheme]
    with suppress(ValueError):
        return parts.hostname if parts.port in (None, usual) else f"{parts.hostname}:{parts.port}"
    return ""


def hosts_in(text: str) -> tuple[str, ...]:
    """Hosts of the web addresses in a lock file."""
    return tuple(dict.fromkeys(filter(None, map(host_of, re.findall(r"https?://[^\s\"'<>#,)}\]]+", text)))))
