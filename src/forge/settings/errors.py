"""What can be wrong with a settings file. Messages name keys of the file, never their values."""

from __future__ import annotations

from forge.errors import InvalidInput


class SettingsInvalid(InvalidInput):
    code = "settings_invalid"
