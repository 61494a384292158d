"""Binds an answer to a form: by the provider's structured output, else by a tool that the model has to call."""

from __future__ import annotations

from dataclasses import replace

from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.tools import ToolDefinition

from forge.agents.model import AnswerForm

_DESCRIPTION = "Give the answer."


def bound(parameters: ModelRequestParameters, form: AnswerForm, profile: ModelProfile) -> ModelRequestParameters:
    """The request with the form, in whichever way the model knows; as it was where it knows none."""
    if profile.get("supports_json_schema_output", False):
        wanted = OutputObjectDefinition(json_schema=form.schema, name=form.name, strict=True)
        return replace(parameters, output_mode="native", output_object=wanted)
    if profile.get("supports_tools", True):
        tool = ToolDefinition(
            name=form.name, description=_DESCRIPTION, parameters_json_schema=form.schema, strict=False
        )
        return replace(parameters, output_mode="tool", output_tools=[tool], allow_text_output=False)
    return parameters


def object_in(response: ModelResponse, form: AnswerForm) -> str | None:
    """The object that a forced call holds, as text, which is read like any other answer."""
    calls = [part for part in response.parts if isinstance(part, ToolCallPart) and part.tool_name == form.name]
    return calls[-1].args_as_json_str() if calls else None
