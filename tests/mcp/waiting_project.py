"""A project that waits for its person, and a client of somebody who works on it."""

from __future__ import annotations

import time
from typing import Any

import httpx

from forge.app.access.identity import LOCAL, share
from forge.app.projects.lookup import project_for
from tests.support.api_server import House
from tests.support.mcp_wire import FORMS, asked

DUMP = (
    "Ok so our onboarding is a mess. New hires wait three weeks for a laptop. We want somebody who starts on Monday to "
    "push code on Friday. Budget is 5,000 euro. It must be ready before March. Should we use Notion or Confluence?"
)


class Waiting:
    """A project that waits for its person, and a client of somebody who works on it."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.key = house.user("ada")
        with house.client() as client:
            self.id = client.post("/api/projects", json={"name": "Onboarding"}).json()["id"]
            client.post(f"/api/projects/{self.id}/messages", json={"text": DUMP})
            self._act(client, "distill", "human_review")
        share(house.shop, LOCAL, "project", self.id, "ada", right="write")

    def _act(self, client: httpx.Client, action: str, phase: str) -> None:
        done = client.post(f"/api/projects/{self.id}/actions/{action}", json={"confirmed": True})
        assert done.is_success, done.text
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            seen = client.get(f"/api/projects/{self.id}").json()
            if seen["phase"] == phase and not seen["busy"]:
                return
            time.sleep(0.1)
        raise AssertionError(f"the project is {seen['phase']}, not {phase}")

    def confirm(self) -> None:
        """Then its specification has an open question."""
        with self.house.client() as client:
            self._act(client, "confirm", "spec_building")

    def ask(self, method: str = "tools/call", *, key: str = "", can: dict[str, Any] = FORMS, **more: Any) -> Any:
        given = {"name": "forge_wait_project", "arguments": {"project": self.id}, **more}
        params = given if method == "tools/call" else more
        url = f"{self.house.url}/mcp?toolsets=projects"
        _, answer = asked(url, method, params, capabilities=can, key=key or self.key)
        return answer.get("result", answer)

    @property
    def answers(self) -> list[str]:
        return [each["answer"] for each in project_for(self.house.shop, LOCAL, self.id).info().answers]

    @property
    def phase(self) -> str:
        return str(project_for(self.house.shop, LOCAL, self.id).status().phase)
