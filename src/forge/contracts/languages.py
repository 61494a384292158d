"""Which language a path is in, and which languages a stack names."""

from __future__ import annotations

import re

_SUFFIXES = {
    "C": (".c", ".h"),
    "C#": (".cs",),
    "C++": (".cc", ".cpp", ".hpp"),
    "Dart": (".dart",),
    "Elixir": (".ex", ".exs"),
    "Go": (".go",),
    "Java": (".java",),
    "JavaScript": (".js", ".jsx", ".mjs", ".cjs"),
    "Kotlin": (".kt", ".kts"),
    "PHP": (".php",),
    "Python": (".py", ".pyi"),
    "Ruby": (".rb",),
    "Rust": (".rs",),
    "Scala": (".scala",),
    "Swift": (".swift",),
    "TypeScript": (".ts", ".tsx", ".mts"),
}
_OTHER_NAMES = {"node": "JavaScript", "node.js": "JavaScript", "golang": "Go", "js": "JavaScript", "ts": "TypeScript"}
_NAMES = {name.casefold(): name for name in _SUFFIXES} | _OTHER_NAMES
_BY_SUFFIX = {suffix: name for name, suffixes in _SUFFIXES.items() for suffix in suffixes}
_WORD = re.compile(r"[A-Za-z][A-Za-z.+#]*")


def languages_in(text: str) -> frozenset[str]:
    """Every language that is named, by its word alone."""
    words = (word.casefold().rstrip(".") for word in _WORD.findall(text))
    return frozenset(_NAMES[word] for word in words if word in _NAMES)


def language_of(path: str) -> str | None:
    """By the suffix of a path or pattern; None where it has none that says so."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return _BY_SUFFIX.get(name[dot:].casefold()) if dot >= 0 else None


def fits(language: str, known: frozenset[str]) -> bool:
    """Headers of C belong to C++ too, and JavaScript to whatever is written in TypeScript."""
    also = {"C": "C++", "JavaScript": "TypeScript"}.get(language)
    return language in known or also in known
