"""Put Forge into the configuration of a program, or take it out: first as a change to look at, then written."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from forge.app.mcp_clients import jsonc, toml_table
from forge.app.mcp_clients.clients import NAME, Client, Scope, command_line
from forge.errors import Conflict, NotFound, Upstream
from forge.git.process import disk
from forge.json_value import Json


class EntryForeign(Conflict):
    """The program has a server of this name that Forge did not write."""

    code = "mcp_entry_foreign"


class NotInstalled(NotFound):
    code = "mcp_not_installed"


class ConfigurationUnwritable(Upstream):
    code = "configuration_unwritable"


@dataclass(frozen=True, slots=True)
class Change:
    """What would be written. `after` is None where the file goes."""

    file: Path
    before: str
    after: str | None

    @property
    def diff(self) -> str:
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            (self.after or "").splitlines(keepends=True),
            str(self.file) if self.before else "/dev/null",
            str(self.file) if self.after is not None else "/dev/null",
        )
        return "".join(each if each.endswith("\n") else f"{each}\n" for each in lines)

    @property
    def is_empty(self) -> bool:
        return self.before == (self.after or "")


def installing(
    client: Client, scope: Scope, root: Path, *, forge: Path, environ: Mapping[str, str], prefix: str
) -> Change:
    entry = client.entry(command_line(client, scope, root, forge=forge, prefix=prefix))
    file = client.file(scope, root, environ)
    before = _text(file)
    _refuse_foreign(client, file, _entry(client, before))
    if client.is_toml:
        after = toml_table.with_table(before, client.section, NAME, entry)
    else:
        after = jsonc.with_entry(before, client.section, NAME, entry)
    return _checked(client, Change(file, before, after), _with(_read(client, before), client.section, entry))


def removing(client: Client, scope: Scope, root: Path, *, environ: Mapping[str, str]) -> Change:
    file = client.file(scope, root, environ)
    before = _text(file)
    found = _entry(client, before)
    if found is None:
        raise NotInstalled(f"{client.name} does not have Forge in {file}.", hint="Look at the other scope.")
    _refuse_foreign(client, file, found)
    if client.is_toml:
        after = toml_table.without_table(before, client.section, NAME)
    else:
        after = jsonc.without_entry(before, client.section, NAME)
    rest = _read(client, after)
    change = Change(file, before, after if rest or jsonc.read("") != rest else None)
    return _checked(client, change, _with(_read(client, before), client.section, None))


def installed(client: Client, scope: Scope, root: Path, *, environ: Mapping[str, str]) -> list[str]:
    """The command line by which the program starts Forge."""
    file = client.file(scope, root, environ)
    found = _entry(client, _text(file))
    if found is None:
        raise NotInstalled(
            f"{client.name} does not have Forge in {file}.", hint=f"`forge mcp install {client.name}` writes it."
        )
    return client.words(found)


def write(change: Change) -> None:
    try:
        if change.after is None:
            change.file.unlink(missing_ok=True)
            return
        change.file.parent.mkdir(parents=True, exist_ok=True)
        mode = change.file.stat().st_mode & 0o777 if change.file.exists() else 0o600
        disk.replace_synced(change.file.resolve(), change.after.encode(), mode=mode)
    except OSError as e:
        raise ConfigurationUnwritable(f"{change.file} cannot be written: {e.strerror}.", hint="Nothing changed.") from e


def _checked(client: Client, change: Change, expected: Json) -> Change:
    if change.after is not None and _read(client, change.after) != expected:
        raise jsonc.ConfigurationUnreadable(
            f"{change.file} cannot be changed without touching other things; nothing was written.",
            hint=f"Add or remove the server {NAME!r} by hand.",
        )
    return change


def _with(values: Json, section: str, entry: Json | None) -> Json:
    servers = {name: value for name, value in (values.get(section) or {}).items() if name != NAME}
    if entry is not None:
        servers[NAME] = entry
    rest = {name: value for name, value in values.items() if name != section}
    return {**rest, section: servers} if servers else rest


def _refuse_foreign(client: Client, file: Path, found: Json | None) -> None:
    if found is None:
        return
    words = client.words(found)
    if not (Path(words[0]).name.startswith("forge") and words[-1] == "mcp"):
        raise EntryForeign(
            f"{file} has a server {NAME!r} that Forge did not write.", hint="Remove or rename it by hand first."
        )


def _entry(client: Client, text: str) -> Json | None:
    section = _read(client, text).get(client.section)
    found = section.get(NAME) if isinstance(section, dict) else None
    return found if isinstance(found, dict) else None


def _read(client: Client, text: str) -> Json:
    return toml_table.read(text) if client.is_toml else jsonc.read(text)


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as e:
        raise jsonc.ConfigurationUnreadable(f"{file} cannot be read.", hint="Check the file, then try again.") from e
