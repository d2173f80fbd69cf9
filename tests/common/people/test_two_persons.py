"""Commands that take two persons."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from common.contract.commands import (
    AnyCommand,
    BetsOpen,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
)
from common.contract.refusals import RejectedError
from common.people.two_persons import (
    MAX_WAITING,
    SECOND_PERSON_SECONDS,
    CommandSigner,
    CommandSubject,
    WaitingCommands,
    add_signature,
    drop_expired,
    needs_two,
    second_person_wanted,
)
from tests.support.for_each import for_each

LASA = CommandSigner("m-lasa", "M. Lasa", "table_head")
VIDAL = CommandSigner("t-vidal", "T. Vidal", "director")
CORRECT = ResultCorrect(at=1.0, by="M. Lasa", role="table_head", round=5, number=12)


def by(said: CommandSigner, given: AnyCommand = CORRECT) -> AnyCommand:
    assert said.role != "reader"
    assert said.role != "surveillance"
    return replace(given, at=given.at + 7, by=said.name, role=said.role, note=f"of {said.name}")


def key(refused: pytest.ExceptionInfo[RejectedError]) -> str:
    assert refused.value.refusal is not None
    return refused.value.refusal.key


@for_each(
    ("given", "standing", "two"),
    [
        (CORRECT, CommandSubject(has_result=True), True),
        (RoundConfirm(at=0, by="x", role="director"), CommandSubject(), False),
        (RoundConfirm(at=0, by="x", role="director"), CommandSubject(seen=12), False),
        (RoundConfirm(at=0, by="x", role="director", number=12), CommandSubject(seen=12), False),
        (RoundConfirm(at=0, by="x", role="director", number=13), CommandSubject(seen=12), True),
        (RoundConfirm(at=0, by="x", role="director", number=0), CommandSubject(), True),
        (RoundConfirm(at=0, by="x", role="director", winner="tie"), CommandSubject(), True),
        (
            RoundConfirm(at=0, by="x", role="director", dice=(1, 2)),
            CommandSubject(seen=(1, 2)),
            False,
        ),
        (RoundConfirm(at=0, by="x", role="director", dice=(1, 2)), CommandSubject(), True),
        (RoundVoid(at=0, by="x", role="director", reason="ball_out"), CommandSubject(), False),
        (
            RoundVoid(at=0, by="x", role="director", reason="ball_out"),
            CommandSubject(has_result=True),
            True,
        ),
        (BetsOpen(at=0, by="x", role="director"), CommandSubject(has_result=True), False),
    ],
)
def test_commands_that_take_two_persons(
    given: AnyCommand, standing: CommandSubject, two: bool
) -> None:
    assert needs_two(given, standing) is two
    assert not needs_two(given, standing, ())


def test_the_second_person_repeats_the_command_and_both_are_known() -> None:
    state, first = add_signature(WaitingCommands(), by(LASA), LASA, 100.0)
    assert first is None
    state, first = add_signature(state, by(VIDAL), VIDAL, 100.0 + SECOND_PERSON_SECONDS - 1)
    assert first == LASA
    assert state == WaitingCommands()


def test_the_same_person_is_no_second_one_with_any_key() -> None:
    state, _ = add_signature(WaitingCommands(), by(LASA), LASA, 100.0)
    tablet = replace(LASA, role="inspector", token="signed with another key")
    with pytest.raises(RejectedError) as refused:
        add_signature(state, by(tablet), tablet, 101.0)
    assert key(refused) == "second_person_same"


def test_after_the_time_the_second_is_a_first() -> None:
    state, _ = add_signature(WaitingCommands(), by(LASA), LASA, 100.0)
    state, first = add_signature(state, by(VIDAL), VIDAL, 100.0 + SECOND_PERSON_SECONDS)
    assert first is None
    assert [each.first for each in state.waiting] == [VIDAL]
    state, late = drop_expired(state, 100.0 + 2 * SECOND_PERSON_SECONDS)
    assert state == WaitingCommands()
    assert [each.first for each in late] == [VIDAL]


@pytest.mark.parametrize(
    "other",
    [
        replace(CORRECT, number=13),
        replace(CORRECT, round=6),
        replace(CORRECT, number=None, winner="tie"),
        replace(CORRECT, number="12"),
        RoundConfirm(at=0, by="x", role="director", round=5, number=12),
    ],
    ids=repr,
)
def test_another_content_confirms_nothing(other: AnyCommand) -> None:
    state, _ = add_signature(WaitingCommands(), by(LASA), LASA, 100.0)
    state, first = add_signature(state, by(VIDAL, other), VIDAL, 101.0)
    assert first is None
    assert len(state.waiting) == 2


def test_the_number_of_waiting_commands_is_limited() -> None:
    state = WaitingCommands()
    for number in range(MAX_WAITING):
        state, _ = add_signature(state, by(LASA, replace(CORRECT, round=number + 1)), LASA, 100.0)
    with pytest.raises(RejectedError) as refused:
        add_signature(state, by(LASA, replace(CORRECT, round=99)), LASA, 101.0)
    assert key(refused) == "second_too_many"
    state, first = add_signature(state, by(VIDAL, replace(CORRECT, round=1)), VIDAL, 102.0)
    assert first == LASA


def test_no_single_person_corrects_a_result() -> None:
    """One person with any number of keys, in any order and time, against both roles."""
    chance = random.Random(15)
    for _ in range(10_000):
        state = WaitingCommands()
        now = 100.0
        for _ in range(4):
            said = replace(
                LASA, role=chance.choice(("table_head", "inspector")), token=str(chance.random())
            )
            now += chance.choice((0.0, 1.0, SECOND_PERSON_SECONDS / 2, SECOND_PERSON_SECONDS, -5.0))
            given = by(said, replace(CORRECT, round=chance.choice((5, 5, 6))))
            try:
                state, first = add_signature(state, given, said, now)
            except RejectedError:
                continue
            assert first is None


def test_the_first_person_is_told_which_roles_must_repeat_it() -> None:
    assert str(second_person_wanted(LASA, ("table_head", "director"))) == (
        "not followed yet: within 120 s a person other than M. Lasa must send the same; "
        "allowed: table_head, director"
    )
