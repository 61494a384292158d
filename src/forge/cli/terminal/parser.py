"""How commands are declared: with typer, but with help in our own form and plain values checked without pydantic."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, get_args

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

Function = TypeVar("Function", bound=Callable[..., Any])
Parameter = TypeVar("Parameter", TyperArgument, TyperOption | None)

EVERYWHERE = (
    ("-C DIR", "Work on the repository at DIR."),
    ("--json", "Print one JSON document on standard output."),
    ("--direct", "Let agents work in this process, even beside a server."),
    ("-h, --help", "Show this."),
)
_SETTINGS = {"help_option_names": ["--help", "-h"]}
_NUMBERS = {int: "a whole number", float: "a number"}


class Commands(typer.Typer):
    """One command, or a group of them."""

    def __init__(self, about: str | None, *, group: bool = False) -> None:
        # A module says of itself: `forge branch`: branches listed, made, …
        text = (about or "").partition(": ")[2]
        super().__init__(
            cls=Group if group else None,
            help=text[:1].upper() + text[1:],
            context_settings=_SETTINGS,
            rich_markup_mode=None,
            add_completion=False,
        )

    def add(self, name: str | None = None) -> Callable[[Function], Function]:
        """Declare a function as a command."""
        return self.command(name, cls=Command, context_settings=_SETTINGS)


class Command(TyperCommand):
    """A command that explains itself, argument by argument and option by option."""

    def __init__(self, name: str | None, **settings: Any) -> None:
        super().__init__(name, **settings)
        for argument in self.arguments():
            argument.metavar = argument.metavar or argument.name.upper()
            _checked_plainly(argument)
        for option in self.options():
            _checked_plainly(option)

    def arguments(self) -> list[TyperArgument]:
        return [parameter for parameter in self.params if isinstance(parameter, TyperArgument)]

    def options(self) -> list[TyperOption]:
        return [parameter for parameter in self.params if isinstance(parameter, TyperOption)]

    def usage(self) -> list[str]:
        """What may follow the name of the command."""
        options = ["[OPTIONS]"] if self.options() else []
        required = [option_name(option) for option in self.options() if option.required]
        arguments = [argument_name(a) if a.required else f"[{argument_name(a)}]" for a in self.arguments()]
        return [*options, *required, *arguments] or ["[OPTIONS]"]

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        return _shown_by_us(super().get_help_option(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002 - the parser's signature
        return self.usage()

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        arguments = [(argument_name(argument), argument.help or "") for argument in self.arguments()]
        options = [(option_name(option), option_help(option)) for option in self.options()]
        for title, rows in (("Arguments", arguments), ("Options", options), ("Everywhere", EVERYWHERE)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class Group(TyperGroup):
    """Commands on one noun."""

    def get_help_option(self, ctx: Any) -> TyperOption | None:
        return _shown_by_us(super().get_help_option(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return ["|".join(self.commands), "[ARGS]..."]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        self.format_commands(ctx, formatter)
        with formatter.section("Everywhere"):
            formatter.write_dl(EVERYWHERE)


def argument_name(argument: TyperArgument) -> str:
    name = str(argument.metavar)
    return f"{name}..." if argument.nargs != 1 and "..." not in name else name


def option_name(option: TyperOption) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    if option.secondary_opts:
        return f"{names} / {', '.join(option.secondary_opts)}"
    return names if option.is_flag else f"{names} {option.metavar or option.name.upper()}"


def option_help(option: TyperOption) -> str:
    parts = [option.help or ""]
    if option.multiple:
        parts.append("May be repeated.")
    if option.required:
        parts.append("Required.")
    elif option.default not in (None, False, ""):
        parts.append(f"[default: {option.default}]")
    return " ".join(parts)


class _Plain:
    """Reads words, paths and numbers. typer would import pydantic for it, which takes longer than all of Forge."""

    def __init__(self, kind: type, *, several: bool) -> None:
        self._kind = kind
        self._several = several

    def coerce(self, value: Any, *, param: TyperArgument | TyperOption, ctx: Any) -> Any:
        if value is None:
            return () if self._several else None
        return [self._one(word, param, ctx) for word in value] if self._several else self._one(value, param, ctx)

    def _one(self, word: Any, parameter: TyperArgument | TyperOption, context: Any) -> Any:
        if isinstance(word, self._kind):
            return word
        try:
            found = self._kind(word)
        except ValueError as e:
            text = f"{word!r} is not {_NUMBERS[self._kind]}."
            raise typer.BadParameter(text, ctx=context, param=parameter) from e
        low, high = parameter.min, parameter.max
        # Written so that NaN, which compares with nothing, does not pass.
        if not ((low is None or found >= low) and (high is None or found <= high)):
            text = f"{word} is not from {low} to {high}." if high is not None else f"{word} is not at least {low}."
            raise typer.BadParameter(text, ctx=context, param=parameter)
        return found


def _shown_by_us(option: TyperOption | None) -> TyperOption | None:
    """Help goes where all output of a command goes, so that a full disk and a reader who leaves are met alike."""
    if option is not None:
        option.callback = _show_help
    return _checked_plainly(option)


def _show_help(context: Any, option: object, wanted: bool) -> None:
    del option
    if not wanted or context.resilient_parsing:
        return
    text = context.get_help()
    context.obj.output.result({"help": text})
    context.obj.output.line(text)
    context.exit()


def _checked_plainly(parameter: Parameter) -> Parameter:
    if parameter is not None:
        annotation: Any = parameter.type_descriptor.annotation
        several = parameter.type_descriptor.is_list
        kind = get_args(annotation)[0] if several else annotation
        if kind in (str, bool, Path, *_NUMBERS):
            parameter._runtime_param = _Plain(kind, several=several)  # type: ignore[assignment]  # noqa: SLF001
    return parameter
