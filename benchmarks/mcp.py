"""A team of agents at one server: the figures of `tests.support.mcp_crowd`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Figure
from tests.support.load import FLAT
from tests.support.mcp_crowd import Team, compared


def mcp(root: Path) -> Iterator[Figure]:
    """`FORGE_LOAD_SECONDS` makes it shorter, for a look."""
    team = Team(seconds=float(os.environ.get("FORGE_LOAD_SECONDS", "60")))
    found = compared(root, team)
    size = f"{team.clients} MCP clients, one call a second each, {team.people} keys, {team.seconds:g} s"
    yield Figure("MCP reads, median", size, found.forge.median, "ms")
    yield Figure("MCP reads, 95 of 100", size, found.forge.most, "ms", 100)
    yield Figure("the same calls to a bare server of the library, 95 of 100", size, found.bare.most, "ms")
    yield Figure("MCP reads, 95 of 100, against a bare server", size, found.forge.most / found.bare.most, "times")
    yield Figure("processor time of an MCP read", size, found.forge.used, "ms")
    yield Figure("the same of a bare server", size, found.bare.used, "ms")
    yield Figure("MCP calls that failed", size, len(found.forge.errors), "calls", 0)
    yield Figure("growth of the server's memory under MCP, first to last third", size, found.forge.grown, "%", FLAT)
    yield Figure("memory of the server under MCP", size, found.forge.resident[-1] / 1024, "MB")
    yield Figure("load average at the end", size, found.busy, "")
    for text in found.forge.errors[:3]:
        print(f"  {text}", file=sys.stderr)
