"""What every route is handed: the workshop, who asks, and which part of a long list they want."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import BaseModel
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response, StreamingResponse

from forge.api.access.gate import Gate, who_of
from forge.api.http.problems import document, status_of
from forge.app.access.identity import Who
from forge.app.process.workshop import Workshop
from forge.app.values.pages import MOST, Page
from forge.errors import ForgeError, InvalidInput

NDJSON = "application/x-ndjson"
_JSON = ("application/json", "application/*", "*/*")


async def _shop(connection: HTTPConnection) -> Workshop:
    shop: Workshop = connection.app.state.shop
    return shop


async def _who(connection: HTTPConnection) -> Who:
    """As the gate found out before the request came here."""
    return who_of(connection.scope)


async def _gate(connection: HTTPConnection) -> Gate:
    gate: Gate = connection.app.state.gate
    return gate


Shop = Annotated[Workshop, Depends(_shop)]
Asking = Annotated[Who, Depends(_who)]
Doors = Annotated[Gate, Depends(_gate)]
After = Annotated[str | None, Query(max_length=4096, description="`next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=MOST, description="How many at most.")]


class Wanted:
    """Which part of a list, and in which form."""

    def __init__(self, after: str | None, limit: int, *, whole: bool) -> None:
        self.after = after
        self.limit = limit
        self._whole = whole

    def given(self, shape: type[BaseModel], page_of: Callable[[str | None, int], Page[Any]]) -> Page[Any] | Response:
        """One page; for whoever accepts NDJSON all that follows, one item a line, read page by page as it is sent."""
        page = page_of(self.after, self.limit)
        if not self._whole:
            return page
        return StreamingResponse(_lines(shape, page, page_of), media_type=NDJSON)


def prefers_lines(accept: str) -> bool:
    """Whether NDJSON is named, and nothing that a page would be is liked better."""
    liked = dict(_weighed(each) for each in accept.lower().split(","))
    lines = liked.get(NDJSON, 0.0)
    return lines > 0 and lines >= next((liked[name] for name in _JSON if name in liked), 0.0)


def _weighed(accepted: str) -> tuple[str, float]:
    name, *options = (word.strip() for word in accepted.split(";"))
    weight = next((option[2:] for option in options if option.startswith("q=")), "1")
    try:
        return name, min(1.0, max(0.0, float(weight)))
    except ValueError:
        return name, 0.0


async def _wanted(request: Request, after: After = None, limit: Limit = 100) -> Wanted:
    return Wanted(after, limit, whole=prefers_lines(request.headers.get("accept", "")))


# What a route depends on is asynchronous, for anything else would cost a change of threads each.
Part = Annotated[Wanted, Depends(_wanted)]


def _lines(shape: type[BaseModel], page: Page[Any], page_of: Callable[[str | None, int], Page[Any]]) -> Iterator[str]:
    while True:
        # All of a page at once: each piece costs a change of threads.
        yield "".join(f"{shape.model_validate(item, from_attributes=True).model_dump_json()}\n" for item in page.items)
        if page.next is None:
            return
        try:
            page = page_of(page.next, MOST)
        except ForgeError as e:
            # The status is sent long since; a last line says why there is no more.
            told = document(status_of(e), e.code, e.message, e.hint)
            yield f"{_Broken(problem=told).model_dump_json()}\n"
            return


class _Broken(BaseModel):
    problem: dict[str, Any]


async def one_file(request: Request) -> None:
    """Of several files, the framework would take one and drop the others without a word."""
    form = await request.form()
    if len(form.multi_items()) > 1:
        raise InvalidInput("More than one part was sent.", hint="Send one file a request, as the part `file`.")


ONE_FILE = Depends(one_file)


def in_pages(shape: type[BaseModel]) -> dict[int | str, dict[str, Any]]:
    """For `responses=` of a list: NDJSON beside the page that is documented anyway."""
    line = {"schema": {"type": "string", "description": f"One {shape.__name__} a line."}}
    return {200: {"description": "A page; as NDJSON, everything that follows.", "content": {NDJSON: line}}}


def binary(description: str) -> dict[int | str, dict[str, Any]]:
    """For `responses=` of a download: the whole, a range of it, or that nothing has changed."""
    content = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
    return {
        200: {"description": description, "content": content},
        206: {"description": "The range that was asked for.", "content": content},
        304: {"description": "It is what you have."},
    }
