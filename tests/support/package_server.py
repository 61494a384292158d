"""Package indexes on loopback: Python wheels and npm packages made in memory, served as the real ones are."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def wheel(name: str, version: str, files: Mapping[str, str]) -> bytes:
    """A pure wheel with these files."""
    folder = f"{name}-{version}.dist-info"
    everything = {
        **files,
        f"{folder}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{folder}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in (*everything, f"{folder}/RECORD"))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, text in {**everything, f"{folder}/RECORD": record}.items():
            archive.writestr(path, text)
    return data.getvalue()


def npm_package(name: str, version: str, files: Mapping[str, str], **manifest: object) -> bytes:
    everything = {"package.json": json.dumps({"name": name, "version": version, **manifest}), **files}
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for path, text in everything.items():
            entry = tarfile.TarInfo(f"package/{path}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return data.getvalue()


@dataclass
class PackageServer:
    port: int
    requests: list[str] = field(default_factory=list)
    wheels: dict[str, bytes] = field(default_factory=dict)
    """By file name."""
    packages: dict[str, dict[str, bytes]] = field(default_factory=dict)
    """npm packages: by name and version."""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def environ(self) -> dict[str, str]:
        """What a person who uses these indexes has in their environment."""
        return {"PIP_INDEX_URL": f"http://{self.host}/simple", "npm_config_registry": f"http://{self.host}/npm/"}

    def add_wheel(self, name: str, version: str, files: Mapping[str, str]) -> None:
        self.wheels[f"{name}-{version}-py3-none-any.whl"] = wheel(name, version, files)

    def add_package(self, name: str, version: str, files: Mapping[str, str], **manifest: object) -> None:
        self.packages.setdefault(name, {})[version] = npm_package(name, version, files, **manifest)

    def answer(self, path: str) -> tuple[str, bytes] | None:
        parts = path.strip("/").split("/")
        if parts[0] == "simple" and len(parts) == 2:
            links = [name for name in self.wheels if name.split("-")[0].replace("_", "-") == parts[1]]
            page = "".join(f'<a href="/wheels/{name}">{name}</a>' for name in links)
            return ("text/html", f"<html>{page}</html>".encode()) if links else None
        if parts[0] == "wheels" and parts[1] in self.wheels:
            return "application/zip", self.wheels[parts[1]]
        if parts[0] == "npm" and parts[1] in self.packages:
            if len(parts) == 2:
                return "application/json", self._manifest(parts[1])
            return "application/octet-stream", self.packages[parts[1]][parts[2].removesuffix(".tgz")]
        return None

    def _manifest(self, name: str) -> bytes:
        versions = {
            version: {
                "name": name,
                "version": version,
                "dist": {
                    "tarball": f"http://{self.host}/npm/{name}/{version}.tgz",
                    "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode(),
                },
            }
            for version, data in self.packages[name].items()
        }
        return json.dumps({"name": name, "dist-tags": {"latest": [*versions][-1]}, "versions": versions}).encode()


@contextmanager
def package_server() -> Iterator[PackageServer]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.requests.append(self.path)
            found = served.answer(self.path.partition("?")[0])
            self.send_response(200 if found else 404)
            kind, data = found or ("text/plain", b"no such package")
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = PackageServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
