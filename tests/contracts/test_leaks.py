"""The leak check: planted contract text is found however it is wrapped; honest code and prose are not flagged."""

from __future__ import annotations

import random
import re
import sysconfig
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from forge.contracts import contract
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.leaks import LeakCheck
from forge.contracts.templates import template

pytestmark = pytest.mark.req("C-18")

CONTRACTS = {kind: template(kind) for kind in ORDER}
_CLINIC = Path(__file__).parents[2] / "benchmarks" / "clinic"
CLINIC = {kind: (_CLINIC / kind.file).read_text() for kind in ORDER}
"""Of another product, at the sizes that models write."""
CODE = "def total(items):\n    return sum(item.price for item in items)\n\n\nclass Cart:\n    pass\n"
_STYLES = (
    *("# {}", "// {}", " * {}", "> {}", "{}", "-- {}", "    # {}", "<!-- {} -->", "- {}", ";; {}", "% {}", "rem {}"),
    *('"{} "', '    "{} " +', "'{}',", "\t// {}", "/// {}", "//! {}"),
)
_NAMES = (
    *("As contracts/{file} says.", "See builder_directive.md for the order.", "as in the blueprint contract"),
    *("# from boundaries.json", "per the physics contract", "// physics.yaml says 409", "see the builder directive"),
)
_METADATA = (
    *("Forge/Contracts/blueprint.md", "Forge-Turn: 12ab", "Contract-Run: generate-1", "forge_get_contract"),
    *("Contract-Reads: stack@1234", "forge_get_phase_window(2)", "see .forge/session.json", "Forge-Session: 1"),
)
REPOSITORIES = ("fastapi", "sqlalchemy", "pydantic_ai", "rich")
"""Real packages that are installed for Forge itself; each has many files of code with long comments."""


def passages(contracts: Mapping[Kind, str]) -> list[tuple[Kind, str]]:
    """Paragraphs, entries, rows of tables and sentences of data that have at least nine words."""
    found = []
    for kind, text in contracts.items():
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        if kind.form != "markdown":
            prose = "\n\n".join(said(contract.parse(kind, text).value))
        for block in re.split(r"\n\s*\n|\n(?=[-#|*]|[0-9]+\. )", prose):
            clean = " ".join(block.lstrip("-|* 0123456789.").split())
            if not block.startswith("#") and has_nine(clean):
                found.append((kind, clean))
    return found


def said(value: Any, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from said(each, key)
    elif isinstance(value, list):
        for each in value:
            yield from said(each, name)
    elif isinstance(value, str) and name in ("summary", "description", "reason", "title", "invariants"):
        yield value


def has_nine(text: str) -> bool:
    return len(re.findall(r"[A-Za-z]+", text)) >= 9


def planted(rng: random.Random, contracts: Mapping[Kind, str]) -> tuple[str, bytes]:
    """Contract text rewrapped in comments or strings, ten words of it, a name, or metadata, in a file of code."""
    kind, passage = rng.choice(passages(contracts))
    choice = rng.random()
    if choice < 0.15:
        text = rng.choice(_NAMES).format(file=kind.file)
    elif choice < 0.3:
        text = rng.choice(_METADATA)
    else:
        words = passage.split()
        if choice < 0.6 and len(words) > 14:
            count = rng.randrange(10, 15)
            start = rng.randrange(len(words) - count + 1)
            words = words[start : start + count]
        text = rng.choice([str, str, str.upper, str.title, unmarked])(" ".join(words))
        if not has_nine(text):
            return planted(rng, contracts)
    style = rng.choice(_STYLES)
    wrapped = textwrap.wrap(text, rng.choice([20, 30, 44, 68, 100, 200]), break_long_words=False)
    lines = CODE.splitlines()
    at = rng.randrange(len(lines) + 1)
    lines[at:at] = [style.format(line) for line in wrapped]
    return f"src/file{rng.randrange(10**6)}.py", "\n".join(lines).encode()


def unmarked(text: str) -> str:
    return text.replace("**", "").replace("`", "")


@pytest.mark.parametrize("contracts", [CONTRACTS, CLINIC], ids=["templates", "clinic"])
@pytest.mark.parametrize("seed", [22, 9001, 424242])
def test_99_percent_of_500_planted_leaks_are_found(contracts: Mapping[Kind, str], seed: int) -> None:
    check = LeakCheck(contracts)
    rng = random.Random(seed)
    texts = (planted(rng, contracts) for _ in range(500))
    missed = [data.decode() for path, data in texts if not check.leaks([(path, data)])]
    assert len(missed) <= 5, missed[:5]


def files_of(package: str) -> Iterator[tuple[str, bytes]]:
    root = Path(sysconfig.get_path("purelib")) / package
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix in (".py", ".pyi", ".md", ".txt", ".json", ".toml", ".yaml"):
            yield str(path.relative_to(root)), path.read_bytes()


@pytest.mark.parametrize("contracts", [CONTRACTS, CLINIC], ids=["templates", "clinic"])
@pytest.mark.parametrize("package", REPOSITORIES)
def test_at_most_one_percent_of_real_files_are_flagged(package: str, contracts: Mapping[Kind, str]) -> None:
    check = LeakCheck(contracts)
    files = list(files_of(package))[:400]
    assert len(files) >= 40
    flagged = {leak.path: leak for path, data in files for leak in check.in_file(path, data)}
    assert len(flagged) <= len(files) / 100, flagged


def test_a_leak_names_the_file_the_line_and_the_contract() -> None:
    text = "x = 1\n# Requests pass\n# routers, services and repositories\n# in this order.\n"
    (leak,) = LeakCheck(CONTRACTS).leaks([("app.py", text.encode())])
    assert (leak.code, leak.path, leak.line, leak.contract) == ("contract_text", "app.py", 2, Kind.BLUEPRINT)


def test_identifiers_and_endpoint_paths_are_no_leaks() -> None:
    code = (
        'router.get("/tasks", operation_id="listTasks")\nrouter.patch("/tasks/{id}", operation_id="updateTask")\n'
        "class Task:\n    id: str\n    title: str\n    state: str\n    assignee_id: str\n    due_on: date\n"
        "# User, Task and Comment are kept in three tables.\n"
    )
    readme = (
        "# TaskFlow\n\nKeep the tasks of your team. Run `python -m pytest -q` to test.\n\n- Sign in\n- Tasks\n- Board\n"
    )
    assert LeakCheck(CONTRACTS).leaks([("app.py", code.encode()), ("README.md", readme.encode())]) == ()


def test_binary_and_huge_files_are_passed_over() -> None:
    check = LeakCheck(CONTRACTS)
    sentence = passages(CONTRACTS)[0][1].encode()
    assert check.leaks([("a.bin", b"\0" + sentence), ("b.txt", sentence + b" " * 5_000_000)]) == ()
    assert check.leaks([("c.txt", b"\xff\xfe " + sentence)])
