"""`script/bench [--json] [NAME …]`: measure, print, and write docs/benchmarks.md when nothing is left out."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import (
    concurrency,
    contracts,
    conversations,
    directories,
    explore,
    files,
    first_request,
    guards,
    history,
    load,
    mcp,
    merging,
    pipeline,
    projects,
    prompts,
    report,
    searching,
    start,
    test_runs,
    turns,
    ui,
)
from benchmarks.timing import Figure, Row
from tests.support.sample_repositories import SIZES, World

OF_A_WORLD: dict[str, Callable[[World], Iterator[Row | Figure] | Iterator[Row]]] = {
    "open": files.opening,
    "save": files.saving,
    "read": files.reading,
    "list": files.listing,
    "search": searching.searching,
    "directory": directories.directories,
    "merge": merging.merging,
    "processes": concurrency.together,
}
ALL = [
    *OF_A_WORLD,
    "graph",
    "start",
    "session",
    "prompt-cache",
    "first-request",
    "turns",
    "guards",
    "tests",
    "contracts",
    "explore",
    "projects",
    "pipeline",
    "load",
    "mcp",
    "ui",
]


def main() -> None:
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(ALL)}")
    parser.add_argument("--json", action="store_true", help="one JSON document on standard output")
    parser.add_argument("--sizes", default=",".join(SIZES), help="which repositories: %(default)s")
    parser.add_argument("--keep", type=Path, help="make the repositories here and keep them")
    parser.add_argument("--update", action="store_true", help="put the figures into docs/benchmarks.md, too")
    options = parser.parse_args()
    unknown = set(options.names) - set(ALL)
    if unknown:
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(ALL)}")
    page = Path(__file__).parent.parent / "docs" / "benchmarks.md"
    place = None if options.names else page
    results: list[Row | Figure] = []
    with tempfile.TemporaryDirectory(prefix="forge-bench-") as scratch:
        for result in _results(options.keep or Path(scratch), options.names or ALL, options.sizes.split(",")):
            print(report.line(result), file=sys.stderr, flush=True)
            results.append(result)
            if place:
                report.write(place, results, whole=False)
        # Before the repositories are removed, which takes a while.
        if place:
            report.write(place, results, whole=True)
    if options.names and options.update:
        report.update(page, results)
    if options.json:
        sys.stdout.write(json.dumps([report.document(result) for result in results], indent=2) + "\n")


def _results(root: Path, names: list[str], sizes: list[str]) -> Iterator[Row | Figure]:
    if "start" in names:
        yield from start.starting()
    for size in sizes:
        for name, measure in OF_A_WORLD.items():
            if name in names:
                yield from measure(World(root, size))
    if "graph" in names:
        yield from history.graphs(root)
    if "session" in names:
        yield from conversations.sessions(root)
    if "prompt-cache" in names:
        yield from prompts.prompt_cache(root)
    if "first-request" in names:
        yield from first_request.first_requests(root)
    if "turns" in names:
        yield from turns.turns(root)
    if "guards" in names:
        yield from guards.guards()
    if "tests" in names:
        yield from test_runs.test_runs(root)
    if "contracts" in names:
        yield from contracts.contracts(root / "contracts")
    if "explore" in names:
        yield from explore.explore(root)
    if "projects" in names:
        yield from projects.projects(root)
    if "pipeline" in names:
        yield from pipeline.pipeline(root)
    if "load" in names:
        yield from load.load(root)
    if "mcp" in names:
        yield from mcp.mcp(root)
    if "ui" in names:
        yield from ui.interface(root)


if __name__ == "__main__":
    main()
