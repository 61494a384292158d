"""Reports of test runners, recorded: each test with its result, its place in the branch, and what it said."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.tools.suites.cases import Case, Result, by_name
from forge.tools.suites.combined import CombinedRun
from forge.tools.suites.discovery import named, suites
from forge.tools.suites.outcome import Outcome, judged
from forge.tools.suites.places import by_path, placed
from forge.tools.suites.reports import cases
from forge.tools.suites.runner import RUNNERS, Form
from forge.tools.suites.selection import failed_again, selected
from forge.tools.suites.suite import Suite
from forge.tools.suites.text import Counts
from forge.tools.suites.told import reason

pytestmark = pytest.mark.req("B-02")

NewBench = Callable[[dict[str, str]], Any]
PASSED, FAILED, SKIPPED = Result.PASSED, Result.FAILED, Result.SKIPPED

PYTEST = """<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" tests="2">
<testcase classname="tests.test_cart.TestCart" name="test_total" file="tests/test_cart.py" line="6" time="0.004">
<failure message="AssertionError: assert 3 == 4">def test_total(self):
&gt;       assert total([1, 2]) == 4
E       assert 3 == 4

tests/test_cart.py:9: AssertionError</failure></testcase>
<testcase classname="tests.test_cart" name="test_empty" file="tests/test_cart.py" line="0" time="0.001" />
</testsuite></testsuites>"""
PHPUNIT = """<?xml version="1.0"?><testsuites><testsuite name="CartTest" file="/site/tests/CartTest.php">
<testcase name="testTotal" class="CartTest" classname="CartTest" file="/site/tests/CartTest.php" line="8" time="0.01">
<failure type="Failed">CartTest::testTotal
Failed asserting that 3 matches expected 4.

/site/tests/CartTest.php:11</failure></testcase></testsuite></testsuites>"""
SUREFIRE = """<?xml version="1.0" encoding="UTF-8"?><testsuite name="org.shop.CartTest">
<testcase name="total" classname="org.shop.CartTest" time="0.02"><failure message="expected: 4 but was: 3">
org.opentest4j.AssertionFailedError: expected: 4 but was: 3
\tat org.junit.jupiter.api.Assertions.assertEquals(Assertions.java:150)
\tat org.shop.CartTest.total(CartTest.java:14)</failure></testcase></testsuite>
<?xml version="1.0" encoding="UTF-8"?><testsuite name="org.shop.UserTest">
<testcase name="named" classname="org.shop.UserTest" time="0.01"/>
<testcase name="later" classname="org.shop.UserTest" time="0"><skipped/></testcase></testsuite>"""
CTEST = """<?xml version="1.0" encoding="UTF-8"?><testsuite name="Linux">
<testcase name="sums" classname="sums" time="0.1" status="fail">
<system-out>src/sums.c:12: total is 3, not 4</system-out></testcase>
<testcase name="other" classname="other" time="0.1" status="run"/></testsuite>"""
NODE = """TAP version 13
# Subtest: cart
    # Subtest: sums
    not ok 1 - sums
      ---
      duration_ms: 1.5
      location: '/cache/branch/files/test/cart.test.js:4:3'
      failureType: 'testCodeFailure'
      error: 'Expected values to be strictly equal'
      stack: |-
        TestContext.<anonymous> (file:///cache/branch/files/test/cart.test.js:6:12)
      ...
    1..1
not ok 1 - cart
1..1
"""
JEST = json.dumps(
    {
        "testResults": [
            {
                "name": "/cache/branch/files/src/cart.test.ts",
                "assertionResults": [
                    {
                        "ancestorTitles": ["cart"],
                        "title": "sums",
                        "status": "failed",
                        "duration": 3,
                        "location": {"line": 4, "column": 3},
                        "failureMessages": [
                            "Error: expected 4\n    at Object.<anonymous> (/cache/branch/files/src/cart.test.ts:5:18)"
                        ],
                    },
                    {"ancestorTitles": [], "title": "later", "status": "pending", "failureMessages": []},
                ],
            },
            {
                "name": "/cache/branch/files/src/broken.test.ts",
                "status": "failed",
                "message": "SyntaxError",
                "assertionResults": [],
            },
        ]
    }
)
MOCHA = json.dumps(
    {
        "tests": [
            {
                "fullTitle": "cart sums",
                "file": "/cache/b/files/test/cart.js",
                "duration": 2,
                "err": {"stack": "AssertionError: 3 == 4\n    at Context.<anonymous> (test/cart.js:7:10)"},
            },
            {"fullTitle": "cart is empty", "file": "/cache/b/files/test/cart.js", "duration": 1, "err": {}},
            {"fullTitle": "cart later", "err": {}},
        ],
        "failures": [{"fullTitle": "cart sums"}],
        "pending": [{"fullTitle": "cart later"}],
    }
)
RSPEC = json.dumps(
    {
        "examples": [
            {
                "full_description": "Cart sums",
                "status": "failed",
                "file_path": "./spec/cart_spec.rb",
                "line_number": 3,
                "run_time": 0.01,
                "exception": {"message": "expected: 4", "backtrace": ["./spec/cart_spec.rb:5:in `block'"]},
            },
            {
                "full_description": "Cart later",
                "status": "pending",
                "file_path": "./spec/cart_spec.rb",
                "line_number": 9,
            },
        ]
    }
)
GO = "\n".join(
    json.dumps({"Package": "example.org/shop/cart", "Test": "TestTotal", **event})
    for event in (
        {"Action": "run"},
        {"Action": "output", "Output": "    cart_test.go:9: total is 3, not 4\n"},
        {"Action": "fail", "Elapsed": 0.02},
    )
)
CARGO = """running 2 tests
test tests::empty ... ok
test tests::total ... FAILED

failures:

---- tests::total stdout ----
thread 'tests::total' panicked at src/lib.rs:14:9:
assertion `left == right` failed

failures:
    tests::total

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured
"""
LIBTEST = """{ "type": "test", "event": "ok", "name": "a::b", "exec_time": 0.01 }
{"type":"test","event":"failed","name":"a::c","stdout":"thread 'a::c' panicked at src/lib.rs:3:5:\\nno"}
"""
MINITEST = """CartTest#test_total = 0.01 s = F
CartTest#test_empty = 0.00 s = .

  1) Failure:
CartTest#test_total [test/cart_test.rb:6]:
Expected: 4
  Actual: 3
"""
UNITTEST = f"""test_total (test_cart.Cart.test_total) ... FAIL

{"=" * 70}
FAIL: test_total (test_cart.Cart.test_total)
{"-" * 70}
Traceback (most recent call last):
  File "/usr/lib/python3.12/unittest/mock.py", line 9, in patched
  File "/cache/b/files/test_cart.py", line 7, in test_total
    self.assertEqual(total([1, 2]), 4)
AssertionError: 3 != 4

{"-" * 70}
Ran 1 test in 0.001s
"""
AUTOMAKE = "PASS: sums\nFAIL: totals\nSKIP: later\nXFAIL: known\n# TOTAL: 4\n"


@pytest.mark.parametrize(
    ("form", "output", "report", "file", "line", "name", "others"),
    [
        (Form.JUNIT, "", PYTEST, "tests/test_cart.py", 9, "tests.test_cart.TestCart::test_total", [PASSED]),
        (Form.JUNIT, "", PHPUNIT, "tests/CartTest.php", 11, "CartTest::testTotal", []),
        (
            Form.JUNIT,
            "",
            SUREFIRE,
            "src/test/java/org/shop/CartTest.java",
            14,
            "org.shop.CartTest::total",
            [PASSED, SKIPPED],
        ),
        (Form.JUNIT, "", CTEST, "src/sums.c", 12, "sums::sums", [PASSED]),
        (Form.TAP, NODE, "", "test/cart.test.js", 6, "cart > sums", []),
        (Form.JEST, "", JEST, "src/cart.test.ts", 5, "cart > sums", [FAILED, SKIPPED]),
        (Form.MOCHA, "", MOCHA, "test/cart.js", 7, "cart sums", [PASSED, SKIPPED]),
        (Form.RSPEC, "", RSPEC, "spec/cart_spec.rb", 5, "Cart sums", [SKIPPED]),
        (Form.GO, GO, "", "cart/cart_test.go", 9, "example.org/shop/cart::TestTotal", []),
        (Form.CARGO, CARGO, "", "src/lib.rs", 14, "tests::total", [PASSED]),
        (Form.CARGO, LIBTEST, "", "src/lib.rs", 3, "a::c", [PASSED]),
        (Form.MINITEST, MINITEST, "", "test/cart_test.rb", 6, "CartTest#test_total", [PASSED]),
        (Form.UNITTEST, UNITTEST, "", "test_cart.py", 7, "test_cart.Cart.test_total", []),
        (Form.TEXT, AUTOMAKE, "", "", 0, "totals", [PASSED, SKIPPED, SKIPPED]),
    ],
    ids=lambda value: value.value if isinstance(value, Form) else None,
)
def test_a_failed_test_is_named_with_its_file_and_line(
    bench: NewBench, form: Form, output: str, report: str, file: str, line: int, name: str, others: list[Result]
) -> None:
    names = ("tests/test_cart.py", "tests/CartTest.php", "src/test/java/org/shop/CartTest.java", "src/sums.c")
    names += ("test/cart.test.js", "src/cart.test.ts", "test/cart.js", "spec/cart_spec.rb", "cart/cart_test.go")
    names += ("src/lib.rs", "test/cart_test.rb", "test_cart.py", "user/cart_test.go", "mock.py")
    vfs = bench(dict.fromkeys(names, "x\n")).vfs
    first, *rest = placed(cases(form, output, report), vfs)
    assert (first.name, first.result, first.file, first.line) == (name, FAILED, file, line)
    assert [each.result for each in rest] == others


def test_a_place_outside_of_the_branch_is_none(bench: NewBench) -> None:
    vfs = bench({"a.py": "x\n"}).vfs
    text = (
        'File "/usr/lib/python3/a.py", line 3\nFile "/srv/node_modules/a.py", line 4\nFile "../../etc/b.py", line 5\n'
    )
    (found,) = placed([Case("t", FAILED, file="/etc/passwd", line=3, message=text)], vfs)
    assert (found.file, found.line) == ("", 0)


def test_the_line_that_names_the_error_is_the_reason() -> None:
    assert reason(Case("t", FAILED, message="Traceback\n  x\nValueError: no such cart\n")) == "ValueError: no such cart"
    assert reason(Case("t", FAILED, message="\n  plain words\nmore\n")) == "plain words"


@pytest.mark.parametrize(
    ("files", "command", "runner"),
    [
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test --silent", "vitest"),
        ({"package.json": '{"scripts": {"test": "jest && eslint ."}}'}, "npm test --silent", ""),
        ({"package.json": '{"scripts": {"test": "tsc && mocha"}}'}, "npm test --silent", "mocha"),
        ({".rspec": "", "Gemfile": ""}, "bundle exec rspec", "rspec"),
        ({"test/cart_test.rb": "", "Rakefile": "Rake::TestTask.new"}, "rake test TESTOPTS=-v", "minitest"),
        ({"phpunit.xml.dist": ""}, "vendor/bin/phpunit", "phpunit"),
        ({"composer.json": '{"require-dev": {"phpunit/phpunit": "^11"}}'}, "vendor/bin/phpunit", "phpunit"),
        ({"build.gradle.kts": "", "gradlew": ""}, "./gradlew --offline test", "gradle"),
        ({"deno.json": "{}"}, "deno test --cached-only", "deno"),
        ({"Makefile": "check: all\n\ttrue\n"}, "make check", ""),
        ({"Makefile.am": "TESTS = a\n", "configure": ""}, "./configure --quiet && make --silent check", ""),
    ],
)
def test_the_runner_behind_a_command_is_known(
    bench: NewBench, files: dict[str, str], command: str, runner: str
) -> None:
    (found,) = suites(bench(files).vfs)
    assert (found.command, found.runner) == (command, runner)


def test_cmake_tests_are_found_only_where_the_file_declares_some(bench: NewBench) -> None:
    vfs = bench({"CMakeLists.txt": "# enable_testing()\nproject(x)\n"}).vfs
    assert suites(vfs) == ()
    vfs.write_file("CMakeLists.txt", "project(x)\nenable_testing()\n")
    (found,) = suites(vfs)
    assert (found.runner, found.form) == ("ctest", Form.JUNIT)


@pytest.mark.parametrize(
    ("command", "pattern", "words"),
    [
        ("pytest -q", "login", ("-k", "login")),
        ("pytest -q", "tests/test_a.py", ("tests/test_a.py",)),
        ("go test ./...", "TestA", ("-run", "TestA")),
        ("cargo test", "adds", ("adds",)),
        ("node --test", "adds", ("--test-name-pattern=adds",)),
        ("mvn -q test", "CartTest", ("-Dtest=CartTest",)),
        ("pytest -q", "", ()),
    ],
)
def test_a_pattern_becomes_the_words_of_its_runner(command: str, pattern: str, words: tuple[str, ...]) -> None:
    assert selected(named(command), pattern) == words


def test_only_the_failed_tests_are_run_again() -> None:
    failed = [
        Case("n", FAILED, selector="tests/test_a.py::test_b"),
        Case("m", FAILED, selector="tests/test_a.py::test_c"),
    ]
    assert failed_again(named("python3 -m pytest -q"), failed) == ("tests/test_a.py::test_b", "tests/test_a.py::test_c")
    assert failed_again(named("pytest -q -p no:cacheprovider"), failed) is not None
    assert failed_again(named("pytest tests"), failed) is None
    assert failed_again(named("make check"), failed) is None
    assert failed_again(named("pytest"), [Case("n", FAILED)]) is None
    go = [Case("n", FAILED, selector="TestA/sub.1"), Case("n", FAILED, selector="TestA/other")]
    assert failed_again(named("go test ./..."), go) == ("-count=1", "-run", "^(TestA)$")


@given(
    st.sampled_from(Form),
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda x: (
            st.lists(x)
            | st.dictionaries(
                st.sampled_from(["tests", "testResults", "examples", "assertionResults", "failures", "name", "title"]),
                x,
            )
        ),
    ),
)
def test_no_document_breaks_the_reading(form: Form, document: object) -> None:
    by_name(cases(form, json.dumps(document), json.dumps(document)))


def test_every_runner_with_a_report_names_where_it_goes() -> None:
    for runner in RUNNERS:
        suite = Suite("x", "", runner.form, runner.report)
        assert ("{file}" in suite.report) == (
            runner.form in (Form.JUNIT, Form.JEST, Form.MOCHA, Form.RSPEC) and not runner.found
        )


BROKEN_PYTEST = """<?xml version="1.0" encoding="utf-8"?><testsuites><testsuite name="pytest" tests="1">
<testcase classname="" name="tests.test_cart" file="tests/test_cart.py" time="0.000">
<error message="collection failure">ImportError while importing test module '/cache/branch/files/tests/test_cart.py'.
E   ImportError: cannot import name 'total' from 'cart' (/cache/branch/files/cart.py)</error></testcase>{more}
</testsuite></testsuites>"""
PASSING = '<testcase classname="tests.test_user" name="test_named" file="tests/test_user.py" line="0" time="0.001" />'
BROKEN_UNITTEST = """test_named (test_user.User.test_named) ... ok
tests.test_cart (unittest.loader._FailedTest.tests.test_cart) ... ERROR

======================================================================
ERROR: tests.test_cart (unittest.loader._FailedTest.tests.test_cart)
----------------------------------------------------------------------
ImportError: Failed to import test module: tests.test_cart
ImportError: cannot import name 'total' from 'cart' (/cache/branch/files/cart.py)


----------------------------------------------------------------------
Ran 2 tests in 0.000s

FAILED (errors=1)
"""
BROKEN_NODE = """TAP version 13
# Subtest: /cache/branch/files/tests/cart.test.mjs
not ok 1 - /cache/branch/files/tests/cart.test.mjs
  ---
  duration_ms: 194.4
  location: '/cache/branch/files/tests/cart.test.mjs:1:1'
  failureType: 'testCodeFailure'
  exitCode: 1
  error: 'SyntaxError: cannot load'
  ...
1..1
"""
BROKEN_GO = """{"ImportPath":"shop/cart [shop/cart.test]","Action":"build-output","Output":"cart_test.go:3: undefined"}
{"ImportPath":"shop/cart [shop/cart.test]","Action":"build-fail"}
{"Action":"start","Package":"shop/cart"}
{"Action":"fail","Package":"shop/cart","Elapsed":0,"FailedBuild":"shop/cart [shop/cart.test]"}
"""
BROKEN_JEST = json.dumps(
    {
        "testResults": [
            {
                "name": "/cache/branch/files/tests/cart.test.js",
                "status": "failed",
                "message": "SyntaxError: cannot load",
                "assertionResults": [],
            }
        ]
    }
)


@pytest.mark.req("P-07")
@pytest.mark.parametrize(
    ("command", "output", "report", "file"),
    [
        ("pytest", "1 error in 0.3s", BROKEN_PYTEST.format(more=""), "tests/test_cart.py"),
        ("python3 -m unittest", BROKEN_UNITTEST.partition("\n")[2], "", "tests.test_cart"),
        ("node --test", BROKEN_NODE, "", "/cache/branch/files/tests/cart.test.mjs"),
        ("npx jest", "Tests: 0 total", BROKEN_JEST, "/cache/branch/files/tests/cart.test.js"),
        ("npx vitest run", "Tests  no tests", BROKEN_JEST, "/cache/branch/files/tests/cart.test.js"),
        ("go test ./...", BROKEN_GO, "", "shop/cart"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_named_and_no_failed_test(
    bench: NewBench, command: str, output: str, report: str, file: str
) -> None:
    run = judged(named(command), 1, output, report)
    assert (run.outcome, run.counts, run.broken) == (Outcome.CANNOT_RUN, Counts(0, 0), (file,))
    assert run.missing.startswith(f"the test file `{file}` cannot be loaded")
    assert not run.lacks_runner
    base = file.rpartition("/")[2] if "/" in file else "test_cart.py"
    vfs = bench({f"tests/{base}": "x"}).vfs
    placed_run = by_path(CombinedRun((run,), (output,)), vfs)
    if "go " not in command:
        assert placed_run.broken == (f"tests/{base}",)
        assert f"`tests/{base}`" in placed_run.missing


@pytest.mark.req("P-07")
@pytest.mark.parametrize(
    ("command", "output", "report"),
    [
        ("pytest", "1 passed, 1 error in 0.3s", BROKEN_PYTEST.format(more=PASSING)),
        ("python3 -m unittest", BROKEN_UNITTEST, ""),
    ],
)
def test_beside_tests_that_ran_it_is_a_failure_with_the_name_of_the_file(
    command: str, output: str, report: str
) -> None:
    run = judged(named(command), 1, output, report)
    assert (run.outcome, run.counts) == (Outcome.FAILED, Counts(1, 1))
    assert run.failed == run.broken
    assert "test_cart" in run.failed[0]
    assert "cannot import name 'total'" in next(each.message for each in run.cases if each.broken)


def test_a_go_package_whose_test_fails_is_no_unbuilt_one() -> None:
    events = '{"Action":"fail","Package":"shop","Test":"TestTotal","Elapsed":0}\n{"Action":"fail","Package":"shop"}\n'
    assert judged(named("go test ./..."), 1, events, "").broken == ()
