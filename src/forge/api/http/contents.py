"""File contents over HTTP: entity tags, conditions and ranges."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from urllib.parse import quote, unquote_to_bytes

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from forge.api.http.problems import of_error, problem
from forge.api.shapes.repositories import Search
from forge.app.repositories.edits import Saved
from forge.app.repositories.files import Case, FileContent, Paths, Query
from forge.app.repositories.write import ANY, NEW, Expected, FileChanged
from forge.errors import InvalidInput

_AT_ONCE = 5_000
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
_TAG = re.compile(r'(W/)?"([!\x23-\x7e]{1,64})"')
_TAGS = re.compile(rf"{_TAG.pattern}(?:\s*,\s*{_TAG.pattern})*")
# What a browser may show by itself; anything else is saved, so that no page of a repository runs as one of Forge's.
_PICTURES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


_TEXT = {"type": "string"}
BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": _TEXT, "example": "# Garden\n"}},
    }
}
IF_MATCH = {"name": "If-Match", "in": "header", "required": False, "schema": _TEXT}
IF_NONE_MATCH = {"name": "If-None-Match", "in": "header", "required": False, "schema": _TEXT}
RANGE = {"name": "Range", "in": "header", "required": False, "schema": _TEXT}


class ConditionInvalid(InvalidInput):
    code = "condition_invalid"


def expected(request: Request) -> Expected:
    """What has to be there for a change: one of some etags, anything, nothing at all, or whatever there is."""
    wanted, unwanted = _header(request, "if-match"), _header(request, "if-none-match")
    if wanted is not None and unwanted is not None:
        raise ConditionInvalid("Two conditions at once.", hint="Send If-Match, or If-None-Match: *.")
    if unwanted is not None:
        if unwanted != "*":
            raise ConditionInvalid("A change takes only `If-None-Match: *`.", hint="It means: only a new file.")
        return NEW
    if wanted is None:
        return None
    if wanted == "*":
        return ANY
    if _TAGS.fullmatch(wanted) is None:
        raise ConditionInvalid("If-Match is no etag.", hint='Send the ETag of the file, as in `"e69de29b"`.')
    # A weak tag says that two contents are alike, never that they are the same.
    return tuple(tag for weak, tag in _TAG.findall(wanted) if not weak)


def _header(request: Request, name: str) -> str | None:
    """A list may come in several headers, which are one."""
    found = request.headers.getlist(name)
    return ", ".join(found).strip() if found else None


def _is_known(request: Request, etag: str) -> bool:
    known = _header(request, "if-none-match") or ""
    return known == "*" or etag in [tag for _, tag in _TAG.findall(known)]


def refuse_other_bytes(request: Request) -> None:
    """Of a path that is not UTF-8, only a replacement comes here, and nobody means a file of that name."""
    try:
        unquote_to_bytes(request.scope.get("raw_path") or b"").decode()
    except UnicodeDecodeError as e:
        raise InvalidInput(
            "The path is not UTF-8.", hint="Encode its letters as UTF-8 before the percent signs."
        ) from e


def query(body: Search) -> Query:
    return Query(
        body.pattern,
        regex=body.regex,
        case=Case(body.case),
        whole_word=body.whole_word,
        include=tuple(body.include),
        exclude=tuple(body.exclude),
        context_before=body.context,
        context_after=body.context,
        max_matches=body.max_matches,
        max_seconds=10.0,
    )


def given(request: Request, content: FileContent, *, shown: bool = True) -> Response:
    """Pictures may be `shown` by a browser; whatever else there is, it saves."""
    headers = {
        "ETag": f'"{content.etag}"',
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "X-Forge-Mode": content.mode,
        **({"X-Forge-Commit": content.commit} if content.commit else {}),
    }
    if _is_known(request, content.etag):
        return Response(status_code=304, headers=headers)
    name = content.path.rpartition("/")[2]
    picture = _PICTURES.get(name.rpartition(".")[2].lower()) if shown else None
    media_type = picture or "application/octet-stream"
    headers["Content-Disposition"] = disposition(name, inline=media_type.startswith("image/"))
    wanted = request.headers.get("range")
    if wanted is None or request.headers.get("if-range", headers["ETag"]) != headers["ETag"]:
        return Response(content.data, headers=headers, media_type=media_type)
    return _part(content.data, wanted, headers, media_type)


def paths(request: Request, found: Paths) -> Response:
    """One path a line, as JSON, thousands at once: each piece costs a change of threads."""
    headers = {"ETag": f'"{found.etag}"', "Cache-Control": "private, no-cache"}
    if _is_known(request, found.etag):
        return Response(status_code=304, headers=headers)
    starts = range(0, len(found.paths), _AT_ONCE)
    pieces = ("".join(f"{_line(path)}\n" for path in found.paths[start : start + _AT_ONCE]) for start in starts)
    return StreamingResponse(pieces, headers=headers, media_type="application/x-ndjson")


def _line(path: str) -> str:
    # Names in git are bytes: what is not UTF-8 is shown as U+FFFD.
    return json.dumps(path if path.isascii() else path.encode("utf-8", "replace").decode(), ensure_ascii=False)


def _part(data: bytes, wanted: str, headers: dict[str, str], media_type: str) -> Response:
    """One range; what is none, or several, gets the whole as HTTP allows."""
    found = _RANGE.fullmatch(wanted.strip())
    if found is None or not (found[1] or found[2]):
        return Response(data, headers=headers, media_type=media_type)
    size = len(data)
    first = int(found[1]) if found[1] else max(0, size - int(found[2]))
    last = min(int(found[2]), size - 1) if found[1] and found[2] else size - 1
    if first > last or (not found[1] and int(found[2]) == 0):
        told = {"Content-Range": f"bytes */{size}"}
        return problem(416, "range_missing", f"The file has {size} bytes.", "Ask for a range within it.", headers=told)
    headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return Response(data[first : last + 1], 206, headers=headers, media_type=media_type)


def disposition(name: str, *, inline: bool = False) -> str:
    """A name that cannot break out of the header, whatever letters it is made of."""
    kind = "inline" if inline else "attachment"
    return f"{kind}; filename*=UTF-8''{quote(name.encode('utf-8', 'replace'), safe='')}"


def changed(save: Callable[[], Saved], *, conditional: bool) -> Saved | Response:
    """A condition that does not hold is answered as HTTP wants it, with the etag that would."""
    try:
        return save()
    except FileChanged as e:
        told = of_error(e, status=412 if conditional else 409)
        if e.etag is not None:
            told.headers["ETag"] = f'"{e.etag}"'
        return told
