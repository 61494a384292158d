"""Runs one command: parses, calls, and turns the outcome into an exit code."""

from __future__ import annotations

import os
from enum import IntEnum
from pathlib import Path

import typer

from forge.cli.entry import INTERRUPTED
from forge.cli.terminal import output
from forge.cli.terminal.output import Output, ReaderLeft
from forge.errors import Denied, ForgeError, InvalidInput, NotFound


class Exit(IntEnum):
    OK = 0
    ERROR = 1
    USAGE = 2
    LIMITED = 3
    WAITING = 4
    REFUSED = 5
    INTERRUPTED = 130


class BadUsage(InvalidInput):
    """The command line itself is wrong: an unknown word, a missing one, a value that cannot be."""

    code = "bad_usage"


class Interrupted(ForgeError):
    """Ctrl-C: nothing went wrong, and there is no result either."""

    code = "interrupted"


class NotUtf8(InvalidInput):
    """Bytes that are not UTF-8, in a word or on standard input, where only text can be kept."""

    code = "not_utf8"


class Session:
    """What every command is given: which repository to work on, where to show the result, and who is to do the work."""

    def __init__(
        self, *, directory: str = ".", json: bool = False, direct: bool = False, no_pager: bool = False
    ) -> None:
        self._directory = directory
        self.output = Output(json=json)
        self.no_pager = no_pager
        self.direct = direct or os.environ.get("FORGE_DIRECT", "") not in ("", "0")
        """Whether agents work in this process, even beside a server."""

    @property
    def directory(self) -> Path:
        try:
            place = Path(self._directory).absolute()
        except FileNotFoundError as e:
            raise NotFound("The current directory is gone.", hint="Change to another, or pass -C DIR.") from e
        try:
            place.exists()
        except OSError as e:
            raise NotFound(f"{place} cannot be looked at: {e.strerror}.", hint="Check the path, and who may.") from e
        return place


def run(app: typer.Typer, name: str, args: list[str], session: Session) -> int:
    out = session.output
    try:
        code = _called(app, name, args, session)
        out.flush()
    except ReaderLeft:
        return Exit.OK
    except ForgeError as e:
        return failed(out, e)
    except UnicodeEncodeError as e:
        return failed(out, _not_utf8(e))
    except KeyboardInterrupt:
        return failed(out, Interrupted(INTERRUPTED))
    return code


def failed(out: Output, error: ForgeError) -> int:
    """Tell what went wrong, in every form that was asked for."""
    try:
        out.error(error)
        out.flush()
    except (ReaderLeft, ForgeError):
        pass  # nobody listens, and the exit code still tells
    return exit_code(error)


def undelivered(out: Output, error: OSError) -> int:
    """For what is printed before any command runs."""
    met = output.undelivered(error)
    return Exit.OK if isinstance(met, ReaderLeft) else failed(out, met)


def exit_code(error: ForgeError) -> Exit:
    match error:
        case BadUsage():
            return Exit.USAGE
        case Denied():
            return Exit.REFUSED
        case Interrupted():
            return Exit.INTERRUPTED
        case _ if error.code in ("merge_conflicts", "confirmation_needed"):
            return Exit.WAITING
    return Exit.ERROR


def _called(app: typer.Typer, name: str, args: list[str], session: Session) -> int:
    # Not by `command.main()`, which gives exit code 1 when a reader leaves and hides an interrupt.
    command = typer.main.get_command(app)
    try:
        with command.make_context(f"forge {name}", args, obj=session) as context:
            return int(command.invoke(context) or Exit.OK)
    except typer.Exit as e:  # after --help
        return e.exit_code
    except typer.TyperException as e:
        raise _bad_usage(e) from e


def _bad_usage(error: typer.TyperException) -> BadUsage:
    context = getattr(error, "ctx", None)
    message = error.format_message().replace("Value error, ", "")  # pydantic's word for what typer asked it to check
    if context is None:
        return BadUsage(message, hint="Run `forge --help`.")
    usage = " ".join([context.command_path, *context.command.collect_usage_pieces(context)])
    return BadUsage(message, hint=f"{usage}   (`{context.command_path} --help` explains it)")


def _not_utf8(error: UnicodeEncodeError) -> NotUtf8:
    """Names of files and branches may have any bytes, and git takes them; what is kept elsewhere is text."""
    odd = error.object[error.start : error.end].encode("utf-8", "surrogateescape")
    return NotUtf8(
        f"Something that was given is not UTF-8 text: it has the bytes {odd!r}.",
        hint="Write it in UTF-8; `locale` shows what your terminal sends, and `iconv` changes a file.",
    )
