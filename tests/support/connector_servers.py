"""Notion and Google Drive on the loopback: servers that speak their REST APIs and check what a client sends them."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

Json = dict[str, Any]
TOKEN = "ntn_0123456789abcdefghijklmnopqrstuvwxyz"
NOTION_VERSION = "2025-09-03"
READONLY = "https://www.googleapis.com/auth/drive.readonly"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
AUDIENCE = "https://oauth2.googleapis.com/token"  # a grant is made out to Google, wherever it is sent
EMAIL = "forge@workshop.iam.gserviceaccount.com"


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Said:
    status: int = 200
    body: bytes | Json = b""
    headers: dict[str, str] = field(default_factory=dict)
    wait: threading.Event | None = None
    """Answer only when this is set."""


class Server:
    """Keeps every request; answers from `failures` first, one each, then what `answer` says."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.failures: list[Said] = []
        self.url = ""

    def answer(self, asked: Asked) -> Said:
        raise NotImplementedError

    def serve(self, asked: Asked) -> Said:
        self.asked.append(asked)
        return self.failures.pop(0) if self.failures else self.answer(asked)


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            said = server.serve(Asked(self.command, parts.path, query, headers, body))
            if said.wait is not None:
                said.wait.wait(30)
                return
            data = json.dumps(said.body).encode() if isinstance(said.body, dict) else said.body
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = _serve  # noqa: N815 - the names that the server calls

        def log_message(self, *_: object) -> None:
            pass

    return Handler


class NotionServer(Server):
    """`pages`, `databases`, `sources` and `children` are what it holds; it lists two things at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.pages: dict[str, Json] = {}
        self.databases: dict[str, Json] = {}
        self.sources: dict[str, list[Json]] = {}
        self.children: dict[str, list[Json]] = {}

    def answer(self, asked: Asked) -> Said:
        if asked.headers.get("authorization") != f"Bearer {TOKEN}":
            return notion_error(401, "unauthorized", "API token is invalid.")
        if asked.headers.get("notion-version") != NOTION_VERSION:
            return notion_error(400, "missing_version", "Notion-Version header should be defined.")
        match asked.method, asked.path.strip("/").split("/"):
            case "GET", ["v1", "pages", name] if name in self.pages:
                return Said(body=self.pages[name])
            case "GET", ["v1", "databases", name] if name in self.databases:
                return Said(body=self.databases[name])
            case "GET", ["v1", "blocks", name, "children"] if name in self.children:
                return self._listed(self.children[name], asked.query)
            case "POST", ["v1", "data_sources", name, "query"] if name in self.sources:
                return self._listed(self.sources[name], json.loads(asked.body))
        return notion_error(404, "object_not_found", "Could not find object.")

    def _listed(self, things: list[Json], page: Json) -> Said:
        start = int(str(page.get("start_cursor") or "at-0").removeprefix("at-"))
        assert 1 <= int(page.get("page_size", 100)) <= 100
        more = start + 2 < len(things)
        listed = {"object": "list", "results": things[start : start + 2], "has_more": more}
        return Said(body={**listed, "next_cursor": f"at-{start + 2}" if more else None, "type": "block"})


def notion_error(status: int, code: str, message: str, **headers: str) -> Said:
    return Said(status, {"object": "error", "status": status, "code": code, "message": message}, headers)


@dataclass(frozen=True)
class DriveFile:
    kind: str
    content: dict[str, bytes] = field(default_factory=dict)
    """By the form that it is exported as; under an empty name what is downloaded."""
    more: Json = field(default_factory=dict)


class DriveServer(Server):
    """Drive v3 with its token endpoint, which takes only what the account's private key has signed."""

    def __init__(self, key: rsa.RSAPrivateKey) -> None:
        super().__init__()
        self.key = key
        self.files: dict[str, DriveFile] = {}
        self.granted: set[str] = set()

    @property
    def token_uri(self) -> str:
        return f"{self.url}/token"

    def service_account(self) -> Json:
        pem = self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return {
            "type": "service_account",
            "project_id": "workshop",
            "private_key_id": "key-1",
            "private_key": pem.decode(),
            "client_email": EMAIL,
            "token_uri": self.token_uri,
        }

    def answer(self, asked: Asked) -> Said:
        if asked.path == "/token":
            return self._token({name: values[0] for name, values in parse_qs(asked.body.decode()).items()})
        if asked.headers.get("authorization", "").removeprefix("Bearer ") not in self.granted:
            return drive_error(401, "authError", "Invalid Credentials")
        match asked.path.strip("/").split("/"):
            case ["drive", "v3", "files", name] if name in self.files:
                return self._file(name, self.files[name], asked)
            case ["drive", "v3", "files", name, "export"] if name in self.files:
                return self._exported(self.files[name], asked.query.get("mimeType", ""))
        return drive_error(404, "notFound", "File not found.")

    def _token(self, form: dict[str, str]) -> Said:
        refused = Said(400, {"error": "invalid_grant", "error_description": "Invalid grant."})
        if form.get("grant_type") == "refresh_token":
            if form.get("refresh_token") != "1//refresh":
                return refused
        elif form.get("grant_type") != GRANT or not self._signed(form.get("assertion", "")):
            return refused
        token = f"ya29.granted-{len(self.granted)}"
        self.granted.add(token)
        return Said(body={"access_token": token, "expires_in": 3600, "token_type": "Bearer", "scope": READONLY})

    def _signed(self, assertion: str) -> bool:
        head, claims, signature = assertion.split(".")
        try:
            self.key.public_key().verify(
                _decoded(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
            )
        except InvalidSignature:
            return False
        said, now = json.loads(_decoded(claims)), time.time()
        return bool(
            json.loads(_decoded(head))["alg"] == "RS256"
            and said["iss"] == EMAIL
            and said["aud"] == AUDIENCE
            and said["scope"] == READONLY
            and said["iat"] - 30 <= now < said["exp"] <= said["iat"] + 3600
        )

    def _file(self, name: str, file: DriveFile, asked: Asked) -> Said:
        if asked.query.get("alt") == "media":
            return _part(file.content[""], asked.headers.get("range", ""))
        return Said(body={"id": name, "name": "A file", "mimeType": file.kind, **file.more})

    def _exported(self, file: DriveFile, form: str) -> Said:
        if form not in file.content:
            return drive_error(400, "badRequest", "The requested conversion is not supported.")
        return Said(body=file.content[form], headers={"Content-Type": form})


def drive_error(status: int, reason: str, message: str) -> Said:
    errors = [{"domain": "global", "reason": reason, "message": message}]
    return Said(status, {"error": {"code": status, "message": message, "errors": errors}})


def _part(data: bytes, wanted: str) -> Said:
    first, last = map(int, wanted.removeprefix("bytes=").split("-"))
    part = data[first : last + 1]
    return Said(206, part, {"Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(data)}"})


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@contextmanager
def running(server: Server) -> Iterator[None]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
    server.url = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
