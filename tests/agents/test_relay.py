"""Answers that outlive who asked for them: received by a process of its own and followed by who goes on."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from forge.agents.errors import ModelFailed, ModelOverloaded
from forge.agents.models.api import ApiModel
from forge.agents.models.endpoint import Endpoint
from forge.agents.relay import link
from forge.agents.relay.journal import Journal, Page
from forge.sessions.messages import AssistantMessage
from forge.settings import Key, Network
from tests.agents.stand_ins import KEY, Listener, model_at, prompt, stand_in
from tests.support.stand_in import Reply, Request, StandIn, anthropic

pytestmark = pytest.mark.req("X-04", "G-17")

SLOW = Reply(("one ", "two ", "three ", "four"), pause=0.02)
ENDLESS = Reply(("one ",) * 10_000, pause=0.02)
OK = Reply(("It says ", "hi."))
SHORT = Network(connect_seconds=1, idle_seconds=0.3, retry_seconds=0.5)


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[link._Here]:
    """Each test has the relay that a new process would have, and it ends with it."""
    here = link._Here(threading.Lock())
    monkeypatch.setattr(link, "_here", here)
    yield here
    if here.relay is not None:
        here.relay.control.close()
        here.relay.process.wait(10)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "answers")


async def asked(model: ApiModel, page: Page, on_text: Listener | None = None) -> AssistantMessage:
    with page.opened():
        return await model.answer(prompt(), on_text=on_text or Listener())


async def until(true: Callable[[], object], seconds: float = 5) -> None:
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.01)


async def begun(model: ApiModel, page: Page) -> asyncio.Task[AssistantMessage]:
    """Asked, and answered in part."""
    listener = Listener()
    task = asyncio.create_task(asked(model, page, listener))
    await until(lambda: listener.pieces or task.done(), 30)
    return task


async def left(task: asyncio.Task[AssistantMessage]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def process_of(here: link._Here) -> subprocess.Popen[bytes]:
    assert here.relay is not None
    return here.relay.process


@pytest.mark.asyncio
async def test_an_answer_that_is_still_coming_is_followed_to_its_end(journal: Journal) -> None:
    listener = Listener()

    def held_back(request: Request, reply: Reply, number: int) -> Iterator[str]:
        """The provider comes to its end when the second one has heard something."""
        first, *rest = anthropic(request, reply, number)
        yield first
        yield from rest[:2]
        while not listener.pieces:
            yield ": wait\n\n"
        yield from rest[2:]

    async with StandIn(held_back, [SLOW]) as server:
        await left(await begun(model_at(server, "anthropic"), journal.page("run", "model 1")))
        page = journal.page("run", "model 1")
        assert page.is_written
        answer = await asked(model_at(server, "anthropic"), page, listener)
        assert len(server.requests) == 1
    assert answer.text == "one two three four"
    assert len(listener.pieces) > 1, "it is told as it comes"
    await until(lambda: not page.is_written)


@pytest.mark.asyncio
async def test_an_answer_that_nobody_can_read_any_more_is_not_received(journal: Journal) -> None:
    """How a cancelled turn ends its request, whichever process began it."""
    async with stand_in("anthropic", ENDLESS) as server:
        await left(await begun(model_at(server, "anthropic"), journal.page("run", "model 1")))
        following = await begun(model_at(server, "anthropic"), journal.page("run", "model 1"))
        await left(following)
        assert not server.closed_early
        journal.forget("run")
        await until(lambda: server.closed_early, 2)
        assert len(server.requests) == 1


@pytest.mark.asyncio
async def test_without_its_relay_an_answer_is_asked_for_again(journal: Journal, own: link._Here) -> None:
    async with stand_in("anthropic", ENDLESS, OK, ENDLESS, OK) as server:
        model = model_at(server, "anthropic")
        asking = await begun(model, journal.page("run", "model 1"))
        process_of(own).kill()
        assert (await asking).text == "It says hi."
        assert len(server.requests) == 2
        await left(await begun(model, journal.page("run", "model 2")))
        process_of(own).kill()
        assert (await asked(model, journal.page("run", "model 2"))).text == "It says hi."
        assert len(server.requests) == 4


@pytest.mark.asyncio
async def test_there_is_one_relay_for_all(journal: Journal, own: link._Here) -> None:
    async with stand_in("openai", SLOW) as server:
        models = [model_at(server, "openai") for _ in range(2)]
        pages = [journal.page("run", f"model {number}") for number in range(6)]
        one = asyncio.gather(*(asked(models[n % 2], page) for n, page in enumerate(pages)))
        await until(lambda: own.relay is not None and own.relay.is_ready, 30)
        process = process_of(own)
        assert {answer.text for answer in await one} == {"one two three four"}
        assert process_of(own) is process
        assert process.poll() is None


@pytest.mark.asyncio
@pytest.mark.req("X-06")
async def test_nobody_else_can_read_what_is_relayed_and_the_key_is_nowhere(
    journal: Journal, own: link._Here, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    async with stand_in("anthropic", OK) as server:
        await asked(model_at(server, "anthropic"), journal.page("run", "model 1"))
        assert KEY in server.requests[0].headers.values()
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 1
    assert all(path.stat().st_mode & 0o077 == 0 for path in tmp_path.rglob("*"))
    told = Path(f"/proc/{process_of(own).pid}")
    seen = [told / "cmdline", told / "environ"] if told.exists() else []
    assert not [path for path in (*files, *seen) if KEY.encode() in path.read_bytes()]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(status=503), ModelOverloaded),
        (Reply(("a", "b"), pause=30), ModelFailed),
        (Reply(("a", "b"), pause=30, pause_from=3), ModelFailed),
        (Reply(("a", "b"), cut_after=3), ModelFailed),
    ],
)
async def test_what_goes_wrong_is_what_goes_wrong_without_a_relay(
    reply: Reply, error: type[Exception], journal: Journal
) -> None:
    said = []
    async with stand_in("anthropic", reply) as server:
        for page in (journal.page("run", "model 1"), None):
            model = model_at(server, "anthropic", network=SHORT)
            with pytest.raises(error) as failed:
                await (asked(model, page) if page else model.answer(prompt(), on_text=Listener()))
            said.append(str(failed.value))
            await model.close()
    assert said[0] == said[1]


@pytest.mark.asyncio
async def test_a_refusal_is_heard_with_its_headers_and_not_kept(journal: Journal) -> None:
    refusal = Reply(status=429, headers={"retry-after": "600"})
    async with stand_in("anthropic", refusal, OK) as server:
        model = model_at(server, "anthropic")
        with pytest.raises(ModelOverloaded) as failed:
            await asked(model, journal.page("run", "model 1"))
        assert "600 seconds" in failed.value.hint
        assert (await asked(model, journal.page("run", "model 1"))).text == "It says hi."


@pytest.mark.asyncio
async def test_a_server_that_is_not_there_is_said(journal: Journal) -> None:
    endpoint = Endpoint("workshop", "m", "http://127.0.0.1:9", Key(KEY, "x"), SHORT, first_wait=0.01)
    with pytest.raises(ModelFailed, match=r"127\.0\.0\.1"):
        await asked(ApiModel(endpoint), journal.page("run", "model 1"))


@pytest.mark.asyncio
async def test_the_proxy_of_the_environment_is_asked_for_the_world(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with stand_in("workshop", OK) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url.replace("//", "//me:mine@"))
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:mine@"))
        endpoint = Endpoint("workshop", "m", "http://provider.invalid/v1", Key(KEY, "x"), SHORT, first_wait=0.01)
        assert (await asked(ApiModel(endpoint), journal.page("run", "model 1"))).text == "It says hi."
        assert proxy.requests[0].path == "http://provider.invalid/v1/chat/completions"
        assert proxy.requests[0].headers["proxy-authorization"].startswith("Basic ")


@pytest.mark.asyncio
@pytest.mark.parametrize("program", ["/nowhere/python", "/bin/false"])
async def test_where_no_relay_can_be_started_the_answer_is_kept_all_the_same(
    program: str, journal: Journal, own: link._Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", program)
    async with stand_in("anthropic", OK) as server:
        for _ in range(2):
            answer = await asked(model_at(server, "anthropic"), journal.page("run", "model 1"))
            assert answer.text == "It says hi."
        assert len(server.requests) == 1
    assert own.relay is None
    assert own.impossible


ASKING = """
import asyncio, sys
from pathlib import Path
from forge.agents.relay.journal import Journal
from forge.agents.relay import link
from forge.agents.models.api import ApiModel
from tests.agents.stand_ins import model_at, prompt

class Server:
    url = sys.argv[1]

def hear(text):
    print(link._here.relay.process.pid, flush=True)

async def main():
    with Journal(Path(sys.argv[2])).page("run", "model 1").opened():
        await model_at(Server, "anthropic").answer(prompt(), on_text=hear)

asyncio.run(main())
"""

IDLE = """
import os, sys, time
from forge.agents.relay import link
link._ready()
print(link._here.relay.process.pid, flush=True)
if sys.argv[1] == "is killed":
    os.kill(os.getpid(), 9)
if sys.argv[1] == "has forked" and os.fork() == 0:
    os.closerange(0, 3)
    time.sleep(5)
    os._exit(0)
"""


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # Its end may have been seen by nobody yet, where the first process of a container does not look.
    told = Path(f"/proc/{pid}/stat")
    return not told.exists() or ") Z" not in told.read_text()


def environ() -> dict[str, str]:
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}


@pytest.mark.asyncio
async def test_kill_nine_in_the_middle_of_an_answer_costs_no_second_request(journal: Journal, tmp_path: Path) -> None:
    async with stand_in("anthropic", replace(SLOW, pause=0.2)) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", ASKING, server.url, str(tmp_path / "answers")),
            stdout=subprocess.PIPE,
            env=environ(),
            start_new_session=True,
        )
        assert process.stdout is not None
        relay = int(await process.stdout.readline())
        os.killpg(process.pid, signal.SIGKILL)
        await process.communicate()
        answer = await asked(model_at(server, "anthropic"), journal.page("run", "model 1"))
        assert (answer.text, len(server.requests)) == ("one two three four", 1)
        await until(lambda: not lives(relay))


@pytest.mark.parametrize("how", ["ends", "is killed", "has forked"])
def test_a_relay_ends_with_a_process_that(how: str) -> None:
    told = subprocess.run([sys.executable, "-c", IDLE, how], capture_output=True, env=environ(), check=False)
    assert told.returncode == (-signal.SIGKILL if how == "is killed" else 0), told.stderr
    assert not told.stderr
    deadline = time.monotonic() + 3
    while lives(int(told.stdout)):
        assert time.monotonic() < deadline
        time.sleep(0.01)
