"""Which names may enter a repository, and which can at least be read out of one."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.git import InvalidPath
from forge.git.workspace.paths import checked, folded, is_git_directory, readable
from tests.git import worlds
from tests.git.hostile_paths import GIT_SPELLINGS, NEVER, NEVER_NEW

pytestmark = pytest.mark.req("G-02")


FINE = [
    "README.md",
    "src/app.py",
    ".gitignore",
    ".gitattributes",
    ".gitmodules",
    ".github/workflows/ci.yml",
    "a.git",
    "git",
    ".gitx",
    "git~",
    "git~x",
    "-rf",
    "--help",
    "@{u}",
    "[...slug].tsx",
    "(group)/page.tsx",
    "$store.ts",
    "a b/c d.txt",
    "~/x",
    "console.py",
    "auxiliary.c",
    "com10",
    "communication/com.py",
    "\u00e9t\u00e9/na\u00efve.txt",
    "\u65e5\u672c\u8a9e/\u30d5\u30a1\u30a4\u30eb.txt",
    "emoji-\U0001f600.md",
    "\u05e9\u05dc\u05d5\u05dd.txt",
    "x" * 255,
    "..a",
    "a..b",
    "...a",
    ".forge/session.json",
]


@pytest.mark.parametrize("path", NEVER)
def test_a_path_that_leads_out_or_into_a_git_directory_is_refused_for_reading_and_writing(path: str) -> None:
    for check in (readable, checked):
        with pytest.raises(InvalidPath) as refused:
            check(path)
        assert refused.value.code == "invalid_path"
        assert refused.value.hint
        assert len(refused.value.message) < 300


@pytest.mark.parametrize("path", NEVER_NEW)
def test_a_name_that_some_platform_cannot_store_is_refused_for_new_files(path: str) -> None:
    with pytest.raises(InvalidPath) as refused:
        checked(path)
    refused.value.message.encode()  # it can be printed, whatever the path was made of
    assert refused.value.hint


@pytest.mark.parametrize("path", NEVER_NEW)
def test_a_name_that_some_platform_cannot_store_can_still_be_read(path: str) -> None:
    assert readable(path) == path


@pytest.mark.parametrize("path", FINE)
def test_a_usual_name_is_taken_as_it_is(path: str) -> None:
    assert checked(path) == path


@pytest.mark.parametrize("path", [None, 5, b"bytes", Path("x")])
def test_a_path_that_is_no_text_is_refused(path: object) -> None:
    with pytest.raises(InvalidPath):
        checked(path)  # type: ignore[arg-type]


def test_nesting_deeper_than_any_program_can_follow_is_refused() -> None:
    with pytest.raises(InvalidPath, match="deep"):
        checked("/".join(["d"] * 300))
    assert checked("/".join(["d"] * 60))


ADD_ANYTHING = ["git", "-c", "core.protectHFS=1", "-c", "core.protectNTFS=1", "update-index", "--add", "--cacheinfo"]


def test_names_that_git_itself_refuses_in_a_tree_are_refused(tmp_path: Path) -> None:
    """git's own list, asked of git: whatever `update-index` refuses to add, Forge refuses too."""
    worlds.git(tmp_path, "init", "-q", "--bare", "r")
    repo = tmp_path / "r"
    oid = worlds.blob(repo, b"x")
    for path in [*GIT_SPELLINGS, "a/../b", "./a", "/a", "a//b", *FINE]:
        done = subprocess.run(
            [*ADD_ANYTHING, f"100644,{oid},{path}"],
            cwd=repo,
            env={**os.environ, "GIT_INDEX_FILE": str(tmp_path / "index")},
            capture_output=True,
            check=False,
        )
        if done.returncode != 0:
            with pytest.raises(InvalidPath):
                readable(path)
        (tmp_path / "index").unlink(missing_ok=True)


@given(st.text(alphabet=".gitGIT~1 \u200c\u200d\ufeff:$", max_size=9))
@settings(max_examples=300)
def test_no_spelling_of_git_slips_through(name: str) -> None:
    bare = "".join(c for c in name if c not in "\u200c\u200d\ufeff").split(":")[0].rstrip(". ").lower()
    assert is_git_directory(name) == (bare == ".git" or (bare[:4] == "git~" and bare[4:].isdigit()))


@given(st.text(max_size=40))
@settings(max_examples=300)
def test_every_text_is_either_a_path_or_refused_with_a_reason(path: str) -> None:
    refused = worlds.refusal(lambda: checked(path))
    if refused is None:
        assert checked(path) == readable(path) == path
        assert path.encode()
    else:
        assert isinstance(refused, InvalidPath)
        assert refused.message.encode()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("README", "readme"),
        ("\u00e9", "e\u0301"),
        ("Stra\u00dfe", "STRASSE"),
        ("\u212b", "\u00e5"),
        ("\u03a3", "\u03c2"),
    ],
)
def test_spellings_that_careless_file_systems_mix_up_fold_to_one(one: str, other: str) -> None:
    assert folded(one) == folded(other)
