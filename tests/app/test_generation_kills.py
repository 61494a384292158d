"""A run that writes contracts, killed with SIGKILL: the next process goes on at its contract and pays nothing twice."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Self

import pytest

from forge.app.access.identity import LOCAL
from forge.app.process.workshop import Workshop
from forge.app.projects.questionnaire import answer_found
from forge.contracts import pins
from forge.contracts.kinds import ORDER, Kind
from forge.contracts.templates import template
from forge.projects.project import Project
from tests.support.provider import KEY, MODEL
from tests.support.scripted_projects import Office, new
from tests.support.stand_in import Reply, Request, StandIn, anthropic

pytestmark = [pytest.mark.slow, pytest.mark.req("C-02", "X-04")]

PROGRAM = Path(sys.executable).with_name("forge")
_KIND = re.compile(r"Write the contract `(\w+)`")


class Author:
    """Answers as a model that fetches the intent and then submits; counts who asked for what."""

    def __init__(self) -> None:
        self.asked: Counter[tuple[str, int]] = Counter()
        self.loop = asyncio.new_event_loop()
        self.server = StandIn(anthropic, lambda request, _: self.reply(request))
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)

    def reply(self, request: Request) -> Reply:
        said = request.json["messages"]
        found = _KIND.search(json.dumps(said[0]))
        assert found is not None
        kind, number = Kind(found[1]), 1 + sum(each["role"] == "assistant" for each in said)
        self.asked[kind.value, number] += 1
        if number == 1:
            return Reply(calls=(("get_project_intent", {}),), pause=0.01)
        return Reply(calls=(("submit_contract", {"content": template(kind)}),), pause=0.01)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.server.__aenter__(), self.loop).result(30)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.server.__aexit__(), self.loop).result(30)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(10)
        self.loop.close()


def test_after_sigkill_the_run_goes_on_at_its_contract_and_pays_nothing_twice(tmp_path: Path) -> None:
    office = Office.at(tmp_path)

    async def make(shop: Workshop) -> Project:
        project = await new(shop, "TaskFlow", "")
        answer_found(shop, LOCAL, project, {"product": "A shared list of tasks.", "features": "Tasks"})
        return project

    project = office.do(make)
    with Author() as author:
        environ = office.environ | {"ANTHROPIC_BASE_URL": author.server.url, "ANTHROPIC_API_KEY": KEY}
        words = [PROGRAM, "contracts", "generate", project.directory.name, "--agent", MODEL, "--json"]
        for before in (("stack", 1), ("physics", 2), ("phases", 1)):
            process = subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            deadline = time.monotonic() + 60
            while not author.asked[before]:
                assert process.poll() is None, process.communicate()
                assert time.monotonic() < deadline
                time.sleep(0.002)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
        done = subprocess.run(words, env=environ, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        seen = json.loads(done.stdout)
    assert [each["state"] for each in seen["contracts"]] == ["saved"] * 9
    assert seen["run"].endswith("-1"), "one run, gone on with"
    assert author.asked == Counter({(kind.value, number): 1 for kind in ORDER for number in (1, 2)})
    history = pins.current(Project.at(project.directory)).history
    assert {kind: len(history.versions[kind]) for kind in ORDER} == dict.fromkeys(ORDER, 1)
    assert seen["input_tokens"] == 18 * 100
