"""Realigning goes back to the last correction of substance and forgets nothing of the chat."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.pipeline.realign import Basis, NoCorrection, brain_dump, corrections, is_realign, realigned
from forge.projects.chat import ChatMessage
from forge.projects.status import Phase

pytestmark = pytest.mark.req("P-04")


def said(role: str, content: str, phase: Phase = Phase.HUMAN_REVIEW) -> ChatMessage:
    return ChatMessage("ai" if role == "ai" else "human", content, phase, "2026-01-01T00:00:00Z")


DUMP = [said("human", "a wedding", Phase.BRAIN_DUMP), said("human", "in June", Phase.BRAIN_DUMP)]


@pytest.mark.parametrize(
    "text",
    [
        "realign from here",
        "Realign From Here.",
        "  REALIGN  from here!!",
        '"realign from here"',
        "realign from here…\n",
    ],
)
def test_the_command_is_known_in_any_case_and_with_punctuation(text: str) -> None:
    assert is_realign(text)


@pytest.mark.parametrize(
    "text", ["realign", "please realign from here", "realign from here: 80 guests", "", "unrealign from here"]
)
def test_anything_else_is_no_command(text: str) -> None:
    assert not is_realign(text)


def test_everything_after_the_last_correction_is_left_out() -> None:
    chat = [
        *DUMP,
        said("ai", "first"),
        said("human", "80 guests"),
        said("ai", "second"),
        said("human", "not in a church"),
        said("ai", "third"),
        said("human", "realign from here"),
    ]
    assert realigned(chat) == Basis(
        brain_dump=("a wedding", "in June"),
        corrections=("80 guests", "not in a church"),
        previous="second",
        baseline=5,
        excluded=(6, 7),
    )


def test_several_commands_in_a_row_lead_to_the_same_place() -> None:
    chat = [
        *DUMP,
        said("ai", "first"),
        said("human", "80 guests"),
        said("ai", "second"),
        said("human", "realign from here"),
    ]
    once = realigned(chat)
    again = realigned([*chat, said("ai", "third"), said("human", "Realign from here!")])
    assert isinstance(once, Basis)
    assert isinstance(again, Basis)
    assert (again.baseline, again.corrections, again.previous) == (once.baseline, once.corrections, once.previous)
    assert again.excluded == (4, 5, 6, 7)


@pytest.mark.parametrize(
    "chat",
    [
        [],
        DUMP,
        [*DUMP, said("ai", "first"), said("human", "realign from here")],
        [*DUMP, said("human", "realign from here", Phase.BRAIN_DUMP)],
        [*DUMP, said("ai", "first"), said("human", "  \n"), said("human", "realign from here")],
        [*DUMP, said("human", "80 guests", Phase.SPEC_BUILDING), said("human", "realign from here")],
    ],
)
def test_without_a_correction_the_person_is_asked_for_one(chat: list[ChatMessage]) -> None:
    assert realigned(chat) == NoCorrection()
    assert "correction" in NoCorrection().message


def test_commands_are_neither_brain_dump_nor_corrections() -> None:
    chat = [
        *DUMP,
        said("human", "realign from here", Phase.BRAIN_DUMP),
        said("human", "80"),
        said("human", "realign from here"),
    ]
    assert brain_dump(chat) == ("a wedding", "in June")
    assert corrections(chat) == ("80",)


messages = st.builds(
    said,
    st.sampled_from(["human", "ai"]),
    st.sampled_from(["one", "two", "realign from here", " "]),
    st.sampled_from([Phase.BRAIN_DUMP, Phase.DISTILLING, Phase.HUMAN_REVIEW]),
)


@given(st.lists(messages, max_size=12))
def test_no_correction_is_ever_lost_and_every_message_is_kept_or_excluded(chat: list[ChatMessage]) -> None:
    match realigned(chat):
        case Basis() as basis:
            assert basis.corrections == corrections(chat)
            assert [*range(basis.baseline + 1), *basis.excluded] == list(range(len(chat)))
        case NoCorrection():
            assert corrections(chat) == ()
