"""What the commands tell of the conversation that goes along, and how a person leaves it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Forge
from tests.conftest import Git, MakeRepo

pytestmark = pytest.mark.req("G-06", "G-07")
SUMMARY = "  + summary of a conversation, 1 file in .forge/"
TURNS = "  + conversation of 2 turns, 3 files in .forge/"
LEFT_OUT = "  The conversation is left out."
HINT = "--conversation drop leaves the conversation out.\n"


@pytest.fixture
def repo(make_repo: MakeRepo, forge: Forge, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = make_repo({"a.txt": "hello\n"})
    monkeypatch.chdir(path)
    monkeypatch.setenv("FORGE_AGENTS__CHAT", "builtin")
    for text in ("find hello", "create note.txt with hello"):
        assert forge("chat", "--branch", "ai/x", "-m", text).code == 0
    git(path, "branch", "feature", "main")
    return path


@pytest.mark.parametrize(
    ("words", "target"),
    [
        (["merge", "ai/x", "--into", "TARGET"], "TARGET"),
        (["cherry-pick", "ai/x~1", "ai/x", "--onto", "TARGET"], "TARGET"),
        (["rebase", "TARGET", "--onto", "ai/x"], "TARGET"),
        (["export", "--branch", "ai/x", "--to", "copy"], "copy"),
    ],
    ids=["merge", "cherry-pick", "rebase", "export"],
)
def test_each_command_tells_what_goes_along_and_leaves_it_out(
    forge: Forge, repo: Path, git: Git, words: list[str], target: str
) -> None:
    def run(branch: str, *more: str) -> tuple[str, str]:
        ran = forge(*(branch if word == "TARGET" else word for word in words), *more)
        assert ran.code == 0, ran.err
        return ran.out, ran.err

    def files(branch: str) -> int:
        return len(git(repo, "ls-tree", "-r", "--name-only", branch, "--", ".forge").splitlines())

    is_export = words[0] == "export"
    out, err = run("main", "--preview")
    assert SUMMARY in out.splitlines()
    assert HINT in err
    out, _ = run("feature", "--preview", "--conversation", "keep")
    assert TURNS in out.splitlines()
    out, err = run("main", "--preview", "--conversation", "drop")
    assert LEFT_OUT in out.splitlines()
    assert HINT not in err
    assert TURNS in run("feature", "--preview")[0].splitlines() or is_export
    for terms, count in (("keep", 3), ("squash", 1), ("drop", 0)):
        document = forge(
            *("main" if word == "TARGET" else word for word in words), "--conversation", terms, "--json"
        ).document
        made = target if is_export else "main"
        assert document["conversation_choice"] == terms
        assert (document["conversation"] or {"files": 0})["files"] == files(made) == count
        assert document["tree"] == git(repo, "rev-parse", f"{made}^{{tree}}")
        assert git(repo, "show", f"{made}:note.txt") == "hello"
        assert forge("undo").code == 0


def test_a_setting_says_what_is_usual(forge: Forge, repo: Path) -> None:
    assert forge("config", "set", "merged_sessions", "drop").code == 0
    for words in (["merge", "ai/x"], ["cherry-pick", "ai/x~1", "ai/x"], ["export", "-b", "ai/x"]):
        assert LEFT_OUT in forge(*words, "--preview").out.splitlines()


def test_a_diff_tells_what_goes_along(forge: Forge, repo: Path) -> None:
    told = "conversation of 2 turns, 3 files in .forge/; --with-sessions shows them.\n"
    assert forge("diff", "main", "ai/x").err == f"+ {told}"
    assert forge("diff", "--branch", "ai/x").err == f"+ {told}"
    assert forge("diff", "ai/x", "main").err == f"− {told}"
