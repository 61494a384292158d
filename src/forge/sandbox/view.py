"""What a confined command sees: an empty root with the system put in read-only and one writable directory.

Nothing is hidden by name. What is not listed here is not there: homes, /root, /run, /srv, /mnt, /var, /sys, and
the keys and passwords in /etc. A root caller could read every file inside, so the lists are kept short.
"""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from glob import glob
from pathlib import Path

from forge.sandbox.errors import DirectoryMissing, UnsafeDirectory
from forge.sandbox.limits import MIB, Limits

TMP, SHM = "/tmp", "/dev/shm"  # noqa: S108 - private ones, mounted afresh for each run
_VAR_TMP = f"/var{TMP}"
HOME = f"{TMP}/forge-home"
USER, UID, GID = "forge", 1000, 1000

_SYSTEM = ("/usr", "/opt", "/nix/store")
_MAYBE_LINKED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC_FILES = (
    "ld.so.cache", "nsswitch.conf", "hosts", "resolv.conf", "host.conf", "gai.conf", "services", "protocols",
    "localtime", "timezone", "os-release", "debian_version", "mime.types", "magic", "locale.alias",
    "ssl/openssl.cnf", "ssl/cert.pem", "pki/tls/openssl.cnf",
)  # fmt: skip
_ETC_DIRECTORIES = (
    "alternatives", "ssl/certs", "pki/tls/certs", "pki/ca-trust", "ca-certificates", "crypto-policies", "fonts",
    "java*", "maven",
)  # fmt: skip
_USERS = f"root:x:0:0::/:/bin/sh\n{USER}:x:{UID}:{GID}::{HOME}:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n"
_GROUPS = f"root:x:0:\n{USER}:x:{GID}:\nnogroup:x:65534:\n"
_OWN_OF_ROOT = ("proc", "sys", "dev", "run", "tmp", "var", "env", "source", "caches", "boot", "mnt", "media")
_OWN_OF_VAR = ("tmp", "run", "lock")
"""Places of an image's root that the sandbox fills itself."""
_OF_THIS_MACHINE = ("hosts", "resolv.conf")
_PROC_OF_MACHINE = ("keys", "sched_debug")
_FIRST = "/proc/1"
_OVER_MEMORY = 64 * MIB
_KERNEL = ("/proc", "/sys", "/dev")
_NEVER_WRITABLE = (*_SYSTEM, *_MAYBE_LINKED, *_KERNEL, "/etc", "/run", "/var", "/boot", "/root", "/home", TMP)


def checked_directory(directory: Path) -> Path:
    """The directory without symbolic links, refused when making it writable would give away more than itself."""
    real = _existing(directory)
    if not real.is_dir():
        raise DirectoryMissing(f"{directory} is not a directory.", hint="Name a directory that exists.")
    if _in_kernel(real) or any(path.is_relative_to(real) for path in _protected()):
        raise UnsafeDirectory(
            f"{real} is part of the system or contains a home directory.", hint="Run the command in another directory."
        )
    return real


def base(limits: Limits, root: Path | None = None) -> list[str]:
    """Arguments for what every command sees. Order counts: later mounts lie over earlier ones.

    With `root`, the root of an unpacked image, its system takes the place of this machine's.
    """
    arguments = _system_of_machine() if root is None else _system_of_image(root)
    # To a root caller's command /proc/sys is the machine's own, writable by ownership alone: all of /proc is
    # read-only. So are /dev and the root, which live in memory without a size.
    arguments += ["--proc", "/proc"]
    for name in _PROC_OF_MACHINE:
        if os.path.exists(f"/proc/{name}"):
            arguments += ["--ro-bind", "/dev/null", f"/proc/{name}"]
    # The first process ties the sandbox to the life of its caller: nobody inside reaches its memory or its files.
    arguments += ["--tmpfs", _FIRST, "--remount-ro", _FIRST, "--remount-ro", "/proc", "--dev", "/dev"]
    # A little more than the memory limit, so that a command that fills it reaches the limit, which is reported.
    size = min(limits.scratch_bytes, limits.memory_bytes + _OVER_MEMORY)
    for path in (SHM, TMP):
        arguments += ["--perms", "1777", "--size", str(size), "--tmpfs", path]
    arguments += ["--remount-ro", "/dev", "--perms", "0700", "--dir", HOME]
    return [*arguments, "--dir", "/run", "--dir", "/var"]


def _system_of_machine() -> list[str]:
    arguments: list[str] = []
    for path in _SYSTEM:
        arguments += ["--ro-bind-try", path, path]
    for path in _MAYBE_LINKED:
        link = os.path.islink(path)
        arguments += ["--symlink", os.readlink(path), path] if link else ["--ro-bind-try", path, path]
    home = _home_of_caller()
    if home and any(home.is_relative_to(path) for path in _SYSTEM):
        arguments += ["--tmpfs", str(home)]
    return arguments


def _system_of_image(root: Path) -> list[str]:
    arguments: list[str] = []
    for folder, own in (("/", _OWN_OF_ROOT), ("/var/", _OWN_OF_VAR)):
        inside = root / folder.strip("/")
        names = [] if inside.is_symlink() or not inside.is_dir() else sorted(os.listdir(inside))
        for name in names:
            path, place = inside / name, f"{folder}{name}"
            if name in own:
                continue
            if path.is_symlink():
                arguments += ["--symlink", os.readlink(path), place]
            elif path.is_dir() and os.listdir(path):
                arguments += ["--ro-bind", str(path), place]
    return arguments


def shows(path: Path) -> bool:
    """Whether every command sees `path` already."""
    return any(path.is_relative_to(place) for place in _SYSTEM)


@cache
def etc_directories() -> tuple[str, ...]:
    found = [path for name in _ETC_DIRECTORIES for path in glob(f"/etc/{name}") if os.path.isdir(path)]
    return tuple(word for path in found for word in ("--ro-bind-try", path, path))


def etc_files() -> Iterator[tuple[str, bytes]]:
    """Files of /etc with their contents: copied, because a bind mount for each would double the start time."""
    for name in _ETC_FILES:
        path = f"/etc/{name}"
        if os.access(path, os.R_OK):
            with open(path, "rb") as file:
                yield path, file.read()
    yield "/etc/passwd", _USERS.encode()
    yield "/etc/group", _GROUPS.encode()


def etc_files_over(root: Path) -> Iterator[tuple[str, bytes]]:
    """Files that lie over those of an image: how this machine finds hosts."""
    for name in _OF_THIS_MACHINE:
        path = f"/etc/{name}"
        if os.access(path, os.R_OK) and (root / path.lstrip("/")).is_file():
            with open(path, "rb") as file:
                yield path, file.read()


def with_user(passwd: str, group: str) -> tuple[str, str]:
    """The users and groups of an image, with the one that commands run as."""
    users = [
        line for line in passwd.splitlines() if line.split(":")[2:3] != [str(UID)] and not line.startswith(f"{USER}:")
    ]
    groups = [
        line for line in group.splitlines() if line.split(":")[2:3] != [str(GID)] and not line.startswith(f"{USER}:")
    ]
    own = _USERS.splitlines()[1], _GROUPS.splitlines()[1]
    return "\n".join([*users, own[0], ""]), "\n".join([*groups, own[1], ""])


@dataclass(frozen=True, slots=True)
class Mount:
    """A file or directory that a command sees at a place of its own. Without a `source`, an empty one in memory."""

    at: str
    source: Path | None
    writable: bool = False


def places(
    directory: Path, readonly: Sequence[Path], *, at: str | None = None, mounts: Sequence[Mount] = ()
) -> list[str]:
    """Arguments for the writable directory, which the command sees as `at`, and for all else; outer ones first."""
    binds: list[tuple[Path, str, Path | None]] = [(Path(at) if at else directory, "--bind", directory)]
    for mount in mounts:
        option = "--bind" if mount.writable else "--ro-bind"
        binds.append((_mount_place(mount), option if mount.source else "--tmpfs", mount.source))
    for path in readonly:
        real = _existing(path)
        if _in_kernel(real) or real in (Path("/"), Path(TMP)):
            raise UnsafeDirectory(f"{real} would undo the sandbox.", hint="Name the paths that the command needs.")
        binds += [(place, "--ro-bind", real) for place in {real, Path(os.path.abspath(path))}]
    binds.sort(key=lambda bind: (len(bind[0].parts), bind[1] != "--bind"))
    arguments: list[str] = []
    for place, option, source in binds:
        arguments += [option, *([str(source)] if source else []), str(place)]
    if not any(place.is_relative_to(_VAR_TMP) for place, _, _ in binds):
        arguments += ["--symlink", TMP, _VAR_TMP]
    return arguments


def _mount_place(mount: Mount) -> Path:
    place = Path(mount.at)
    if not place.is_absolute() or ".." in place.parts or place == Path("/") or _in_kernel(place):
        raise UnsafeDirectory(f"{mount.at} cannot be a place in the sandbox.", hint="Name a path such as /env.")
    if mount.writable and mount.source is not None:
        checked_directory(mount.source)
    return place


@cache
def _protected() -> tuple[Path, ...]:
    home = _home_of_caller()
    system = tuple(Path(path).resolve() for path in _NEVER_WRITABLE)
    return (*system, home) if home else system


def _in_kernel(real: Path) -> bool:
    return any(real.is_relative_to(path) for path in _KERNEL) and SHM not in map(str, real.parents)


def _existing(path: Path) -> Path:
    try:
        return path.resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as e:  # missing or unreadable, a NUL byte, a loop of links
        raise DirectoryMissing(f"{path} is not there.", hint="Name a path that exists.") from e


@cache
def _home_of_caller() -> Path | None:
    """The caller's home; not for system users, whose home is often a directory of the system."""
    try:
        home = Path(pwd.getpwuid(os.getuid()).pw_dir).resolve()
        return home if home != Path("/") and home.stat().st_uid == os.getuid() else None
    except (KeyError, OSError, RuntimeError):
        return None
