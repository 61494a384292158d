"""What a tool is: a schema that the model reads, and a function on a virtual file system that answers in text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

from forge.json_value import Json

if TYPE_CHECKING:
    from forge.git import WorkInProgressVFS


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """How a tool is shown to a model. `parameters` is a JSON schema of an object."""

    name: str
    description: str
    parameters: Json


class ToolRetry(Exception):
    """The call was wrong in a way the model can mend; the text tells it how. Nothing was changed."""


class ToolFailed(Exception):
    """The call was right and still could not be done."""


@dataclass(frozen=True, slots=True)
class Inquiry:
    """What a tool gives that needs a person's word: the answer becomes the result of the call."""

    question: str
    choices: tuple[str, ...] = ()


class Tool(Protocol):
    """Built-in tools are modules with these two functions; tools of a repository are wrapped to look the same."""

    def get_schema(self) -> Json:
        """`{"name", "description", "parameters"}`."""

    def execute(self, vfs: WorkInProgressVFS, args: Json) -> str | Json | Inquiry:
        """Do it. What is returned goes to the model: text as it is, an inquiry when answered, anything else as JSON."""


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What goes back to the model, and whether the call did what it was for."""

    text: str
    failed: bool = False
    asks: Inquiry | None = None
    """The person has to answer first; there is no text yet."""


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A tool that needs no files: a function of its arguments, with whatever else it knows bound to it."""

    name: str
    description: str
    parameters: Json
    function: Callable[[Json], str | Json | Inquiry]
    outside: bool = False
    """Whether it has effects that a replay must not repeat."""
    needs_files: ClassVar[bool] = False

    def get_schema(self) -> Json:
        return {"name": self.name, "description": self.description, "parameters": self.parameters}

    def execute(self, vfs: WorkInProgressVFS | None, args: Json) -> str | Json | Inquiry:
        del vfs
        return self.function(args)
