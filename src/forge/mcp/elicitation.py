"""Questions to the person at the client, where that says that it can ask. The person answers there, never the agent.
ADR 0011 says what may be asked in which way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from forge.json_value import Json
from forge.mcp.jobs import Job

_Context = ServerRequestContext[Any, Any]
_KEY = "person"
_PATIENCE = 600.0
"""Seconds that a question stands in a client of the older generation."""


class InputNeeded(Exception):
    """The newer generation has no requests to the client: the call ends, and comes again with the answer."""

    def __init__(self, result: types.InputRequiredResult) -> None:
        super().__init__("input required")
        self.result = result


@dataclass(frozen=True, slots=True)
class Form:
    """`mark` names exactly this question; an answer to another one does not count."""

    mark: str
    message: str
    fields: Json
    required: tuple[str, ...] = ()

    def request(self) -> types.ElicitRequest:
        schema = {"type": "object", "properties": self.fields, "required": list(self.required)}
        return types.ElicitRequest(params=types.ElicitRequestFormParams(message=self.message, requested_schema=schema))


@dataclass(frozen=True, slots=True)
class Page:
    """The person decides there, signed in as themselves. That they went gives nothing."""

    mark: str
    message: str
    url: str

    def request(self) -> types.ElicitRequest:
        params = types.ElicitRequestURLParams(message=self.message, url=self.url, elicitation_id=self.mark)
        return types.ElicitRequest(params=params)


class Asker(Protocol):
    async def ask(self, question: Form | Page) -> types.ElicitResult | None:
        """What the person did; None where the client cannot ask in this way."""


@dataclass(frozen=True, slots=True)
class OfRequest:
    """Asks through the client of one `tools/call`, in the way of its generation."""

    context: _Context
    params: types.CallToolRequestParams

    async def ask(self, question: Form | Page) -> types.ElicitResult | None:
        if not can_ask(self.context, question):
            return None
        if self.context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return self._answered(question)
        session = self.context.session
        try:
            with anyio.fail_after(_PATIENCE):
                if isinstance(question, Page):
                    return await session.elicit_url(
                        question.message, question.url, question.mark, self.context.request_id
                    )
                params = question.request().params
                assert isinstance(params, types.ElicitRequestFormParams)
                return await session.elicit_form(params.message, params.requested_schema, self.context.request_id)
        except TimeoutError:
            return types.ElicitResult(action="cancel")
        except MCPError:
            # It declared what it cannot do, or nobody is there any more.
            return None

    def _answered(self, question: Form | Page) -> types.ElicitResult:
        given = (self.params.input_responses or {}).get(_KEY)
        # The seal of the state was checked before: it is ours, of this person and for this very call.
        if self.params.request_state == question.mark and isinstance(given, types.ElicitResult):
            return given
        raise InputNeeded(
            types.InputRequiredResult(input_requests={_KEY: _newest(question)}, request_state=question.mark)
        )


@dataclass(frozen=True, slots=True)
class OfJob:
    """Asks through a task: its client reads the question there and sends the answer."""

    context: _Context
    job: Job

    async def ask(self, question: Form | Page) -> types.ElicitResult | None:
        if not can_ask(self.context, question):
            return None
        (given,) = await self.job.ask(_newest(question))
        return given if isinstance(given, types.ElicitResult) else None


def can_ask(context: _Context, question: Form | Page) -> bool:
    """An empty declaration means forms, as it did before there were pages."""
    capabilities = context.session.client_capabilities
    declared = capabilities.elicitation if capabilities is not None else None
    if declared is None:
        return False
    if isinstance(question, Page):
        return declared.url is not None
    return declared.form is not None or declared.url is None


def _newest(question: Form | Page) -> types.ElicitRequest:
    """The id of a page is gone from the newer generation."""
    request = question.request()
    if isinstance(request.params, types.ElicitRequestURLParams):
        request.params.elicitation_id = None
    return request
