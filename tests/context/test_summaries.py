"""One line per file, for every language and whatever the content is."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.context import tokens
from forge.context.kinds import kind_of
from forge.context.summaries import described, key_of, line, summaries
from forge.context.summary_cache import SummaryCache
from forge.git import Repository
from forge.sessions.redaction import Redactor
from tests.conftest import Git
from tests.context.conftest import OpenRepo

LANGUAGES = {
    "app/models.py": (
        "import os\n\n@dataclass\nclass User(Base):\n    def save(self): pass\n    @property\n    def name(self): ...\n"
        "    def _own(self): ...\n\nasync def load(id): ...\n\ndef _hidden(): ...\n",
        "python, 12 lines: class User(save, name), def load, _hidden",
    ),
    "web/a.js": (
        "import x from 'y'\nexport class Store { constructor() {} get(k) {} #own() {} }\nexport const run = () => 1\n"
        "const inner = 2\nexport default function main() {}\n",
        "javascript, 5 lines: class Store(get), function run, main, const inner",
    ),
    "web/b.ts": (
        "export interface Shape { area(): number; name: string }\nexport type Id = string\nexport enum Color { Red }\n"
        "export abstract class Base { abstract go(): void; stop() {} }\nfunction helper() {}\n",
        "typescript, 5 lines: interface Shape(area, name), type Id, enum Color, class Base(go, stop), function helper",
    ),
    "web/c.tsx": (
        "export function Button(props: Props) { return <b>{props.x}</b> }\nexport const Panel = (p: P) => <i/>\n",
        "tsx, 2 lines: function Button, Panel",
    ),
    "web/d.jsx": ("export const App = () => <div><A/></div>\n", "javascript, 1 line: function App"),
    "cmd/main.go": (
        "package main\n\ntype Server struct{}\n\ntype (\n\tHandler interface{ Serve() }\n\tsmall int\n)\n\n"
        "func (s *Server) Start() error { return nil }\nfunc (s *Server) stop() {}\n"
        "func New[T any]() *Server { return nil }\n",
        "go, 12 lines: type Server(Start), Handler(Serve), func New, type small",
    ),
    "src/lib.rs": (
        "pub struct Point<T> { x: T }\nimpl<T> Point<T> { pub fn len(&self) {} }\npub trait Draw { fn draw(&self); }\n"
        "impl Draw for Point<u8> { fn draw(&self) {} }\nfn own() {}\nmacro_rules! m { () => {} }\npub enum E { A }\n",
        "rust, 7 lines: struct Point(len, draw), trait Draw(draw), enum E, fn own, macro m",
    ),
    "src/App.java": (
        "package a.b;\npublic class App extends Base {\n  App() {}\n  void run() {}\n  static class Inner {}\n}\n"
        "interface Job { void go(); }\nrecord Pair(int a, int b) {}\nenum Kind { A; int n() { return 1; } }\n",
        "java, 9 lines: class App(run, Inner), interface Job(go), record Pair, enum Kind(n)",
    ),
    "lib/a.c": (
        "#include <stdio.h>\n#define MAX(a, b) a\nstruct node { int x; };\ntypedef struct { int y; } pair_t;\n"
        "static int own(int a) { return a; }\nint *find(const char *name) { return 0; }\n"
        "int later(void);\nenum e { A };\n",
        "c, 8 lines: macro MAX, struct node, typedef pair_t, find(), later(), enum e, own()",
    ),
    "lib/a.hpp": (
        "#ifndef A_HPP\n#define A_HPP\nnamespace geo {\n"
        "class Shape : public Base { public: virtual double area() const; int n; };\n"
        "template <class T> T biggest(T a, T b) { return a; }\n}\n"
        "void geo::Shape::draw() {}\nusing Id = int;\n#endif\n",
        "cpp, 9 lines: class Shape(area, draw), biggest(), using Id",
    ),
    "docs/guide.md": (
        "---\ntitle: x\n---\n# Guide\n\ntext\n\n## Install\n```sh\n# not a heading\n```\n### Deep\n## Use\n",
        "markdown, 13 lines: Guide › Install, Use",
    ),
    "conf/a.json": ('{"name": "x", "port": 80, "nested": {"a": 1}}', "json, 1 line: name, port, nested"),
    "conf/b.yaml": (
        "# c\nservices:\n  web: 1\nvolumes: {}\n'odd key': 1\n",
        "yaml, 5 lines: services, volumes, odd key",
    ),
    "conf/c.toml": ("top = 1\n[tool.x]\na = 1\n[[items]]\n", "toml, 4 lines: top, tool.x, a, items"),
    "conf/d.ini": ("[main]\nuser = me\n[other]\n", "ini, 3 lines: main, user, other"),
    "package.json": (
        '{"name": "shop", "scripts": {"build": "x", "test": "y"}, "dependencies": {"react": "1"}}',
        "npm package, 1 line: shop; scripts build, test; needs react",
    ),
    "pyproject.toml": (
        '[project]\nname = "thing"\n[project.scripts]\nthing = "a:b"\n[tool.ruff]\n',
        "python project, 5 lines: thing; scripts thing; tools ruff",
    ),
    "Cargo.toml": (
        '[package]\nname = "crab"\n[dependencies]\nserde = "1"\n',
        "rust package, 4 lines: crab; needs serde",
    ),
    "go.mod": ("module example.org/x\n\ngo 1.22\n", "go module, 3 lines: example.org/x"),
    "Makefile": ("all: build\n\tcc\nbuild:\n\tcc\nX := 1\n", "makefile, 5 lines: all, build"),
    "run.sh": ("#!/bin/sh\n# Starts the server.\nexec x\n", "shell, 3 lines: Starts the server. · exec x"),
    "uv.lock": ("a = 1\n", "lock file, 6 B"),
    "a.min.js": ("x=1", "minified, 3 B"),
    "logo.png": (b"\x89PNG\0\0", "image, 6 B"),
    "empty.py": ("", "python, empty"),
}


def plain(text: str) -> str:
    return text


def about(path: str, content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    return described(kind_of(path), data, len(data), plain)


@pytest.mark.req("G-13")
@pytest.mark.parametrize("path", LANGUAGES)
def test_the_main_symbols_of_every_kind_of_file_are_named(path: str) -> None:
    content, expected = LANGUAGES[path]
    assert about(path, content) == expected


@pytest.mark.req("G-13")
def test_a_line_takes_about_fifty_tokens_at_most_whatever_is_in_the_file() -> None:
    many = "".join(f"class Something{n}:\n    def method_{n}(self): ...\n" for n in range(300))
    for path in ("a.py", "deep/" * 6 + "a.py", "x" * 100 + ".py"):
        text = line(path, about(path, many))
        assert text.startswith(f"{path} — python, 600 lines: class Something0, Something1")
        assert text.endswith("…")
        assert tokens.of_text(text) <= 50
    assert tokens.of_text(line("é" * 300 + ".py", about("a.py", many))) <= 151 + 20


@pytest.mark.req("G-13")
def test_generated_minified_large_and_lfs_files_are_told_by_their_kind() -> None:
    assert about("a.py", "# @generated by x\nclass A: ...\n") == "generated python, 2 lines"
    assert about("a.js", "var a=1;" * 1000) == "minified javascript, 8 KB"
    assert described(kind_of("a.py"), b"", 300 << 10, plain) == "python, 300 KB"
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 123456\n"
    assert about("model.bin", pointer) == "binary in LFS, 121 KB"
    assert about("a.py", b"\0\1\2") == "binary python, 3 B"


@pytest.mark.req("X-06", "G-13")
def test_a_summary_holds_no_secret() -> None:
    key = "sk-ant-api03-" + "Ab1Cd2Ef3Gh4Ij5Kl6" * 2
    said = described(kind_of("notes.txt"), f"use {key} for it\n".encode(), 60, Redactor().text)
    assert key not in said
    assert "use" in said
    assert "hunter2secret" not in about(".env", "export DB_PASSWORD=hunter2secret\nPORT=1\n")
    assert about(".env", "export DB_PASSWORD=hunter2secret\nPORT=1\n") == "env, 2 lines: DB_PASSWORD, PORT"
    assert "hunter2secret" not in about("a.json", '{"password": "hunter2secret"')


HOSTILE = {
    "open brackets": b"(" * 100_000,
    "nested lists": b"[1," * 40_000,
    "nested objects": b'{"a":' * 40_000,
    "braces": b"{" * 100_000,
    "one long line": b"x = " + b"1+" * 100_000,
    "invalid utf-8": b"\xff\xfe\xfd def f(: \xc3\x28\n" * 500,
    "control characters": bytes(range(1, 32)) * 500,
    "many children": b"a\n" * 10_000,
    "nested classes": b"".join(b" " * n + b"class A%d:\n" % n for n in range(300)),
    "only fences": b"```\n" * 5_000,
    "open fences": b"```x\n" * 3_000,
    "ticks": b"`" * 60_000 + b"\n",
    "spaces": b" " * 60_000 + b"x\n",
    "deep yaml": b"".join(b" " * n + b"a:\n" for n in range(400)),
    "yaml aliases": b"a: &a [x]\nb: &b [*a,*a]\nc: [*b,*b]\n",
    "huge number": b"[" + b"9" * 10_000 + b"]",
    "long name": b"class " + b"A" * 50_000 + b": ...\n",
    "lone surrogate": b'{"\\ud800": 1}',
    "line separators": "# a\u2028b\u0085c\n".encode(),
}


@pytest.mark.req("G-13")
@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_content_still_gets_one_short_line(what: str) -> None:
    for path in ("a.py", "a.tsx", "a.go", "a.rs", "a.java", "a.c", "a.cpp", "a.md", "a.json", "a.yaml", "a.toml", "a"):
        text = line(path, about(path, HOSTILE[what][:60_000]))
        assert len(text.splitlines()) == 1
        assert tokens.of_text(text) <= 50
        text.encode()


@settings(max_examples=150)
@given(
    st.sampled_from(
        ["py", "js", "ts", "tsx", "go", "rs", "java", "c", "hpp", "md", "json", "yaml", "toml", "ini", "env", "x"]
    ),
    st.binary(max_size=400) | st.text(alphabet="{}[]()<>:;,=#*/\"'`\n\t aclsdef_1|&-", max_size=200).map(str.encode),
)
def test_any_bytes_give_one_line_that_can_be_sent(ending: str, data: bytes) -> None:
    text = line(f"f.{ending}", about(f"f.{ending}", data))
    assert text == about_again(f"f.{ending}", data)
    assert len(text.splitlines()) == 1
    assert tokens.of_text(text) <= 50
    text.encode()


def about_again(path: str, data: bytes) -> str:
    return line(path, about(path, data))


def listed(repository: Repository, branch: str = "main") -> list[tuple[str, object]]:
    view = repository.commit_vfs(branch)
    return list(repository.objects.files(view.tree))


@pytest.mark.req("G-13")
def test_a_branch_switch_recomputes_nothing(opened: OpenRepo, git: Git, tmp_path: Path) -> None:
    repository = opened({f"f{n}.py": f"def f{n}(): ...\n" for n in range(40)})
    work = repository.work_tree
    assert work is not None
    git(work, "checkout", "-q", "-b", "other")
    (work / "f1.py").write_text("def changed(): ...\n")
    git(work, "commit", "-qam", "second")
    place = tmp_path / "cache"
    first = summaries(repository.objects, listed(repository), SummaryCache(place), plain)  # type: ignore[arg-type]
    assert first.computed == 40
    for branch, computed in (("other", 1), ("main", 0), ("other", 0)):
        again = summaries(repository.objects, listed(repository, branch), SummaryCache(place), plain)  # type: ignore[arg-type]
        assert again.computed == computed
        assert again.missing == 0
        assert ("f1.py — python, 1 line: def changed" in again.lines) == (branch == "other")


def test_out_of_time_some_lines_are_missing_and_none_once_the_cache_is_warm(
    opened: OpenRepo, cache: SummaryCache
) -> None:
    repository = opened({f"f{n}.py": f"def f{n}(): ...\n" for n in range(30)})
    files = listed(repository)
    nothing = summaries(repository.objects, files, cache, plain, budget_seconds=0.0)  # type: ignore[arg-type]
    assert (nothing.computed, nothing.missing) == (0, 30)
    warm = summaries(repository.objects, files, cache, plain)  # type: ignore[arg-type]
    assert (warm.computed, warm.missing) == (30, 0)
    again = summaries(repository.objects, files, cache, plain, budget_seconds=0.0)  # type: ignore[arg-type]
    assert again.lines == warm.lines


def test_links_and_submodules_are_named_as_what_they_are(opened: OpenRepo, cache: SummaryCache, git: Git) -> None:
    repository = opened({"a.txt": "hello\n"}, symlinks={"link.py": "a.txt"})
    assert repository.work_tree is not None
    tip = git(repository.work_tree, "rev-parse", "HEAD")
    git(repository.work_tree, "update-index", "--add", "--cacheinfo", f"160000,{tip},sub")
    git(repository.work_tree, "commit", "-qm", "sub")
    made = summaries(repository.objects, listed(repository), cache, plain)  # type: ignore[arg-type]
    assert made.lines == (
        "a.txt — text, 1 line: hello",
        "link.py — symbolic link to a.txt",
        "sub — submodule",
    )


def test_the_same_text_under_another_kind_has_its_own_summary(opened: OpenRepo, cache: SummaryCache) -> None:
    repository = opened({"a.json": '{"abc": 1}', "a.md": '{"abc": 1}'})
    files = listed(repository)
    assert len({key_of(path, entry) for path, entry in files}) == 2  # type: ignore[arg-type]
    made = summaries(repository.objects, files, cache, plain)  # type: ignore[arg-type]
    assert made.lines == ("a.json — json, 1 line: abc", 'a.md — markdown, 1 line: {"abc": 1}')


def test_random_source_is_read_the_same_twice() -> None:
    words = ["class", "def", "fn", "struct", "{", "}", "(", ")", ":", "\n", "A", "b", ";", "impl", "func", "<", ">"]
    for seed in range(20):
        chosen = random.Random(seed)
        text = " ".join(chosen.choices(words, k=300))
        for path in ("a.py", "a.rs", "a.go", "a.cpp", "a.ts", "a.java"):
            assert about(path, text) == about(path, text)
