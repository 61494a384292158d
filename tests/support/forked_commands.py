"""Commands of Forge as real processes that need not load it first: one process has it loaded and forks for each."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, Self

import pygit2
from pygit2.enums import ConfigLevel

ROOT = Path(__file__).parents[2]
_WORDS = ("chat", "worker", "session", "project", "run")


@dataclass(slots=True)
class Command:
    """One process, to whoever started it."""

    name: str
    output: Path
    asked: float
    pid: int = 0
    status: int | None = None
    started: threading.Event = field(default_factory=threading.Event)
    ended: threading.Event = field(default_factory=threading.Event)

    def signal(self, number: int) -> bool:
        """Whether there was still somebody to hear it."""
        assert self.started.wait(60), f"{self.name} did not begin"
        if self.ended.is_set():
            return False
        os.kill(self.pid, number)
        return True

    def kill(self) -> bool:
        """Whether it died of it: its end may have come first."""
        heard = self.signal(signal.SIGKILL)
        self.wait()
        return heard and self.status == -signal.SIGKILL

    def wait(self, seconds: float = 120) -> int:
        if not self.ended.wait(seconds):
            raise AssertionError(f"{self.name} did not end in {seconds:.0f} s: {self.complaints[-2000:]}")
        assert self.status is not None
        return self.status

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What it said, one document a line; a line that is not complete yet is left out."""
        text = self.output.read_text()
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines() if line.startswith('{"')]

    @property
    def complaints(self) -> str:
        return self.output.with_suffix(".err").read_text()

    def wait_for(self, kind: str, seconds: float = 60) -> dict[str, Any]:
        """The first line of this type."""
        deadline = time.monotonic() + seconds
        while True:
            has_ended = self.ended.is_set()
            found = next((line for line in self.lines if line.get("type") == kind), None)
            if found is not None:
                return found
            assert not has_ended, f"{self.name} ended without {kind}: {self.complaints[-2000:]}"
            assert time.monotonic() < deadline, f"{self.name} did not say {kind} in {seconds} s"
            time.sleep(0.005)


class Forked:
    """`with Forked(folder) as forge: forge.start("chat", …, environ=…)`."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._commands: list[Command] = []
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked_commands"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
            bufsize=1,
        )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def start(self, *args: str, environ: Mapping[str, str]) -> Command:
        """`environ` is the whole environment of the process."""
        assert self._process.stdin is not None
        with self._lock:
            place = len(self._commands)
            name = f"{place}-{next(word for word in args if word in _WORDS)}"
            command = Command(name, self._folder / f"{name}.out", time.time())
            for path in (command.output, command.output.with_suffix(".err")):
                path.touch()
            self._commands.append(command)
            order = {"place": place, "args": args, "output": str(command.output), "environ": {**environ}}
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        return command

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for command in self._commands:
            command.kill()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._listener.join(30)
        self._process.stdout.close()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            report = json.loads(line)
            command = self._commands[report["place"]]
            if "pid" in report:
                command.pid = report["pid"]
                command.started.set()
            else:
                command.status = report["status"]
                command.ended.set()


def _serve() -> None:
    """Fork a process for each order; report when one begins and ends."""
    _load()
    places: dict[int, int] = {}
    pending = b""
    open_input = True
    while open_input or places:
        ready, _, _ = select.select([0] if open_input else [], [], [], 0.005 if places else None)
        if ready:
            data = os.read(0, 65536)
            open_input = bool(data)
            *lines, pending = (pending + data).split(b"\n")
            for line in lines:
                order = json.loads(line)
                pid = os.fork()
                if pid == 0:
                    _become(order)
                places[pid] = order["place"]
                _say(place=order["place"], pid=pid)
        while places:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            _say(place=places.pop(pid), status=os.waitstatus_to_exitcode(status))


def _load() -> None:
    """What a command would load by and by; nothing of it starts a thread, which a fork would lose."""
    import anyio._backends._asyncio  # noqa: PLC0415
    import genai_prices.data  # noqa: PLC0415
    import keyring.backends.SecretService  # noqa: PLC0415
    import pydantic_ai.models.anthropic  # noqa: PLC0415

    import forge.agents.models.api  # noqa: PLC0415
    import forge.agents.models.provider_request  # noqa: PLC0415
    import forge.agents.models.retries  # noqa: PLC0415
    import forge.agents.relay.link  # noqa: PLC0415
    import forge.app.process.workshop  # noqa: PLC0415
    import forge.app.projects.autopilot  # noqa: PLC0415
    import forge.app.sessions.turn_run  # noqa: PLC0415
    import forge.builtin  # noqa: PLC0415
    import forge.cli.commands.chat  # noqa: PLC0415
    import forge.cli.commands.project  # noqa: PLC0415
    import forge.cli.commands.run  # noqa: PLC0415
    import forge.cli.commands.session  # noqa: PLC0415
    import forge.cli.commands.worker  # noqa: PLC0415
    import forge.cli.terminal.conversation  # noqa: PLC0415
    import forge.engine.durable  # noqa: F401, PLC0415

    del anyio, genai_prices, keyring, pydantic_ai
    assert threading.active_count() == 1


def _become(order: dict[str, Any]) -> NoReturn:
    """From here on this is a process of its own. It ends without taking all that was loaded apart again."""
    output = Path(order["output"])
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(output, os.O_WRONLY | os.O_APPEND), 1)
    os.dup2(os.open(output.with_suffix(".err"), os.O_WRONLY | os.O_APPEND), 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(order["environ"])
    # libgit2 looked for its settings when it was loaded.
    pygit2.settings.search_path[ConfigLevel.GLOBAL] = os.environ["HOME"]
    code = 70
    try:
        from forge.cli.main import main  # noqa: PLC0415

        main(order["args"])
    except SystemExit as e:
        code = int(e.code or 0)
    except BaseException:  # noqa: BLE001 - the last handler of a process
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _say(**report: int) -> None:
    os.write(1, json.dumps(report).encode() + b"\n")


if __name__ == "__main__":
    _serve()
