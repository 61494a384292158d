"""What of the person's a run of a program is given: an API with its key, variables, a copy of its login."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from forge.agents.errors import KeyMissing
from forge.agents.programs.program import Api, Program

_SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Access:
    """`api` is None where the program finds its model by itself."""

    model: str
    api: Api | None
    upstream: str
    key: str
    network: bool
    variables: dict[str, str]
    home: dict[str, bytes]

    @classmethod
    def of(
        cls, program: Program, model: str, env: Mapping[str, str], logins: Path | None, *, network: bool | None
    ) -> Access:
        online = program.network if network is None else network
        home = {name: text.encode() for name, text in program.home.items()}
        if program.login and logins is not None:
            home |= {name: (logins / name).read_bytes() for name in program.credentials if (logins / name).is_file()}
        variables = {name: env[name] for name in program.variables if name in env}
        named = program.named(model) if model else ""
        if online and program.many_providers:
            names = [name for api in program.apis for name in (*api.key_names, *api.base_names)]
            variables |= {name: env[name] for name in names if env.get(name)}
            return cls(named, None, "", "", online, variables, home)
        api = _api(program, model, env)
        key, base = (_first(env, api.key_names), _first(env, api.base_names)) if api else ("", "")
        if api and not key and not base:
            if online:  # it has its login
                api = None
            elif api.key_names:
                raise _no_key(program, api)
        upstream = "" if api is None else base.rstrip("/") + api.base_suffix if base else api.upstream
        return cls(named, api, upstream, key, online, variables, home)

    @property
    def secrets(self) -> tuple[str, ...]:
        named = (value for name, value in self.variables.items() if _SECRET.search(name))
        return tuple(value for value in (self.key, *named) if len(value) >= 8)


def _api(program: Program, model: str, env: Mapping[str, str]) -> Api | None:
    apis = program.apis_for(model)
    with_key = (api for api in apis if _first(env, api.key_names))
    return next(with_key, apis[0] if apis else None)


def _no_key(program: Program, api: Api) -> KeyMissing:
    return KeyMissing(
        f"{program.name} needs a key, and there is none.",
        hint=f"Set {api.key_names[0]}, or let it use its own login with `network: true` and `login: true` "
        f"in the settings of the agent {program.name}.",
    )


def _first(env: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((env[name] for name in names if env.get(name)), "")
