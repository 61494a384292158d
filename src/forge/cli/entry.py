"""Where the installed `forge` begins. Next to nothing is loaded before an interrupt can be met."""

import sys

INTERRUPTED = "Interrupted; nothing half-done was left behind."


def main() -> None:
    """Ctrl-C while modules are loading ends it as it ends any command, and without a traceback."""
    try:
        try:
            from forge.cli.main import main as begin  # noqa: PLC0415
        except KeyboardInterrupt:
            raise SystemExit(interrupted(sys.argv[1:])) from None
        begin()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def interrupted(args: list[str]) -> int:
    """The end of a command that had not begun: programs get their document, people know what they pressed."""
    before = args[: args.index("--")] if "--" in args else args
    if "--json" in before:
        import json  # noqa: PLC0415 - only programs need it

        try:
            told = {"error": {"code": "interrupted", "message": INTERRUPTED, "hint": ""}}
            print(json.dumps(told, indent=2), flush=True)  # noqa: T201 - the output channel is not loaded
            print(f"forge: {INTERRUPTED}", file=sys.stderr, flush=True)  # noqa: T201
        except OSError:
            pass  # nobody listens, and the exit code still tells
    return 130
