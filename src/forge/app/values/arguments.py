"""Arguments that a program sends, checked against a JSON schema, with every complaint in words."""

from __future__ import annotations

from forge.errors import InvalidInput
from forge.json_value import Json
from forge.tools.arguments import checked
from forge.tools.tool import ToolRetry


class ArgumentsInvalid(InvalidInput):
    code = "arguments_invalid"


def checked_arguments(schema: Json, arguments: object) -> Json:
    """The arguments, with whole floats as integers where those are meant."""
    try:
        return checked(schema, arguments)
    except ToolRetry as e:
        raise ArgumentsInvalid(str(e)) from e
