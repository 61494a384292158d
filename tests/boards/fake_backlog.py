#!/usr/bin/env python3
"""Stands in for Backlog.md's `backlog` 1.52.0: the same options, output and exit codes. Its board is ./backlog."""

import argparse
import json
import os
import sys
from pathlib import Path

STATUSES = ["To Do", "In Progress", "Done"]


def fail(reason: str) -> None:
    print(reason, file=sys.stderr)
    raise SystemExit(1)


def split(values: list[str] | None) -> list[str]:
    return [word for value in values or [] for word in value.split(",")]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="backlog", allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--version", action="version", version="1.52.0")
    verbs = parser.add_subparsers(dest="noun", required=True).add_parser("task").add_subparsers(dest="verb")
    create = verbs.add_parser("create", allow_abbrev=False)
    create.add_argument("title")
    create.add_argument("-d", "--description")
    create.add_argument("-l", "--labels", action="append")
    edit = verbs.add_parser("edit", allow_abbrev=False)
    edit.add_argument("id")
    edit.add_argument("-t", "--title")
    edit.add_argument("--add-label", action="append")
    edit.add_argument("--remove-label", action="append")
    listed = verbs.add_parser("list", allow_abbrev=False)
    listed.add_argument("--json", action="store_true")
    listed.add_argument("-l", "--labels", action="append")
    for verb in (create, edit):
        verb.add_argument("-s", "--status")
        verb.add_argument("--plain", action="store_true")
    return parser.parse_args()


def show(task: dict[str, object], number: int) -> None:
    print(f"File: {Path.cwd()}/backlog/tasks/task-{number} - x.md\n")
    print(f"Task {task['id']} - {task['title']}\n" + "=" * 50 + f"\n\nStatus: ○ {task['status']}\n")


def main() -> None:
    if sys.stdin.read():
        fail("somebody typed")
    given = parsed()
    board = Path("backlog/board.json")
    if not board.parent.is_dir():
        fail("No Backlog.md project found. Run `backlog init` to initialize.")
    if os.environ.get("FAKE_MODE") == "silent":
        raise SystemExit(0)
    tasks: list[dict[str, object]] = json.loads(board.read_text()) if board.exists() else []
    if given.verb == "list":
        wanted = set(split(given.labels))
        shown = [task for task in tasks if wanted <= set(task["labels"])]  # type: ignore[call-overload]
        print(json.dumps({"schemaVersion": 1, "kind": "task-list", "tasks": shown}, indent=2))
        return
    if given.status not in STATUSES:
        fail(f"Invalid status: {given.status}. Valid statuses are: {', '.join(STATUSES)}")
    if given.verb == "create":
        task: dict[str, object] = {"id": f"TASK-{len(tasks) + 1}", "title": given.title, "status": given.status}
        tasks.append(task | {"labels": split(given.labels), "description": given.description})
    else:
        found = next((task for task in tasks if task["id"] == given.id), None)
        if found is None:
            fail(f"Task {given.id} not found. Task lookups read only the local working copy.")
        assert found is not None
        kept = [label for label in found["labels"] if label not in split(given.remove_label)]  # type: ignore[attr-defined]
        found |= {"title": given.title, "status": given.status, "labels": kept + split(given.add_label)}
        task = found
    board.write_text(json.dumps(tasks))
    show(task, len(tasks))


main()
