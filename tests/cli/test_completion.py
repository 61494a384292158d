"""`forge completion`: the scripts in the shells themselves, and that only names cost the start of a process."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from forge.cli import main
from forge.cli.main import Command
from forge.cli.terminal.shells import Shell, script
from forge.cli.terminal.word_tables import _BY_PLACE, Node, nodes
from tests.cli.conftest import Forge
from tests.cli.tabs import Typing
from tests.conftest import Git, MakeRepo
from tests.support.machine import write_program


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Command("completion", "completion of commands in bash, zsh and fish")
    monkeypatch.setitem(main.COMMANDS, "completion", entry)
    monkeypatch.setitem(main.GROUPS["Look after Forge"], "completion", entry)


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    """A `forge` that notes that it was started, and knows two names."""
    folder = tmp_path / "programs"
    folder.mkdir()
    write_program(folder / "forge", f'echo "$@" >>{tmp_path}/calls; printf "main\\nai/one\\n"')
    return folder


def calls(tmp_path: Path) -> list[str]:
    file = tmp_path / "calls"
    return file.read_text().splitlines() if file.exists() else []


def proposed(shell: Shell, stub: Path, *words: str) -> list[str]:
    """What the shell proposes after `forge WORDS`, the last of which is being typed."""
    return Typing(shell, script(shell), stub).proposals(*words)


SHELLS = pytest.mark.parametrize("shell", list(Shell))


@SHELLS
@pytest.mark.req("X-02")
def test_commands_and_options_are_completed_without_starting_a_process(
    shell: Shell, stub: Path, tmp_path: Path
) -> None:
    assert proposed(shell, stub, "bra") == ["branch"]
    assert proposed(shell, stub, "project", "st") == ["status", "stop"]
    assert proposed(shell, stub, "-C", "branch", "project", "st") == ["status", "stop"]
    assert {"--path", "--grep", "--json"} <= set(proposed(shell, stub, "log", "--"))
    assert proposed(shell, stub, "cost", "--by", "") == ["branch", "day", "model", "run"]
    assert proposed(shell, stub, "completion", "") == ["bash", "fish", "zsh"]
    assert calls(tmp_path) == []


@SHELLS
@pytest.mark.req("X-02")
def test_branches_and_projects_are_asked_for(shell: Shell, stub: Path, tmp_path: Path) -> None:
    assert proposed(shell, stub, "chat", "--branch", "") == ["ai/one", "main"]
    assert proposed(shell, stub, "project", "show", "m") == ["main"]
    assert calls(tmp_path) == ["completion --words branches", "completion --words projects"]


@SHELLS
@pytest.mark.req("X-02")
@pytest.mark.parametrize(
    "words",
    [
        ("merge",), ("diff",), ("diff", "main"), ("log",), ("cherry-pick", "main"), ("rebase", "main", "--onto"),
        ("branch", "new", "x", "--from"), ("branch", "rewind", "main"), ("file", "list", "--at"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_branches_and_tags_are_asked_for_wherever_a_commit_is_named(
    shell: Shell, stub: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert "ai/one" in proposed(shell, stub, *words, "a")
    assert "completion --words revisions" in calls(tmp_path)


@SHELLS
@pytest.mark.req("X-02")
def test_fixed_choices_are_known_and_names_of_settings_and_prompts_asked_for(
    shell: Shell, stub: Path, tmp_path: Path
) -> None:
    assert proposed(shell, stub, "run", "--type", "") == ["code", "plan"]
    assert proposed(shell, stub, "key", "new", "--scope", "") == ["admin", "read", "run", "write"]
    assert proposed(shell, stub, "memory", "status", "b") == ["blocked"]
    assert calls(tmp_path) == []
    proposed(shell, stub, "config", "get", "")
    proposed(shell, stub, "prompts", "show", "")
    assert calls(tmp_path) == ["completion --words settings", "completion --words prompts"]


@SHELLS
@pytest.mark.req("X-02")
def test_paths_of_the_branch_that_was_named_are_asked_for(shell: Shell, stub: Path, tmp_path: Path) -> None:
    assert proposed(shell, stub, "file", "show", "a") == ["ai/one"]
    proposed(shell, stub, "file", "save", "-b", "ai/two", "src/")
    proposed(shell, stub, "log", "--path", "src/")
    assert calls(tmp_path) == [
        "completion --words paths --begun a",
        "completion --words paths --begun src/ --at ai/two",
        "completion --words paths --begun src/",
    ]


def test_every_place_that_is_told_apart_is_there() -> None:
    found = {f"{node.path} " for node in nodes()}
    assert {f"{place.rpartition(' ')[0]} " for place in _BY_PLACE} <= found
    kinds = {kind for node in nodes() for kind in (*node.arguments, *(flag.kind for flag in node.flags))}
    assert set(_BY_PLACE.values()) <= kinds


@SHELLS
@pytest.mark.req("X-02")
def test_files_and_folders_are_the_shell_s_own_affair(shell: Shell, stub: Path, tmp_path: Path) -> None:
    (tmp_path / "idea one.md").touch()
    (tmp_path / "ideas").mkdir()
    assert proposed(shell, stub, "run", "id") == ["idea one.md", "ideas"]
    assert proposed(shell, stub, "-C", "id") == ["ideas"]
    assert calls(tmp_path) == []


@SHELLS
@pytest.mark.req("X-02")
def test_names_are_those_of_the_repository_that_was_named(shell: Shell, stub: Path, tmp_path: Path) -> None:
    assert proposed(shell, stub, "-C", "ideas", "chat", "-b", "a") == ["ai/one"]
    assert proposed(shell, stub, "merge", "-C", "ideas", "a") == ["ai/one"]
    home = Typing(shell, script(shell), stub).home
    Typing(shell, script(shell), stub).line("forge -C ~/ideas merge a", setup(shell, stub))
    assert calls(tmp_path) == [
        "-C ideas completion --words branches",
        "-C ideas completion --words revisions",
        f"-C {home}/ideas completion --words revisions",
    ]


@SHELLS
@pytest.mark.req("X-02")
def test_nothing_is_proposed_where_nothing_fits(shell: Shell, stub: Path, tmp_path: Path) -> None:
    assert proposed(shell, stub, "nothing-like-it") == []
    assert proposed(shell, stub, "chat", "-m", "") == []
    assert proposed(shell, stub, "project", "show", "main", "") == []
    assert proposed(shell, stub, "project", "show", "--earlier", "main", "") == []
    assert proposed(shell, stub, "branch", "list", "--", "--") == []
    assert calls(tmp_path) == []


@SHELLS
def test_names_with_signs_that_mean_something_to_a_shell_are_only_words(
    shell: Shell, stub: Path, tmp_path: Path
) -> None:
    write_program(stub / "forge", """printf '%s\n' 'a$(touch${IFS}made)' 'a`touch${IFS}made`'""")
    proposed(shell, stub, "chat", "--branch", "a")
    assert not (tmp_path / "made").exists()


NAMES = r"""
case "$*" in
    *'-C my place'*) echo 'here&there' ;;
    *paths*'--begun notes of may/'*) echo 'notes of may/one day.md' ;;
    *paths*'--begun @types/'*) echo '@types/x:y.md' ;;
    *paths*) printf '%s\n' 'my file.md' 'a"b$c.md' "it's.md" 'notes of may/' '@types/' ;;
    *) printf '%s\n' main "o'neil" ;;
esac
"""


def setup(shell: Shell, programs: Path) -> str:
    """What the first lines of the script tell people to do, once."""
    text = script(shell)
    (programs / f"script.{shell}").write_text(text)
    hint = next(line for line in text.splitlines() if "forge completion" in line)
    told = hint.partition(": ")[2].replace(f"forge completion {shell}", f"cat {programs}/script.{shell}")
    return f"mkdir -p ~/.config/fish/completions\n{told}" if shell is Shell.FISH else told


@SHELLS
@pytest.mark.req("X-02")
@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("forge bra", "forge branch "),
        ("forge --vers", "forge --version "),
        ("forge help project sta", "forge help project status "),
        ("forge chat --branch a", "forge chat --branch ai/one "),
        ("forge chat --branch=a", "forge chat --branch=ai/one "),
        ("forge file show --at=main s", "forge file show --at=main src/"),
    ],
)
def test_a_line_is_completed_in_the_shell_where_it_was_set_up_as_told(
    shell: Shell, stub: Path, typed: str, line: str
) -> None:
    write_program(stub / "forge", 'case "$*" in *paths*--at\\ main) echo src/ ;; *) printf "main\\nai/one\\n" ;; esac')
    assert Typing(shell, script(shell), stub).line(typed, setup(shell, stub)) == line


@SHELLS
@pytest.mark.req("X-02")
@pytest.mark.parametrize(
    ("typed", "word"),
    [
        ("forge file show my\\ fi", "my file.md"),
        ('forge file show "my fi', "my file.md"),
        ("forge file show 'my fi", "my file.md"),
        ('forge file show "a', 'a"b$c.md'),
        ("forge file show 'it", "it's.md"),
        ("forge file show it", "it's.md"),
        ('forge file show "notes of ', "notes of may/one day.md"),
        ("forge file show notes\\ of\\ may/o", "notes of may/one day.md"),
        ('forge file show "notes of may/o', "notes of may/one day.md"),
        ("forge file show @ty", "@types/x:y.md"),
        ("forge file show @types/x:", "@types/x:y.md"),
        ('forge file save --branch="o', "o'neil"),
        ("forge file save --branch=o", "o'neil"),
        ("forge merge o\\'n", "o'neil"),
        ("forge -C 'my place' merge h", "here&there"),
    ],
)
def test_words_that_were_quoted_are_completed(shell: Shell, tmp_path: Path, typed: str, word: str) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    write_program(programs / "forge", NAMES)
    line = Typing(shell, script(shell), programs).line(typed, setup(shell, programs))
    while line.endswith("/"):  # a folder: the next key
        line = Typing(shell, script(shell), programs).line(line, setup(shell, programs))
    assert line.endswith(" ")
    words = subprocess.check_output([shell, "-c", line.replace("forge", "printf '%s\\n'", 1)], text=True).splitlines()
    assert words[-1].removeprefix("--branch=") == word


def test_every_command_has_its_place() -> None:
    found = {node.path: node for node in nodes()}
    assert {name for name, _ in found[""].words} == {*(n for g in main.GROUPS.values() for n in g), "help"}
    assert found["project rename"].arguments == ("projects", "", "")
    assert isinstance(found["branch new"], Node)


def test_the_script_is_printed_for_the_shell_that_is_named(forge: Forge) -> None:
    assert forge("completion", "bash").out == script(Shell.BASH)
    assert forge("completion", "fish", "--json").document == {"shell": "fish", "script": script(Shell.FISH)}
    ran = forge("completion", "--json")
    assert (ran.code, ran.error) == (2, "bad_usage")
    assert forge("completion", "tcsh").code == 2


def test_names_are_printed_one_a_line(
    forge: Forge, make_repo: MakeRepo, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo({"a": "a\n"})
    git(repo, "branch", "ai/two")
    monkeypatch.setenv("FORGE_WORKSPACE", str(tmp_path / "workspace"))
    (tmp_path / "workspace" / "projects" / "party").mkdir(parents=True)
    (tmp_path / "workspace" / "projects" / ".new-x").mkdir()
    assert forge("-C", str(repo), "completion", "--words", "branches").out == snapshot("ai/two\nmain\n")
    assert forge("completion", "--words", "projects").out == "party\n"
    assert forge("-C", str(tmp_path), "completion", "--words", "branches", "--json").document == []


def test_tags_paths_settings_and_prompts_are_printed_too(
    forge: Forge, make_repo: MakeRepo, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = make_repo({"a": "a\n", "src/b": "b\n", "src/deep/c": "c\n"})
    git(repo, "tag", "v1")
    git(repo, "switch", "-qc", "other")
    git(repo, "rm", "-qr", "src")
    git(repo, "commit", "-qm", "less")
    monkeypatch.chdir(repo)
    assert forge("completion", "--words", "revisions").out == "main\nother\nv1\n"
    assert forge("completion", "--words", "paths").out == "a\n"
    assert forge("completion", "--words", "paths", "--at", "main").out == "a\nsrc/\n"
    assert forge("completion", "--words", "paths", "--at", "main", "--begun", "src/d").out == "src/b\nsrc/deep/\n"
    assert forge("completion", "--words", "paths", "--begun", "nowhere/x").out == ""
    assert "polish.max_iterations" in forge("completion", "--words", "settings").out.splitlines()
    assert "chat" in forge("completion", "--words", "prompts").out.splitlines()
