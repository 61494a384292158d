"""Runs one command: parses, calls, and turns the outcome into an exit code."""

from __future__ import annotations

import os
import sys
from enum import IntEnum
from pathlib import Path

import typer
from typer._click.exceptions import UsageError  # typer carries its parser inside and exports no name for this

from forge.cli.output import Output
from forge.errors import Denied, ForgeError


class Exit(IntEnum):
    OK = 0
    ERROR = 1
    USAGE = 2
    LIMITED = 3
    WAITING = 4
    REFUSED = 5
    INTERRUPTED = 130


class Session:
    """What every command is given: which repository to work on, and where to show the result."""

    def __init__(self, *, directory: str = ".", json: bool = False) -> None:
        self.directory = Path(directory)
        self.output = Output(json=json)


def run(app: typer.Typer, name: str, args: list[str], shared: dict[str, str]) -> int:
    sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
    session = Session(directory=shared.get("directory", "."), json="json" in shared)
    try:
        command = typer.main.get_command(app)
        code = command.main(args, prog_name=f"forge {name}", standalone_mode=False, obj=session)
        session.output.flush()
        return int(code or Exit.OK)
    except UsageError as e:
        e.show()
        return Exit.USAGE
    except ForgeError as e:
        session.output.error(e)
        return exit_code(e)
    except (KeyboardInterrupt, typer.Abort):
        session.output.note("Interrupted; nothing half-done was left behind.")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader has seen enough (`forge log | head`); Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK


def exit_code(error: ForgeError) -> Exit:
    if error.code == "merge_conflicts":
        return Exit.WAITING
    return Exit.REFUSED if isinstance(error, Denied) else Exit.ERROR
