"""JSON shapes of environments."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forge.api.shapes.base import Given, Shape, Text, shown, taken

StateName = Literal["none", "not_approved", "changed", "approved", "setting_up", "ready", "failed"]


class NeedShape(Shape):
    """What one package manager sets up."""

    model_config = shown(manager="uv", because=["pyproject.toml", "uv.lock"], runtime="python 3.12.1", untried=False)
    manager: Text
    because: list[Text] = Field(description="The files of the branch that show it.")
    runtime: Text = Field(description="The interpreter that is used; empty where none is needed.")
    untried: bool = Field(description="Forge reads such projects; their setup is untested.")


class LayerShape(Shape):
    model_config = shown(size=75_000_000, seconds=16.6, created_at="2026-11-18T10:48:00+00:00", refused=[])
    size: int = Field(description="Bytes on disk, shared by all branches with the same key.")
    seconds: float
    created_at: str
    refused: list[Text] = Field(description="Hosts that the setup asked for and did not get.")


class FailureShape(Shape):
    model_config = shown(
        reason="`npm ci` failed with exit code 1.",
        hint="Read the last lines.",
        command="npm ci",
        lines=["npm error 404"],
        refused=[],
        at="2026-11-18T10:48:00+00:00",
    )
    reason: Text
    hint: Text
    command: Text
    lines: list[Text] = Field(description="The last lines of its output.")
    refused: list[Text]
    at: str


class ImageShape(Shape):
    """The container image whose system commands see in place of this machine's."""

    model_config = shown(name="python:3.12-slim", id="0" * 64)
    name: Text
    id: str


class EnvironmentShape(Shape):
    """What a branch needs to run, who approved it, and what was set up."""

    branch: Text
    state: StateName
    origin: Text = Field(description="`files`, `.forge/environment.yaml`, `person` or `none`.")
    needs: list[NeedShape]
    commands: list[Text]
    image: ImageShape | None
    hosts: list[Text] = Field(description="The only hosts that a setup reaches.")
    setup_variables: dict[str, Text]
    services: list[Text]
    variables: dict[str, Text]
    caches: list[Text]
    test_command: Text
    notes: list[Text]
    hash: str = Field(description="Of all that a person approves.")
    key: str = Field(description="Of all that the layer depends on.")
    approved_by: Text
    approved_at: str
    difference: Text = Field(description="What changed since the last approval, as a unified diff.")
    layer: LayerShape | None
    failure: FailureShape | None


class EnvironmentLogShape(Shape):
    model_config = shown(lines=["$ npm ci", "added 3 packages in 1s"])
    lines: list[Text]


class EnvironmentApproval(Given):
    model_config = taken(hash="sha256:" + "0" * 64)
    hash: str = Field(min_length=1, max_length=100, description="Of the proposal as you read it.")
