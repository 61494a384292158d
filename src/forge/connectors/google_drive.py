"""Documents of Google Drive, pulled with a service account's or a person's stored credentials."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from forge.connectors.addresses import split
from forge.connectors.errors import ConnectorUnavailable, Unpulled, misconfigured
from forge.connectors.resource_files import save
from forge.plugins.roles import Pulled

NAME = "google_drive"
EXTRA = "forge-workspace[google-drive]"
_HOSTS = ("docs.google.com", "drive.google.com")
_ID = re.compile(r"[A-Za-z0-9_-]{25,128}")
# Notion's ids; a bare one is not for Drive.
_FOREIGN = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_IN_PATH = re.compile(r"/(?:d|folders)/([A-Za-z0-9_-]{10,128})(?:/|$)")
_NEEDED = {
    "service_account": ("client_email", "private_key", "token_uri"),
    "authorized_user": ("client_id", "client_secret", "refresh_token"),
}


def is_document(target: str) -> bool:
    """Whether the address is one of Google Docs or Drive."""
    return split(target).hostname in _HOSTS


@dataclass(frozen=True, slots=True)
class GoogleDrive:
    """A connector. What the credentials file holds is neither shown nor written anywhere."""

    info: Mapping[str, Any] = field(repr=False)
    base_url: str = ""
    request_seconds: float = 30
    name: str = NAME

    def takes(self, target: str) -> bool:
        return is_document(target) or _is_bare(target)

    async def pull(self, target: str, resources: Path) -> Pulled:
        """Save the document behind `target` as `gdrive_{document_id}.md`; sheets end in .csv, PDF files in .pdf."""
        try:
            name = await asyncio.to_thread(self._pull, target, resources)
        except Unpulled as e:
            return Pulled(failed=(f"{target}: {e}",))
        return Pulled(saved=(name,))

    def _pull(self, target: str, resources: Path) -> str:
        from forge.connectors.drive_api import Access, fetch  # noqa: PLC0415 - an extra, and slow to load

        found = document_id(target)
        if found is None:
            raise Unpulled("the address has no document id in it")
        access = Access(info=self.info, base_url=self.base_url, request_seconds=self.request_seconds)
        document = fetch(found, access)
        if not document.data.strip():
            raise Unpulled("it is empty")
        return save(resources, f"gdrive_{found}{document.ending}", document.data)


def google_drive(options: Mapping[str, Any]) -> GoogleDrive:
    """From an enabled section of the settings: `credentials_path`, and `base_url` for another address of the API."""
    path = str(options.get("credentials_path") or "").strip()
    if not path:
        raise misconfigured(NAME, hint="Set connectors.google_drive.credentials_path to a credentials file.")
    if find_spec("googleapiclient") is None:
        raise ConnectorUnavailable(
            f"Connector '{NAME}' needs libraries that are not installed.", hint=f"Install {EXTRA}, or disable it."
        )
    return GoogleDrive(_info(Path(path).expanduser()), str(options.get("base_url") or ""))


def document_id(target: str) -> str | None:
    """The id in an address of a document, or the bare id itself."""
    if _is_bare(target):
        return target.strip()
    address = split(target)
    if found := _IN_PATH.search(address.path):
        return found[1]
    given = parse_qs(address.query).get("id", [""])[0]
    return given if _ID.fullmatch(given) else None


def _is_bare(target: str) -> bool:
    text = target.strip()
    return _ID.fullmatch(text) is not None and _FOREIGN.fullmatch(text) is None


def _info(path: Path) -> Mapping[str, Any]:
    try:
        info = json.loads(path.read_bytes())
    except OSError as e:
        reason = (e.strerror or str(e)).lower()
        raise misconfigured(NAME, hint=f"{path} cannot be read: {reason}.") from e
    except ValueError as e:
        raise misconfigured(NAME, hint=f"{path} is not JSON.") from e
    if isinstance(info, dict) and ("installed" in info or "web" in info):
        raise misconfigured(
            NAME,
            hint=f"{path} names a program, not an account. Sign in with it "
            "(`gcloud auth application-default login --client-id-file`) and name the file that this writes.",
        )
    needed = _NEEDED.get(str(info.get("type"))) if isinstance(info, dict) else None
    if needed is None or not all(info.get(key) for key in needed):
        raise misconfigured(NAME, hint=f"{path} is neither a service account's key nor a person's stored credentials.")
    return dict(info)
