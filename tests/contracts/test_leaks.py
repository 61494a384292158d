"""The leak check: planted contract text is found however it is wrapped; honest code and prose are not flagged."""

from __future__ import annotations

import random
import re
import sysconfig
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.contracts.kinds import ORDER, Kind
from forge.contracts.leaks import LeakCheck
from forge.contracts.templates import template

pytestmark = pytest.mark.req("C-18")

CONTRACTS = {kind: template(kind) for kind in ORDER}
CODE = "def total(items):\n    return sum(item.price for item in items)\n\n\nclass Cart:\n    pass\n"
_STYLES = ("# {}", "// {}", " * {}", "> {}", "{}", "-- {}", "    # {}", "<!-- {} -->", "- {}", ";; {}")
REPOSITORIES = ("fastapi", "sqlalchemy", "pydantic_ai")
"""Real packages that are installed for Forge itself; each has hundreds of files of code with long comments."""


def sentences() -> list[tuple[Kind, str]]:
    """Every passage of prose of at least nine words."""
    found = []
    for kind, text in CONTRACTS.items():
        prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL) if kind.form == "markdown" else ""
        for line in re.split(r"\n\s*\n|\n(?=[-#|])", prose):
            clean = " ".join(line.lstrip("-# ").split())
            if len(re.findall(r"[A-Za-z]+", clean)) >= 9 and "|" not in clean and not set("`[_") & set(clean):
                found.append((kind, clean))
    return found


def planted(rng: random.Random) -> tuple[str, bytes]:
    """Contract text rewrapped in comments, part of a sentence, a name of a contract, or metadata, in a file of code."""
    kind, sentence = rng.choice(sentences())
    style = rng.choice(_STYLES)
    choice = rng.random()
    if choice < 0.15:
        text = rng.choice(
            [
                f"As contracts/{kind.file} says.",
                "See builder_directive.md for the order.",
                "as in the blueprint contract",
            ]
        )
    elif choice < 0.3:
        text = rng.choice(
            ["Forge/Contracts/blueprint.md", "Forge-Turn: 12ab", "Contract-Run: generate-1", "forge_get_contract"]
        )
    else:
        words = sentence.split()
        if choice < 0.6 and len(words) > 12:
            start = rng.randrange(len(words) - 11)
            words = words[start : start + 11]
        text = rng.choice([str, str.upper, str.title])(" ".join(words))
    wrapped = textwrap.wrap(text, rng.choice([24, 40, 72, 100]), break_long_words=False)
    lines = CODE.splitlines()
    at = rng.randrange(len(lines) + 1)
    lines[at:at] = [style.format(line) for line in wrapped]
    return f"src/file{rng.randrange(10**6)}.py", "\n".join(lines).encode()


def test_99_percent_of_500_planted_leaks_are_found() -> None:
    check = LeakCheck(CONTRACTS)
    rng = random.Random(22)
    missed = [data.decode() for path, data in (planted(rng) for _ in range(500)) if not check.leaks([(path, data)])]
    assert len(missed) <= 5, missed[:5]


def files_of(package: str) -> Iterator[tuple[str, bytes]]:
    root = Path(sysconfig.get_path("purelib")) / package
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix in (".py", ".pyi", ".md", ".txt", ".json", ".toml", ".yaml"):
            yield str(path.relative_to(root)), path.read_bytes()


@pytest.mark.parametrize("package", REPOSITORIES)
def test_at_most_one_percent_of_real_files_are_flagged(package: str) -> None:
    check = LeakCheck(CONTRACTS)
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
    sentence = sentences()[0][1].encode()
    assert check.leaks([("a.bin", b"\0" + sentence), ("b.txt", sentence + b" " * 5_000_000)]) == ()
    assert check.leaks([("c.txt", b"\xff\xfe " + sentence)])
