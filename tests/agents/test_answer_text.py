"""An answer as it comes: everything is passed on once and in order, no secret is, and a long line costs no more."""

from __future__ import annotations

import base64
from types import SimpleNamespace
from typing import Any, cast

import pytest

from forge.agents.answer_text import AnswerText
from forge.sessions.redaction import Redactor

OWN = "k3y-0f-th15-pr0c355"
WORDS = "The garden has four beds, and each of them is watered by a pump of its own. "


class Told(Redactor):
    """Counts the characters that it was asked to look at."""

    looked = 0

    def text(self, text: str) -> str:
        self.looked += len(text)
        return super().text(text)


def heard(text: str, piece: int) -> tuple[str, Told]:
    events: list[Any] = []
    redactor = Told([OWN])
    steps = SimpleNamespace(emit=events.append)
    listening = AnswerText("t", cast("Any", steps), redactor)
    for start in range(0, len(text), piece):
        listening(text[start : start + piece])
    listening.end()
    return "".join(event.text for event in events), redactor


@pytest.mark.req("X-06")
@pytest.mark.parametrize("piece", [1, 7, 40, 3000])
@pytest.mark.parametrize("place", [0, 100, 1020, 1100, 1500, 2900])
def test_a_long_line_is_told_whole_and_without_its_secrets(piece: int, place: int) -> None:
    line = WORDS * 40
    text = f"{line[:place]} token: {OWN} {line[place:]}\nA second line.\n{line}"
    told, redactor = heard(text, piece)
    assert told == "\n".join(map(redactor.text, text.split("\n")))
    assert OWN not in told


@pytest.mark.req("X-06")
@pytest.mark.parametrize("piece", [1, 7, 40, 3000])
@pytest.mark.parametrize("whole", [True, False])
def test_no_line_of_a_private_key_is_told_whatever_it_holds(piece: int, whole: bool) -> None:
    body = base64.b64encode(b"words that could be ordinary text " * 8).decode()
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    end = ["-----END PRIVATE KEY-----", "Keep it."] if whole else []
    text = "\n".join(["Here it is:", "-----BEGIN PRIVATE KEY-----", *lines, *end])
    told, _ = heard(text, piece)
    assert not any(line in told for line in lines)
    assert told.startswith("Here it is:\n")
    assert told.endswith("Keep it.") == whole


def test_the_work_for_a_line_grows_with_its_length_and_not_with_its_square() -> None:
    short, long = heard(WORDS * 50, 12)[1].looked, heard(WORDS * 400, 12)[1].looked
    assert long < 10 * short
