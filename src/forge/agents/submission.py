"""The tool with which a model hands in its result: checked, and refused with findings until it is right."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from forge.json_value import Json
from forge.tools.arguments import checked
from forge.tools.tool import ToolRetry, ToolSchema

Check = Callable[[Json], Awaitable[Sequence[str]]]


async def accept(value: Json) -> Sequence[str]:
    del value
    return ()


@dataclass(frozen=True, slots=True)
class Submission:
    """What is to be handed in. A loop with one ends when a submission is accepted, not when the model stops."""

    schema: Json
    """A JSON schema of an object."""
    check: Check = accept
    """What is wrong with a value of the right form, a sentence for each; nothing accepts it. Asked in a step, so it
    may take its time and look at anything: after a crash the same findings are given."""
    name: str = "submit"
    description: str = "Hand in the result. What is wrong with it comes back; mend that and submit again."

    @property
    def tool(self) -> ToolSchema:
        return ToolSchema(self.name, self.description, self.schema)

    async def findings(self, arguments: Json) -> Json:
        """As a step records it: the value, and what is wrong with it."""
        try:
            value = checked(self.schema, arguments)
        except ToolRetry as e:
            return {"value": None, "findings": [str(e)]}
        return {"value": value, "findings": list(await self.check(value))}
