"""Who serves forgets what is long over, and nothing that a person made."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from forge.app.process import retention
from forge.app.process.retention import Forgotten, forget
from forge.app.process.workshop import Workshop, open_workshop
from forge.app.sessions.conversation import conversation, sessions_of
from forge.app.sessions.messages import end_of, send_message
from forge.git import Repository
from forge.settings import load
from tests.conftest import MakeRepo

_YEAR = 365 * 24 * 3600.0


@pytest.fixture
def repo(make_repo: MakeRepo) -> Repository:
    return Repository.open(make_repo({"a.txt": "hello\n"}))


def _environ(place: Path, config: str = "") -> dict[str, str]:
    (place / "config.yaml").write_text(config)
    paths = {"FORGE_DATA_DIR": str(place / "data"), "FORGE_CONFIG": str(place / "config.yaml")}
    return {"PATH": os.environ["PATH"], "HOME": str(place), "FORGE_MODEL": "builtin", **paths}


async def _turn(shop: Workshop, repo: Repository) -> str:
    sent = await send_message(shop, repo, "ai/x", "what is here?")
    await end_of(shop, sent.run)
    await shop.events.flush()
    return sent.run


@pytest.mark.req("X-04")
def test_after_a_long_time_only_what_matters_is_left_of_a_turn(repo: Repository, tmp_path: Path) -> None:
    async def main() -> None:
        environ = _environ(tmp_path)
        async with open_workshop(load(environ), environ) as shop:
            run = await _turn(shop, repo)
            topic = shop.engine.status(run).subject.topic
            said = len(shop.events.after(topic))
            assert said > 0
            assert await forget(shop, now=time.time() + 80 * 24 * 3600) == Forgotten(0, 0, 0)
            deadline = time.monotonic() + 20
            gone = await forget(shop, now=time.time() + _YEAR)
            while not gone.runs and time.monotonic() < deadline:  # the library notes the end a moment after the run
                await asyncio.sleep(0.05)
                gone = Forgotten((await forget(shop, now=time.time() + _YEAR)).runs, gone.events, gone.notices)
            assert gone == Forgotten(runs=1, events=said, notices=0)
            assert shop.engine.status(run).state == "done"
            assert shop.costs.total(branch="ai/x").requests == 1
            assert len(conversation(sessions_of(repo, shop.settings), "ai/x").moments) == 1
            assert await _turn(shop, repo) != run
            assert shop.events.after(topic)[0].id == said + 1

    asyncio.run(main())


def test_who_wants_it_keeps_all(repo: Repository, tmp_path: Path) -> None:
    async def main() -> None:
        environ = _environ(tmp_path, "records: {keep_days: null}\n")
        async with open_workshop(load(environ), environ) as shop:
            await _turn(shop, repo)
            assert await forget(shop, now=time.time() + 100 * _YEAR) == Forgotten(0, 0, 0)

    asyncio.run(main())


def test_who_serves_forgets_by_itself(repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_FIRST", 0.0)
    monkeypatch.setattr(retention, "_EVERY", 0.05)

    async def main() -> None:
        environ = _environ(tmp_path, "records: {keep_days: 0.00001}\n")
        async with open_workshop(load(environ), environ, serve=True) as shop:
            topic = shop.engine.status(await _turn(shop, repo)).subject.topic
            async with asyncio.timeout(20):
                while shop.events.after(topic):
                    await asyncio.sleep(0.05)

    asyncio.run(main())
