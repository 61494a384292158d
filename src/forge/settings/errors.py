"""What can be wrong with settings. Messages name keys of a file, never their values."""

from __future__ import annotations

from forge.errors import Conflict, InvalidInput, NotFound


class SettingsInvalid(InvalidInput):
    code = "settings_invalid"


class SettingUnknown(NotFound):
    code = "setting_unknown"


class SettingsNotEdited(Conflict):
    """The file is written in a way in which one value cannot be changed safely by a program."""

    code = "settings_not_edited"
