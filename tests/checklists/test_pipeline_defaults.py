"""The pipeline's defaults, item by item: settings, prompts and templates that come with Forge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import run_here

PROMPTS = (
    "brain-dump-intake",
    "plan-review",
    "code-review",
    "plan-fix",
    "code-fix",
    "spec-building",
    "completeness-gate",
    "plan-build",
    "code-build",
)
SETTINGS: dict[str, Any] = {
    "polish.critical_max": 0,
    "polish.medium_max": 3,
    "polish.minor_max": 5,
    "polish.max_iterations": 50,
    "polish.stagnation_limit": 3,
    "polish.retry_malformed_output": 2,
    "concurrency.max_parallel_runs": 3,
    "notifications.default_channel": "ntfy",
    "notifications.channels.ntfy.url": "https://ntfy.sh",
    "notifications.channels.telegram.enabled": False,
    "resource.max_file_size_mb": 50,
    "brain_dump.min_word_count": 10,
    "phase3_completeness.plan_min_chars": 100,
    "phase3_completeness.code_require_tests": True,
    "connectors.notion.enabled": False,
    "connectors.google_drive.enabled": False,
    "agents.default": "claude",
    "agents.call_timeout_seconds": 300,
    "agents.available.claude.supports_vision": True,
    "agents.available.gemini.supports_vision": True,
    "agents.available.codex.supports_vision": False,
    "plugins.directory": "./plugins",
    "prompts.directory": "./prompts",
    "server.host": "127.0.0.1",
    "server.port": 3000,
}


@pytest.fixture(scope="module")
def defaults(machine: Path) -> Any:
    return yaml.safe_load(run_here("config", "default").out)


@pytest.fixture(scope="module")
def prompts(machine: Path) -> dict[str, str]:
    return {name: run_here("prompts", "show", name).out for name in PROMPTS}


@pytest.mark.req("P-17")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_has_the_default_of_the_template(defaults: Any, name: str) -> None:
    value = defaults
    for part in name.split("."):
        value = value[part]
    assert value == SETTINGS[name]


@pytest.mark.req("P-16")
@pytest.mark.parametrize("name", PROMPTS)
def test_each_task_has_its_prompt_file(prompts: dict[str, str], name: str) -> None:
    assert len(prompts[name].split()) > 50


@pytest.mark.req("P-16")
@pytest.mark.usefixtures("prompts")
def test_a_prompt_that_a_person_adds_is_listed_by_itself(machine: Path) -> None:
    (machine / "prompts").mkdir(exist_ok=True)
    (machine / "prompts/of-my-own.md").write_text("Be brief.\n")
    assert "of-my-own" in run_here("prompts", "list").out


@pytest.mark.req("P-16")
@pytest.mark.usefixtures("prompts")
def test_a_prompt_that_a_person_edits_is_the_one_that_is_used(machine: Path) -> None:
    (machine / "prompts").mkdir(exist_ok=True)
    (machine / "prompts/plan-review.md").write_text("Review it my way.\n")
    assert run_here("prompts", "show", "plan-review").out.strip() == "Review it my way."


@pytest.mark.req("P-04")
@pytest.mark.parametrize(
    "words",
    [
        "Deliverable Type",
        "Objective",
        "Assumptions",
        "Constraints",
        "Unknowns",
        "Open Questions",
    ],
)
def test_the_intake_asks_for_each_section(prompts: dict[str, str], words: str) -> None:
    assert f"**{words}**" in prompts["brain-dump-intake"]


@pytest.mark.req("P-04")
@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("it adds no ideas of its own", "No ideas, no improvements"),
        ("what it infers is marked", "(inferred)"),
        ("what is ambiguous is an unknown", "What can be read in two ways goes under Unknowns"),
        ("five questions at most", "Five at most"),
        ("those that block most are kept", "whose answers the most depends on"),
        ("sections are short", "Short bullets"),
        ("it does not praise", "No praise"),
        ("the type is one of those that are listed", "the name of one of `deliverable_types`"),
    ],
)
def test_the_intake_has_each_of_its_rules(prompts: dict[str, str], rule: str, words: str) -> None:
    assert words in " ".join(prompts["brain-dump-intake"].split()), rule


@pytest.mark.req("P-17")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("notifications: {channels: {ntfy: {enabled: true, url: ''}}}", "'ntfy' is enabled but has no URL configured"),
        ("notifications: {channels: {ntfy: {enabled: true, url: ntfy.sh}}}", "'ntfy' URL is malformed: ntfy.sh"),
        ("connectors: {notion: {enabled: true}}", "'notion' is enabled but missing required credentials"),
    ],
)
def test_what_is_enabled_and_cannot_work_stops_the_start_with_its_name(machine: Path, text: str, said: str) -> None:
    config = machine / "config.yaml"
    config.write_text(text)
    try:
        ran = run_here("project", "list")
    finally:
        config.write_text("")
    assert (ran.code != 0, said in ran.err) == (True, True), ran.err
