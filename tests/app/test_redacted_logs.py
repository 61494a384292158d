"""Nothing is logged with a secret in it, whoever logs it."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from forge.app.process.log_redaction import redacted_logs
from forge.git import Repository, WorkInProgressVFS
from forge.sessions.redaction import Redactor
from forge.tools.tool import Tool
from tests.support.toolboxes import open_toolbox

pytestmark = pytest.mark.req("X-06")
SECRET = "of-this-test-alone"
TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"


class Broken(Tool):
    def get_schema(self) -> dict[str, Any]:
        return {"name": "broken", "description": "Breaks.", "parameters": {"type": "object", "properties": {}}}

    def execute(self, vfs: WorkInProgressVFS, arguments: dict[str, Any]) -> str:
        raise ZeroDivisionError(f"{SECRET} {TOKEN}")


def test_a_tool_that_breaks_is_logged_without_secrets(make_repo: Any, caplog: pytest.LogCaptureFixture) -> None:
    vfs = Repository.open(make_repo({"a": "b"})).workspace("main")
    with redacted_logs(Redactor([SECRET])):
        assert open_toolbox([Broken()]).run(vfs, "broken", {}).failed
    assert "ZeroDivisionError" in caplog.text
    assert "[redacted:" in caplog.text
    assert SECRET not in caplog.text
    assert TOKEN not in caplog.text


def test_words_arguments_and_stacks_are_logged_without_secrets(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("a.library.of.strangers")
    with redacted_logs(Redactor([SECRET])):
        log.warning("asked with %s", SECRET, stack_info=True)
        log.warning(f"{SECRET} %d", "no number")
        log.error(TypeError(SECRET))
    assert len(caplog.records) == 3
    assert SECRET not in caplog.text
    log.warning("afterwards %s", "as it is")
    assert "afterwards as it is" in caplog.text


def test_a_stack_is_logged_without_the_secrets_in_its_lines(caplog: pytest.LogCaptureFixture) -> None:
    def shout(said: str) -> None:
        logging.getLogger("a.library.of.strangers").warning("%d letters", len(said), stack_info=True)

    with redacted_logs(Redactor(["of-this-test-alone"])):
        shout("of-this-test-alone")
    assert "Stack (most recent call last)" in caplog.text
    assert 'shout("[redacted:key]")' in caplog.text
    assert SECRET not in caplog.text


def test_of_several_who_work_in_a_process_nobodys_secrets_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    log, others = logging.getLogger("a.library.of.strangers"), "of-another-one-here"
    with redacted_logs(Redactor([SECRET])):
        with redacted_logs(Redactor([others])):
            log.warning("%s and %s", SECRET, others)
        log.warning("later %s", SECRET)
    assert len(caplog.records) == 2
    assert SECRET not in caplog.text
    assert others not in caplog.text
