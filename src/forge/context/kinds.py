"""What a file is, as its path tells: language, role in the repository, and how its summary is made."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Role(IntEnum):
    """What a reader of the repository looks at first has the smaller number."""

    SOURCE = 0
    DOCUMENT = 1
    CONFIG = 2
    OTHER = 3
    ASSET = 4
    GENERATED = 5


class FileKind(NamedTuple):
    name: str
    """Shown, and part of the key under which a summary is kept."""
    role: Role
    outline: str = ""
    """Which reader gives the main symbols; see `outlines` and `symbols`."""


_LINES = "lines"
_BY_NAME = {
    "package.json": FileKind("npm package", Role.CONFIG, "package.json"),
    "pyproject.toml": FileKind("python project", Role.CONFIG, "pyproject"),
    "cargo.toml": FileKind("rust package", Role.CONFIG, "cargo"),
    "go.mod": FileKind("go module", Role.CONFIG, "go.mod"),
    "makefile": FileKind("makefile", Role.CONFIG, "makefile"),
    "gnumakefile": FileKind("makefile", Role.CONFIG, "makefile"),
    "justfile": FileKind("makefile", Role.CONFIG, "makefile"),
    "dockerfile": FileKind("dockerfile", Role.CONFIG, _LINES),
    "license": FileKind("license", Role.OTHER, _LINES),
    ".env": FileKind("env", Role.CONFIG, "env"),
    ".gitignore": FileKind("ignore list", Role.CONFIG),
    ".dockerignore": FileKind("ignore list", Role.CONFIG),
    ".gitmodules": FileKind("submodules", Role.CONFIG, "ini"),
    ".editorconfig": FileKind("ini", Role.CONFIG, "ini"),
}
_LOCKS = (
    "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lockb bun.lock uv.lock poetry.lock pdm.lock "
    "pipfile.lock cargo.lock go.sum composer.lock gemfile.lock flake.lock mix.lock packages.lock.json "
    "gradle.lockfile deno.lock conda-lock.yml"
)
_SOURCES = {
    "python": "py pyi pyw",
    "javascript": "js jsx mjs cjs",
    "typescript": "ts mts cts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    "cpp": "cc cpp cxx c++ h hh hpp hxx h++ inl ipp cu cuh",
}
_PLAIN_SOURCES = {
    "shell": "sh bash zsh fish",
    "ruby": "rb rake",
    "php": "php",
    "c#": "cs",
    "kotlin": "kt kts",
    "swift": "swift",
    "scala": "scala",
    "sql": "sql",
    "lua": "lua",
    "perl": "pl pm",
    "elixir": "ex exs",
    "haskell": "hs",
    "vue": "vue",
    "svelte": "svelte",
    "r": "r",
    "dart": "dart",
    "zig": "zig",
    "protobuf": "proto",
    "graphql": "graphql gql",
    "terraform": "tf hcl",
    "assembly": "s asm",
    "css": "css scss sass less",
    "html": "html htm xhtml jinja j2 tmpl hbs ejs",
    "powershell": "ps1 psm1",
    "batch": "bat cmd",
    "cmake": "cmake",
    "nix": "nix",
}
_OTHERS = {
    FileKind("markdown", Role.DOCUMENT, "markdown"): "md markdown mdx mdc",
    FileKind("text", Role.DOCUMENT, _LINES): "txt rst adoc org tex",
    FileKind("json", Role.CONFIG, "json"): "json jsonc json5 webmanifest",
    FileKind("yaml", Role.CONFIG, "yaml"): "yaml yml",
    FileKind("toml", Role.CONFIG, "toml"): "toml",
    FileKind("ini", Role.CONFIG, "ini"): "ini cfg conf properties",
    FileKind("xml", Role.CONFIG, _LINES): "xml xsd plist pom csproj",
    FileKind("env", Role.CONFIG, "env"): "env",
    FileKind("data", Role.OTHER, _LINES): "csv tsv jsonl ndjson log",
    FileKind("image", Role.ASSET): "png jpg jpeg gif webp bmp ico tif tiff avif heic psd svg",
    FileKind("font", Role.ASSET): "woff woff2 ttf otf eot",
    FileKind("audio", Role.ASSET): "mp3 wav ogg flac m4a",
    FileKind("video", Role.ASSET): "mp4 webm mov avi mkv",
    FileKind("archive", Role.ASSET): "zip gz tgz bz2 xz zst tar 7z rar jar war whl",
    FileKind("document", Role.ASSET): "pdf doc docx xls xlsx ppt pptx odt",
    FileKind(
        "binary", Role.ASSET
    ): "exe dll so dylib a o obj class pyc wasm bin dat db sqlite sqlite3 parquet npy pkl pt",
    FileKind("source map", Role.GENERATED): "map",
    FileKind("snapshot", Role.GENERATED): "snap",
}
_LOCK = FileKind("lock file", Role.GENERATED)
_BY_NAME |= dict.fromkeys(_LOCKS.split(), _LOCK)
_MINIFIED_ENDINGS = (".min.js", ".min.css", ".bundle.js")
_MADE_ENDINGS = (".pb.go", "_pb2.py", "_pb2_grpc.py", ".g.dart", ".designer.cs", ".generated.ts")
_LONGEST_ENDING = 13
_MADE = FileKind("generated code", Role.GENERATED)
_MINIFIED = FileKind("minified", Role.GENERATED)
_UNKNOWN = FileKind("file", Role.OTHER, _LINES)
LINK = FileKind("symbolic link", Role.OTHER)
PARSED = frozenset(_SOURCES)
"""Kinds that a grammar reads."""


def _by_ending() -> dict[str, FileKind]:
    table: dict[str, FileKind] = {}
    for name, endings in _SOURCES.items():
        table |= dict.fromkeys(endings.split(), FileKind(name, Role.SOURCE, name))
    for name, endings in _PLAIN_SOURCES.items():
        table |= dict.fromkeys(endings.split(), FileKind(name, Role.SOURCE, _LINES))
    for kind, endings in _OTHERS.items():
        table |= dict.fromkeys(endings.split(), kind)
    return table


_BY_ENDING = _by_ending()
BY_NAME = {
    kind.name: kind for kind in (*_BY_NAME.values(), *_BY_ENDING.values(), _LOCK, _MADE, _MINIFIED, _UNKNOWN, LINK)
}


def ending(path: str) -> str:
    """The last part of a name after a dot, in small letters; empty without one."""
    dot = path.rfind(".")
    if dot <= path.rfind("/") or len(path) - dot > _LONGEST_ENDING:
        return ""
    last = path[dot + 1 :].lower()
    return last if dot - path.rfind("/") > 1 or last in _BY_ENDING else ""


def kind_of(path: str) -> FileKind:
    name = path[path.rfind("/") + 1 :].lower()
    if name.endswith(_MINIFIED_ENDINGS):
        return _MINIFIED
    if name.endswith(_MADE_ENDINGS):
        return _MADE
    return _BY_NAME.get(name) or _BY_ENDING.get(ending(name)) or _by_prefix(name)


def _by_prefix(name: str) -> FileKind:
    if name.startswith(("dockerfile", "containerfile")):
        return _BY_NAME["dockerfile"]
    if name.startswith(".env"):
        return _BY_NAME[".env"]
    if name.startswith(("license", "licence", "copying")):
        return _BY_NAME["license"]
    return _UNKNOWN
