"""Run in a directory with the demo's program: prints as JSON which of the defects that reviews name it has."""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path.cwd()))

from tripsplit.cli import main  # type: ignore[import-not-found]
from tripsplit.ledger import BadLine, parse  # type: ignore[import-not-found]
from tripsplit.settling import balances  # type: ignore[import-not-found]

THREE = "people: Ana, Ben, Cleo\n"


def run(text: str | bytes, *options: str) -> tuple[int, str, str]:
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "trip.txt"
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main([str(file), *options])
    return code, out.getvalue(), err.getvalue()


def refused(text: str) -> str:
    try:
        balances(parse(text))
    except BadLine as error:
        return str(error)
    except KeyError:
        return ""
    return ""


def no_form() -> bool:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(["--help"])
    return "NAME AMOUNT WHAT" not in " ".join(out.getvalue().split())


def traceback() -> bool:
    with contextlib.redirect_stderr(io.StringIO()):
        try:
            return bool(main(["no/such/trip.txt"]) != 2)
        except OSError:
            return True


def unequal_columns() -> bool:
    _, out, _ = run("people: Ana, Bartholomew-James\nAna 3.00 bus\n", "--balances")
    return len({len(line) for line in out.splitlines()[:2]}) > 1


DEFECTS: dict[str, Callable[[], bool]] = {
    "lost cents": lambda: sum(balances(parse(THREE + "Ana 10.00 taxi")).values()) != 0,
    "no comma": lambda: bool(refused(THREE + "Ben 12,50 taxi")),
    "sharer twice": lambda: not refused(THREE + "Ana 9.00 museum @ Ben, Ben"),
    "names not told": lambda: "Ana, Ben, Cleo" not in refused(THREE + "Bne 9.00 museum"),
    "silent when even": lambda: run(THREE)[1] == "",
    "help without form": no_form,
    "first pays more": lambda: len(set(balances(parse(THREE + "Ana 10.00 taxi @ Ben, Cleo, Ana\n" * 3)).values())) > 2,
    "byte order mark": lambda: run(b"\xef\xbb\xbf" + THREE.encode())[0] != 0,
    "traceback": traceback,
    "person twice": lambda: "line 1:" not in refused("people: Ana, Ben, Ana\nBen 9.00 museum"),
    "second people": lambda: not refused(THREE + "Ana 9.00 museum\npeople: Ben, Cleo"),
    "columns": unequal_columns,
    "two-word payer": lambda: bool(refused("people: Anna Maria, Ben\nAnna Maria 9.00 museum")),
    "only first bad line": lambda: "line 3" not in run(THREE + "Bne 1.00 x\nBne 2.00 y")[2],
}

if __name__ == "__main__":
    print(json.dumps({name: there() for name, there in DEFECTS.items()}))
