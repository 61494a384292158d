"""Explorer turns and contract generation beside a server: who works, interrupts, `--direct`, a server that dies."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.beside import Beside, beside, until
from tests.support.provider import MODEL, Asked, Provider
from tests.support.stand_in import Reply

pytestmark = [pytest.mark.slow, pytest.mark.req("X-02", "X-04")]
SAID = "The treasurer loses two evenings because he collects the answers by hand."
ANSWER = ("Who else ", "knows ", "who has answered?")


def _slowly(asked: Asked) -> Reply:
    del asked
    return Reply(ANSWER, pause=0.05)


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(_slowly) as made:
        yield made


@pytest.fixture
def there(tmp_path: Path, provider: Provider) -> Iterator[Beside]:
    with beside(tmp_path, provider.environ) as made:
        yield made


def _explored(there: Beside) -> tuple[str, ...]:
    made = there.run("project", "new", "party", "--agent", MODEL)
    assert made.code == 0, made.err
    return "explore", "party", "-m", SAID, "--about", "problem"


def test_the_server_answers_for_the_explorer_and_direct_does_it_here(there: Beside, provider: Provider) -> None:
    server = there.serve()
    done = there.run(*_explored(there))
    assert (done.code, "has ended" in done.err) == (0, False), done.err
    assert "".join(ANSWER) in done.out
    requests = len(provider.asked)
    assert set(there.runs().values()) == {server.pid}
    own = there.start("explore", "party", "-m", "Nobody does.", "--direct")
    assert own.ended().code == 0
    assert sorted(set(there.runs().values())) == sorted((server.pid, own.pid))
    assert len(provider.asked) == 2 * requests
    assert server.alive


def test_a_command_continues_the_explorers_turn_when_the_server_is_killed(there: Beside, provider: Provider) -> None:
    server = there.serve()
    command = there.start(*_explored(there))
    until(lambda: provider.asked)
    server.signal(signal.SIGKILL)
    done = command.ended()
    assert done.code == 0, done.err
    assert f"the server (process {server.pid}) has ended; this command continues its work" in done.err
    assert "".join(ANSWER) in done.out
    assert set(there.runs().values()) == {command.pid}
    contents = [asked.content for asked in provider.asked]
    assert contents.count(contents[0]) == 1, "the answer that was under way is not paid twice"


def test_an_interrupt_stops_the_contracts_that_the_server_writes(there: Beside, provider: Provider) -> None:
    server = there.serve()
    _explored(there)
    assert there.run("contracts", "answer", "party", "--set", "product=A summer party.").code == 0
    command = there.start("contracts", "generate", "manifesto", "party")
    until(lambda: provider.asked)
    command.signal(signal.SIGINT)
    done = command.ended()
    assert done.code == 130, done.err
    assert "continues the work" not in done.err
    assert set(there.runs().values()) == {server.pid}
    again = there.run("contracts", "stop", "party", "--json")
    assert (again.code, again.error) == (1, "no_generation")
    cards = there.run("contracts", "list", "party", "--json").document["items"]
    assert {card["state"] for card in cards} == {"missing"}
    assert server.alive
