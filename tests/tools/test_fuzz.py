"""Random and hostile calls: none raises, none that fails changes anything, none writes where tools may not.

`FORGE_FUZZ_CALLS=10000` gives the long form.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forge.errors import Upstream
from forge.git import Repository, WorkInProgressVFS
from forge.sessions.layout import DRAFT_PATH
from forge.tools.builtin import NAMES
from forge.tools.commands import CommandOutcome
from forge.tools.places import is_internal
from forge.tools.registry import builtin_tools
from forge.tools.result_text import RESULT_BYTES
from forge.tools.tool import ToolOutcome
from tests.conftest import run_git, write_files
from tests.support.toolboxes import open_toolbox
from tests.tools.conftest import AGENT, FILES

CALLS = int(os.environ.get("FORGE_FUZZ_CALLS", "1000"))
IN_A_ROW = 10

PATHS = [
    *FILES, "src", "", ".", "..", "/", "/etc/passwd", "../../etc/shadow", "./src/app.py", "src\\app.py", ".git/config",
    ".GIT/HEAD", "g\u200bit", ".g\u200cit/x", "git~1/x", ".forge/session.json", ".forge/approved_tools.json",
    ".FORGE/x", ".forge", ".forge./x", "．forge/x", "new.txt", "new.txt/inner", "SRC/app.py", "a" * 3000,
    "con", "nul.txt", "x:y",
    "a\0b", "a\nb", "\udcff", "link", "tools/mine.py", "é.txt", "e\u0301.txt", "src/app.py/", "-rf", "~/.ssh/id_rsa",
    "file:///etc/passwd", "C:\\Windows\\x", "$(touch x)", "a/" * 200 + "b",
]  # fmt: skip
TEXTS = [
    "",
    "greet",
    "\r\n",
    "import os\n",
    "(",
    "[",
    "a" * 50,
    "(a+)+$",
    "\\",
    "\0",
    "\ud800",
    "{",
    "def greet(name):",
]

FORBIDDEN = [".forge/approved_tools.json", ".forge/session/0001.json", ".forge/x", "./.forge/new.json", ".Forge/x"]

paths = st.sampled_from(FORBIDDEN) | st.sampled_from([*FILES]) | st.sampled_from(PATHS) | st.text(max_size=12)
texts = st.sampled_from(TEXTS) | st.text(max_size=30)
numbers = st.integers(-3, 12) | st.sampled_from([10**9, -(10**30), True, 1.5, float("inf"), float("nan"), "5"])
junk = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
ranges = st.lists(st.lists(numbers, min_size=1, max_size=3), max_size=3)
_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "path": paths, "new_path": paths, "content": texts, "search": texts, "replace": texts, "pattern": texts,
    "glob": paths | texts, "command": texts, "include": st.lists(paths, max_size=3),
    "exclude": st.lists(paths, max_size=2),
    "add": st.lists(st.fixed_dictionaries({"path": paths}, optional={"ranges": ranges, "x": junk}), max_size=3),
    "remove": st.lists(paths, max_size=3), "arguments": st.lists(texts, max_size=3),
}  # fmt: skip


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, Any]:
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from([*NAMES, "mine", "rm", "../x", "\ud800", ""])), draw(junk)
    name = draw(st.sampled_from(NAMES))
    properties = SCHEMAS[name]["properties"]
    required = set(SCHEMAS[name].get("required", ()))
    wanted = [key for key in properties if key in required or draw(st.booleans())]
    return name, {key: draw(_values(key, properties[key])) for key in wanted}


def _values(key: str, schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    return _VALUES.get(key, st.booleans() if schema.get("type") == "boolean" else numbers)


class Vandal:
    """A runner whose commands write anywhere, break off, or fail."""

    def __call__(self, vfs: WorkInProgressVFS, command: Sequence[str], *, seconds: float) -> CommandOutcome:
        chance = random.Random(command[-1])
        for path in (".forge/approved_tools.json", ".forge/session/evil.json", "made.txt", "src/made.py"):
            if chance.random() < 0.5:
                vfs.write_file(path, command[-1].encode("utf-8", "replace").decode())
        end = chance.random()
        if end < 0.2:
            raise Upstream("The sandbox broke.")
        if end < 0.3:
            raise OSError("broken pipe")
        return CommandOutcome(chance.choice([0, 1]), "out\udcff" * 5, timed_out=end < 0.5)


SCHEMAS: dict[str, Any] = {
    tool.get_schema()["name"]: tool.get_schema()["parameters"] for tool in builtin_tools(Vandal(), asks=True)
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("fuzz") / "repo"
    run_git(directory.parent, "init", "--quiet", "--initial-branch=main", str(directory))
    write_files(directory, FILES, executable=(), symlinks={"link": "src/app.py"})
    run_git(directory, "add", "--all", "--force")
    run_git(directory, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "first")
    run_git(directory, "branch", "work")
    return directory


@pytest.fixture
def untouched(place: Path) -> Iterator[Path]:
    """The repository on disk, in which nothing may move."""

    def state() -> list[str]:
        files = sorted(str(path) for path in place.parent.rglob("*") if ".git/forge" not in str(path))
        return [run_git(place, "for-each-ref"), run_git(place, "status", "--porcelain"), *files]

    before = state()
    yield place
    assert state() == before


def entries(vfs: WorkInProgressVFS) -> dict[str, Any]:
    return {path: state and state.entry for path, state in vfs.pending.items()}


@pytest.mark.req("G-11", "G-12", "X-06")
def test_random_calls_never_raise_and_never_change_what_they_may_not(untouched: Path) -> None:
    repo = Repository.open(untouched)

    @settings(
        max_examples=max(1, CALLS // IN_A_ROW),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        deadline=None,
    )
    @given(st.lists(calls(), min_size=IN_A_ROW, max_size=IN_A_ROW))
    def holds(sequence: list[tuple[str, Any]]) -> None:
        vfs = repo.workspace("work", actor=AGENT)
        box = open_toolbox(builtin_tools(Vandal(), asks=True))
        for name, arguments in sequence:
            before = entries(vfs)
            done = box.run(vfs, name, arguments)
            assert isinstance(done, ToolOutcome)
            assert len(done.text.encode()) <= RESULT_BYTES
            if done.failed:
                assert entries(vfs) == before, (name, arguments)
            assert not done.text.startswith("Internal error") or name in ("run_command", "run_tests"), (name, arguments)
            odd = [path for path in vfs.pending if is_internal(path) and path != DRAFT_PATH]
            assert odd == [], (name, arguments)

    holds()
