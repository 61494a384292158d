"""`cherry-pick -x` writes the message that git writes, for any message: line endings, trailers, comments, blanks."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest

from forge.git import Repository
from tests.git import worlds

PARTS = {
    "subject": b"subject",
    "body": b"some words\nmore words",
    "trailer": b"Reviewed-by: Ada",
    "signed": b"Signed-off-by: Ada <ada@example.org>",
    "picked": b"(cherry picked from commit 1111111111111111111111111111111111111111)",
    "mixed": b"Signed-off-by: Ada\nno trailer\nnor this",
    "too mixed": b"Signed-off-by: Ada\none\ntwo\nthree\nfour",
    "continued": b"Acked-by: Ada\n  and more",
    "spaced": b"Acked by: Ada",
    "comment": b"# a comment",
    "conflicts": b"Conflicts:\n\ta.txt",
    "title-like": b"fix: this",
}
TABLE = [
    b"\n\n".join(PARTS[name] for name in names) + end
    for names in [
        ("subject",),
        ("title-like",),
        *itertools.product(["subject"], PARTS),
        *[
            ("subject", a, b)
            for a, b in [
                ("body", "trailer"),
                ("body", "signed"),
                ("trailer", "body"),
                ("signed", "comment"),
                ("picked", "trailer"),
                ("body", "mixed"),
                ("body", "too mixed"),
                ("trailer", "conflicts"),
                ("body", "continued"),
                ("body", "spaced"),
            ]
        ],
    ]
    for end in (b"", b"\n", b"\n\n", b"\r\n")
]
ODD = [
    b"subject\r\n\r\nbody\r\n\r\nReviewed-by: Ada\r\n",
    b"subject\r\n\r\nReviewed-by: Ada\r",
    b"subject\r",
    b"subject\n\nReviewed-by: Ada\n\r\n",
    b"subject\n\r\nReviewed-by: Ada\n",
    b"subject\n \t\nSigned-off-by: Ada\n \n",
    b"\n\nsubject\n\nSigned-off-by: Ada\n",
    b"\r\n \nsubject\n",
    b"subject\n\nReviewed-by: Ada\n# ------------------------ >8 ------------------------\nrest\n",
    b"subject\nReviewed-by: Ada\n",
    b"subject\n\n: Ada\n",
    b"subject\n\n-: Ada\n",
    b"subject\n\n Reviewed-by: Ada\n",
    b"subject\n\nReviewed-by: Ada\n\tcontinued\n\nAcked-by: Ada\r\n",
    b"subject\rwith a bare CR\n\nAcked-by: Ada\rmore\n",
]


def made_of(rng: random.Random) -> bytes:
    lines = [b"", b"\r", b" ", b"words", b"words\r", b"A-b: c", b"A-b: c\r", b"A b : c", b"# c", b"\tx"]
    lines += [b"Signed-off-by: x", b"Conflicts:", b"(cherry picked from commit 1)"]
    return b"subject" + rng.choice([b"\n", b"\r\n"]) + b"\n".join(rng.choice(lines) for _ in range(rng.randint(0, 7)))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("origin")
    worlds.git(place, "init", "-q", "-b", "main", **worlds.ISOLATED)
    (place / "a.txt").write_text("a\n")
    worlds.git(place, "add", "-A")
    worlds.git(place, "commit", "-qm", "first", **worlds.ISOLATED)
    return place


@pytest.mark.req("G-16")
def test_the_message_is_what_git_writes(place: Path) -> None:
    rng = random.Random(7)
    messages = [*TABLE, *ODD, *(made_of(rng) for _ in range(150))]
    base = worlds.text(place, "rev-parse", "main")
    tree = worlds.tree(
        place, [(b"100644", b"a.txt", worlds.blob(place, b"a\n")), (b"100644", b"b.txt", worlds.blob(place, b"b\n"))]
    )
    picks = [_commit(place, tree, base, message) for message in messages]
    worlds.git(place, "checkout", "-q", "-b", "theirs", base)
    target = worlds.text(place, "commit-tree", "-m", "elsewhere", "-p", base, f"{base}^{{tree}}")
    repo = Repository.open(place)
    wrong = []
    for message, pick in zip(messages, picks, strict=True):
        worlds.git(place, "update-ref", "refs/heads/ours", target)
        worlds.git(place, "reset", "-q", "--hard", target)
        worlds.git(place, "cherry-pick", "-x", "--allow-empty-message", pick)
        theirs = worlds.git(place, "cat-file", "commit", "HEAD").partition(b"\n\n")[2]
        repo.perform(repo.preview_cherry_pick(pick, "ours", record_origin=True))
        ours = worlds.git(place, "cat-file", "commit", "ours").partition(b"\n\n")[2]
        if ours != theirs:
            wrong.append((message, ours, theirs))
    assert wrong == []


def _commit(place: Path, tree: str, parent: str, message: bytes) -> str:
    head = f"tree {tree}\nparent {parent}\nauthor {worlds.ADA}\ncommitter {worlds.ADA}\n\n".encode()
    return worlds.git(place, "hash-object", "-t", "commit", "-w", "--stdin", stdin=head + message).decode().strip()
