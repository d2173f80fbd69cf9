"""Craps: one state machine; the rulebook makes the difference.

A throw is a round. Bets open and close (``round.opened``, ``bets.closed``), the shooter throws, and
the throw has its result (``round.result``) with the outcome of every bet, or it ends as
``round.void`` or ``round.unresolved``. The results so far give the point, so a throw that waits for
a person holds up all that come after it.

Where to read on: ``craps.bets`` for what a throw does to each bet, ``craps.readings`` for what the
device reports, ``craps.commands``, ``craps.dice`` and ``craps.players`` for what people command,
``craps.turn`` for the moves that all consist of, ``craps.state`` for what is remembered.
"""

from __future__ import annotations

from collections import Counter

import msgspec

from common import readings as device
from common.contract import commands as person
from common.contract.history import AnyLine
from common.contract.shown import CrapsDice, CrapsShown
from controller.games.craps import commands, dice, players, readings
from controller.games.craps.bets import Bets, all_names, offered
from controller.games.craps.settings import CrapsSettings
from controller.games.craps.state import HISTORY_ROUNDS, CrapsState
from controller.games.craps.turn import DECISIONS, CrapsTurn
from controller.games.guards import (
    FieldCheck,
    Row,
    above_zero,
    bets_open,
    between_rounds,
    by_moves,
    has_result,
    is_closed,
    is_open,
    voidable,
)
from controller.games.machine import SILENCES, Choices, Inputs, Kind, Machine
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, VOIDERS
from controller.games.rounds import line
from controller.rulebooks.craps import Craps

INPUTS = Inputs(
    readings={
        device.DiceState: readings.on_state,
        device.DiceRead: readings.on_read,
        device.DiceFault: readings.on_fault,
        **dict.fromkeys(SILENCES, readings.on_silence),
        device.LinkGarbage: readings.on_garbage,
    },
    commands={
        person.SessionOpen: Row(
            IN_CHARGE,
            (FieldCheck(commands.fits_highest), is_closed, FieldCheck(above_zero)),
            commands.open_session,
        ),
        person.SessionClose: Row(IN_CHARGE, (is_open,), commands.close_session),
        person.RoundVoid: Row(
            VOIDERS, (FieldCheck(commands.round_to_void, voidable),), commands.void
        ),
        person.RoundConfirm: Row(
            IN_CHARGE,
            (FieldCheck(commands.round_to_confirm, commands.unconfirmed),),
            commands.confirm,
        ),
        person.ResultCorrect: Row(
            IN_CHARGE, (FieldCheck(commands.result, has_result),), commands.correct
        ),
        person.DiceSet: Row(
            AT_THE_TABLE,
            (is_open, FieldCheck(dice.six_serials), dice.not_thrown, dice.set_may_change),
            dice.set_dice,
        ),
        person.DiceChoose: Row(
            AT_THE_TABLE,
            (
                is_open,
                dice.set_fit,
                dice.not_thrown,
                FieldCheck(dice.two_dice),
                dice.pair_may_change,
                FieldCheck(dice.on_offer, dice.any_on_offer),
            ),
            dice.choose_dice,
        ),
        person.DieReport: Row(AT_THE_TABLE, (is_open, by_moves(dice.any_die)), dice.report_die),
        person.DiceTell: Row(
            AT_THE_TABLE,
            (
                is_open,
                FieldCheck(commands.values_right),
                commands.throw_due,
                commands.in_order,
                commands.dice_unknown,
                commands.may_be_thrown,
            ),
            commands.tell_dice,
        ),
        person.BoxesSet: Row(AT_THE_TABLE, (is_open,), players.set_seats),
        person.ShooterSet: Row(
            AT_THE_TABLE, (is_open, dice.not_thrown, commands.shooter_left), players.set_shooter
        ),
        person.BetPlace: Row(
            AT_THE_TABLE,
            (
                is_open,
                FieldCheck(players.known),
                FieldCheck(players.of_a_seat),
                players.bets_not_closed,
                commands.all_resolved,
            ),
            players.place_bet,
        ),
        person.BetWithdraw: Row(
            AT_THE_TABLE,
            (
                is_open,
                FieldCheck(players.known),
                players.bets_not_closed,
                commands.all_resolved,
                FieldCheck(players.unlocked, players.any_unlocked),
            ),
            players.withdraw_bet,
        ),
        person.BetsOpen: Row(
            AT_THE_TABLE,
            (
                is_open,
                commands.by_person,
                between_rounds,
                commands.all_resolved,
                commands.shooter_left,
                commands.dice_ready,
            ),
            commands.open_bets,
        ),
        person.BetsClose: Row(
            AT_THE_TABLE, (is_open, commands.by_person, bets_open), commands.close_bets
        ),
        person.LastRoundsAnnounce: Row(
            AT_THE_TABLE,
            (is_open, commands.has_last_shooter, commands.last_unannounced),
            commands.announce_last_rounds,
        ),
    },
    leaves_out={
        person.RoundConfirm: ("number", "winner"),
        person.ResultCorrect: ("number", "winner", "hands", "decisions"),
        person.BetsClose: ("banco",),
        person.RoundVoid: ("alone",),
        person.WitnessReport: ("number",),
    },
)


def prepare(book: Craps, settings: CrapsSettings) -> Craps:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    for name, doubt in book.doubts.items():
        if (chosen := getattr(settings, name)) not in doubt.choices:
            raise ValueError(
                f"{name} = {chosen!r}: under this decree it may be {', '.join(doubt.choices)}"
            )
    return book


def choices(game: CrapsGame) -> Choices:
    """The bets, with every number that they may be placed on."""
    bets = tuple(all_names(game.rules))
    return {
        person.BetPlace: {"bet": bets},
        person.BetWithdraw: {"bet": bets},
    }


def show(game: CrapsGame, state: CrapsState) -> CrapsShown:
    """The retained state. ``throws`` counts the totals of the remembered throws."""
    point, asks = (
        state.point(game.book.points) if state.open else None,
        _pending_commands(game, state),
    )
    last = next((entry.dice for entry in reversed(state.entries) if entry.dice), None)
    totals = Counter(sum(entry.dice) for entry in state.entries if entry.dice)
    own = state.set
    return CrapsShown(
        phase=_phase(state, asks),
        session=state.session,
        round=state.round,
        series="come_out" if point is None else "point",
        point=point,
        shooter=state.shooter,
        seats=state.seats,
        last_shooter=state.last,
        relaunch=state.relaunch,
        asks=tuple(asks),
        unresolved=state.unresolved_rounds,
        last_dice=last,
        last_total=sum(last) if last else None,
        throws={str(total): totals[total] for total in sorted(totals)},
        dice=CrapsDice(
            playing=own.playing if own else (),
            reserve=own.reserve if own else (),
            lost=own.lost if own else (),
            unfit=own.unfit if own else (),
        ),
        bets=state.bets,
        minimum=state.minimum,
        currency=state.currency,
        settings=msgspec.to_builtins(game.settings),
    )


def history(turn: CrapsTurn) -> list[AnyLine]:
    """The latest throws of the session, oldest first: results, void and unresolved throws."""
    return [
        line(
            entry,
            entry.outcome if entry.dice else None,
            corrected=entry.corrected,
            dice=entry.candidate,
        )
        for entry in turn.state.entries[-HISTORY_ROUNDS:]
    ]


def _pending_commands(game: CrapsGame, state: CrapsState) -> list[str]:
    """The commands one of which the table waits for: about the throw in progress, an unresolved
    one, or the dice.
    """
    if state.current and state.current.asks:
        return list(state.current.asks)
    if state.unresolved():
        return list(DECISIONS)
    lacking = game.turn(state).lacking() if state.open and state.last != 0 else None
    return [lacking] if lacking else []


def _phase(state: CrapsState, asks: list[str]) -> str:
    """``closed``, ``decision``, ``waiting`` for bets to open, ``relaunch`` after a void throw,
    ``bets_open``, ``bets_closed``.
    """
    if not state.open:
        return "closed"
    if asks:
        return "decision"
    if state.current is None:
        return "relaunch" if state.relaunch else "waiting"
    return "bets_closed" if state.current.closed else "bets_open"


class CrapsGame(Machine[Craps, CrapsSettings, CrapsState, CrapsTurn]):
    """Craps under one decree with one table's settings. Raises ``ValueError`` for settings that the
    decree does not allow.
    """

    rules: Bets
    kind = Kind(
        state_type=CrapsState,
        turn_type=CrapsTurn,
        inputs=INPUTS,
        show=show,
        history=history,
        choices=choices,
        read_witness_report=commands.read_witness_report,
        prepare=prepare,
        face_down=False,
        rules=offered,
        confidential=lambda *_: False,  # dice hide nothing
    )
