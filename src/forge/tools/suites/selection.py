"""Which tests of a suite run: those that a person's pattern names, or those that failed a moment ago."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from forge.errors import InvalidInput
from forge.tools.suites.cases import Case
from forge.tools.suites.suite import Suite

_LANGUAGES = {
    **dict.fromkeys(("pytest", "unittest"), "py"),
    **dict.fromkeys(("node", "jest", "vitest", "mocha", "bun", "deno"), "[mc]?[jt]sx?"),
    **dict.fromkeys(("rspec", "minitest"), "rb"),
    **dict.fromkeys(("maven", "gradle"), "java|kt|groovy|scala"),
    "go": "go",
    "cargo": "rs",
    "phpunit": "php",
}
_TAKES_VALUE = ("-p", "-k", "-m", "-o", "-n", "-c", "-W", "-r")


def selected(suite: Suite, pattern: str) -> tuple[str, ...]:
    """Words for the runner. A pattern with a slash, a `::` or the ending of a file is a path, else part of a name."""
    if not pattern:
        return ()
    kind = suite.kind
    if is_path(pattern) and kind.by_path:
        return (pattern,)
    if not kind.by_name:
        raise InvalidInput(
            f"`{suite.command}` cannot run some of its tests.",
            hint="Leave the pattern out, or set a command that a known runner starts: `forge test --set COMMAND`.",
        )
    return tuple(word.replace("{}", pattern) for word in kind.by_name.split(" "))


def can_select(suite: Suite, pattern: str) -> bool:
    """Whether a file of this name could be one of the suite's, and whether the runner can run a part of it."""
    kind = suite.kind
    if not is_path(pattern):
        return bool(kind.by_name)
    ending = re.search(r"\.(\w{1,5})(?:::|:|\Z)", pattern)
    languages = _LANGUAGES.get(kind.name)
    if ending and languages and not re.fullmatch(languages, ending[1]):
        return False
    return kind.by_path or bool(kind.by_name)


def is_path(pattern: str) -> bool:
    return "/" in pattern or "::" in pattern or bool(re.search(r"\.\w{1,5}\Z", pattern))


def failed_again(suite: Suite, failed: Sequence[Case]) -> tuple[str, ...] | None:
    """Words that run just these; None where the runner cannot, or does not say how."""
    words = [case.selector for case in failed]
    if not all(words):
        return None
    either = "|".join(f"^{re.escape(word)}$" for word in words)
    match suite.runner:
        case "pytest" if not _names_files(suite.command):
            return tuple(words)
        case "unittest":
            return tuple(part for word in words for part in ("-k", word))
        case "go":
            tops = dict.fromkeys(re.escape(word.partition("/")[0]) for word in words)
            return ("-count=1", "-run", f"^({'|'.join(tops)})$")
        case "cargo":
            return ("--", "--exact", *words)
        case "jest" | "vitest":
            return ("-t", either)
        case "mocha":
            return ("--grep", either)
        case "node":
            return tuple(f"--test-name-pattern=/^{re.escape(word)}$/" for word in words)
        case "rspec":
            return tuple(words)
    return None


def _names_files(command: str) -> bool:
    """Whether the command itself says what to run: further words would add to it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return True
    start = next((number for number, word in enumerate(words) if word.endswith(("pytest", "py.test"))), len(words))
    before = ""
    for word in words[start + 1 :]:
        if not word.startswith("-") and before not in _TAKES_VALUE:
            return True
        before = word
    return False
