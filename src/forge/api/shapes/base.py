"""What all shapes share: reading from values, text that any client can decode, and pages."""

from __future__ import annotations

import re
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

T = TypeVar("T")
_BROKEN = re.compile("[\ud800-\udfff]")


def _decodable(value: Any) -> Any:
    """Names in git are bytes: what is not UTF-8 is shown as U+FFFD."""
    return _BROKEN.sub("\ufffd", value) if isinstance(value, str) and not value.isascii() else value


def _all_decodable(value: Any) -> Any:
    match value:
        case dict():
            return {_decodable(name): _all_decodable(each) for name, each in value.items()}
        case list() | tuple():
            return [_all_decodable(each) for each in value]
    return _decodable(value)


Text = Annotated[str, BeforeValidator(_decodable)]
Facts = Annotated[dict[str, Any], BeforeValidator(_all_decodable)]


class Shape(BaseModel):
    model_config = ConfigDict(from_attributes=True)


class Given(BaseModel):
    """What a client sends: a field that nobody knows is a mistake, not a wish."""

    model_config = ConfigDict(extra="forbid")


class Page(Shape, Generic[T]):
    """Some of a list. `next` goes into `after` for the following ones; null at the end."""

    items: list[T]
    next: str | None = Field(default=None, examples=["20261116-0001"])


def shown(**example: Any) -> ConfigDict:
    """The model's configuration with one example of it."""
    return ConfigDict(from_attributes=True, json_schema_extra={"examples": [example]})


def taken(**example: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [example]})
