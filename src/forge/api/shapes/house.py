"""Looking after Forge: health, settings, prompts, models, costs, memory, notifications, and who may do what."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from forge.api.shapes.base import Facts, Given, Shape, Text, shown, taken


class HealthShape(Shape):
    status: Literal["ok"]
    version: str
    pid: int
    model_config = shown(status="ok", version="0.1.0", pid=4711)


class CheckShape(Shape):
    name: str
    state: Literal["ok", "warning", "failed"]
    detail: Text
    hint: Text = Field(description="What to do about it; empty where nothing is to do.")
    model_config = shown(name="git", state="ok", detail="git 2.47.3", hint="")


class DoctorShape(Shape):
    ok: bool = Field(description="Whether nothing needs repair.")
    checks: list[CheckShape]


class EventShape(Shape):
    topic: Text
    id: int
    time: float
    event: Facts = Field(description="`type` names what happened; the rest are its facts.")
    model_config = shown(
        topic="project:20261116-4f2a",
        id=7,
        time=1794800000.0,
        event={"type": "ProjectProgressed", "project": "20261116-4f2a", "text": "Reading the brain dump"},
    )


class EventsShape(Shape):
    items: list[EventShape]
    next: int = Field(description="Goes into `after` for what comes later.")


class SettingShape(Shape):
    name: str
    value: Any = Field(description="Secrets are never shown.")
    origin: Text
    model_config = shown(name="polish.max_iterations", value=10, origin="default")


class SettingsShape(Shape):
    settings: list[SettingShape]


class NewValue(Given):
    value: Any = None
    model_config = taken(value=5)


class ChangedSetting(Shape):
    name: str
    value: Any
    origin: Text = Field(description="A variable may still decide.")


class PromptShape(Shape):
    name: str
    origin: Literal["default", "override", "own"]
    problem: Text


class PromptsShape(Shape):
    prompts: list[PromptShape]


class PromptTextShape(Shape):
    name: str
    text: Text
    default: Text | None
    model_config = shown(name="chat", text="You help people with their files.", default=None)


class NewPrompt(Given):
    text: str = Field(min_length=1, max_length=204_800)
    model_config = taken(text="You help people with their files.")


class PromptDiff(Shape):
    name: str
    diff: Text


class ProviderShape(Shape):
    name: str
    usable: bool
    how: Text = Field(description="Where its key comes from, or what is missing. Never the key.")
    model: Text | None
    input_price: float | None
    output_price: float | None


class ProgramShape(Shape):
    name: str
    version: Text
    path: Text


class ModelsShape(Shape):
    chat: Text
    providers: list[ProviderShape]
    programs: list[ProgramShape]


class KnownModelShape(Shape):
    name: Text = Field(description="As it is named with a message.")
    input_price: float | None = Field(description="Dollars for a million tokens, where known.")
    output_price: float | None
    context_window: int | None


class KnownModelsShape(Shape):
    models: list[KnownModelShape]


class ProviderKeyShape(Shape):
    provider: Text
    is_set: bool
    origin: Text = Field(description="Where the key that is used comes from. Never the key.")
    in_keyring: bool = Field(description="It can be taken out here.")
    model_config = shown(provider="anthropic", is_set=True, origin="keyring, service `forge`", in_keyring=True)


class ProviderKeysShape(Shape):
    keys: list[ProviderKeyShape]


class NewProviderKey(Given):
    key: str = Field(min_length=1, max_length=1000)
    model_config = taken(key="<key>")


class ConnectorShape(Shape):
    name: Text
    enabled: bool
    usable: bool
    problem: Text = Field(description="Why it cannot be used although it is enabled.")


class ConnectorsShape(Shape):
    connectors: list[ConnectorShape]


class StructureShape(Shape):
    name: Text
    title: Text
    sections: list[Text] = Field(description="Their titles, in order.")


class ResultViewShape(Shape):
    kind: Literal["document", "branch"] = Field(description="Where the result is looked at.")
    path: Text = Field(description="Of the document, in the project's directory; empty where it has none.")


class DeliverableTypeShape(Shape):
    name: Text = Field(description="As an intent names it.")
    title: Text
    needs_code: bool = Field(description="Whether it is built on a branch of a repository, and its tests count.")
    structures: list[StructureShape] = Field(description="Forms that it can have; none if it is free.")
    result_view: ResultViewShape


class DeliverableTypesShape(Shape):
    deliverable_types: list[DeliverableTypeShape]


class SpentShape(Shape):
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    requests: int
    cost: float | None
    unpriced: int


class CostsShape(Shape):
    by: str
    days: int
    rows: dict[str, SpentShape]
    total: SpentShape


class SentNotice(Shape):
    channel: str
    sent: bool
    reason: Text


class SentNotices(Shape):
    channels: list[SentNotice]
