"""`forge completion`: a script that lets bash, zsh or fish complete commands, options, branches and projects."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from forge.cli.main import GROUPS
from forge.cli.parser import EVERYWHERE, Command, Commands, Group
from forge.cli.running import BadUsage, Session
from forge.errors import ForgeError

app = Commands(__doc__)

_BY_METAVAR = {"BRANCH": "branches", "PROJECT": "projects", "FILE": "files", "PATH": "files", "DIR": "folders"}
_HINTS = {
    "bash": 'Put this into ~/.bashrc: eval "$(forge completion bash)"',
    "zsh": 'Put this into ~/.zshrc, after compinit: eval "$(forge completion zsh)"',
    "fish": "Once: forge completion fish > ~/.config/fish/completions/forge.fish",
}


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


class Words(StrEnum):
    BRANCHES = "branches"
    PROJECTS = "projects"


@app.add()
def completion(
    context: typer.Context,
    shell: Annotated[Shell | None, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")] = None,
    words: Annotated[Words | None, typer.Option("--words", help="Print names instead, as the script does.")] = None,
) -> None:
    """Print the script. It knows all commands and options; only names of branches and projects are asked for."""
    session: Session = context.obj
    out = session.output
    if words is not None:
        names = _branches(session.directory) if words is Words.BRANCHES else _projects()
        out.result(names)
        for name in names:
            out.line(name)
        return
    if shell is None:
        raise BadUsage("Say for which shell.", hint="forge completion bash|zsh|fish")
    text = script(shell)
    out.result({"shell": shell, "script": text})
    out.line(text.rstrip("\n"))


def _branches(directory: Path) -> list[str]:
    from forge.app.repositories import Repository  # noqa: PLC0415 - asked for in the middle of typing

    try:
        return [name for name, _ in Repository.open(directory).refs.branches()]
    except ForgeError:  # outside of a repository there is nothing to propose
        return []


def _projects() -> list[str]:
    from forge.app.settings import load_settings  # noqa: PLC0415

    try:
        places = sorted(os.scandir(load_settings(None, os.environ).workspace / "projects"), key=lambda each: each.name)
    except (ForgeError, OSError):
        return []
    return [place.name for place in places if place.is_dir() and not place.name.startswith(".")]


@dataclass(frozen=True, slots=True)
class Flag:
    """`kind` is what its value is: a fixed list of words after `=`, a kind that the script knows, empty for anything;
    None where it takes none.
    """

    names: tuple[str, ...]
    kind: str | None
    about: str


@dataclass(frozen=True, slots=True)
class Node:
    """What may follow after the words of `path`."""

    path: str
    words: tuple[tuple[str, str], ...] = ()
    flags: tuple[Flag, ...] = ()
    arguments: tuple[str, ...] = ()
    """The kind of each; the last one may come again."""


def nodes() -> tuple[Node, ...]:
    """The same tables that `forge --help` shows."""
    every = [(name, entry) for group in GROUPS.values() for name, entry in group.items()]
    found = [Node("", (*((name, entry.summary) for name, entry in every), ("help", "explain a command")))]
    for name, entry in every:
        found += _below(name, typer.main.get_command(import_module(f"forge.cli.{entry.module}").app))
    return tuple(found)


def _below(path: str, command: object) -> Iterator[Node]:
    if isinstance(command, Group):
        yield Node(path, tuple((word, _first(part.help)) for word, part in command.commands.items()))
        for word, part in command.commands.items():
            yield from _below(f"{path} {word}", part)
    elif isinstance(command, Command):
        flags = tuple(
            Flag(
                tuple(sorted((*option.opts, *option.secondary_opts), key=len)),
                None if option.is_flag else _kind(option),
                _first(option.help),
            )
            for option in command.options()
            if not option.hidden
        )
        kinds = [_kind(argument) for argument in command.arguments()]
        ends = [""] if kinds and command.arguments()[-1].nargs == 1 else []
        yield Node(path, (), flags, (*kinds, *ends))


def _kind(parameter: Any) -> str:
    annotation = parameter.type_descriptor.annotation
    for kind in (annotation, *get_args(annotation)):
        if isinstance(kind, type) and issubclass(kind, Enum):
            return "=" + ",".join(str(each.value) for each in kind)
        if isinstance(kind, type) and issubclass(kind, Path):
            return "files"
    return _BY_METAVAR.get(str(parameter.metavar or "").removesuffix("...").strip("[]").rpartition("_")[2], "")


def _first(text: str | None) -> str:
    return (text or "").partition("\n")[0].partition(". ")[0].rstrip(".")


def script(shell: Shell) -> str:
    match shell:
        case Shell.FISH:
            return _fish(nodes())
        case Shell.BASH:
            return f"# {_HINTS[shell]}\n{_table(nodes())}{_FINDING}{_BASH}"
        case Shell.ZSH:
            return f"#compdef forge\n# {_HINTS[shell]}\n{_table(nodes())}{_FINDING}{_ZSH}"


def _table(found: tuple[Node, ...]) -> str:
    """A function that sets what may follow a path; for bash and zsh alike."""
    lines = ["_forge_after() {", '    _words= _flags= _values=" -C=folders " _arguments=', '    case "$1" in']
    for node in found:
        words = " ".join(word for word, _ in node.words)
        flags = " ".join(name for flag in node.flags for name in flag.names)
        values = "".join(f" {name}={flag.kind}" for flag in node.flags if flag.kind is not None for name in flag.names)
        arguments = " ".join(kind or "-" for kind in node.arguments)
        sets = [("_words", words), ("_flags", flags), ("_arguments", arguments)]
        line = " ".join(f"{name}={shlex.quote(text)}" for name, text in sets if text)
        if values:
            line += f' _values="$_values"{shlex.quote(values + " ")}'
        lines.append(f"        {shlex.quote(node.path)}) {line} ;;")
    everywhere = " ".join(name for names, _ in EVERYWHERE for name in names.replace(",", "").split() if name[0] == "-")
    return "\n".join([*lines, "    esac", f'    _flags="$_flags {everywhere}"', "}", ""])


_FINDING = r"""
# From the words before the cursor: what is wanted now (_kind), and where (_dir).
_forge_find() {
    _path= _kind= _dir= _number=0 _plain=
    _forge_after ''
    while [ $# -gt 0 ]; do
        if [ -n "$_plain" ]; then
            _number=$((_number + 1))
        else
            case "$1" in
                --) _plain=yes _flags= _words= ;;
                -*)
                    case "$_values" in
                        *" $1="*)
                            _kind=${_values#*" $1="}
                            _kind=${_kind%% *}
                            if [ $# -eq 1 ]; then _kind="value:$_kind"; return; fi
                            if [ "$1" = -C ]; then _dir=$2; fi
                            shift ;;
                    esac ;;
                *)
                    case " $_words " in
                        *" $1 "*) _path="${_path:+$_path }$1"; [ "$1" = help ] && _path=; _forge_after "$_path" ;;
                        *) _number=$((_number + 1)) _words= ;;
                    esac ;;
            esac
        fi
        shift
    done
    _kind=
    for _each in $_arguments; do
        _kind=$_each
        if [ "$_number" -eq 0 ]; then break; fi
        _number=$((_number - 1))
    done
    if [ "$_kind" = - ]; then _kind=; fi
}

# Words that can stand at the cursor; files and folders are the shell's own affair.
_forge_words() {
    case "$_kind" in
        value:*) _words= ;;
        *) case "$1" in -*) if [ -n "$_flags" ]; then printf '%s\n' $_flags; fi; return ;; esac ;;
    esac
    case "${_kind#value:}" in
        branches|projects) command forge ${_dir:+-C "$_dir"} completion --words "${_kind#value:}" 2>/dev/null ;;
        =*) printf '%s\n' "${_kind#*=}" | tr ',' '\n' ;;
    esac
    if [ -n "$_words" ]; then printf '%s\n' $_words; fi
}
"""

_BASH = r"""
_forge() {
    local _words _flags _values _arguments _path _kind _dir _number _plain _each current word IFS=$' \t\n'
    local -a before=()
    current=${COMP_WORDS[COMP_CWORD]}
    if [ "$current" = '=' ]; then current=; fi
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [ "$word" != '=' ]; then before+=("$word"); fi
    done
    _forge_find "${before[@]}"
    COMPREPLY=()
    case "${_kind#value:}" in
        files) compopt -o filenames 2>/dev/null; IFS=$'\n'; COMPREPLY=($(compgen -f -- "$current")) ;;
        folders) compopt -o filenames 2>/dev/null; IFS=$'\n'; COMPREPLY=($(compgen -d -- "$current")) ;;
    esac
    # Not by `compgen -W`, which would run what stands in the name of a branch.
    while IFS= read -r word; do
        if [[ $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
    done < <(_forge_words "$current")
}
complete -F _forge forge
"""

_ZSH = r"""
_forge() {
    local _words _flags _values _arguments _path _kind _dir _number _plain _each current=${words[CURRENT]}
    local -a found
    () { emulate -L sh; _forge_find "$@" } "${(@)words[2,CURRENT-1]}"
    found=(${(f)"$(emulate -L sh; _forge_words "$current")"})
    case "${_kind#value:}" in
        files) _files ;;
        folders) _files -/ ;;
    esac
    compadd -a found
}
if [ "$funcstack[1]" = "_forge" ]; then _forge "$@"; else compdef _forge forge; fi
"""

_FISH = r"""
function __forge_after
    set -l path
    set -l words (commandline -opc)
    set -l skip yes
    for word in $words
        if test -n "$skip"
            set skip
        else if test "$word" = -C
            set skip yes
        else if contains -- (string trim "$path $word") $__forge_paths
            set path (string trim "$path $word")
        end
    end
    test "$path" = "$argv[1]"
end
complete -c forge -f
complete -c forge -s C -x -a '(__fish_complete_directories)' -d 'Work on the repository at DIR'
complete -c forge -l json -d 'One JSON document on standard output'
complete -c forge -l direct -d 'Let agents work in this process'
complete -c forge -s h -l help -d 'Explain it'
"""


def _fish(found: tuple[Node, ...]) -> str:
    paths = " ".join(f"'{node.path}'" for node in found if node.path)
    lines = [f"# {_HINTS['fish']}", f"set -g __forge_paths {paths}", _FISH.strip()]
    for node in found:
        at = f"complete -c forge -n \"__forge_after '{node.path}'\""
        lines += [f"{at} -a {word} -d {_fished(about)}" for word, about in node.words]
        for flag in node.flags:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)
            value = "" if flag.kind is None else f" {_fish_value(flag.kind)}"
            lines.append(f"{at} {names}{value} -d {_fished(flag.about)}")
        lines += [f"{at} {_fish_value(kind, option=False)}" for kind in dict.fromkeys(node.arguments) if kind]
    return "\n".join(lines) + "\n"


def _fish_value(kind: str, *, option: bool = True) -> str:
    if kind == "files":
        return "-r -F" if option else "-F"
    words = {
        "folders": "(__fish_complete_directories)",
        "branches": "(command forge completion --words branches 2>/dev/null)",
        "projects": "(command forge completion --words projects 2>/dev/null)",
    }.get(kind, kind.removeprefix("=").replace(",", " "))
    return f"{'-x ' if option else ''}-a {_fished(words)}" if words else "-x"


def _fished(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
