"""Random inputs at every table. Several observers check the invariants on the same plays."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from common.contract.commands import (
    COMMANDS,
    BetPlace,
    BoxesSet,
    Command,
    HandAct,
    RoundVoid,
    tag_of,
)
from common.contract.refusals import RejectedError
from common.readings import LinkOpen
from controller.games.dealt.phases import PHASES, Phase
from controller.games.wheels.state import WheelState
from controller.people.authority import allowed_commands, command_rights
from tests.conftest import cases
from tests.controller.tables.test_unresolved import followed, hold, table
from tests.support.for_each import for_each
from tests.support.games.decrees import PAIRS
from tests.support.games.outcomes import shown
from tests.support.games.plausible import accepted
from tests.support.games.trial import Drive

STEPS, PLAYS = 100, 16
"""Inputs of a play; maximum number of plays."""
LITTLE_NOISE, MUCH_NOISE = 0.02, 0.3
"""Noise: the share of random inputs."""
SAID_AGAIN = {BoxesSet}
"""Setting the boxes in play again is no error: they are in play."""
DEVICES = ("device", "shoe", "")
ON_THE_MODEL = (
    *("trente-et-quarante", "punto-banca", "chemin-de-fer", "baccarat-two-cloths"),
    *("blackjack", "blackjack-triple", "poker-no-draw", "poker-draw-house", "three-card-poker"),
    *("trijoker", "texas-house", "pai-gow"),
    *("texas-holdem", "omaha", "omaha-five", "omaha-hi-lo", "holdem-double", "synthetic-poker"),
    *("circle-draw", "five-card-stud", "seven-card-stud"),
)
KINDS: dict[str, type[Command]] = {tag_of(kind): kind for kind in COMMANDS}
CHOICES: tuple[tuple[type[Command], str], ...] = (
    (RoundVoid, "reason"),
    (BetPlace, "bet"),
    (HandAct, "action"),
)


def test_every_phase_has_its_row() -> None:
    assert set(PHASES) == set(Phase)


@pytest.fixture
def drive(game: str, decree: str, noise: float) -> Drive:
    return Drive(game, decree, noise, STEPS)


def first_states(drive: Drive, count: int) -> Iterator[tuple[Any, Any]]:
    """The table's game and its state after each of the first inputs."""
    for number in range(PLAYS):
        play = drive.play(number)
        for state in play.states[:count]:
            yield play.game, state
        count -= STEPS
        if count <= 0:
            return


def a_command_is_followed_or_rejected_and_nothing_is_too_much(drive: Drive) -> None:
    """A play asserts it of each input."""
    for number in range(cases(1, 2)):
        play = drive.play(number)
        assert play.silent <= SAID_AGAIN
        assert play.said


def an_open_link_says_nothing(drive: Drive) -> None:
    """A link that opens without any message yet changes nothing for a game, whatever the state of
    its table. Only at a wheel it ends a silence, once: what the wheel shows from then on is seen.
    """
    for game, state in first_states(drive, STEPS):
        for device in DEVICES:
            opened = LinkOpen(at=1.0, device=device)
            after, events = game.step(state, opened)
            assert events == ()
            assert after == state or isinstance(state, WheelState)
            assert game.step(after, opened) == (after, ())
            assert not game.confidential(state, opened, ())


def a_table_follows_only_commands_that_it_lists(drive: Drive) -> None:
    chance = random.Random(f"{drive.game_id} {drive.decree} takes")
    pack, refused = drive.play(0).pack, 0
    for game, state in first_states(drive, cases(5, 40)):
        takes = game.view(state).takes
        for kind in COMMANDS:
            if kind in game.inputs.takes and tag_of(kind) not in takes:
                given = accepted(game, state, kind, chance, pack)
                assert given is None, (given, takes)
                refused += 1
    assert refused


def a_closed_table_takes_no_bets_and_an_open_one_is_not_opened(drive: Drive) -> None:
    play = drive.play(0)
    assert "session.open" in play.game.view(play.begin).takes
    for game, state in first_states(drive, 40):
        takes = game.view(state).takes
        assert ("session.open" in takes) == (not state.open)
        assert ("session.close" in takes) == state.open
        assert state.open or not {"bets.open", "bets.close", "bet.place"} & {*takes}
        assert list(takes) == sorted(takes, key=[tag_of(kind) for kind in COMMANDS].index)


def a_decision_is_due_if_and_only_if_the_table_asks(drive: Drive) -> None:
    """Except for what its phase lacks, of which the table of phases has all."""
    if drive.game_id not in ON_THE_MODEL:
        return
    seen: set[Phase] = set()
    for number in range(PLAYS):
        if number >= cases(3, 8) and Phase.DECISION in seen and len(seen) > 3:
            break
        play = drive.play(number)
        for state in play.states:
            told = shown(play.game, state)
            phase, asks = Phase(told["phase"]), set(told["asks"])
            seen.add(phase)
            if phase is Phase.DECISION:
                assert asks
            else:
                assert asks <= set(PHASES[phase].lacks)
    assert Phase.DECISION in seen
    assert len(seen) > 3 or drive.game_id == "pai-gow"  # few people check its deck amid such noise


def a_value_that_is_not_offered_is_refused(drive: Drive) -> None:
    """For fields that a game narrows: no reason, bet or action beyond its choices is ever
    followed.
    """
    if drive.noise != LITTLE_NOISE or drive.game_id.startswith("blackjack"):
        return  # much noise, and chance at black jack, place hardly a bet
    found = allowed_commands(
        drive.game_id, drive.decree, {}, command_rights(drive.game_id, drive.decree)
    )
    chance, pack, tried = random.Random(drive.game_id), drive.play(0).pack, 0
    for game, state in first_states(drive, 4 * STEPS):
        if tried > 4:
            break
        for kind, field in CHOICES:
            each = found.get(tag_of(kind))
            if each is None or field not in each.choices:
                continue
            given = accepted(game, state, kind, chance, pack)
            tried += given is not None
            said = getattr(given, field, None)
            assert said is None or said.partition(":")[0] in {
                value.partition(":")[0] for value in each.choices[field]
            }
    assert tried


def fields_that_are_left_out_are_never_needed(drive: Drive) -> None:
    if drive.noise != LITTLE_NOISE:
        return
    found = allowed_commands(
        drive.game_id, drive.decree, {}, command_rights(drive.game_id, drive.decree)
    )
    chance, pack = random.Random(drive.game_id), drive.play(0).pack
    for game, state in first_states(drive, 40):
        for name, each in found.items():
            if not each.leaves_out:
                continue
            given = accepted(game, state, KINDS[name], chance, pack)
            if given is None:
                continue
            said = msgspec.to_builtins(given)
            defaults = {
                field.name: field.default
                for field in msgspec.structs.fields(type(given))
                if field.name in each.leaves_out
            }
            try:
                game.step(state, msgspec.convert(said | defaults, type(given)))
            except RejectedError as rejected:
                raise AssertionError(f"{given}: {rejected}") from rejected


def a_person_is_called_while_a_round_may_be_settled(drive: Drive) -> None:
    if drive.noise != MUCH_NOISE:
        return
    for number in range(cases(2, 4)):
        at = table(drive.game_id, drive.decree, {})
        for given in drive.play(number).inputs:
            if followed(at, given):
                hold(at)


@for_each(
    "observe",
    [
        a_command_is_followed_or_rejected_and_nothing_is_too_much,
        an_open_link_says_nothing,
        a_table_follows_only_commands_that_it_lists,
        a_closed_table_takes_no_bets_and_an_open_one_is_not_opened,
        a_decision_is_due_if_and_only_if_the_table_asks,
        a_value_that_is_not_offered_is_refused,
        fields_that_are_left_out_are_never_needed,
        a_person_is_called_while_a_round_may_be_settled,
    ],
)
@pytest.mark.parametrize("noise", [LITTLE_NOISE, MUCH_NOISE])
@pytest.mark.parametrize(("game", "decree"), PAIRS)
def test_every_observer_accepts_random_plays(drive: Drive, observe: Any) -> None:
    observe(drive)
