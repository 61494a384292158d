"""Conversations on branches, tools and questions."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from forge.api.shapes.base import Given, Shape, Text, shown, taken
from forge.json_value import Json


def _message(item: Json) -> Json:
    """With what a model thought as text; what only its provider understands is left out."""
    parts = [each["part"] for each in item.get("opaque", ()) if isinstance(each.get("part"), dict)]
    thoughts = [str(part.get("content") or "") for part in parts if part.get("part_kind") == "thinking"]
    told = {name: value for name, value in item.items() if name != "opaque"}
    return {**told, "thinking": "\n\n".join(filter(None, thoughts))} if item["role"] == "assistant" else told


def _messages(items: Any) -> Any:
    return None if items is None else [_message(item) for item in items]


class UsageShape(Shape):
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    requests: int
    cost: float | None


class ActiveFileShape(Shape):
    path: Text
    ranges: list[tuple[int, int]] = Field(description="First and last lines; none means the whole file.")


class ContextFileShape(ActiveFileShape):
    state: Literal["partly", "fully"] = Field(description="A file that is not listed is not in context.")
    why: Literal["active", "instructions"] = Field(description="Instructions are there by themselves.")
    tokens: int = Field(description="Estimated.")


class ContextShape(Shape):
    files: list[ContextFileShape]
    total_tokens: int = Field(description="Of the prompt before the next message, estimated.")
    window: int = Field(description="How many the model can take.")
    model: Text
    model_config = shown(
        files=[{"path": "README.md", "ranges": [], "state": "fully", "why": "active", "tokens": 210}],
        total_tokens=5300,
        window=200_000,
        model="anthropic:claude-sonnet-5-5",
    )


class AttachedShape(Shape):
    path: Text
    commit: str
    bytes_size: int
    in_context: bool = Field(description="False: it is no text.")
    model_config = shown(
        path="attachments/notes.md",
        commit="3f8c1d2e4b5a69788796a5b4c3d2e1f001122334",
        bytes_size=512,
        in_context=True,
    )


class ContextFile(Given):
    path: str = Field(min_length=1, max_length=4096, description="A path, a folder or a pattern.")
    ranges: list[tuple[int, int]] = Field(default_factory=list, max_length=100)


class ContextChange(Given):
    add: list[ContextFile] = Field(default_factory=list, max_length=500)
    remove: list[str] = Field(default_factory=list, max_length=500)
    model_config = taken(add=[{"path": "README.md"}], remove=[])


class WorkingShape(Shape):
    turn: str
    who: Text
    since: float
    waits_for: Text = Field("", description="Why no process continues it after its own died.")


class SessionShape(Shape):
    branch: Text
    turns: int
    messages: int
    usage: UsageShape
    active_files: list[ActiveFileShape]
    merged_turns: list[str]
    working: WorkingShape | None
    topic: Text


class SessionsShape(Shape):
    sessions: list[SessionShape]


class TurnShape(Shape):
    id: str
    number: int
    commit: str | None
    started: float
    model: Text
    status: str
    reason: Text
    asked: Text
    answered: Text
    files: list[Text]
    usage: UsageShape
    messages: Annotated[list[Json] | None, BeforeValidator(_messages)] = Field(
        description="What was said and done, by `role`: `user`, `assistant` (`text`, `thinking`, `calls`, `usage`), "
        "`tool` (`call_id`, `name`, `text`, `failed`), `context` and `reference`. Only where it was asked for."
    )


class NewTurn(Given):
    text: str = Field(min_length=1, description="At most 400,000 characters.")
    model: str | None = Field(
        default=None, max_length=4200, description="A model; beside an agent program, the one that it asks."
    )
    agent: str | None = Field(
        default=None, max_length=4200, description="Who answers: an agent program, or a model by its name."
    )
    asks: bool | None = Field(default=None, description="False: the agent may not ask back.")
    start: str | None = Field(
        default=None, max_length=250, description="Where a branch that is not there begins; HEAD if left out."
    )
    model_config = taken(text="Plant tulips in the north bed.")


class SentShape(Shape):
    run: str
    topic: Text = Field(description="The topic of the turn's events.")
    after: int = Field(description="The id after which its events begin.")
    model: Text


class TurnEndShape(Shape):
    turn: str
    branch: Text
    commit: str | None
    files: list[Text]
    text: Text = Field(description="The last word of the agent.")
    usage: UsageShape
    status: str = Field(description="`done`, `failed`, `limited` or `cancelled`.")
    reason: Text
    set_aside: Text | None = Field(description="The branch that has the work, where its own had moved.")


class TurnRunShape(Shape):
    end: TurnEndShape | None = Field(description="Null while the turn runs.")
    after: int = Field(description="The id of the last event of the branch so far.")


class CancelledShape(Shape):
    cancelled: WorkingShape | None = Field(description="The turn that was ended; null where none was under way.")


class Fork(Given):
    turn: str = Field(min_length=1, max_length=64, description="Its number or id.")
    name: str = Field(min_length=1, max_length=250)
    model_config = taken(turn="2", name="ai/other")


class Rewind(Given):
    turn: str = Field(min_length=1, max_length=64)
    model_config = taken(turn="2")


class BuiltInToolShape(Shape):
    name: str
    description: Text


class OwnToolShape(Shape):
    name: Text
    path: Text
    state: str
    reason: Text
    hash: str
    files: list[Text]
    approved_by: Text | None = Field(description="Of the approval that it has, or had before it changed.")
    approved_at: str | None
    differs: Text = Field(
        description="How the copy of approvals in the branch and the record differ about it; empty where they agree."
    )
    difference: Text = Field(description="For a changed tool: what changed since it was approved, as a unified diff.")


class ToolsShape(Shape):
    built_in: list[BuiltInToolShape]
    own: list[OwnToolShape]
    differences: list[Text] = Field(
        description="Where the copy of approvals in the branch and the record differ, also about tools that are gone."
    )
    listed_only: list[Text] = Field(
        description="Tools that the branch lists as approved as they are, but no person has approved here."
    )


class ToolChangeShape(Shape):
    name: Text
    hash: str
    files: list[Text]
    commit: str | None
    left: Text = Field(description="What is still to be done, if the copy in the branch could not be changed.")


class QuestionShape(Shape):
    id: str
    run: str
    text: Text
    context: Text
    kind: Literal["text", "choice", "decision"] = Field(
        description="`text` takes any words, `choice` one of the options, `decision` either, for its project."
    )
    options: list[Text]
    state: str
    asked: float
    expires: float | None
    project: str | None
    repository: str | None
    branch: Text | None


class QuestionsShape(Shape):
    questions: list[QuestionShape]


class Answer(Given):
    text: str = Field(min_length=1, max_length=100_000)
    model_config = taken(text="yes")


class AnsweredShape(Shape):
    question: str
    counted: bool = Field(description="False: the very same answer had been given before.")
