"""A keyring in a file, for servers that are started by tests: `KEPT_KEYS` names the file."""

from __future__ import annotations

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class FileKeyring(KeyringBackend):
    priority = 1

    def get_password(self, service: str, username: str) -> str | None:
        return self._held().get(f"{service} {username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._file.write_text(json.dumps({**self._held(), f"{service} {username}": password}))

    def delete_password(self, service: str, username: str) -> None:
        held = self._held()
        if held.pop(f"{service} {username}", None) is None:
            raise PasswordDeleteError(username)
        self._file.write_text(json.dumps(held))

    @property
    def _file(self) -> Path:
        return Path(os.environ["KEPT_KEYS"])

    def _held(self) -> dict[str, str]:
        held: dict[str, str] = json.loads(self._file.read_text()) if self._file.exists() else {}
        return held
