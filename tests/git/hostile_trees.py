"""Trees that git refuses to write but a repository can hold."""

from __future__ import annotations

from pathlib import Path

from tests.git import worlds
from tests.git.hostile_paths import GIT_SPELLINGS

CONTENT = b"content\n"


MISSING, SUB = "a" * 40, "b" * 40


BLOB, EMPTY, INNER = "blob", "empty", "inner"


FILE = (b"100644", b"zz-file", BLOB)


HOSTILE: dict[str, list[tuple[bytes, bytes, str]]] = {
    "name twice": [(b"100644", b"same", BLOB), (b"100644", b"same", MISSING), FILE],
    "file and folder of one name": [(b"100644", b"same", BLOB), (b"40000", b"same", INNER), FILE],
    "unsorted": [FILE, (b"100644", b"aa", BLOB), (b"40000", b"mm", INNER)],
    "folder sorted as file": [(b"40000", b"a", INNER), (b"100644", b"a.c", BLOB), FILE],
    "dot dot": [(b"40000", b"..", INNER), FILE],
    "dot": [(b"100644", b".", BLOB), FILE],
    "dot git": [(b"40000", b".git", INNER), FILE],
    "dot git as file": [(b"100644", b".git", BLOB), FILE],
    "slash in a name": [(b"100644", b"/etc/passwd", BLOB), (b"100644", b"a/b", BLOB), FILE],
    "up and out": [(b"100644", b"../../up", BLOB), FILE],
    "mode 0": [(b"0", b"nothing", BLOB), FILE],
    "strange modes": [(b"100000", b"a", BLOB), (b"7777777", b"b", BLOB), (b"40755", b"c", INNER), FILE],
    "padded modes": [(b"000100644", b"a", BLOB), (b"0040000", b"c", INNER), (b"0160000", b"d", SUB), FILE],
    "device, fifo, socket": [(b"20000", b"a", BLOB), (b"10000", b"b", BLOB), (b"140000", b"c", BLOB), FILE],
    "not unicode": [(b"100644", b"caf\xe9", BLOB), FILE, (b"40000", b"\xff\xfe", INNER)],
    "controls": [(b"100644", b"\x01", BLOB), (b"100644", b"a\nb", BLOB), (b"100644", b"c\x1b[2J", BLOB), FILE],
    "bidi and invisible": [(b"100644", "a\u202eb".encode(), BLOB), (b"100644", "c\u200bd".encode(), BLOB), FILE],
    "empty folder": [(b"40000", b"void", EMPTY), FILE],
    "folder that is missing": [(b"40000", b"lost", MISSING), FILE],
    "file that is missing": [(b"100644", b"lost", MISSING), FILE],
    "blob as folder": [(b"40000", b"liar", BLOB), FILE],
    "folder as blob": [(b"100644", b"liar", INNER), FILE],
    "folder as symlink": [(b"120000", b"liar", INNER), FILE],
    "long name": [(b"100644", b"n" * 5000, BLOB), (b"40000", b"o" * 300, INNER), FILE],
    "symlinked settings": [(b"120000", b".gitattributes", BLOB), (b"120000", b".gitmodules", BLOB), FILE],
    "git in disguise": [
        *((b"40000", name.encode(), INNER) for name in sorted(GIT_SPELLINGS, key=lambda n: n.encode() + b"/")),
        FILE,
    ],
}


def hostile_tree(place: Path, kind: str) -> str:
    blob = worlds.blob(place, CONTENT)
    known = {BLOB: blob, EMPTY: worlds.tree(place, []), INNER: worlds.tree(place, [(b"100644", b"config", blob)])}
    return worlds.tree(place, [(mode, name, known.get(oid, oid)) for mode, name, oid in HOSTILE[kind]])
