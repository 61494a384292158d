"""Recorded values and errors, and what loading the engine costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from forge.engine.encoding import error_from_json, error_to_json, plain
from forge.engine.errors import NotJson
from forge.errors import Denied, ForgeError


class Detailed(Denied):
    code = "detailed"

    def __init__(self, path: str, count: int) -> None:
        super().__init__(f"{path} is refused {count} times", hint="stop")
        self.path = path
        self.places = (1, 2)
        self.opaque = object()


def test_an_error_comes_back_as_its_class_with_what_it_carried() -> None:
    back = error_from_json(error_to_json(Detailed("a.py", 3)))
    assert type(back) is Detailed
    assert (back.message, back.hint, back.code, back.path, back.places) == (
        "a.py is refused 3 times",
        "stop",
        "detailed",
        "a.py",
        [1, 2],
    )


@pytest.mark.parametrize("name", ["forge.gone.errors:Vanished", "somewhere:Else"])
def test_an_error_whose_class_is_gone_keeps_family_code_and_text(name: str) -> None:
    data = error_to_json(Detailed("a.py", 3)) | {"class": name}
    back = error_from_json(data)
    assert type(back) is Denied
    assert (back.code, back.message) == ("detailed", "a.py is refused 3 times")


def test_an_error_that_is_not_forges_own_becomes_one() -> None:
    back = error_from_json(error_to_json(ValueError("x")))
    assert isinstance(back, ForgeError)
    assert str(back) == "x"


def test_values_are_what_they_will_be_when_read_back() -> None:
    assert plain({"a": (1, 2)}, what="it") == {"a": [1, 2]}
    for value in (object(), float("nan"), {1, 2}):
        with pytest.raises(NotJson, match="it cannot be recorded"):
            plain(value, what="it")


def test_the_engine_loads_its_library_only_when_it_starts() -> None:
    code = "import sys, forge.engine.engine; print(sorted({'dbos', 'alembic', 'psycopg'} & sys.modules.keys()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
