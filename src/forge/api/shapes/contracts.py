"""Contracts of a project: cards, texts, findings, versions and pinned sets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from forge.api.shapes.base import Given, Shape, Text, taken

Type = Literal[
    "manifesto", "blueprint", "stack", "schema", "physics", "boundaries", "ui", "phases", "builder_directive"
]
Content = Annotated[str, Field(max_length=300_000)]
Source = Literal["pinned", "project", "template"]


class FindingShape(Shape):
    """What is wrong, where, and what to do. Switch on `code`."""

    code: str
    file: str
    line: int
    message: Text
    hint: Text


class ContractCardShape(Shape):
    contract_type: Type
    file: str
    format: Literal["markdown", "yaml", "json"]
    version: int = Field(description="How many changes of it were committed; 0 while it is missing.")
    size_chars: int
    updated_at: float | None
    state: Literal["missing", "draft", "findings", "stale", "valid"]
    findings: int
    origin: Literal["person", "generated"] | None
    line: Text = Field(description="What it is about, in one line.")
    pinned_version: int | None = Field(description="Its version in the newest pinned set.")


class ContractsShape(Shape):
    """All nine contracts, in the order in which they are written."""

    project_id: str
    items: list[ContractCardShape]
    latest_batch: int | None
    commit: str | None


class ContractShape(Shape):
    project_id: str
    contract_type: Type
    content: Text
    version: int
    source: Source
    etag: str = Field(description="Send it with an edit; empty where the project has no such contract yet.")
    commit: str | None
    updated_at: float | None
    findings: list[FindingShape]


class ListedShape(Shape):
    contract_type: Type
    file: str
    format: str
    version: int
    size_chars: int
    updated_at: float | None
    source: Source
    line: Text


class SummaryShape(Shape):
    project: str
    contracts: list[ListedShape]
    layers: list[Text]
    invariants: list[Text]
    phases: int


class WindowShape(Shape):
    project_id: str
    phase: int
    content: Text = Field(description="The phase and the one after it, in Markdown.")
    source: Source


class CheckedShape(Shape):
    ok: bool
    findings: list[FindingShape]


class LeakShape(Shape):
    """Contract text, the name of a contract as such, or metadata of Forge in a delivered file."""

    code: Literal["contract_text", "contract_name", "forge_metadata"]
    path: str
    line: int
    contract: Type | None = Field(description="Null where no single contract is meant.")
    text: Text


class LeakReportShape(Shape):
    project_id: str
    repository: str
    branch: str | None = Field(description="Null where a commit was looked at.")
    commit: str | None
    source: Source
    batch: int | None
    files: int = Field(description="How many files were looked at.")
    ok: bool
    total: int
    leaks: list[LeakShape] = Field(description="The first 500.")


class ContractVersionShape(Shape):
    number: int
    commit: str
    time: float
    author: Text
    subject: Text
    origin: Literal["person", "generated"]
    draft: bool
    blob: str | None = Field(description="Null where this change deleted the contract.")


class ContractDiffShape(Shape):
    contract_type: Type
    old: int | None = Field(description="Null where `new` is the first version.")
    new: int
    diff: Text


class PinnedContract(Shape):
    contract_type: Type
    content: Text


class PinnedSetShape(Shape):
    """A set of contracts that a build is held to."""

    project_id: str
    batch: int
    pinned_at: float
    commit: str
    contracts: list[PinnedContract]


class ContractEdit(Given):
    content: Content
    etag: str | None = Field(
        default=None,
        max_length=64,
        description="`etag` of the text that the edit began with; empty for a new one; null saves over anything.",
    )
    model_config = taken(content="# Garden manifesto\n\n## Purpose\n\nA calm garden.\n", etag="")


class Restored(Given):
    version: int = Field(ge=1, le=1_000_000)
    model_config = taken(version=2)


class Drafts(Given):
    """Texts that are not saved yet, checked together with the others as they are."""

    documents: dict[Type, Content] = Field(default_factory=dict)
    mini: bool = Field(default=False, description="Expect exactly two phases.")
    model_config = taken(documents={"manifesto": "# Garden\n"})


class ContractQuestionShape(Shape):
    """A question that contracts are written from, with its answer so far."""

    id: str
    section: str
    text: Text
    hint: Text
    many: bool = Field(description="The answer is a list, one item a line.")
    answer: Text
    origin: Literal["person", "intent", "spec", "constraints", ""] = Field(
        description="Who said it: a person, or the document it was taken from; empty while nobody has."
    )


class QuestionnaireShape(Shape):
    project_id: str
    questions: list[ContractQuestionShape]
    answered: int
    by_person: int


class ContractAnswers(Given):
    model_config = taken(answers={"product": "A shared list of tasks."})

    answers: Annotated[dict[str, Annotated[str, Field(max_length=20_000)]], Field(max_length=100)] = Field(
        description="Answers by the id of their question; an empty one takes a person's answer back."
    )


class GenerationOrder(Given):
    """Which contracts an agent is to write."""

    model_config = taken(kinds=["blueprint"])

    kinds: list[Type] = Field(default=[], max_length=9, description="Empty: those that are missing, drafts or stale.")
    everything: bool = Field(default=False, description="All nine, also those that are there.")
    edited: Literal["refuse", "keep", "overwrite"] = Field(
        default="refuse", description="What becomes of contracts that a person wrote."
    )
    mini: bool = Field(default=False, description="Exactly two phases.")
    agent: str | None = Field(
        default=None, max_length=200, description="A model or `builtin`; else as the project has it."
    )


class GenerationStartedShape(Shape):
    run: str
    kinds: list[Type]
    model: str
    topic: str
    after: int


class ContractTaskShape(Shape):
    contract_type: Type
    state: Literal["waiting", "generating", "saved", "draft", "kept", "not_written"]
    input_tokens: int
    output_tokens: int
    requests: int
    cost: float | None


class GenerationShape(Shape):
    """The newest run that writes or wrote contracts of the project."""

    run: str
    state: Literal["queued", "waiting", "running", "done", "failed", "cancelled"]
    model: str
    contracts: list[ContractTaskShape]
    input_tokens: int
    output_tokens: int
    cost: float | None
    started: float
    ended: float | None
    problem: Text
    code: str = Field(description="Of the error that ended it; empty where none did.")


class ContractReadingShape(Shape):
    """Who read a contract: an agent by its role, in a run, maybe for a build."""

    run: str
    role: str
    contract: str
    part: str = Field(description="Empty where all of it was read.")
    tokens: int
    time: float
    build: str
    source: str
    cached: bool = Field(description="The build had read the same before.")


class ContractReadSumShape(Shape):
    role: str
    contract: str
    reads: int
    tokens: int
    last: float


class DrawnPhaseShape(Shape):
    number: int
    name: Text
    objective: Text
    depends_on: list[int]
    deliverables: int
    criteria: int


class EndpointShape(Shape):
    method: str
    path: str
    operation: str
    summary: Text
    responses: list[str]
    is_public: bool = Field(description="It says that it needs no sign-in.")


class DrawnLayerShape(Shape):
    name: str
    paths: list[str]
    uses: list[str] = Field(description="Layers that it may use.")
    forbidden: list[str] = Field(description="What it may not import.")


class PicturesShape(Shape):
    """Phases, endpoints and layers, as the saved contracts name them."""

    phases: list[DrawnPhaseShape]
    endpoints: list[EndpointShape]
    layers: list[DrawnLayerShape]
