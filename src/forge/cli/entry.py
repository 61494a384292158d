"""Where the installed `forge` begins. Next to nothing is loaded before an interrupt can be met."""


def main() -> None:
    """Ctrl-C while modules are loading ends it as it ends any command, and without a traceback."""
    try:
        from forge.cli.main import main as begin  # noqa: PLC0415

        begin()
    except KeyboardInterrupt:
        raise SystemExit(130) from None
