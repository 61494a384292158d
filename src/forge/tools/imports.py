"""What of a repository a Python file imports, found by reading: nothing is run."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from forge.errors import InvalidInput
from forge.git import VFS

FOLDER = "tools"
MOST_FILES = 200
MOST_BYTES = 2_000_000


class ToolUnreadable(InvalidInput):
    """A tool's source, or something it imports, cannot be taken in."""

    code = "tool_unreadable"


@dataclass(frozen=True, slots=True)
class Closure:
    """A module and everything of the repository that it can import."""

    path: str
    sources: dict[str, bytes]
    """Content by path."""
    modules: dict[str, str]
    """Path by module name; a package is its `__init__.py`. One file may be known by two names."""

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2].removesuffix(".py")

    @property
    def files(self) -> dict[str, str]:
        return {path: sha256(data).hexdigest() for path, data in sorted(self.sources.items())}

    @property
    def hash(self) -> str:
        """One value for all of it: a changed byte, a file more or less, or another place gives another one."""
        files = (f"{path}\0{digest}\n" for path, digest in self.files.items())
        modules = (f"{name}\0{path}\n" for name, path in sorted(self.modules.items()))
        text = "".join([f"{self.path}\n", *files, *modules])
        return sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def parsed(source: bytes, path: str) -> ast.Module:
    """The syntax tree, or `ToolUnreadable` with the reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd escapes in a tool are its author's business
            return ast.parse(source, filename=path)
    except SyntaxError as e:
        raise ToolUnreadable(f"{path} does not parse: {e.msg} (line {e.lineno}).") from e
    except (ValueError, RecursionError, MemoryError) as e:
        raise ToolUnreadable(f"{path} does not parse: {type(e).__name__}.") from e


def closure(vfs: VFS, path: str) -> Closure:
    """`path`, which lies in `tools/`, with all that it imports, directly or through others.

    Names are looked up in the repository's root, then in `tools/`. Names of the standard library are never the
    repository's: those come first when the tool runs, too.
    """
    sources: dict[str, bytes] = {}
    modules: dict[str, str] = {}
    own = f"{FOLDER}.{path.removeprefix(f'{FOLDER}/').removesuffix('.py')}"
    waiting = [(path, own), *_packages(vfs, own)]
    while waiting:
        file, module = waiting.pop()
        if module in modules:
            continue
        modules[module] = file
        sources[file] = _source(vfs, file)
        if len(sources) > MOST_FILES or sum(map(len, sources.values())) > MOST_BYTES:
            raise ToolUnreadable(
                f"{path} imports more than {MOST_FILES} files or {MOST_BYTES:,} bytes of the repository.",
                hint="Let it import less.",
            )
        for wanted in _imported(parsed(sources[file], file), module, is_package=file.endswith("/__init__.py")):
            waiting += _packages(vfs, wanted)
    return Closure(path, sources, modules)


def _source(vfs: VFS, path: str) -> bytes:
    found = vfs.entry(path)
    if found is not None and found.is_symlink:
        raise ToolUnreadable(f"{path} is a symbolic link.", hint="Make it a file.")
    return vfs.read_bytes(path)


def _packages(vfs: VFS, module: str) -> list[tuple[str, str]]:
    """The files that importing `module` runs: packages above it, and itself."""
    parts = module.split(".")
    if not all(part.isidentifier() for part in parts) or parts[0] in sys.stdlib_module_names:
        return []
    found = []
    for end in range(1, len(parts) + 1):
        file = _file(vfs, parts[:end])
        if file:
            found.append((file, ".".join(parts[:end])))
    return found


def _file(vfs: VFS, parts: list[str]) -> str | None:
    """A top name is sought in the root first; as a whole it comes from one place only."""
    for root in ("", f"{FOLDER}/"):
        top = f"{root}{parts[0]}"
        if _is_module(vfs, top):
            place = f"{root}{'/'.join(parts)}"
            return next((file for file in (f"{place}/__init__.py", f"{place}.py") if vfs.file_exists(file)), None)
    return None


def _is_module(vfs: VFS, place: str) -> bool:
    found = vfs.entry(place)
    return vfs.file_exists(f"{place}.py") or (found is not None and found.is_tree)


def _imported(tree: ast.Module, module: str, *, is_package: bool) -> Iterator[str]:
    """Names of modules that the code may import; `from x import y` may mean the module `x.y`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, module, is_package=is_package)
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")


def _absolute(node: ast.ImportFrom, module: str, *, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    above = parts if is_package else parts[:-1]
    package = above[: len(above) - (node.level - 1)]
    if not package:
        return ""
    return ".".join([*package, *(node.module.split(".") if node.module else ())])
