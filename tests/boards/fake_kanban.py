#!/usr/bin/env python3
"""Stands in for Cline's `kanban` 0.1.70: the same options, JSON and exit codes. FAKE_STATE is its board."""

import argparse
import json
import os
import sys
import time
from pathlib import Path


def say(answer: dict[str, object]) -> None:
    print(json.dumps(answer, indent=2))
    raise SystemExit(0 if answer["ok"] else 1)


def fail(reason: str) -> None:
    say({"ok": False, "error": f"Task command failed at http://127.0.0.1:3484: {reason}"})


def record(task: dict[str, str]) -> dict[str, object]:
    """As the program shows a task; its title is not among that."""
    shown: dict[str, object] = {key: task[key] for key in ("id", "prompt", "column")}
    return shown | {"baseRef": "main", "startInPlanMode": False, "session": None}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kanban", allow_abbrev=False)
    parser.add_argument("-v", "--version", action="version", version="0.1.70")
    task = parser.add_subparsers(dest="noun", required=True).add_parser("task", aliases=["tasks"])
    verbs = task.add_subparsers(dest="verb", required=True)
    options = {
        "list": ["column"],
        "create": ["title", "prompt", "base-ref", "agent-id"],
        "update": ["task-id", "title", "prompt", "base-ref", "agent-id"],
        "done": ["task-id", "column"],
        "start": ["task-id"],
    }
    for verb, names in options.items():
        known = verbs.add_parser(verb, allow_abbrev=False)
        for name in [*names, "project-path"]:
            known.add_argument(f"--{name}")
    return parser.parse_args()


def main() -> None:
    if sys.stdin.read():
        fail("somebody typed")
    given = parsed()
    state = Path(os.environ["FAKE_STATE"])
    match os.environ.get("FAKE_MODE"):
        case "down":
            fail("fetch failed")
        case "hang":
            time.sleep(60)
        case "noise":
            print("Update available! Run kanban update")
            raise SystemExit(0)
    if not (Path(given.project_path) / ".git").exists():
        fail(f"No git repository detected at {given.project_path}")
    tasks: list[dict[str, str]] = json.loads(state.read_text()) if state.exists() else []
    tasks_here = [task for task in tasks if task["place"] == given.project_path]
    if given.verb == "list" and not tasks_here:
        fail(f"Project {given.project_path} is not added to Kanban yet.")
    if given.verb == "list":
        shown = [record(task) for task in tasks_here if task["column"] != "trash"]
        say({"ok": True, "workspacePath": given.project_path, "column": None, "tasks": shown, "count": len(shown)})
    if given.verb == "create":
        if not given.prompt:
            fail("Task prompt is required.")
        task = {"id": f"d4ca{len(tasks)}", "title": given.title, "prompt": given.prompt, "column": "backlog"}
        tasks.append(task | {"place": given.project_path})
        state.write_text(json.dumps(tasks))
        say({"ok": True, "task": record(task) | {"title": given.title, "workspacePath": given.project_path}})
    found = next((task for task in tasks_here if task["id"] == given.task_id), None)
    if found is None:
        fail(f'Task "{given.task_id}" was not found in workspace {given.project_path}.')
    assert found is not None
    match given.verb:
        case "update":
            found |= {"title": given.title, "prompt": given.prompt}
        case "done":
            found["column"] = "trash"
        case "start" if os.environ.get("FAKE_MODE") == "no agent":
            fail("No agent is installed.")
        case "start":
            if found["column"] != "backlog":
                fail(f"Task is in {found['column']}.")
            found["column"] = "in_progress"
    state.write_text(json.dumps(tasks))
    say({"ok": True, "task": record(found), "workspacePath": given.project_path})


main()
