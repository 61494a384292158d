"""Globs agree with what git itself takes them for in `.gitignore`."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from forge.git.search.globs import accepting
from tests.conftest import MakeRepo

pytestmark = pytest.mark.req("G-11")

GLOBS = st.lists(
    st.sampled_from(
        ["a", "b", ".", "x.py", "*", "?", "**", "**/", "/**/", "/", "[ab]", "[!a]", "[a-c]", "\\*", "*.py"]
    ),
    min_size=1,
    max_size=5,
).map("".join)
PATHS = st.lists(st.sampled_from(["a", "b", "c", "ab", "x.py", "*", "a.b", ".a"]), min_size=1, max_size=4).map("/".join)


@pytest.fixture
def directory(make_repo: MakeRepo) -> Path:
    return make_repo()


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(GLOBS, st.lists(PATHS, min_size=1, max_size=12, unique=True))
def test_a_glob_matches_what_git_would_ignore_with_it(directory: Path, glob: str, paths: list[str]) -> None:
    assume(glob.strip("/") and "//" not in glob and not glob.endswith("\\"))
    # git reads `**` in the middle of a name, and stars in a row, in ways that it does not promise.
    assume(not any("**" in name and name != "**" for name in glob.split("/")))
    (directory / ".git" / "info" / "exclude").write_text(glob + "\n")
    told = subprocess.run(
        ["git", "check-ignore", "--no-index", "-z", "--stdin"],
        cwd=directory,
        input="\0".join(paths).encode(),
        capture_output=True,
        check=False,
    )
    ignored = {path for path in told.stdout.decode().split("\0") if path}
    accepts = accepting((glob,), ())
    assert accepts is not None
    assert {path for path in paths if accepts(path)} == ignored


def test_without_globs_there_is_nothing_to_ask() -> None:
    assert accepting((), ()) is None


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("*a" * 30 + "b", "a" * 250),
        ("**/" * 30 + "b", "a/" * 200 + "c"),
        ("**/a*/" * 20 + "b", "a/" * 200 + "c"),
        ("{a,b}*" * 6 + "c", "ab" * 120),
        ("*" * 500 + "b", "a" * 250),
    ],
)
def test_no_glob_is_slow(glob: str, path: str) -> None:
    accepts = accepting((glob,), ())
    assert accepts is not None
    began = time.process_time()
    assert not accepts(path)
    assert time.process_time() - began < 1
