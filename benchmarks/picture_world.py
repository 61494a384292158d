"""What the pictures show: a small repository with branches of people and agents, a conversation, and the demo."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.browser import Desk, until
from tests.support.provider import Asked
from tests.support.stand_in import Reply

AI_BRANCH = "ai/cache-forecasts"
FILE = "src/weather/forecast.py"
_FORECAST = '''"""Forecasts for the beds, from the weather service."""

from __future__ import annotations

from dataclasses import dataclass

import httpx


@dataclass(frozen=True)
class Forecast:
    place: str
    rain_mm: float
    sun_hours: float


def forecast(place: str, client: httpx.Client) -> Forecast:
    """What tomorrow brings at a place."""
    answer = client.get("/forecast", params={"place": place})
    answer.raise_for_status()
    tomorrow = answer.json()["days"][1]
    return Forecast(place, tomorrow["rain"], tomorrow["sun"])


def needs_water(expected: Forecast, *, thirst: float = 4.0) -> bool:
    """Whether a bed dries out before the next rain."""
    return expected.rain_mm < thirst and expected.sun_hours > 3
'''
_CACHE = '''"""Keeps forecasts for an hour, so that the service is asked once for each place."""

from __future__ import annotations

import time

from weather.forecast import Forecast

_HOUR = 3600.0


class Cache:
    def __init__(self) -> None:
        self._kept: dict[str, tuple[float, Forecast]] = {}

    def get(self, place: str) -> Forecast | None:
        at, found = self._kept.get(place, (0.0, None))
        return found if time.monotonic() - at < _HOUR else None

    def put(self, forecast: Forecast) -> None:
        self._kept[forecast.place] = (time.monotonic(), forecast)
'''
_TEST = """from weather.forecast import Forecast, needs_water


def test_a_dry_sunny_day_needs_water() -> None:
    assert needs_water(Forecast("north", 0.5, 8))
"""
_BEDS = "# Beds\n\n| bed | flowers |\n|---|---|\n| north | tulips |\n| south | roses |\n"
_FILES = {
    "README.md": "# Garden\n\nTells which beds need water tomorrow.\n\n```sh\npython -m weather north\n```\n",
    "pyproject.toml": '[project]\nname = "garden"\nversion = "0.3.0"\ndependencies = ["httpx"]\n',
    FILE: _FORECAST,
    "src/weather/__main__.py": 'import sys\n\nprint(f"Asking about {sys.argv[1]}")\n',
    "tests/test_forecast.py": _TEST,
    "docs/beds.md": _BEDS,
}
_WORK = (
    ("rain-gauge", "src/weather/gauge.py", "RAIN = 'mm'\n", True),
    ("ai/metric-units", "src/weather/units.py", "def mm(inches: float) -> float:\n    return inches * 25.4\n", True),
    ("fix-south-bed", "docs/south.md", "The south bed dries out first.\n", True),
    ("ai/alerts", "src/weather/alerts.py", "def alert(bed: str) -> str:\n    return f'{bed} is dry'\n", False),
    ("spring-plan", "docs/spring.md", "# Spring\n\n1. Sow\n2. Wait\n", False),
    ("more-roses", "docs/beds.md", _BEDS.replace("tulips", "white roses"), False),
)
"""Branch, file, what is written, and whether it was merged."""
_SAID = """The service is asked again for every bed. I put a small cache in front of it:

- **`src/weather/cache.py`** keeps each forecast for an hour, by place.
- A place that was never asked for, or too long ago, is simply not there.

```python
found = cache.get(place) or forecast(place, client)
```

It compiles; the tests are still to be run."""


@dataclass(frozen=True, slots=True)
class PictureWorld:
    repo: str
    commit: str
    project: str
    ai_branch: str = AI_BRANCH
    file: str = FILE
    changed: str = "docs/beds.md"
    """Has a past."""
    clean: str = "spring-plan"
    clashing: str = "more-roses"
    """Branches that can be merged into main by themselves, and not."""


def made(desk: Desk) -> PictureWorld:
    with _days_ago(9):
        repo = desk.repository(_FILES, name="garden")
    _grow(desk, desk.place / "garden")
    desk.run("demo")
    with desk.client() as client:
        at = f"/api/repositories/{repo}"
        client.post(f"{at}/branches", json={"name": AI_BRANCH}).raise_for_status()
        text = "Keep forecasts for an hour. See task cache7: one request for each bed is too many."
        sent = client.post(f"{at}/session/messages", params={"branch": AI_BRANCH}, json={"text": text})
        sent.raise_for_status()
        until(lambda: _answered(client, at), seconds=120)
        commit = client.get(f"{at}/branches/{AI_BRANCH.replace('/', '%2F')}").json()["commit"]
        project = client.get("/api/projects").json()["items"][0]["id"]
    return PictureWorld(repo, commit, project)


def _answered(client: httpx.Client, at: str) -> bool:
    session = client.get(f"{at}/session", params={"branch": AI_BRANCH}).json()
    return bool(session["turns"]) and not session["working"]


def answers(asked: Asked) -> Reply:
    if asked.number == 1:
        call = ("write_file", {"path": "src/weather/cache.py", "content": _CACHE})
        return Reply(("I will keep forecasts for an hour ", "in a small cache."), (call,))
    if asked.number == 2:
        return Reply(("Does it compile?",), (("run_command", {"command": "python -m compileall -q src && echo ok"}),))
    return Reply(
        tuple(re.findall(r"\s*\S+", _SAID)), thinking="One request for each bed is the cost; the place is the key."
    )


def _grow(desk: Desk, path: Path) -> None:
    """A few days of work: branches that were merged, and some that still are open."""
    for day, (branch, file, line, merge) in enumerate(_WORK):
        desk.git(path, "switch", "--quiet", "--create", branch, "main")
        for n, more in enumerate(("", "\n# Second thoughts\n" if file.endswith(".py") else "\nMore.\n")):
            (path / file).parent.mkdir(parents=True, exist_ok=True)
            (path / file).write_text(line + more)
            desk.git(path, "add", "--all")
            subject = f"{'Refine' if n else 'Add'} {Path(file).stem.replace('_', ' ')}"
            with _days_ago(8 - 1.5 * day - n / 4):
                desk.git(path, "commit", "--quiet", "--message", subject)
        desk.git(path, "switch", "--quiet", "main")
        if merge:
            with _days_ago(7.4 - 1.5 * day):
                desk.git(path, "merge", "--quiet", "--no-ff", "--message", f"Merge {branch}", branch)
    (path / "docs/beds.md").write_text(_BEDS.replace("tulips", "early tulips"))
    with _days_ago(0.2):
        desk.git(path, "commit", "--quiet", "--all", "--message", "Tulips come early")


@contextmanager
def _days_ago(days: float) -> Iterator[None]:
    """git takes the time of a commit from the environment."""
    when = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"{int(time.time() - days * 86_400)} +0000")
    os.environ.update(when)
    try:
        yield
    finally:
        for name in when:
            del os.environ[name]
