"""The shapes of remotes and pushes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forge.api.shapes.base import Given, Shape, Text, taken
from forge.api.shapes.history import BroughtShape


class RemoteShape(Shape):
    name: Text
    url: Text = Field(description="Where pushes go, without a name or password in it.")
    default_branch: Text | None = Field(description="As git last heard; null: it never asked.")


class PushRequest(Given):
    source: str = Field(min_length=1, max_length=250, description="The branch to push.")
    remote: str | None = Field(None, min_length=1, max_length=250, description="Left out: the only one, or `origin`.")
    to: str | None = Field(
        None, min_length=1, max_length=250, description="The branch on the remote. Left out: the same name."
    )
    conversation: Literal["keep", "squash", "drop"] | None = Field(
        None,
        description="What goes along of the conversation: every turn, a summary or nothing. Left out: as in the last "
        "push to that branch, else what `merged_sessions` says for a default branch, else every turn.",
    )
    replace: bool = Field(
        default=False, description="Replace the branch `to`, if it is still where it was last seen (a lease)."
    )
    model_config = taken(source="ai/first", to="first", conversation="drop")


class PushOrderShape(PushRequest):
    seen_source: str | None = Field(default=None, max_length=64, description="`source_tip` of the preview.")


class PushShape(Shape):
    branch: Text
    source_tip: str
    remote: Text
    url: Text
    to: Text
    commit: str = Field(description="What the branch on the remote is then.")
    seen: str | None = Field(description="Where the branch on the remote was when git last looked.")
    replaces: bool = Field(description="Whether what it was is no part of what it will be.")
    rewritten: int = Field(description="How many commits are new.")
    left_out: int = Field(description="How many commits held nothing but conversation.")
    conversation: BroughtShape | None
    conversation_choice: Literal["keep", "squash", "drop"] | None
    state: Literal["preview", "created", "updated", "replaced", "unchanged"]
