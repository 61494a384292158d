"""Whether a file parses, and where not: tree-sitter for programs, the parsers at hand for JSON, YAML and TOML."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from posixpath import splitext

from forge.tools import parse_errors
from forge.tools.parse_errors import Place, places
from forge.tools.result_text import plural

LARGEST = 1_000_000
"""Characters; beyond it nothing is parsed."""
_SMALL = 8_000
"""Up to here even nonsense is parsed at once."""
_SECONDS = 5.0
_DEEPEST = 500

_GRAMMARS = {
    ".py": ("tree_sitter_python", "language"),
    ".pyi": ("tree_sitter_python", "language"),
    ".js": ("tree_sitter_javascript", "language"),
    ".mjs": ("tree_sitter_javascript", "language"),
    ".cjs": ("tree_sitter_javascript", "language"),
    ".jsx": ("tree_sitter_javascript", "language"),
    ".ts": ("tree_sitter_typescript", "language_typescript"),
    ".mts": ("tree_sitter_typescript", "language_typescript"),
    ".cts": ("tree_sitter_typescript", "language_typescript"),
    ".tsx": ("tree_sitter_typescript", "language_tsx"),
    ".go": ("tree_sitter_go", "language"),
    ".rs": ("tree_sitter_rust", "language"),
    ".java": ("tree_sitter_java", "language"),
    ".c": ("tree_sitter_c", "language"),
    ".cc": ("tree_sitter_cpp", "language"),
    ".cpp": ("tree_sitter_cpp", "language"),
    ".cxx": ("tree_sitter_cpp", "language"),
    ".hh": ("tree_sitter_cpp", "language"),
    ".hpp": ("tree_sitter_cpp", "language"),
}
_HEADER = ".h"


@dataclass(frozen=True, slots=True)
class Fault:
    """A place where a parser stumbled; lines and columns from 1."""

    line: int
    column: int
    what: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.what}"


def is_known(path: str) -> bool:
    suffix = splitext(path)[1].lower()
    return suffix in _GRAMMARS or suffix in _DATA or suffix == _HEADER


def faults(path: str, text: str) -> tuple[Fault, ...]:
    """The first places where `text` does not parse as what its name says; none for names that tell nothing."""
    suffix = splitext(path)[1].lower()
    if len(text) > LARGEST:
        return ()
    if suffix in _DATA:
        return _DATA[suffix](text)
    if suffix == _HEADER:  # C or C++: nobody knows from the name
        return _program_faults(text, *_GRAMMARS[".c"]) and _program_faults(text, *_GRAMMARS[".cpp"])
    return _program_faults(text, *_GRAMMARS[suffix]) if suffix in _GRAMMARS else ()


def warning(path: str, before: str | None, after: str) -> str:
    """A line for the model when an edit broke a file that parsed, or a new one does not parse; else nothing."""
    if not is_known(path):
        return ""
    found = faults(path, after)
    if not found or (before is not None and faults(path, before)):
        return ""
    more = f" ({plural(len(found), 'place')} in all)" if len(found) > 1 else ""
    return f"\nWarning: {path} does not parse now: {found[0]}{more}."


def _program_faults(text: str, module: str, function: str) -> tuple[Fault, ...]:
    found = places(text, module, function) if len(text) <= _SMALL else _apart(text, module, function)
    return tuple(Fault(*place) for place in found)


def _apart(text: str, module: str, function: str) -> list[Place]:
    """Parse in a process of its own, which is given up when it takes too long: then nothing is known."""
    request = json.dumps({"text": text, "module": module, "function": function})
    try:
        done = subprocess.run(
            [sys.executable, "-I", parse_errors.__file__],
            input=request.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_SECONDS,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError):
        return [(1, 1, "it is too tangled to be checked")]
    return [(line, column, what) for line, column, what in json.loads(done.stdout)]


def _json_faults(text: str) -> tuple[Fault, ...]:
    try:
        json.loads(text)
    except json.JSONDecodeError as e:
        return (Fault(e.lineno, e.colno, e.msg),)
    except (RecursionError, ValueError) as e:
        return (Fault(1, 1, f"{type(e).__name__}: nested too deeply or a number is too long"),)
    return ()


def _toml_faults(text: str) -> tuple[Fault, ...]:
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as e:
        return (_toml_fault(text, str(e)),)
    return ()


def _toml_fault(text: str, said: str) -> Fault:
    """The parser tells the place only in its sentence: `… (at line 3, column 5)`."""
    what, _, place = said.rpartition(" (at ")
    numbers = [int(word) for word in place.rstrip(")").replace(",", "").split() if word.isdigit()]
    if len(numbers) == 2:
        return Fault(numbers[0], numbers[1], what)
    return Fault(text.count("\n") + 1, 1, what or said)


def _brackets_deep(text: str) -> int:
    depth = deepest = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}":
            depth -= 1
    return deepest


def _yaml_faults(text: str) -> tuple[Fault, ...]:
    import yaml  # noqa: PLC0415

    if _brackets_deep(text) > _DEEPEST:  # the parser's time grows with depth times length
        return (Fault(1, 1, f"brackets nested more than {_DEEPEST} deep"),)
    # Events only: building values would expand aliases, and a few lines could then fill the memory.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for _ in yaml.parse(text, Loader=loader):
            pass
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        return (Fault(mark.line + 1 if mark else 1, mark.column + 1 if mark else 1, e.problem or "not valid"),)
    except (yaml.YAMLError, RecursionError, ValueError) as e:
        return (Fault(1, 1, str(e).split("\n")[0]),)
    return ()


_DATA: dict[str, Callable[[str], tuple[Fault, ...]]] = {
    ".json": _json_faults,
    ".toml": _toml_faults,
    ".yaml": _yaml_faults,
    ".yml": _yaml_faults,
}
