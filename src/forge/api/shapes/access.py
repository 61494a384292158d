"""Who is signed in, users, keys, shares and the audit. A key is shown once, when it is made."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from forge.api.shapes.base import Given, Shape, Text, shown, taken

Scope = Literal["read", "write", "run", "admin"]


class SignIn(Given):
    token: str = Field(min_length=1, max_length=400, description="The one-time token of the start URL, or a key.")
    model_config = taken(token="<token>")  # noqa: S106 - an example, and none


class WhoShape(Shape):
    id: str
    name: Text
    scopes: list[str]
    key: str | None = Field(description="The id of the key that was used, if one was.")
    model_config = shown(id="local", name="you", scopes=["admin", "read", "run", "write"], key=None)


class NewUser(Given):
    name: str = Field(min_length=1, max_length=64)
    model_config = taken(name="ada")


class UserShape(Shape):
    id: str
    name: Text
    created: float
    disabled: float | None


class UsersShape(Shape):
    users: list[UserShape]


class NewKeyOrder(Given):
    user: str = Field(min_length=1, max_length=64, description="Name or id.")
    name: str = Field(default="", max_length=100)
    scopes: list[Scope] = Field(default=["read", "write", "run"], min_length=1, max_length=4)
    days: float | None = Field(default=None, gt=0, le=36_500, description="How long it lives; null: until revoked.")
    project: str | None = Field(
        default=None,
        max_length=100,
        description="Open this project and its repository alone; null: all that is theirs.",
    )
    model_config = taken(user="ada", name="laptop", scopes=["read"], days=30)


class KeyShape(Shape):
    id: str
    user: str
    user_name: Text
    name: Text
    prefix: str
    scopes: list[str]
    created: float
    expires: float | None
    last_used: float | None
    revoked: float | None
    project: str | None = Field(description="The one project that it opens; null: all that its user may see.")


class KeysShape(Shape):
    keys: list[KeyShape]


class NewKeyShape(Shape):
    text: str = Field(description="The key itself. It is shown this once and kept nowhere.")
    key: KeyShape


class Share(Given):
    right: Literal["read", "write"] = "read"
    model_config = taken(right="read")


class SharesShape(Shape):
    shares: dict[str, str] = Field(description="What was granted, by the id of the user.")


class DeedShape(Shape):
    id: int
    time: float
    user: str
    key: str | None
    action: str
    subject: Text
    detail: Text
