"""What a repository is, read off the overview in the prompt: languages, main files, how its tests seem to be run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from forge.agents.model import Prompt
from forge.sessions.messages import ContextMessage

_LANGUAGES = {
    suffix: language
    for language, suffixes in {
        "Python": "py pyi",
        "JavaScript": "js mjs cjs jsx",
        "TypeScript": "ts tsx",
        "Go": "go",
        "Rust": "rs",
        "Java": "java",
        "Kotlin": "kt",
        "C": "c h",
        "C++": "cpp cc cxx hpp",
        "C#": "cs",
        "Ruby": "rb",
        "PHP": "php",
        "Swift": "swift",
        "Shell": "sh bash",
        "SQL": "sql",
        "HTML": "html",
        "CSS": "css scss",
        "Markdown": "md",
        "YAML": "yaml yml",
        "JSON": "json",
        "TOML": "toml",
    }.items()
    for suffix in suffixes.split()
}
_MAIN = re.compile(
    r"(?:readme[^/]*|agents\.md|claude\.md|contributing[^/]*|pyproject\.toml|setup\.py|package\.json|go\.mod|cargo\.toml|"
    r"makefile|dockerfile|(?:src/)?(?:[\w-]+/)?(?:__main__|main|app|index|cli)\.\w+)",
    re.I,
)
_COUNTED = re.compile(r" — ([\d,]+) files?\b")
_MOST_NAMED = 12

ASKS = re.compile(
    r"\b(?:what(?:'s| is| does)|describe|explain|summari[sz]e|overview|tell me about|show me)\b.{0,40}"
    r"\b(?:repo(?:sitory)?|project|code ?base|branch|here|code)\b"
    r"|^overview\W*$|^describe\W*$|\bhow (?:do|can|are|to)\b.{0,30}\btests?\b|^what is this\W*$",
    re.I | re.S,
)


_SUMMARIES = ("Files of the branch,", "Some of the files,")
_FOLDERS = "Folders of the branch,"


def described(prompt: Prompt) -> str | None:
    """A few lines about the repository, or None if the prompt has no overview of it."""
    found = [m.text for m in prompt.messages if isinstance(m, ContextMessage) and m.kind == "overview"]
    if not found:
        return None
    overview = found[-1]
    paths, unnamed = _files(overview)
    if not paths and not unnamed:
        return "The repository has no files yet."
    more = f", {len(paths)} of which I know by name" if unnamed else ""
    count = len(paths) + unnamed
    told = f"It has {count:,} {'file' if count == 1 else 'files'}{more}."
    lines = [_languages(paths)]
    main = [path for path in paths if _MAIN.fullmatch(path)][:_MOST_NAMED]
    if main:
        lines.append(f"- Main files: {', '.join(f'`{path}`' for path in main)}.")
    folders = Counter(path.partition("/")[0] + "/" for path in paths if "/" in path)
    if folders:
        lines.append("- Folders: " + ", ".join(f"`{name}` ({count})" for name, count in folders.most_common(8)) + ".")
    facts = "\n".join(line for line in lines if line)
    return "\n\n".join(part for part in (told, facts, _tests(paths)) if part)


def _files(overview: str) -> tuple[list[str], int]:
    """Paths that the overview names, in a line of their own or behind their folder, and how many it only counts."""
    paths: list[str] = []
    in_folders = unnamed = 0
    for block in overview.strip().split("\n\n"):
        head, *lines = block.splitlines()
        for line in lines:
            folder, colon, names = line.partition("/: ")
            counted = _COUNTED.search(line)
            if head.startswith(_SUMMARIES):
                paths.append(line.partition(" — ")[0])
            elif colon:
                paths += [name if folder == "." else f"{folder}/{name}" for name in names.split(", ")]
            elif counted is not None and head.startswith(_FOLDERS):
                in_folders += int(counted[1].replace(",", ""))
            elif counted is not None:
                unnamed += int(counted[1].replace(",", ""))
    return paths, unnamed or max(in_folders - len(paths), 0)


def _languages(paths: Iterable[str]) -> str:
    suffixes = (path.rpartition(".")[2].lower() for path in paths)
    counted = Counter(_LANGUAGES[suffix] for suffix in suffixes if suffix in _LANGUAGES)
    named = ", ".join(f"{name} ({count})" for name, count in counted.most_common(6))
    return f"- By language: {named}." if named else ""


def _tests(paths: list[str]) -> str:
    names = {path.rpartition("/")[2] for path in paths}
    at_root = {path for path in paths if "/" not in path}
    has_python_tests = any(re.fullmatch(r"test_\w+\.py|\w+_test\.py", name) for name in names)
    ways = [
        ("`pytest`", has_python_tests),
        ("`npm test`", "package.json" in at_root),
        ("`go test ./...`", "go.mod" in at_root),
        ("`cargo test`", "Cargo.toml" in at_root),
    ]
    likely = [way for way, there in ways if there]
    if not likely:
        return "I see no sign of how its tests are run."
    return f'Its tests seem to be run with {" or ".join(likely)}; say "run tests" and I will.'
