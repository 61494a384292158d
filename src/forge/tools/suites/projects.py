"""Test suites that the files of a build tool show: npm, Go, Cargo, Maven, Gradle, Ruby, PHP, CMake, Deno."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from forge.git import VFS, NotText
from forge.tools.suites.runner import runner_in
from forge.tools.suites.suite import Suite, suite_of

_NO_NPM_TESTS = "no test specified"
_NPM = "npm test --silent"
_BUILD = '"${TMPDIR:-/tmp}/forge-build"'
_CMAKE = f"cmake -S . -B {_BUILD} >/dev/null && cmake --build {_BUILD} >/dev/null && ctest --test-dir {_BUILD}"
_CMAKE_TESTS = re.compile(r"^\s*(?:enable_testing|add_test|include\s*\(\s*CTest)", re.MULTILINE | re.IGNORECASE)
_RUBY_FILES = "Dir.glob(%q(./test/**/{*_test,test_*}.rb)).sort.each { |file| require file }"
_RUBY_TEST = re.compile(r"^test/(?:.*/)?(?:[^/]*_test|test_[^/]*)\.rb\Z")


def _text(vfs: VFS, path: str) -> str:
    if not vfs.file_exists(path):
        return ""
    try:
        return vfs.read_file(path)
    except NotText:
        return ""


def _json(vfs: VFS, path: str) -> dict[str, Any]:
    try:
        found = json.loads(_text(vfs, path) or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _npm(vfs: VFS) -> Suite | None:
    scripts = _json(vfs, "package.json").get("scripts", {})
    script = scripts.get("test", "") if isinstance(scripts, dict) else ""
    if not isinstance(script, str) or not script or _NO_NPM_TESTS in script:
        return None
    return suite_of(runner_in(script).name, _NPM, "package.json", between="--")


def _deno(vfs: VFS) -> Suite | None:
    for path in ("deno.json", "deno.jsonc"):
        if vfs.file_exists(path) and not vfs.file_exists("package.json"):
            return suite_of("deno", "deno test --cached-only", path)
    return None


def _go(vfs: VFS) -> Suite | None:
    return suite_of("go", "go test ./...", "go.mod") if vfs.file_exists("go.mod") else None


def _cargo(vfs: VFS) -> Suite | None:
    return suite_of("cargo", "cargo test --offline", "Cargo.toml") if vfs.file_exists("Cargo.toml") else None


def _maven(vfs: VFS) -> Suite | None:
    return suite_of("maven", "mvn -q -o test", "pom.xml") if vfs.file_exists("pom.xml") else None


def _gradle(vfs: VFS) -> Suite | None:
    for path in ("build.gradle", "build.gradle.kts"):
        if vfs.file_exists(path):
            program = "./gradlew" if vfs.file_exists("gradlew") else "gradle"
            return suite_of("gradle", f"{program} --offline test", path)
    return None


def _rspec(vfs: VFS) -> Suite | None:
    shown = next((path for path in (".rspec", "spec/spec_helper.rb") if vfs.file_exists(path)), "")
    bundled = "bundle exec " if vfs.file_exists("Gemfile") else ""
    return suite_of("rspec", f"{bundled}rspec", shown) if shown else None


def _minitest(vfs: VFS) -> Suite | None:
    shown = next((path for path in vfs.list_files("test") if _RUBY_TEST.search(path)), "")
    if not shown:
        return None
    bundled = "bundle exec " if vfs.file_exists("Gemfile") else ""
    if vfs.file_exists("bin/rails"):
        command = "bin/rails test -v"
    elif re.search(r"TestTask|Minitest", _text(vfs, "Rakefile")):
        command = f"{bundled}rake test TESTOPTS=-v"
    else:
        command = f"{bundled}ruby -Ilib -Itest -e '{_RUBY_FILES}' -- -v"
    return suite_of("minitest", command, shown)


def _phpunit(vfs: VFS) -> Suite | None:
    shown = next(
        (path for path in ("phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml") if vfs.file_exists(path)), ""
    )
    if not shown and "phpunit/phpunit" in str(_json(vfs, "composer.json").get("require-dev", "")):
        shown = "composer.json"
    return suite_of("phpunit", "vendor/bin/phpunit", shown) if shown else None


def _ctest(vfs: VFS) -> Suite | None:
    path = "CMakeLists.txt"
    return suite_of("ctest", _CMAKE, path) if _CMAKE_TESTS.search(_text(vfs, path)) else None


PROJECTS: tuple[Callable[[VFS], Suite | None], ...] = (
    _npm,
    _deno,
    _go,
    _cargo,
    _maven,
    _gradle,
    _rspec,
    _minitest,
    _phpunit,
    _ctest,
)
