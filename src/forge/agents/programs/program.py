"""What Forge must know of an agent program to run it: its words, how it reaches its model, how it reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from forge.agents.errors import ModelUnknown
from forge.errors import InvalidInput
from forge.json_value import Json

_OPTIONS = ("command", "output", "network", "login", "env", "readonly", "api")
_OUTPUTS = ("text", "json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """A model API that a program speaks to, and how the program is pointed at another address.

    `{base}` and `{key}` in `arguments` and `env` stand for the address and the key that the program gets.
    """

    upstream: str
    provider: str = ""
    """The first part of model names that belong to it; empty where the program knows one API only."""
    key_names: tuple[str, ...] = ()
    """Variables in which a person keeps the key; the first that is set counts."""
    base_names: tuple[str, ...] = ()
    """Variables in which a person keeps another address."""
    base_suffix: str = ""
    """What the program expects behind an address from `base_names`."""
    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manner:
    """Words and variables for one degree of trust."""

    arguments: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One agent program. It gets the prompt on its standard input and works in the directory it is started in."""

    name: str
    command: tuple[str, ...]
    report: str = "text"
    """How it tells what it did: one of the kinds in `forge.agents.programs.reports`."""
    confined: Manner = Manner()
    """Without network the sandbox confines it, and it may do whatever it wants in there."""
    online: Manner = Manner()
    """With network it could carry things out: it edits files, and runs no commands if it can do without."""
    model: tuple[str, ...] = ()
    """Words that choose `{model}`."""
    last: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    home: Mapping[str, str] = field(default_factory=dict)
    """Files that it wants in its home."""
    apis: tuple[Api, ...] = ()
    variables: tuple[str, ...] = ()
    """Further variables of the person that it may see."""
    credentials: tuple[str, ...] = ()
    """Where its own login is kept, below the home of the person."""
    version: tuple[str, ...] = ("--version",)
    """Words that make it tell its version and end; none if it is not to be asked."""
    network: bool = False
    login: bool = False
    """Whether it may have a copy of its own login."""
    readonly: tuple[Path, ...] = ()

    @property
    def many_providers(self) -> bool:
        """Whether its model names start with a provider."""
        return any(api.provider for api in self.apis)

    def named(self, model: str) -> str:
        """The model as the program writes it: `anthropic:opus` is `anthropic/opus` or just `opus` to it."""
        if self.many_providers:
            return model.replace(":", "/", 1)
        return model.partition(":")[2] or model

    def apis_for(self, model: str) -> tuple[Api, ...]:
        """The APIs that can serve `model`, the likeliest first; without a model, all."""
        if not self.many_providers or not model:
            return self.apis
        provider = self.named(model).partition("/")[0]
        if fitting := tuple(api for api in self.apis if api.provider == provider):
            return fitting
        raise ModelUnknown(
            f"{self.name} cannot reach {provider} without network.",
            hint=f"Choose a model of {', '.join(api.provider for api in self.apis)}, or allow {self.name} the network.",
        )


def configured(name: str, options: Mapping[str, Any], known: Mapping[str, Program]) -> Program:
    """A program as a person's settings describe it: one that is known, with their changes, or one of their own."""
    if unknown := sorted(set(options) - set(_OPTIONS)):
        raise _wrong(name, f"{', '.join(unknown)} is not an option", f"There are {', '.join(_OPTIONS)}.")
    program = known.get(name)
    if program is None and "command" not in options:
        raise _wrong(name, "there is no command", "Give it as a list of words: command: [mytool, --stdin].")
    changes: Json = {key: bool(options[key]) for key in ("network", "login") if key in options}
    if "command" in options:
        command = _words(name, "command", options["command"])
        # Its own words replace the program's place and name, and keep what makes a known one work.
        changes["command"] = command if program is None else (*command, *program.command[1:])
    if "output" in options:
        if options["output"] not in _OUTPUTS:
            raise _wrong(name, f"output is {options['output']!r}", "It is text or json.")
        changes["report"] = options["output"]
    if "env" in options:
        changes["variables"] = _words(name, "env", options["env"])
    if "readonly" in options:
        changes["readonly"] = tuple(map(Path, _words(name, "readonly", options["readonly"])))
    if "api" in options:
        changes["apis"] = (_api(name, options["api"]),)
    # A command that nobody knows is not asked for its version: it might do its work instead.
    return replace(program, **changes) if program else Program(name=name, version=(), **changes)


def _api(name: str, options: object) -> Api:
    if not isinstance(options, Mapping) or not {"url", "base_url_env"} <= set(options):
        raise _wrong(name, "api is incomplete", "It has url, base_url_env, and key_env where there is a key.")
    key, base = str(options.get("key_env") or ""), str(options["base_url_env"])
    env = {base: "{base}", **({key: "{key}"} if key else {})}
    return Api(upstream=str(options["url"]), key_names=(key,) if key else (), env=env)


def _words(name: str, option: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(word, str) and word for word in value):
        raise _wrong(name, f"{option} is {value!r}", "It is a list of words, never a line for a shell.")
    if not value and option == "command":
        raise _wrong(name, "the command is empty", "Name the program to run.")
    return tuple(value)


def _wrong(name: str, what: str, hint: str) -> InvalidInput:
    return InvalidInput(f"The settings of the agent {name} are wrong: {what}.", hint=hint)
