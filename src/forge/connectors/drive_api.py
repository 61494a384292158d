"""Google Drive through Google's own client: one document as bytes. Blocking; imported only when something is pulled."""

from __future__ import annotations

import http.client
import io
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import google_auth_httplib2  # type: ignore[import-untyped]
import httplib2  # type: ignore[import-untyped]
from google.auth.exceptions import GoogleAuthError, TransportError
from google.oauth2 import credentials as user
from google.oauth2 import service_account
from googleapiclient.discovery import build  # type: ignore[import-untyped]
from googleapiclient.errors import Error, HttpError  # type: ignore[import-untyped]
from googleapiclient.http import MediaIoBaseDownload  # type: ignore[import-untyped]

from forge.connectors.errors import Unpulled

_SCOPES = ["https://www.googleapis.com/auth/drive.readonly"]
_GOOGLE = "application/vnd.google-apps."
_EXPORTS = {
    "document": (("text/markdown", ".md"), ("text/plain", ".md")),
    "spreadsheet": (("text/csv", ".csv"),),
    "presentation": (("text/plain", ".md"),),
}
_TEXTS = ("json", "xml", "yaml", "x-yaml", "toml", "javascript", "x-javascript", "typescript", "sql", "x-sh", "rtf")
_UNEXPECTED = "Google answered with something unexpected"
_MOST_BYTES = 50_000_000
_CHUNK = 4 << 20
_REASONS = {
    401: "Google does not accept the credentials",
    404: "it does not exist, or it is not shared with {who}",
    429: "Google asks to slow down; try again later",
}
_REASONS_OF_403 = {
    "exportSizeLimitExceeded": "it is larger than Google exports",
    "rateLimitExceeded": _REASONS[429],
    "userRateLimitExceeded": _REASONS[429],
    "accessNotConfigured": "the Drive API is not enabled in the project of the credentials",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """How to reach Drive. `info` is the content of the credentials file."""

    info: Mapping[str, Any] = field(repr=False)
    base_url: str = ""
    request_seconds: float = 30
    whole_seconds: float = 180
    retries: int = 2


@dataclass(frozen=True, slots=True)
class Document:
    data: bytes
    ending: str


def fetch(document: str, access: Access) -> Document:
    """The document in a form that Forge reads, or an `Unpulled` with the reason."""
    who = str(access.info.get("client_email") or "this account")
    with _reasons(who):
        channel = httplib2.Http(timeout=access.request_seconds)
        options = {"api_endpoint": f"{access.base_url.rstrip('/')}/drive/v3/"} if access.base_url else None
        authorized = google_auth_httplib2.AuthorizedHttp(_credentials(access.info), http=channel)
        with build("drive", "v3", http=authorized, client_options=options, cache_discovery=False) as drive:
            return _Reading(drive.files(), access).document(document)


def _credentials(info: Mapping[str, Any]) -> Any:
    try:
        if info.get("type") == "service_account":
            return service_account.Credentials.from_service_account_info(info, scopes=_SCOPES)  # type: ignore[no-untyped-call]
        return user.Credentials.from_authorized_user_info(info, scopes=_SCOPES)  # type: ignore[no-untyped-call]
    except ValueError as e:
        raise Unpulled("the credentials file is damaged") from e


class _Reading:
    def __init__(self, files: Any, access: Access) -> None:
        self._files = files
        self._retries = access.retries
        self._seconds = access.whole_seconds
        self._until = time.monotonic() + access.whole_seconds

    def document(self, document: str, *, linked: bool = False) -> Document:
        fields = "id,name,mimeType,size,shortcutDetails"
        asked = self._files.get(fileId=document, fields=fields, supportsAllDrives=True)
        found = asked.execute(num_retries=self._retries)
        if not isinstance(found, dict):
            raise Unpulled(_UNEXPECTED)
        kind = str(found.get("mimeType", ""))
        if kind == f"{_GOOGLE}shortcut" and not linked:
            details = found.get("shortcutDetails")
            return self.document(str(details.get("targetId")) if isinstance(details, dict) else "", linked=True)
        if kind.startswith(_GOOGLE):
            return self._exported(document, kind.removeprefix(_GOOGLE))
        ending = _ending(kind)
        if ending is None:
            raise Unpulled(f"its format is not read ({kind})")
        if int(found.get("size", 0)) > _MOST_BYTES:
            raise Unpulled(f"it is larger than {_MOST_BYTES // 1_000_000} MB")
        return Document(self._loaded(self._files.get_media(fileId=document, supportsAllDrives=True)), ending)

    def _exported(self, document: str, kind: str) -> Document:
        forms = _EXPORTS.get(kind, ())
        if not forms:
            raise Unpulled(f"a {kind} of Google Drive cannot be pulled; name a document")
        for form, ending in forms:
            try:
                return Document(self._loaded(self._files.export_media(fileId=document, mimeType=form)), ending)
            except HttpError as e:
                if e.status_code != 400 or form == forms[-1][0]:  # 400: this form is not offered
                    raise
        raise AssertionError("the last form either gave a document or raised")

    def _loaded(self, request: Any) -> bytes:
        into = io.BytesIO()
        download = MediaIoBaseDownload(into, request, chunksize=_CHUNK)
        done = False
        while not done:
            if time.monotonic() > self._until:
                raise Unpulled(f"it took longer than {self._seconds:g} seconds")
            _, done = download.next_chunk(num_retries=self._retries)
            if into.tell() > _MOST_BYTES:
                raise Unpulled(f"it is larger than {_MOST_BYTES // 1_000_000} MB")
        return into.getvalue()


def _ending(kind: str) -> str | None:
    if kind == "application/pdf":
        return ".pdf"
    if kind == "text/csv":
        return ".csv"
    return ".md" if kind.startswith("text/") or kind.removeprefix("application/") in _TEXTS else None


@contextmanager
def _reasons(who: str) -> Iterator[None]:
    try:
        yield
    except HttpError as e:
        raise Unpulled(_refusal(e, who)) from e
    except TransportError as e:
        raise Unpulled("Google cannot be reached") from e
    except GoogleAuthError as e:
        raise Unpulled(_REASONS[401]) from e
    except TimeoutError as e:
        raise Unpulled("Google did not answer in time") from e
    except (OSError, httplib2.HttpLib2Error, http.client.HTTPException) as e:
        raise Unpulled(f"Google cannot be reached ({type(e).__name__})") from e
    except (Error, ValueError) as e:
        raise Unpulled(_UNEXPECTED) from e


def _refusal(error: Any, who: str) -> str:
    details = error.error_details if isinstance(error.error_details, list) else []
    named = [each.get("reason") for each in details if isinstance(each, dict)]
    if error.status_code == 403:
        return next((_REASONS_OF_403[name] for name in named if name in _REASONS_OF_403), f"{who} may not read it")
    return _REASONS.get(error.status_code, f"Google answered with status {error.status_code}").format(who=who)
