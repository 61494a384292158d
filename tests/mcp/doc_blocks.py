"""The blocks of docs/mcp.md, by the program that they are for: tests run what a reader would."""

from __future__ import annotations

import re
from pathlib import Path

_PAGE = Path(__file__).parents[2] / "docs/mcp.md"
ADDRESS = "http://127.0.0.1:8765/mcp"


def blocks() -> dict[str, list[str]]:
    """Below each heading of a program, the text of its blocks: for this machine, then for a server."""
    text = _PAGE.read_text("utf-8").partition("## Connect an agent\n")[2].partition("\n## ")[0]
    parts = re.split(r"^### (.+)$", text, flags=re.MULTILINE)[1:]
    return {
        name.lower().replace(" ", ""): re.findall(r"^```\w+\n(.*?)^```$", part, flags=re.MULTILINE | re.DOTALL)
        for name, part in zip(parts[::2], parts[1::2], strict=True)
    }
