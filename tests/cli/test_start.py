"""Starting `forge`: what it loads, how it explains itself, and how it answers a wrong command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from forge import __version__
from forge.cli.commands import serve
from forge.cli.main import COMMANDS, _shared_options
from tests.cli.conftest import PROGRAM, Forge, Installed
from tests.conftest import MakeRepo


def loaded(*args: str) -> set[str]:
    """The modules that a run of the installed program has loaded when it ends."""
    code = (
        "import atexit, sys; sys.argv = sys.argv[1:]; "
        "atexit.register(lambda: print('\\n'.join(sys.modules), file=sys.stderr)); "
        "from forge.cli.main import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code, "forge", *args], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in done.stderr.splitlines()}


def test_help_loads_neither_the_parser_nor_git() -> None:
    assert not loaded("--help") & {"typer", "click", "rich", "pygit2", "pydantic", "json", "dataclasses"}


def test_a_command_loads_neither_pydantic_nor_rich(make_repo: MakeRepo) -> None:
    repo = make_repo({"a": "a\n"})
    found = loaded("-C", str(repo), "log", "-n", "1", "--skip", "0", "--path", "a")
    assert "typer" in found
    assert not found & {"pydantic", "rich"}


def test_help_comes_before_anything_could_be_loaded(installed: Installed) -> None:
    done = installed("--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Usage: forge [-C DIR] [--json] COMMAND")
    for name, command in COMMANDS.items():
        assert f"  {name:<13}{command.summary}\n" in done.out


def test_help_costs_less_than_a_fifth_of_a_second() -> None:
    """In processor time, the best of a few: other work on the machine must not count."""
    costs = []
    for _ in range(3):
        process = subprocess.Popen([PROGRAM, "--help"], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        costs.append(usage.ru_utime + usage.ru_stime)
    assert min(costs) < 0.2


@pytest.mark.parametrize("args", [["-h"], ["help"], ["-C", ".", "--help"]])
def test_the_overview_is_there_for_every_way_to_ask(forge: Forge, args: list[str]) -> None:
    done = forge(*args)
    assert (done.code, done.err) == (0, "")
    assert done.out == forge("--help").out


@pytest.mark.parametrize("args", [["help"], ["--help"], ["log", "--help"], ["help", "log"], ["branch", "-h"]])
def test_help_for_programs_is_one_document(forge: Forge, args: list[str]) -> None:
    done = forge("--json", *args)
    assert (done.code, done.err) == (0, "")
    assert done.document == {"help": forge(*args).out.removesuffix("\n")}


def test_ctrl_c_while_modules_are_loading_leaves_no_traceback() -> None:
    code = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, *rest):\n"
        "        if name == 'forge.cli.main': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from forge.cli.entry import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
    assert "forge.cli.entry" in PROGRAM.read_text(), "the installed program begins elsewhere"


def test_the_version_is_shown_to_people_and_programs(forge: Forge) -> None:
    assert forge("--version").out == f"forge {__version__}\n"
    assert forge("-V", "--json").document == {"version": __version__}


WORDS = [
    *([name] for name in COMMANDS),
    *(["branch", word] for word in ("list", "new", "fork", "rename", "rewind", "delete")),
    *(["file", word] for word in ("list", "show", "search", "save", "rename", "delete")),
]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_every_command_explains_itself(forge: Forge, words: list[str]) -> None:
    done = forge(*words, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: forge {' '.join(words)} ")
    assert "-C DIR" in done.out
    assert "--json" in done.out
    assert done.out == forge("help", *words).out == forge(*words, "-h").out


def test_help_says_what_each_word_means(forge: Forge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert forge("rebase", "--help").out == snapshot("""\
Usage: forge rebase [OPTIONS] --onto REV BRANCH

  Rebase BRANCH onto another commit. The old tip is kept. Exit code 4 if there
  are conflicts.

Arguments:
  BRANCH  The branch to move.

Options:
  --onto REV                   Branch, tag or commit to begin at. Required.
  --from COMMIT                Only this commit and those after it.
  --preview                    Only show what would happen; nothing is
                               written.
  --conversation CONVERSATION  What comes along of the conversations that come
                               in: every turn, a summary, or nothing. Onto a
                               default branch what `merged_sessions` says,
                               elsewhere every turn.
  --resolve PATH=FILE          Content for a path in conflict; without FILE
                               the path is deleted. In a chain of commits,
                               COMMIT:PATH=FILE says at which one. May be
                               repeated.
  --as NAME                    Act as this agent. Agents may not change the
                               default branch.

Everywhere:
  -C DIR      Work on the repository at DIR.
  --json      Print one JSON document on standard output.
  --direct    Let agents work in this process, even beside a server.
  -h, --help  Show this.
""")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["brnch"], "There is no command 'brnch'."),
        (["--bad"], "There is no option --bad."),
        (["-C"], "-C needs a directory."),
        (["log", "-C"], "-C needs a directory."),
        (["branch"], "Missing command."),
        (["branch", "lst"], "No such command 'lst'. Did you mean 'list'?"),
        (["log", "--zzz"], "No such option: --zzz"),
        (["log", "one", "two"], "Got unexpected extra argument(s) (two)"),
        (["log", "-n"], "Option '-n' requires an argument."),
        (["log", "-n", "x"], "Invalid value for '-n': 'x' is not a whole number."),
        (["log", "-n", "1.5"], "Invalid value for '-n': '1.5' is not a whole number."),
        (["log", "-n", "-1"], "Invalid value for '-n': -1 is not from 0 to 1000000000."),
        (["log", "--follow"], "--follow keeps to one file."),
        (["graph", "-n", "0"], "Invalid value for '-n': 0 is not from 1 to 1000000000."),
        (["diff"], "Name a commit, two commits, or a branch."),
        (["blame"], "Missing argument 'PATH'."),
        (["blame", "a", "--lines", "x"], "'x' is not a range of lines."),
        (["blame", "a", "--lines", "3,2"], "'3,2' is not a range of lines."),
        (["blame", "a", "--lines", ""], "'' is not a range of lines."),
        (["merge"], "Missing argument 'SOURCE'."),
        (["rebase", "topic"], "Missing option '--onto'."),
        (["cherry-pick"], "Missing argument 'COMMIT'."),
        (["cherry-pick", "x", "--mainline", "0"], "Invalid value for '--mainline': 0 is not at least 1."),
        (["undo", "--steps", "0"], "Invalid value for '--steps': 0 is not from 1 to 1000."),
        (["undo", "some-id", "--list"], "An operation by its id is taken back alone."),
        (["file", "save"], "Missing argument 'PATH'."),
        (["file", "rename", "a"], "Missing argument 'NEW'."),
        (["file", "search", "x", "-A", "2000"], "Invalid value for '--after' / '-A': 2000 is not from 0 to 1000."),
        (["exec"], "Missing argument '-- COMMAND...'."),
        (["exec", "--"], "Missing argument '-- COMMAND...'."),
        (["exec", "--timeout", "nan", "--", "true"], "Invalid value for '--timeout': nan is not at least 0.1."),
        (["exec", "--timeout", "soon", "--", "true"], "Invalid value for '--timeout': 'soon' is not a number."),
        (["exec", "--memory", "1", "--", "true"], "Invalid value for '--memory': 1 is not at least 16."),
        (["exec", "--env", "A", "--", "true"], "'A' is not NAME=VALUE."),
        (["exec", "--env", "=A", "--", "true"], "'=A' is not NAME=VALUE."),
        (["exec", "-m", "text", "--", "true"], "--message is for the commit that --save makes."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_command_line_is_told_with_a_hint_and_code_2(forge: Forge, args: list[str], message: str) -> None:
    people = forge(*args)
    assert (people.code, people.out) == (2, "")
    first, second = people.err.splitlines()
    assert first == f"forge: {message}"
    assert second.startswith("  → ")

    program = forge("--json", *args)
    assert program.code == 2
    assert program.error == "bad_usage"
    assert program.document["error"]["message"] == message
    assert program.err == people.err


def test_a_misspelt_command_brings_a_suggestion(forge: Forge) -> None:
    assert forge("cherrypick", "x").err == snapshot("""\
forge: There is no command 'cherrypick'.
  → Did you mean `forge cherry-pick`? `forge --help` shows all commands.
""")


def test_a_hint_shows_how_the_command_is_used(forge: Forge) -> None:
    assert forge("rebase", "topic").err == snapshot("""\
forge: Missing option '--onto'.
  → forge rebase [OPTIONS] --onto REV BRANCH   (`forge rebase --help` explains it)
""")


def test_json_without_a_command_is_wrong_usage(forge: Forge) -> None:
    done = forge("--json")
    assert (done.code, done.error) == (2, "bad_usage")


def test_shared_options_stand_anywhere_before_the_dashes() -> None:
    for args in (["-C", "d", "--json", "log"], ["log", "--json", "-C", "d"], ["log", "-C", "d", "--json"]):
        assert _shared_options(args) == (("d", True, False, False), ["log"])
    assert _shared_options(["log", "--direct"]) == ((".", False, False, True), ["log"])
    assert _shared_options(["log", "--no-pager"]) == ((".", False, True, False), ["log"])
    assert _shared_options(["exec", "--", "x", "-C", "d", "--json"]) == (
        (".", False, False, False),
        ["exec", "--", "x", "-C", "d", "--json"],
    )


def test_the_directory_may_be_named_before_or_after_the_command(forge: Forge, make_repo: MakeRepo) -> None:
    repo = make_repo({"a.txt": "one\n", "d/b.txt": "two\n"})
    assert forge("-C", str(repo), "file", "list").out == "a.txt\nd/b.txt\n"
    assert forge("file", "list", "-C", str(repo / "d")).out == "a.txt\nd/b.txt\n"


def test_a_directory_that_is_missing_or_no_repository_is_told_by_name(forge: Forge, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for place, text in [("gone", "does not exist"), (".", "is not inside a git repository")]:
        done = forge("log", "--json", "-C", str(tmp_path / place))
        assert (done.code, done.error) == (1, "repository_missing")
        assert f"forge: {tmp_path / place} {text}" in done.err
    assert forge("log", "-C", str(tmp_path / "file")).code == 1


def test_without_a_directory_the_message_names_the_current_one(
    forge: Forge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert f"forge: {tmp_path} is not inside a git repository." in forge("log").err


def test_a_current_directory_that_is_gone_is_told(installed: Installed, tmp_path: Path) -> None:
    code = f"cd {tmp_path} && mkdir gone && cd gone && rmdir ../gone && exec {PROGRAM} log --json"
    done = subprocess.run(["sh", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "not_found"
    assert "Traceback" not in done.stderr


def test_who_serves_other_machines_is_told_that_it_is_plain_http() -> None:
    assert [serve.exposure(host) for host in ("127.0.0.1", "localhost", "::1")] == ["", "", ""]
    for host in ("0.0.0.0", "::", "192.168.0.7"):
        assert "plain HTTP" in serve.exposure(host)
        assert "docs/team-server.md" in serve.exposure(host)


def test_a_choice_that_is_not_there_is_told_with_those_that_are(forge: Forge) -> None:
    assert "': 'bogus' is not one of 'branch', 'day', 'model', 'run'." in forge("cost", "--by", "bogus").err
