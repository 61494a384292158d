"""Scripts that complete Forge's command line in bash, zsh and fish."""

from __future__ import annotations

import shlex
from enum import StrEnum

from forge.cli.terminal.name_completion import Words
from forge.cli.terminal.parser import EVERYWHERE
from forge.cli.terminal.word_tables import Node, nodes

_HINTS = {
    "bash": 'Put this into ~/.bashrc: eval "$(forge completion bash)"',
    "zsh": 'Put this into ~/.zshrc, after compinit: eval "$(forge completion zsh)"',
    "fish": "Once: forge completion fish > ~/.config/fish/completions/forge.fish",
}


class Shell(StrEnum):
    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


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
# From the words before the cursor: what is wanted now (_kind), and where (_dir, _at).
_forge_find() {
    _path= _kind= _dir= _at= _number=0 _plain=
    _forge_after ''
    while [ $# -gt 0 ]; do
        if [ -n "$_plain" ]; then
            _number=$((_number + 1))
        else
            case "$1" in --*=*) _each=$1; shift; set -- "${_each%%=*}" "${_each#*=}" "$@" ;; esac
            case "$1" in
                --) _plain=yes _flags= _words= ;;
                -*)
                    case "$_values" in
                        *" $1="*)
                            _kind=${_values#*" $1="}
                            _kind=${_kind%% *}
                            if [ $# -eq 1 ]; then _kind="value:$_kind"; return; fi
                            case "$1" in -C) _dir=$2 ;; -b|--branch|--at) _at=$2 ;; esac
                            case "$_dir" in '~'|'~/'*) _dir=$HOME${_dir#'~'} ;; esac
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
        branches|revisions|projects|settings|prompts)
            command forge ${_dir:+-C "$_dir"} completion --words "${_kind#value:}" 2>/dev/null ;;
        paths)
            command forge ${_dir:+-C "$_dir"} completion --words paths --begun "$1" ${_at:+--at "$_at"} 2>/dev/null ;;
        =*) printf '%s\n' "${_kind#*=}" | tr ',' '\n' ;;
    esac
    if [ -n "$_words" ]; then printf '%s\n' $_words; fi
}
"""

_BASH = r"""
# The line as bash will read it: the words before the cursor (before) and the one being typed (current). Readline
# replaces only its end, which is $1: what stands before that (kept), and which quote is open there (open).
_forge_read() {
    local line=${COMP_LINE:0:COMP_POINT} quote= begun= sign
    local -i i at=COMP_POINT-${#1}
    for ((i = 0; i <= ${#line}; i++)); do
        if ((i == at)); then kept=$current open=$quote; fi
        sign=${line:i:1}
        case "$quote$sign" in
            "''" | '""') quote= ;;
            '"\') i+=1; case "${line:i:1}" in [\"\\\$\`]) current+=${line:i:1} ;; *) current+=\\${line:i:1} ;; esac ;;
            [\'\"]?*) current+=$sign ;;
            [\'\"]) quote=$sign begun=yes ;;
            '\') i+=1 current+=${line:i:1} begun=yes ;;
            [[:space:]]) if [ -n "$begun" ]; then before+=("$current"); current= begun=; fi ;;
            *) current+=$sign begun=yes ;;
        esac
    done
}

# A name as it is written after what was kept.
_forge_quoted() {
    local name=$1
    case "$open" in
        "'") name=${name//\'/\'\\\'\'} ;;
        '"') name=${name//\\/\\\\}; name=${name//\"/\\\"}; name=${name//\$/\\\$}; name=${name//\`/\\\`} ;;
        *) if [ -n "$name" ]; then printf -v name %q "$name"; fi ;;
    esac
    printf %s "$name"
}

_forge() {
    local _words _flags _values _arguments _path _kind _dir _at _number _plain _each IFS=$' \t\n'
    local current= kept= open= option= word
    local -a before=() found=()
    _forge_read "$2"
    if [[ $current == --*=* && " ${before[*]} " != *' -- '* ]]; then
        option=${current%%=*}=
        before+=("${option%=}")
        current=${current#*=}
    fi
    _forge_find "${before[@]:1}"
    COMPREPLY=()
    case "${_kind#value:}" in
        files) IFS=$'\n'; found=($(compgen -f -- "$current")) ;;
        folders) IFS=$'\n'; found=($(compgen -d -- "$current")) ;;
    esac
    if [ ${#found[@]} -gt 0 ]; then  # readline itself quotes them
        compopt -o filenames 2>/dev/null
        for word in "${found[@]}"; do word=$option$word; COMPREPLY+=("${word#"$kept"}"); done
        found=()
    fi
    # Not by `compgen -W`, which would run what stands in the name of a branch.
    while IFS= read -r word; do
        if [[ $word == "$current"* ]]; then found+=("$word"); fi
    done < <(_forge_words "$current")
    # Readline would close the quote behind a folder: what is in it is proposed at once.
    while [[ -n $open && ${#found[@]} -eq 1 && ${found[0]} == */ && ${found[0]} != "$current" ]]; do
        current=${found[0]} found=()
        while IFS= read -r word; do found+=("$word"); done < <(_forge_words "$current")
    done
    for word in "${found[@]}"; do word=$option$word; COMPREPLY+=("$(_forge_quoted "${word#"$kept"}")"); done
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _forge forge
"""

_ZSH = r"""
_forge() {
    local _words _flags _values _arguments _path _kind _dir _at _number _plain _each
    local -a before found
    before=("${(@Q)words[2,CURRENT-1]}")
    if [[ $PREFIX == --*=* && ${before[(Ie)--]} -eq 0 ]]; then before+=("${PREFIX%%=*}"); compset -P '*='; fi
    () { emulate -L sh; _forge_find "$@" } "${before[@]}"
    found=(${(f)"$(emulate -L sh; _forge_words "${(Q)PREFIX}")"})
    case "${_kind#value:}" in
        files) _files && return ;;
        folders) _files -/ && return ;;
    esac
    compadd -S '' -- ${(M)found:#*/}
    compadd -- ${found:#*/}
    ((compstate[nmatches]))
}
if [ "$funcstack[1]" = "_forge" ]; then _forge "$@"; else compdef _forge forge; fi
"""

_FISH = r"""
# From the words before the cursor: the command, how many arguments it has got, and where names are looked up.
function __forge_find
    set -l words (commandline -opc)
    test "$words" = "$__forge_found"; and return
    set -g __forge_found $words
    set -g __forge_path ''
    set -g __forge_number 0
    set -g __forge_dir
    set -g __forge_rev
    set -l option ''
    set -l plain ''
    for word in $words[2..-1]
        if test -n "$option"
            switch $option
                case -C
                    set __forge_dir -C (string replace -r '^~(?=/|$)' $HOME -- $word)
                case -b --branch --at
                    set __forge_rev --at $word
            end
            set option ''
        else if test -n "$plain"
            set __forge_number (math $__forge_number + 1)
        else if test "$word" = --
            set plain yes
        else if string match -qr -- '^--(branch|at)=' $word
            set __forge_rev --at (string replace -r -- '^[^=]*=' '' $word)
        else if string match -q -- '-*' $word
            if test "$word" = -C; or contains -- "$__forge_path $word" $__forge_valued
                set option $word
            end
        else if test $__forge_number -eq 0; and contains -- (string trim -- "$__forge_path $word") $__forge_paths
            set __forge_path (string trim -- "$__forge_path $word")
        else if test "$__forge_path $word" != ' help'
            set __forge_number (math $__forge_number + 1)
        end
    end
end
function __forge_after
    __forge_find
    test "$__forge_path" = "$argv[1]"
end
function __forge_argument
    __forge_after $argv[1]; and test $__forge_number $argv[2] $argv[3]
end
function __forge_names
    set -l current (commandline -ct)
    # An option is being typed, not a name.
    string match -qr -- '^-[^=]*$' $current; and return
    __forge_find
    set -l more
    if test $argv[1] = paths
        # As fish will read it; a quote may still be open.
        for open in '' \" \'
            set -l read (string unescape -- $current$open); and set current $read; and break
        end
        set more --begun (string replace -r -- '^--[^=]*=' '' $current) $__forge_rev
    end
    command forge $__forge_dir completion --words $argv[1] $more 2>/dev/null
end
complete -c forge -f
complete -c forge -s C -x -a '(__fish_complete_directories)' -d 'Work on the repository at DIR'
complete -c forge -l json -d 'One JSON document on standard output'
complete -c forge -l direct -d 'Let agents work in this process'
complete -c forge -s h -l help -d 'Explain it'
"""


def _fish(found: tuple[Node, ...]) -> str:
    paths = " ".join(f"'{node.path}'" for node in found if node.path)
    valued = " ".join(
        f"'{node.path} {name}'" for node in found for flag in node.flags if flag.kind is not None for name in flag.names
    )
    lines = [
        f"# {_HINTS['fish']}",
        f"set -g __forge_paths {paths}",
        f"set -g __forge_valued {valued}",
        _FISH.strip(),
    ]
    for node in found:
        at = f"complete -c forge -n \"__forge_after '{node.path}'\""
        begun = f"complete -c forge -n \"__forge_argument '{node.path}' -eq 0\""
        lines += [f"{begun} -a {word} -d {_fished(about)}" for word, about in node.words]
        for flag in node.flags:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in flag.names)
            value = "" if flag.kind is None else f" {_fish_value(flag.kind)}"
            lines.append(f"{at} {names}{value} -d {_fished(flag.about)}")
        for number, kind in enumerate(node.arguments):
            which = f"-{'ge' if number == len(node.arguments) - 1 else 'eq'} {number}"
            if kind:
                value = _fish_value(kind, option=False)
                lines.append(f"complete -c forge -n \"__forge_argument '{node.path}' {which}\" {value}")
    return "\n".join(lines) + "\n"


def _fish_value(kind: str, *, option: bool = True) -> str:
    if kind == "files":
        return "-r -F" if option else "-F"
    asked = {each.value: f"(__forge_names {each})" for each in Words}
    words = {"folders": "(__fish_complete_directories)", **asked}.get(kind, kind.removeprefix("=").replace(",", " "))
    return f"{'-x ' if option else ''}-a {_fished(words)}" if words else "-x"


def _fished(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
