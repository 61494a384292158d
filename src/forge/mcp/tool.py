"""What a tool of this face is: a schema that a client lists, what it needs, and a function that answers in text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from forge.json_value import Json

if TYPE_CHECKING:
    from forge.mcp.call import Call

Scope = Literal["read", "write", "run"]
Run = Callable[["Call", Json], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Tool:
    """`scope` is what a key needs for it. `run` raises a `ForgeError` where the call cannot be done."""

    name: str
    title: str
    description: str
    run: Run
    parameters: Json = field(default_factory=dict)
    required: tuple[str, ...] = ()
    scope: Scope = "read"
    destructive: bool = False
    idempotent: bool = False
    is_long: bool = False
    """It may take minutes: a client that knows tasks gets one."""
    reads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values of an argument with which the call only reads."""

    def needs(self, arguments: Json) -> Scope:
        """The scope for a call with these arguments."""
        for name, values in self.reads.items():
            if isinstance(given := arguments.get(name), str) and given in values:
                return "read"
        return self.scope

    @property
    def read_only(self) -> bool:
        return self.scope == "read"

    @property
    def schema(self) -> Json:
        """Of its arguments. Nothing else is taken."""
        required = {"required": list(self.required)} if self.required else {}
        return {"type": "object", "properties": self.parameters, **required, "additionalProperties": False}
