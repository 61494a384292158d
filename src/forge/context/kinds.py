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


class Kind(NamedTuple):
    name: str
    """Shown, and part of the key under which a summary is kept."""
    role: Role
    outline: str = ""
    """Which reader gives the main symbols; see `outlines` and `symbols`."""


_LINES = "lines"
_BY_NAME = {
    "package.json": Kind("npm package", Role.CONFIG, "package.json"),
    "pyproject.toml": Kind("python project", Role.CONFIG, "pyproject"),
    "cargo.toml": Kind("rust package", Role.CONFIG, "cargo"),
    "go.mod": Kind("go module", Role.CONFIG, "go.mod"),
    "makefile": Kind("makefile", Role.CONFIG, "makefile"),
    "gnumakefile": Kind("makefile", Role.CONFIG, "makefile"),
    "justfile": Kind("makefile", Role.CONFIG, "makefile"),
    "dockerfile": Kind("dockerfile", Role.CONFIG, _LINES),
    "license": Kind("license", Role.OTHER, _LINES),
    ".env": Kind("env", Role.CONFIG, "env"),
    ".gitignore": Kind("ignore list", Role.CONFIG),
    ".dockerignore": Kind("ignore list", Role.CONFIG),
    ".gitmodules": Kind("submodules", Role.CONFIG, "ini"),
    ".editorconfig": Kind("ini", Role.CONFIG, "ini"),
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
    Kind("markdown", Role.DOCUMENT, "markdown"): "md markdown mdx mdc",
    Kind("text", Role.DOCUMENT, _LINES): "txt rst adoc org tex",
    Kind("json", Role.CONFIG, "json"): "json jsonc json5 webmanifest",
    Kind("yaml", Role.CONFIG, "yaml"): "yaml yml",
    Kind("toml", Role.CONFIG, "toml"): "toml",
    Kind("ini", Role.CONFIG, "ini"): "ini cfg conf properties",
    Kind("xml", Role.CONFIG, _LINES): "xml xsd plist pom csproj",
    Kind("env", Role.CONFIG, "env"): "env",
    Kind("data", Role.OTHER, _LINES): "csv tsv jsonl ndjson log",
    Kind("image", Role.ASSET): "png jpg jpeg gif webp bmp ico tif tiff avif heic psd svg",
    Kind("font", Role.ASSET): "woff woff2 ttf otf eot",
    Kind("audio", Role.ASSET): "mp3 wav ogg flac m4a",
    Kind("video", Role.ASSET): "mp4 webm mov avi mkv",
    Kind("archive", Role.ASSET): "zip gz tgz bz2 xz zst tar 7z rar jar war whl",
    Kind("document", Role.ASSET): "pdf doc docx xls xlsx ppt pptx odt",
    Kind("binary", Role.ASSET): "exe dll so dylib a o obj class pyc wasm bin dat db sqlite sqlite3 parquet npy pkl pt",
    Kind("source map", Role.GENERATED): "map",
    Kind("snapshot", Role.GENERATED): "snap",
}
_LOCK = Kind("lock file", Role.GENERATED)
_BY_NAME |= dict.fromkeys(_LOCKS.split(), _LOCK)
_MINIFIED_ENDINGS = (".min.js", ".min.css", ".bundle.js")
_MADE_ENDINGS = (".pb.go", "_pb2.py", "_pb2_grpc.py", ".g.dart", ".designer.cs", ".generated.ts")
_LONGEST_ENDING = 13
_MADE = Kind("generated code", Role.GENERATED)
_MINIFIED = Kind("minified", Role.GENERATED)
_UNKNOWN = Kind("file", Role.OTHER, _LINES)
LINK = Kind("symbolic link", Role.OTHER)
PARSED = frozenset(_SOURCES)
"""Kinds that a grammar reads."""


def _by_ending() -> dict[str, Kind]:
    table: dict[str, Kind] = {}
    for name, endings in _SOURCES.items():
        table |= dict.fromkeys(endings.split(), Kind(name, Role.SOURCE, name))
    for name, endings in _PLAIN_SOURCES.items():
        table |= dict.fromkeys(endings.split(), Kind(name, Role.SOURCE, _LINES))
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


def kind_of(path: str) -> Kind:
    name = path[path.rfind("/") + 1 :].lower()
    if name.endswith(_MINIFIED_ENDINGS):
        return _MINIFIED
    if name.endswith(_MADE_ENDINGS):
        return _MADE
    return _BY_NAME.get(name) or _BY_ENDING.get(ending(name)) or _by_prefix(name)


def _by_prefix(name: str) -> Kind:
    if name.startswith(("dockerfile", "containerfile")):
        return _BY_NAME["dockerfile"]
    if name.startswith(".env"):
        return _BY_NAME[".env"]
    if name.startswith(("license", "licence", "copying")):
        return _BY_NAME["license"]
    return _UNKNOWN
