"""`forge file search`: what is found, how it is shown, and how a search that cannot be answered ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from inline_snapshot import snapshot

from tests.cli.conftest import Forge
from tests.conftest import MakeRepo

TEXT = """\
one
two fish
three
red fish
five
six
seven
blue Fish
"""


@pytest.fixture
def repo(make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = make_repo({"a.txt": TEXT, "src/b.py": "fish = 1\nfisher = 2\n", "c.bin": b"\0fish\n"})
    monkeypatch.chdir(repo)
    return repo


def test_matching_lines_are_shown_with_path_and_number(forge: Forge, repo: Path) -> None:
    done = forge("file", "search", "fish")
    assert (done.code, done.err) == (0, "")
    assert done.out == snapshot("""\
a.txt:2:two fish
a.txt:4:red fish
src/b.py:1:fish = 1
src/b.py:2:fisher = 2
c.bin: binary file matches
""")


def test_lines_around_matches_are_shown_once_and_gaps_are_marked(forge: Forge, repo: Path) -> None:
    assert forge("file", "search", "fish", "-i", "-U", "1", "-g", "*.txt").out == snapshot("""\
--
a.txt-1-one
a.txt:2:two fish
a.txt-3-three
a.txt:4:red fish
a.txt-5-five
--
a.txt-7-seven
a.txt:8:blue Fish
""")
    assert forge("file", "search", "red", "-B", "1").out == "--\na.txt-3-three\na.txt:4:red fish\n"
    assert forge("file", "search", "red", "--after", "2").out.endswith("a.txt-5-five\na.txt-6-six\n")


def test_words_case_expressions_and_globs_narrow_the_search(forge: Forge, repo: Path) -> None:
    assert forge("file", "search", "-w", "fish", "-g", "src/**").out == "src/b.py:1:fish = 1\n"
    narrowed = forge("file", "search", "-E", "^(two|blue) [Ff]", "-g", "!*.py")
    assert narrowed.out == "a.txt:2:two fish\na.txt:8:blue Fish\n"
    assert forge("file", "search", "FISH", "-i", "-g", "a*").out.count("\n") == 3


def test_conversations_are_searched_when_asked_for(forge: Forge, repo: Path) -> None:
    assert forge("chat", "--branch", "ai/x", "-m", "find fisher").code == 0
    plain = forge("file", "search", "fisher", "--branch", "ai/x", "--json").document
    assert [file["path"] for file in plain["files"]] == ["src/b.py"]
    asked = forge("file", "search", "fisher", "--branch", "ai/x", "-g", ".forge/**", "--json").document
    assert all(file["path"].startswith(".forge/session") for file in asked["files"])
    assert asked["files"]


def test_programs_get_places_in_lines(forge: Forge, repo: Path) -> None:
    found = forge("file", "search", "fish", "--json", "-g", "a.txt", "-n", "1", "-A", "1")
    assert found.document == snapshot(
        {
            "files": [
                {
                    "path": "a.txt",
                    "matches": [
                        {
                            "line": 2,
                            "column": 5,
                            "text": "two fish",
                            "spans": [[4, 8]],
                            "before": [],
                            "after": ["three"],
                        }
                    ],
                }
            ],
            "matches": 1,
            "truncated": "matches",
            "binary": [],
            "too_large": [],
        }
    )
    assert found.err == "Stopped after 1 matching lines; -n raises the limit.\n"


def test_nothing_found_is_code_1_without_a_word(forge: Forge, repo: Path) -> None:
    done = forge("file", "search", "whale")
    assert (done.code, done.out, done.err) == (1, "", "")
    found = forge("file", "search", "whale", "--json")
    assert (found.code, found.document["matches"]) == (1, 0)


@pytest.mark.parametrize("words", [["", "-E"], [""], ["(", "-E"], ["a\nb"], ["x", "-g", "["]], ids=repr)
def test_a_question_that_makes_no_sense_is_told(forge: Forge, repo: Path, words: list[str]) -> None:
    done = forge("file", "search", "--json", *words)
    assert (done.code, done.error) == (1, "invalid_query")


def test_a_file_that_is_too_large_is_named(forge: Forge, repo: Path) -> None:
    assert forge("file", "save", "large.txt", stdin="fish\n" * 300_000).code == 0
    assert forge("file", "search", "two fish").err == "large.txt was not searched: it is too large.\n"


def test_another_branch_or_commit_is_searched(forge: Forge, repo: Path) -> None:
    assert forge("branch", "new", "topic").code == 0
    assert forge("file", "save", "-b", "topic", "new.txt", stdin="a whale\n").code == 0
    assert forge("file", "search", "whale", "-b", "topic").out == "new.txt:1:a whale\n"
    assert forge("file", "search", "whale", "--at", "topic~1").code == 1
