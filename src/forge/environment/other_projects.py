"""Projects whose files Forge reads, but whose setups nobody has tried: Go, Rust, Java, Ruby, PHP, make."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from forge.environment.branch_files import digests, existing, text
from forge.environment.machine import Machine
from forge.environment.package_index import hosts_in
from forge.environment.proposal import PLACE, Need
from forge.git import VFS


@dataclass(frozen=True, slots=True)
class _Kind:
    manager: str
    shows: tuple[str, ...]
    locks: tuple[str, ...]
    command: str
    variables: tuple[tuple[str, str], ...] = ()


_KINDS = (
    _Kind("go", ("go.mod",), ("go.mod", "go.sum"), "go mod download",
          (("GOMODCACHE", f"{PLACE}/go/mod"), ("GOFLAGS", "-mod=mod"))),
    _Kind("cargo", ("Cargo.toml",), ("Cargo.toml", "Cargo.lock"), "cargo fetch", (("CARGO_HOME", f"{PLACE}/cargo"),)),
    _Kind("maven", ("pom.xml",), ("pom.xml",), f"mvn -B -q -Dmaven.repo.local={PLACE}/maven dependency:go-offline",
          (("MAVEN_ARGS", f"-o -Dmaven.repo.local={PLACE}/maven"),)),
    _Kind("gradle", ("build.gradle", "build.gradle.kts"), ("build.gradle", "build.gradle.kts", "gradle.lockfile"),
          "gradle --no-daemon dependencies", (("GRADLE_USER_HOME", f"{PLACE}/gradle"),)),
    _Kind("bundler", ("Gemfile",), ("Gemfile", "Gemfile.lock"), "bundle install",
          (("BUNDLE_PATH", f"{PLACE}/bundle"),)),
    _Kind("composer", ("composer.json",), ("composer.json", "composer.lock"), "composer install --no-interaction"),
)  # fmt: skip
_NOTE = "{manager} is read from {file}; its setup is untried."
_BESIDE = "{manager} ({file}) is not set up beside another; add its commands to .forge/environment.yaml."


def other_needs(vfs: VFS, machine: Machine, *, beside: bool) -> tuple[Need, ...]:
    """Beside a project that is tried, they are told of and not set up: a guess may not break what works."""
    found = [_need(vfs, machine, kind) for kind in _KINDS if existing(vfs, kind.shows)]
    if not found and not beside and (make := _make(vfs)):
        found.append(make)
    if beside:
        return tuple(
            replace(
                need,
                commands=(),
                inputs={},
                executed={},
                notes=(_BESIDE.format(manager=need.manager, file=need.because[0]),),
            )
            for need in found
        )
    return tuple(found)


def _need(vfs: VFS, machine: Machine, kind: _Kind) -> Need:
    program = kind.command.partition(" ")[0]
    runtime = machine.program(program)
    notes: tuple[str, ...] = (_NOTE.format(manager=kind.manager, file=existing(vfs, kind.shows)[0]),)
    if runtime is None:
        notes = (*notes, f"{program} is not installed on this machine.")
    shown = existing(vfs, kind.shows)
    return Need(
        manager=kind.manager,
        because=tuple(dict.fromkeys((*shown, *existing(vfs, kind.locks)))),
        commands=(kind.command,),
        hosts=_lock_hosts(vfs, kind),
        inputs=digests(vfs, kind.locks),
        executed=digests(vfs, [*shown, "build.rs"]) if kind.manager != "go" else {},
        variables=dict(kind.variables),
        untried=True,
        runtime=runtime,
        path=(str(runtime.executable.parent),) if runtime and runtime.executable.is_absolute() else (),
        notes=notes,
    )


def _lock_hosts(vfs: VFS, kind: _Kind) -> tuple[str, ...]:
    """A Gemfile names its sources, a Cargo.lock its registries."""
    if kind.manager == "bundler":
        lines = re.findall(
            r"^\s*(?:remote:|source)\s*(\S+)", text(vfs, "Gemfile.lock") or text(vfs, "Gemfile"), re.MULTILINE
        )
        return hosts_in("\n".join(lines))
    return ()


def _make(vfs: VFS) -> Need | None:
    for path in existing(vfs, ("Makefile", "makefile", "GNUmakefile")):
        for target in ("setup", "install-dev", "deps"):
            if re.search(rf"^{target}\s*:", text(vfs, path), re.MULTILINE):
                return Need(
                    manager="make",
                    because=(path,),
                    commands=(f"make {target}",),
                    inputs=digests(vfs, (path,)),
                    executed=digests(vfs, (path,)),
                    untried=True,
                    notes=(_NOTE.format(manager="make", file=path),),
                )
    return None
