"""The Tab key in bash, zsh and fish themselves: what each proposes for a line, and what it makes of it."""

from __future__ import annotations

import os
import select
import shlex
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from forge.cli.terminal.shells import Shell

_BASH = """
source "$1"; shift
COMP_LINE="forge $*"; COMP_POINT=${#COMP_LINE}; _forge forge "${@: -1}"
printf '%s\\n' "${COMPREPLY[@]}"
"""
_FISH = 'source "$argv[1]"; complete -C "$argv[2]"'
# zsh completes only where somebody types. What is proposed is what it would add; questions of its own go past.
_ZSH = """
compadd() {
    local -a hits
    if [[ ${argv[(I)-[OAD]]} -eq 0 ]]; then builtin compadd -O hits "$@"; print -rl -- ${(Q)hits} >>$HOME/proposed; fi
    builtin compadd "$@"
}
"""
_TAKEN = {
    Shell.BASH: """bind -x '"\\C-g": printf "%s|\\n" "$READLINE_LINE" >$HOME/line'""",
    Shell.ZSH: """taken() { print -r -- "$BUFFER|" >$HOME/line }; zle -N taken; bindkey '^G' taken""",
    Shell.FISH: """bind \\cg 'echo (commandline)"|" >$HOME/line'""",
}
"""Ctrl-G writes the line as it stands into a file."""
_PLACES = {Shell.BASH: ".bashrc", Shell.ZSH: ".zshrc", Shell.FISH: ".config/fish/config.fish"}


@dataclass(frozen=True, slots=True)
class Typing:
    """A shell with this completion. `programs` come first on its PATH; it works in the folder that holds them."""

    shell: Shell
    script: str
    programs: Path

    def proposals(self, *words: str) -> list[str]:
        """What is proposed after `forge WORDS`, the last of which is being typed."""
        file = self._place / f"script.{self.shell}"
        file.write_text(self.script)
        if self.shell is Shell.ZSH:
            (self.home / "proposed").write_text("")
            self.line(f"forge {shlex.join(words[:-1])} {words[-1]}", f"source {file}\n{_ZSH}")
            found = (self.home / "proposed").read_text().splitlines()
        else:
            start = {
                Shell.BASH: ("--norc", "--noprofile", "-c", _BASH, "bash", str(file), *words),
                Shell.FISH: ("--no-config", "-c", _FISH, str(file), " ".join(("forge", *words))),
            }[self.shell]
            done = subprocess.run(
                [self._program, *start], capture_output=True, text=True, env=self._env, cwd=self._place, check=True
            )
            assert done.stderr == ""
            found = [line.partition("\t")[0] for line in done.stdout.splitlines()]
        return sorted({each.rstrip("/") if (self._place / each).is_dir() else each for each in found if each})

    def line(self, typed: str, setup: str) -> str:
        """What stands on the line after `typed` and Tab, in a shell that was set up like this."""
        start = "autoload -Uz compinit; compinit -D -u\n" if self.shell is Shell.ZSH else ""
        (self.home / _PLACES[self.shell]).parent.mkdir(parents=True, exist_ok=True)
        (self.home / _PLACES[self.shell]).write_text(f"{start}{setup}\n{_TAKEN[self.shell]}\n: >$HOME/ready\n")
        (self.home / "line").unlink(missing_ok=True)
        (self.home / "ready").unlink(missing_ok=True)
        master, slave = os.openpty()
        shell = subprocess.Popen(
            ["setsid", "--ctty", self._program, "-i"],
            stdin=slave, stdout=slave, stderr=slave, env=self._env, cwd=self._place,
        )  # fmt: skip
        os.close(slave)
        try:
            _until_there(self.home / "ready", master)
            os.write(master, f"{typed}\t\x07".encode())
            return _until_there(self.home / "line", master).removesuffix("|\n")
        finally:
            shell.kill()
            shell.wait()
            os.close(master)

    @property
    def _program(self) -> str:
        program = shutil.which(self.shell)
        if program is None:
            pytest.skip(f"{self.shell} is not installed (apt-get install {self.shell})")
        return program

    @property
    def _place(self) -> Path:
        return self.programs.parent

    @property
    def home(self) -> Path:
        home = self._place / "home"
        # Where it is missing, fish reads all manual pages of the machine for minutes, and outlives the test by that.
        (home / ".local/share/fish/generated_completions").mkdir(parents=True, exist_ok=True)
        return home

    @property
    def _env(self) -> dict[str, str]:
        path = f"{self.programs}:{os.environ['PATH']}"
        return {"HOME": str(self.home), "PATH": path, "TERM": "xterm", "LC_ALL": "C.UTF-8"}


def _until_there(file: Path, master: int) -> str:
    """The text of a file that a shell writes; what it shows meanwhile is let pass."""
    shown, deadline = b"", time.monotonic() + 30
    while not (file.exists() and (file.name == "ready" or file.read_text().endswith("\n"))):
        assert time.monotonic() < deadline, f"waited in vain; the terminal showed {shown!r}"
        if select.select([master], [], [], 0.02)[0]:
            shown += os.read(master, 65536)
    return file.read_text()
