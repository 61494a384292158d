"""Commits, differences, the graph, merges and operations."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from forge.api.shapes.base import Given, Shape, Text, taken


class PersonShape(Shape):
    name: Text
    email: Text
    time: float


class CommitShape(Shape):
    id: str
    parents: list[str]
    subject: Text
    message: Text
    author: PersonShape
    committer: PersonShape
    time: float


class ChangedFileShape(Shape):
    kind: str
    path: Text
    old_path: Text | None
    new_path: Text | None
    old_mode: str | None
    new_mode: str | None
    old_id: str | None
    new_id: str | None
    similarity: int | None
    binary: bool | None
    additions: int | None
    deletions: int | None


class BroughtShape(Shape):
    turns: int = Field(description="How many turns of conversations come along.")
    summaries: int = Field(description="How many summaries of conversations.")
    files: int = Field(description="Their files in `.forge/`, which are not among the other `files`.")


class CommitDetailShape(Shape):
    commit: CommitShape
    trailers: list[tuple[Text, Text]]
    refs: list[Text]
    files: list[ChangedFileShape]
    truncated: bool
    conversation: BroughtShape | None
    conversation_removed: BroughtShape | None


class DiffShape(Shape):
    old: str | None
    new: str
    files: list[ChangedFileShape]
    truncated: bool
    conversation: BroughtShape | None
    conversation_removed: BroughtShape | None


class PatchLineShape(Shape):
    sign: str
    old_number: int | None
    new_number: int | None
    text: Text


class HunkShape(Shape):
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    heading: Text
    lines: list[PatchLineShape]


class PatchShape(Shape):
    file: ChangedFileShape
    hunks: list[HunkShape]
    truncated: bool


class BlamedLineShape(Shape):
    number: int
    text: Text
    commit: str
    author: PersonShape
    summary: Text
    original_path: Text
    original_number: int


class BlameShape(Shape):
    path: Text
    commit: str
    lines: list[BlamedLineShape]
    truncated: bool


class EdgeShape(Shape):
    from_lane: int
    to_lane: int
    parent: str


class GraphShape(Shape):
    id: str
    parents: list[str]
    subject: Text
    author: Text
    time: float
    lane: int
    edges: list[EdgeShape]
    refs: list[Text]
    abandoned: bool
    refs_left_out: int
    tips_left_out: int


class Resolution(Given):
    path: str = Field(min_length=1, max_length=4096)
    text: str | None = Field(default=None, description="The whole file as it shall be; null deletes it.")
    commit: str | None = Field(default=None, max_length=64, description="Of a chain: the commit it belongs to.")
    model_config = taken(path="beds/north.md", text="tulips\n")


class MergeRequest(Given):
    kind: Literal["merge", "rebase", "cherry-pick"] = "merge"
    target: str = Field(min_length=1, max_length=250, description="The branch that moves.")
    sources: list[str] = Field(min_length=1, max_length=100, description="What comes in, or what to rebase onto.")
    message: str | None = Field(default=None, max_length=10_000)
    no_ff: bool = False
    conversation: Literal["keep", "squash", "drop"] | None = Field(
        None,
        description="What comes along of the conversations that come in: every turn, a summary or nothing. Left out, "
        "it is what `merged_sessions` says onto a default branch, and every turn elsewhere.",
    )
    mainline: int | None = Field(default=None, ge=1, le=64)
    record_origin: bool = False
    first: str | None = Field(
        default=None, min_length=1, max_length=250, description="Of a rebase: only this commit and those after it move."
    )
    resolutions: list[Resolution] = Field(default_factory=list, max_length=1000)
    model_config = taken(kind="merge", target="main", sources=["ai/first"])

    @model_validator(mode="after")
    def _resolutions_are_of_one_kind(self) -> Self:
        if len({each.commit is None for each in self.resolutions}) > 1:
            raise ValueError("name a commit in all of the resolutions, for a rebase, or in none of them")
        return self


class MergeOrderShape(MergeRequest):
    seen_target: str | None = Field(default=None, max_length=64, description="`target_tip` of the preview.")
    seen_source: str | None = Field(default=None, max_length=64, description="The last of `sources` of the preview.")


class SideShape(Shape):
    mode: str
    id: str
    text: Text | None = Field(description="Null where it is no text, or very long.")


class ConflictShape(Shape):
    path: Text
    kind: str
    base: SideShape | None
    ours: SideShape | None
    theirs: SideShape | None
    marked: Text | None


class MergedFileShape(Shape):
    path: Text
    change: str
    old_id: str | None
    new_id: str | None


class StepShape(Shape):
    original: str
    subject: Text
    state: str
    result: str | None


class MergeShape(Shape):
    kind: str
    outcome: str
    target: Text
    target_tip: str
    sources: list[Text]
    result: str | None
    reason: Text
    files: list[MergedFileShape]
    truncated: bool
    conflicts: list[ConflictShape]
    stopped_at: str | None
    steps: list[StepShape]
    messages: list[Text]
    conversation: BroughtShape | None
    conversation_removed: BroughtShape | None = Field(description="What the branch loses of its conversation.")
    conversation_choice: Literal["keep", "squash", "drop"] | None = Field(
        description="What this brings of the conversation that comes in; null where there is none to choose about."
    )


class ExportRequest(Given):
    source: str = Field(min_length=1, max_length=250, description="The branch to copy.")
    name: str = Field(min_length=1, max_length=250, description="The branch to make.")
    conversation: Literal["keep", "squash", "drop"] | None = Field(
        None,
        description="What the copy has of conversations: every turn, a summary or nothing. Left out, it is what "
        "`merged_sessions` says.",
    )
    model_config = taken(source="ai/first", name="first", conversation="drop")


class ExportOrderShape(ExportRequest):
    seen_source: str | None = Field(default=None, max_length=64, description="`source_tip` of the preview.")


class ExportShape(Shape):
    branch: Text
    source: Text
    source_tip: str
    commit: str
    rewritten: int = Field(description="How many commits are new.")
    left_out: int = Field(description="How many commits held nothing but conversation.")
    conversation: BroughtShape | None
    conversation_choice: Literal["keep", "squash", "drop"] | None


class MergedShape(Shape):
    view: MergeShape
    performed: bool
    operation: str | None
    kept_edits: list[Text]


class IndicatorShape(Shape):
    branch: Text
    state: str
    paths: list[Text]


class MoveShape(Shape):
    ref: Text
    before: str | None
    after: str | None


class OperationShape(Shape):
    id: str
    time: float
    actor: Text
    actor_kind: str
    reason: Text
    moves: list[MoveShape]
    undoes: str | None
    kept_edits: list[Text]
