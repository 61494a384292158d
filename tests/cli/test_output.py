"""What goes where: hostile names and messages, terminals, pipes, full disks, encodings."""

from __future__ import annotations

import json
import os
import subprocess
import unicodedata
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from forge.cli.terminal.output import Output, ago, cut, plain, shown
from forge.cli.terminal.project_output import tell_stuck
from forge.git import ActorKind, Entry, ObjectId, RefMove
from tests.cli.conftest import PROGRAM, Forge, Installed, masked
from tests.cli.terminals import on_terminal
from tests.conftest import Git, MakeRepo

EVIL = "esc\x1b]0;title\x07\x1b[31mred"
NAMES = [EVIL.encode(), b"new\nline", b"bad\xff\xfename", b"c1\xc2\x9bm", "bidi\u202etxt".encode(), b"-x"]


@pytest.fixture
def hostile(tmp_path: Path, git: Git, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository full of names, messages and contents that mean harm."""
    repo = tmp_path / "hostile"
    git(tmp_path, "init", "--quiet", str(repo))
    for name in NAMES:
        (Path(os.fsdecode(os.fsencode(repo) + b"/" + name))).write_bytes(b"x \x1b[31m\x9b5m \xff\r\n" + b"y" * 10_000)
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", f"{EVIL}\rsubject\b " + "long " * 2000, f"--author={EVIL} <e@x>")
    git(repo, "branch", "topic")
    monkeypatch.chdir(repo)
    return repo


COMMANDS = [
    ["branch", "list"],
    ["branch", "new", EVIL],
    ["branch", "delete", EVIL],
    ["branch", "rename", "topic", EVIL],
    ["file", "list"],
    ["file", "show", EVIL],
    ["file", "show", "new\nline"],
    ["file", "show", f"{EVIL}/missing"],
    ["file", "search", "x"],
    ["file", "search", EVIL],
    ["file", "delete", EVIL, "-b", "topic"],
    ["file", "save", EVIL, "-b", "topic", "--as", EVIL],
    ["log"],
    ["log", EVIL],
    ["log", "--author", EVIL],
    ["diff", "HEAD"],
    ["diff", "HEAD", "--stat"],
    ["graph"],
    ["blame", EVIL],
    ["merge", EVIL],
    ["merge", "topic", "--resolve", f"{EVIL}={EVIL}"],
    ["rebase", "topic", "--onto", EVIL],
    ["cherry-pick", EVIL],
    ["undo", EVIL],
    ["exec", "--", EVIL],
    ["exec", "-b", EVIL, "--", "true"],
    ["-C", EVIL, "log"],
    [EVIL],
    ["log", f"--{EVIL}"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=range(len(COMMANDS)))
def test_nothing_hostile_reaches_people_or_breaks_a_program(forge: Forge, hostile: Path, words: list[str]) -> None:
    done = forge(*words)
    assert done.code in (0, 1, 2, 5, 127)
    content = words[:2] in (["file", "show"], ["diff", "HEAD"], ["exec", "--"]) and "--stat" not in words
    for text in () if content else (done.out, done.err):
        allowed = {"\n", "\t"}
        assert not [c for c in text if c not in allowed and unicodedata.category(c) in ("Cc", "Cf")], text[:300]

    at = words.index("--") if "--" in words else len(words)
    found = forge(*words[:at], "--json", *words[at:])
    json.loads(found.out)
    assert "\x1b" not in found.out
    assert "\x1b" not in found.err


@pytest.mark.parametrize(
    "words",
    [["file", "list"], ["log"], ["file", "show", EVIL], ["diff", "HEAD"], ["blame", EVIL], ["graph"]],
    ids=" ".join,
)
def test_on_a_terminal_contents_too_are_made_safe(hostile: Path, words: list[str]) -> None:
    code, shown = on_terminal(*words, cwd=hostile, env={"NO_COLOR": "1"})
    assert code == 0
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert not [c for c in shown if 0x80 <= ord(c) <= 0x9F or 0xD800 <= ord(c) <= 0xDFFF]
    # A terminal adds a carriage return to each line feed; there is none besides.
    assert shown.count("\r") == shown.count("\r\n") == shown.count("\n")


def test_the_output_of_a_command_is_made_safe_on_a_terminal(make_repo: MakeRepo) -> None:
    repo = make_repo({"a": "a\n"})
    code, shown = on_terminal("exec", "--", "printf", r"\033[31mred\033[0m\n\tnext", cwd=repo)
    assert (code, shown) == (0, "\\x1b[31mred\\x1b[0m\r\n\tnext")


def test_through_a_pipe_names_keep_their_bytes(installed: Installed, hostile: Path) -> None:
    names = installed("file", "list").out.encode("utf-8", "surrogateescape").splitlines()
    assert b"bad\xff\xfename" in names
    done = installed("file", "show", b"bad\xff\xfename")
    assert (done.code, done.out[:2]) == (0, "x ")
    found = installed("file", "list", "--json").document
    assert [os.fsencode(name) for name in found] == sorted(NAMES)


def test_colours_are_for_terminals_that_want_them(make_repo: MakeRepo) -> None:
    repo = make_repo({"a": "a\n"})
    assert "\x1b[33m" in on_terminal("log", cwd=repo)[1]
    assert "\x1b[32m+a\x1b[0m" in on_terminal("diff", "HEAD", cwd=repo)[1]
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b" not in on_terminal("log", cwd=repo, env=env)[1]
    assert "\x1b" not in on_terminal("log", "--json", cwd=repo)[1]


def test_a_spinner_shows_only_when_it_takes_long_and_leaves_nothing(make_repo: MakeRepo) -> None:
    repo = make_repo({"a": "a\n"})
    _, shown = on_terminal("exec", "--", "sleep", "2", cwd=repo)
    assert "Running sleep on main" in shown
    assert shown.endswith(("\x1b[2K", "\x1b[?25h"))
    assert "Running" not in on_terminal("exec", "--json", "--", "sleep", "1", cwd=repo)[1]


def test_a_reader_that_leaves_early_is_no_error(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo({"large.txt": "line\n" * 50_000})
    git(repo, "commit", "--quiet", "--amend", "--file=-", stdin="long " * 50_000)
    commands = ["log", "log --json", "graph", "file search line -n 20000", "file show large.txt", "diff HEAD", "--help"]
    for command in commands:
        assert piped(repo, f"{command} | head -c 1 >/dev/null") == ("0\n", "")


def piped(repo: Path, command: str) -> tuple[str, str]:
    """The exit code of forge at the start of a pipe, and what was complained about."""
    script = f"{PROGRAM} {command}; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=repo, capture_output=True, text=True, check=False)
    return done.stdout, done.stderr


def test_an_error_that_nobody_reads_keeps_its_code(make_repo: MakeRepo) -> None:
    repo = make_repo({"a": "a\n"})
    for option in ("", "--json"):
        assert piped(repo, f"log nowhere {option} 2>&1 | true") == ("1\n", "")


def test_output_that_cannot_be_written_is_an_error(make_repo: MakeRepo) -> None:
    repo = make_repo({"a": "a\n"})
    helping = (["--help"], ["--version"], ["help"], ["log", "--help"], ["branch", "-h"])
    for words in (["log"], ["file", "show", "a"], ["branch", "list", "--json"], *helping):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [PROGRAM, *words], cwd=repo, stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert done.returncode == 1
        assert done.stderr.startswith("forge: The output could not be written: No space left on device.\n")
        assert "Traceback" not in done.stderr


def test_streams_that_are_closed_do_no_harm(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo({"a": "a\n"})
    assert piped(repo, "log >&- ") == ("0\n", "")
    assert piped(repo, "log nowhere 2>&-") == ("1\n", "")
    assert piped(repo, "file save a --json </dev/null >/dev/null") == ("0\n", "")
    assert git(repo, "show", "HEAD:a") == ""


def test_nothing_is_saved_from_a_closed_standard_input(make_repo: MakeRepo, git: Git) -> None:
    repo = make_repo({"a": "a\n"})
    code, told = piped(repo, "file save a <&-")
    assert code == "1\n"
    assert "forge: Standard input is closed" in told
    assert "forge file save a </dev/null" in told
    assert git(repo, "show", "HEAD:a") == "a"


def test_output_is_utf_8_whatever_the_locale(installed: Installed, make_repo: MakeRepo) -> None:
    repo = make_repo({"ünï": "a\n"})
    env = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    assert installed("-C", str(repo), "file", "list", env=env).out == "ünï\n"
    assert "● " in installed("-C", str(repo), "graph", env=env).out
    assert "→" in installed("-C", str(repo), "log", "nowhere", env=env).err
    assert "·" in installed("--help", env=env).out


def test_text_is_shown_without_anything_that_steers() -> None:
    assert shown("a\tb\x1b[1m\n\x9b\u202e\udcff\ud800é") == "a\tb\\x1b[1m\\x0a\\x9b\\u202e\\xff\\ud800é"
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"


def test_columns_line_up_whatever_the_letters_are(capsys: pytest.CaptureFixture[str]) -> None:
    Output(json=False).table([("日本", "x", "1"), ("e\u0301é", "yy"), ("abcde", "z", "2")])
    Output(json=False).table([])
    assert capsys.readouterr().out == "日本   x   1\ne\u0301é     yy\nabcde  z   2\n"


def test_values_become_json_that_programs_can_read() -> None:
    assert plain(
        {
            "move": RefMove("r", None, None),
            "entry": Entry(0o100644, ObjectId("id")),
            "kind": ActorKind.AGENT,
            "path": Path("a"),
            "bytes": b"a\xff",
            "many": (1, 2.5, True, None),
            "lazy": (n for n in (1, 2)),
            "else": complex(1, 0),
        }
    ) == snapshot(
        {
            "move": {"ref": "r", "before": None, "after": None},
            "entry": {"mode": 33188, "id": "id"},
            "kind": "agent",
            "path": "a",
            "bytes": "a�",
            "many": [1, 2.5, True, None],
            "lazy": [1, 2],
            "else": "(1+0j)",
        }
    )


def test_times_are_told_in_one_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1_000_000_000.0)
    ages = [-5, 0, 59, 60, 3599, 3600, 86_400, 2_592_000, 31_536_000, 1e9]
    assert [ago(1_000_000_000 - age) for age in ages] == snapshot(
        [
            "just now",
            "just now",
            "just now",
            "1 min ago",
            "59 min ago",
            "1 h ago",
            "1 d ago",
            "1 mo ago",
            "1 y ago",
            "31 y ago",
        ]
    )


def test_errors_are_told_to_people_in_prose(forge: Forge, make_repo: MakeRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(make_repo({"a": "a\n"}))
    done = forge("file", "save", "-b", "nowhere", "x", stdin="x")
    assert (done.code, done.out) == (1, "")
    assert masked(done.err) == snapshot("""\
forge: There is no branch nowhere.
  → `forge branch new nowhere` makes it; `forge branch list` shows what there is.
""")


def test_words_of_models_come_in_lines_and_steer_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    out = Output(json=False)
    out.text("One\r\n\nTwo \x1b[2Jthree", "cyan", indent="  ")
    assert capsys.readouterr().out == "  One\n\n  Two \\x1b[2Jthree\n"
    tell_stuck(out, {"tests": ["a\x1b"], "explanation": "Why\nnot", "options": ["red\x1b[0m"]})
    assert capsys.readouterr().out == "    Tests: a\\x1b\n    Why\n    not\n    1. red\\x1b[0m\n"
