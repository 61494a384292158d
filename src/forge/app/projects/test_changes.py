"""What a build changed about its tests: files that check less than before, and places that could hide a failure.

These are signs, not proofs: whoever builds is told to take them back, and a person may accept them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress

from forge.git import VFS, NotText, Repository

_TEST_FILE = re.compile(r"(^|/)(tests?|__tests__|spec)/|(^|/)(test_[^/]*|[^/]*(_test|\.test|\.spec))\.\w+\Z")
_CHECK = re.compile(r"\bassert|\bexpect\(|\.should\b|\braises\(|\bt\.(?:Error|Fatal|Fail)")
_HOOK_FILE = re.compile(r"(^|/)(conftest|sitecustomize|usercustomize|_?pytest|unittest|setup[-_.]?tests?)(/|\.\w+\Z)")
"""Loaded by a runner before any test, or in place of the runner."""
_SETTINGS = re.compile(
    r"(^|/)(pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|\.mocharc[\w.]*|(jest|vitest|vite)\.config\.\w+)\Z"
)
_ANYWHERE = re.compile(
    r"\bos\._exit\(|\bjunit_?xml\b|\bxmlpath\b|\b(?:unittest|TestCase|TestResult|_pytest|pytest)(?:\.\w+)+\s*=(?!=)"
    r"|\bsetattr\(\s*(?:unittest|_?pytest)\b|\bsys\.modules\[[\"'](?:_?pytest|unittest)"
)
_IN_TESTS = re.compile(
    r"\bassert (?:True|1)\s*$|\bassert (?:True|1) *[,#]|\bassert (\d+|[\"']\w*[\"']) == \1\s*$"
    r"|\bassertTrue\((?:True|1)\)|\bassertFalse\((?:False|0)\)|\bassert(?:Equal|Is)\((\w+), \2\)"
    r"|\bexpect\((true|1)\)\.to(?:Be|Equal|BeTruthy)\((?:\3)?\)|\bassert(?:\.ok)?\((?:true|1)\)"
    r"|^(?:sys\.exit|exit|quit)\(|^raise SystemExit|^process\.exit\(0?\)|__test__\s*=\s*False",
    re.MULTILINE,
)
_IN_HOOKS = re.compile(
    r"\bcollect_ignore\w*|\bpytest_(?:ignore_collect|collection_modifyitems|collect_file|pycollect_\w+|itemcollected"
    r"|deselected|runtest_\w+|pyfunc_call|sessionfinish|cmdline_\w+|report_\w+|unconfigure)"
    r"|\b(?:sys\.exit|exit|quit)\(|\bSystemExit\b|\bprocess\.exit\("
)
_IN_SETTINGS = re.compile(
    r"^\s*\"?(?:testpaths|norecursedirs|python_(?:files|functions|classes)|collect_ignore\w*)\"?\s*="
    r"|--(?:ignore|deselect|collect-only|co|passWithNoTests)\b|-[km] [\"'\w]|-p no:(?!cacheprovider)"
    r"|\b(?:testPathIgnorePatterns|testMatch|testRegex|passWithNoTests|exclude|spec|ignore)\b\s*[:=]",
    re.MULTILINE,
)
_LONGEST = 60


def weakened(repo: Repository, since: str | None, now: str | None) -> tuple[str, ...]:
    """Test files of `since` that have fewer checks now. A deleted file is told by the tests that are gone."""

    def fewer(path: str, before: str | None, after: str) -> Iterator[str]:
        if before is not None and _TEST_FILE.search(path):
            had, has = (len(_CHECK.findall(text)) for text in (before, after))
            if has < had:
                yield f"{path} ({had} → {has})"

    return _told(repo, since, now, fewer)


def evasions(repo: Repository, since: str | None, now: str | None) -> tuple[str, ...]:
    """What was added that ends a run early, hides or replaces tests, changes their reports, or cannot fail."""

    def added(path: str, before: str | None, after: str) -> Iterator[str]:
        had = Counter(_signs(path, before or ""))
        for sign, count in Counter(_signs(path, after)).items():
            if count > had[sign]:
                yield f"{path} (`{sign}`)"
        if path.rpartition("/")[2] == "package.json" and before and _test_script(before) != _test_script(after):
            yield f"{path} (the script `test`)"

    return _told(repo, since, now, added)


def _signs(path: str, text: str) -> Iterator[str]:
    patterns = [_ANYWHERE]
    patterns += [_IN_TESTS] if _TEST_FILE.search(path) else []
    patterns += [_IN_HOOKS] if _HOOK_FILE.search(path) else []
    patterns += [_IN_SETTINGS] if _SETTINGS.search(path) else []
    for pattern in patterns:
        for found in pattern.finditer(text):
            yield " ".join(found[0].split())[:_LONGEST]


def _test_script(text: str) -> str:
    with suppress(ValueError, AttributeError):
        return str(json.loads(text).get("scripts", {}).get("test", ""))
    return ""


def _told(
    repo: Repository,
    since: str | None,
    now: str | None,
    look: Callable[[str, str | None, str], Iterator[str]],
) -> tuple[str, ...]:
    """For each changed text file: path, its text before, where it was there, and its text now."""
    if since is None or now is None or since == now:
        return ()
    old, new = repo.commit_vfs(since), repo.commit_vfs(now)
    found: list[str] = []
    for path in (change.path for change in repo.diff(since, now)):
        if path.startswith(".forge/") or not new.file_exists(path):
            continue
        with suppress(NotText):
            found += look(path, _text(old, path), new.read_file(path))
    return tuple(found)


def _text(files: VFS, path: str) -> str | None:
    return files.read_file(path) if files.file_exists(path) else None
