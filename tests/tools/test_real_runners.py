"""Test runners of this machine, really run: what they report is read test by test, with file and line.

Jest, Vitest and Mocha are tried where `FORGE_TEST_NPM_RUNNERS` names a directory with their `node_modules`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.tools.suites.cases import Case, Result
from forge.tools.suites.combined import CombinedRun, run_all
from forge.tools.suites.discovery import suites
from forge.tools.suites.places import placed

pytestmark = pytest.mark.req("B-02")

NewBench = Callable[[dict[str, str]], Any]
# Tests have a home of their own; the tool chain is in the person's.
RUST = {"RUSTUP_HOME": f"{pwd.getpwuid(os.getuid()).pw_dir}/.rustup"}
NPM_RUNNERS = os.environ.get("FORGE_TEST_NPM_RUNNERS", "")
NODE = """const test = require("node:test");
const assert = require("node:assert");

test("adds", () => assert.equal(1 + 1, 2));
test("cart", async (t) => {
  await t.test("sums", () => {
    assert.equal(3, 4);
  });
});
test("later", { skip: true }, () => {});
"""
JS = """describe("cart", () => {
  it("is empty", () => {});
  it("sums", () => {
    if (3 !== 4) throw new Error("3 is not 4");
  });
  it.skip("later", () => {});
});
"""
CMAKE = """cmake_minimum_required(VERSION 3.10)
project(sums NONE)
enable_testing()
add_test(NAME good COMMAND true)
add_test(NAME bad COMMAND sh -c "echo sums.c:3: wrong; exit 1")
"""
CARGO = """#[cfg(test)]
mod tests {
    #[test]
    fn good() {}
    #[test]
    fn bad() {
        assert_eq!(3, 4);
    }
}
"""


def _works(program: str) -> bool:
    if shutil.which(program) is None:
        return False
    return (
        subprocess.run([program, "--version"], capture_output=True, check=False, env={**RUST, **os.environ}).returncode
        == 0
    )


def ran(b: Any, folder: Path, files: dict[str, str]) -> tuple[CombinedRun, tuple[Case, ...]]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    def run_line(line: str) -> tuple[int, str]:
        environ = {**RUST, **os.environ, "TMPDIR": str(folder), "CI": "1", "NO_COLOR": "1"}
        done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False, env=environ)
        return done.returncode, done.stdout + done.stderr

    found = suites(b.vfs)
    done = run_all(found, run_line, again=True)
    return done, placed(done.cases, b.vfs)


def results(found: tuple[Case, ...]) -> dict[str, Result]:
    return {case.name: case.result for case in found}


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"no {program} on this machine")


@needs("npm")
def test_node_test(bench: NewBench, tmp_path: Path) -> None:
    files = {"package.json": '{"scripts": {"test": "node --test"}}', "test/cart.test.js": NODE}
    done, found = ran(bench(files), tmp_path, files)
    assert (done.outcome, done.counts.passed, done.counts.failed, done.counts.skipped) == ("failed", 1, 1, 1)
    failed = found[0]
    assert (failed.name.endswith("cart > sums"), failed.file, failed.line) == (True, "test/cart.test.js", 7)
    assert "the failed tests, run again" in done.output


@needs("ctest")
@needs("cmake")
def test_ctest(bench: NewBench, tmp_path: Path) -> None:
    files = {"CMakeLists.txt": CMAKE, "sums.c": "\n"}
    done, found = ran(bench(files), tmp_path, files)
    assert results(found) == {"bad::bad": Result.FAILED, "good::good": Result.PASSED}, done.output
    assert (found[0].file, found[0].line) == ("sums.c", 3)


@pytest.mark.skipif(not _works("cargo"), reason="no cargo that works on this machine")
@pytest.mark.slow
def test_cargo_test(bench: NewBench, tmp_path: Path) -> None:
    manifest = '[package]\nname = "cart"\nversion = "0.1.0"\nedition = "2021"\n'
    files = {"Cargo.toml": manifest, "src/lib.rs": CARGO}
    done, found = ran(bench(files), tmp_path, files)
    assert results(found) == {"tests::bad": Result.FAILED, "tests::good": Result.PASSED}, done.output
    assert (found[0].file, found[0].line) == ("src/lib.rs", 7)


@pytest.mark.skipif(not NPM_RUNNERS, reason="FORGE_TEST_NPM_RUNNERS names no directory")
@pytest.mark.parametrize(("script", "file"), [("jest", "cart.test.js"), ("mocha", "test/cart.js")])
def test_npm_runners(bench: NewBench, tmp_path: Path, script: str, file: str) -> None:
    files = {"package.json": f'{{"scripts": {{"test": "{script}"}}}}', file: JS}
    (tmp_path / "node_modules").symlink_to(Path(NPM_RUNNERS) / "node_modules")
    done, found = ran(bench(files), tmp_path, files)
    assert (done.outcome, done.counts.passed, done.counts.failed, done.counts.skipped) == ("failed", 1, 1, 1)
    assert (found[0].name.replace(" > ", " "), found[0].file, found[0].line) == ("cart sums", file, 4)
    assert "the failed tests, run again" in done.output


@pytest.mark.skipif(not NPM_RUNNERS, reason="FORGE_TEST_NPM_RUNNERS names no directory")
def test_vitest(bench: NewBench, tmp_path: Path) -> None:
    source = f'import {{ describe, it }} from "vitest";\n{JS}'
    files = {"package.json": '{"type": "module", "scripts": {"test": "vitest run"}}', "cart.test.js": source}
    (tmp_path / "node_modules").symlink_to(Path(NPM_RUNNERS) / "node_modules")
    done, found = ran(bench(files), tmp_path, files)
    assert (done.outcome, done.counts.passed, done.counts.failed, done.counts.skipped) == ("failed", 1, 1, 1)
    assert (found[0].name, found[0].file, found[0].line) == ("cart > sums", "cart.test.js", 5)
