"""Chemin de fer and two-cloth baccarat: one state machine; the rulebook makes the difference.

A round begins when the bank is called (``round.opened``), its bets close (``bets.closed``), and the
banker deals one card at a time to each hand and to himself, twice, face down (``card.dealt``
without a card). Hands act in order, the bank last (``hand.decided``); third cards are dealt face
up. When all cards are face up (``card.turned``) the round has its ``round.result``. The machine
reveals nothing that has not been seen at the table, even if it knows it: a wrong decision is found
when cards are turned.

Where to read on: ``chemin.course`` for where cards go and what follows by itself; ``chemin.moves``
for the moves that it consists of; ``chemin.readings`` for what else the shoe reports;
``chemin.commands``, ``chemin.words`` and ``chemin.errors`` for what a person commands;
``chemin.hands`` for the rules as pure functions; ``chemin.state`` for what is remembered.
"""

from __future__ import annotations

from common import readings as device
from common.contract import commands as person
from common.contract.shown import CheminShown, LastBaccarat
from controller.games import shoe, stakes
from controller.games.baccarat import WINNERS
from controller.games.chemin import commands, course, errors, readings, words
from controller.games.chemin.course import CheminTurn
from controller.games.chemin.settings import CheminSettings
from controller.games.chemin.state import CheminCoup, CheminState
from controller.games.dealt import game as dealt
from controller.games.dealt.arrivals import on_card, on_silence
from controller.games.dealt.cards import hand
from controller.games.dealt.guards import bets_open, between_rounds, cards_as_seen, has_shoe
from controller.games.dealt.state import DealtEntry
from controller.games.guards import (
    DEALING,
    FieldCheck,
    Row,
    above_zero,
    bets_closed,
    by_moves,
    has_round,
    is_closed,
    is_open,
    rounds_left,
    voidable,
)
from controller.games.machine import SILENCES, Choices, Inputs, Kind, Machine
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, VOIDERS
from controller.games.session import LAST_ROUNDS
from controller.rulebooks.chemin import Chemin

INPUTS = Inputs(
    readings={
        device.CardDrawn: on_card,
        device.CardCut: readings.on_cut,
        device.ShoeReset: readings.on_reset,
        device.ShoeFault: readings.on_fault,
        **dict.fromkeys(SILENCES, on_silence),
    },
    commands={
        person.SessionOpen: Row(
            IN_CHARGE, (is_closed, FieldCheck(above_zero)), commands.open_session
        ),
        person.SessionClose: Row(IN_CHARGE, (is_open,), commands.close_session),
        person.CardDecide: Row(IN_CHARGE, (by_moves(errors.card_waits),), errors.decide),
        person.RoundVoid: Row(
            VOIDERS, (FieldCheck(commands.round_to_void, voidable),), commands.void
        ),
        person.RoundConfirm: Row(
            IN_CHARGE,
            (FieldCheck(commands.round_to_confirm, commands.unconfirmed),),
            commands.confirm,
        ),
        person.ResultCorrect: Row(IN_CHARGE, (commands.is_final,), None),
        person.ShoeStart: Row(
            AT_THE_TABLE,
            (is_open, commands.changeable, FieldCheck(commands.is_numbered)),
            commands.start_shoe,
        ),
        person.ShoeEnd: Row(
            AT_THE_TABLE, (is_open, has_shoe, commands.changeable), commands.end_shoe
        ),
        person.BetsOpen: Row(
            AT_THE_TABLE,
            (is_open, has_shoe, between_rounds, rounds_left, commands.shoe_lasts),
            commands.open_bets,
        ),
        person.BetsClose: Row(
            AT_THE_TABLE, (is_open, bets_open, commands.no_card_early), commands.close_bets
        ),
        person.BetPlace: Row(
            AT_THE_TABLE,
            (
                is_open,
                FieldCheck(commands.bank_takes_bet),
                FieldCheck(stakes.on_offer),
                stakes.in_time,
            ),
            stakes.place_bet,
        ),
        person.BetWithdraw: Row(
            AT_THE_TABLE,
            (
                is_open,
                FieldCheck(stakes.on_offer),
                commands.in_time_to_withdraw,
                FieldCheck(stakes.is_placed, stakes.any_placed),
            ),
            stakes.withdraw_bet,
        ),
        person.TableFollow: Row(
            AT_THE_TABLE, (has_round, bets_closed, commands.bank_silent), commands.follow_table
        ),
        person.HandDraw: Row(
            AT_THE_TABLE, (has_round, bets_closed, by_moves(words.may_draw)), words.draw
        ),
        person.HandStand: Row(
            AT_THE_TABLE, (has_round, bets_closed, by_moves(words.may_stand)), words.stand
        ),
        person.CardsTurn: Row(
            AT_THE_TABLE,
            (
                *DEALING,
                FieldCheck(words.of_a_hand),
                FieldCheck(cards_as_seen),
                words.undoubted,
                by_moves(words.any_to_turn),
            ),
            words.turn_cards,
        ),
        person.LastRoundsAnnounce: LAST_ROUNDS,
    },
    leaves_out={
        person.RoundConfirm: ("number", "dice"),
        person.RoundVoid: ("alone",),
    },
)


def prepare(book: Chemin, settings: CheminSettings) -> Chemin:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    if settings.modality not in book.deductions:
        raise ValueError(f"modality: the decree has {', '.join(book.deductions)}: {book.article}")
    return book


def decider_kind(turn: CheminTurn, command: person.AnyCommand) -> str:
    """Also the refusal of a card that was drawn before the bets were closed."""
    doubt = turn.state.doubt
    if isinstance(command, person.CardDecide) and command.action == "remove" and doubt is not None:
        early = turn.state.held[doubt].trouble == "card_before_close"
        return "early" if early else ""
    return ""


def choices(game: CheminGame) -> Choices:
    """The hands that take bets."""
    bets = game.book.everyone if game.book.bank_bets else game.book.hands
    return {
        person.BetPlace: {"bet": bets},
        person.BetWithdraw: {"bet": bets},
    }


def confidential(
    _game: CheminGame,
    state: CheminState,
    received: device.AnyReading | person.AnyCommand,
) -> bool | None:
    """The shoe's verdict on a round in progress is confidential too."""
    if isinstance(received, device.ShoeResult | device.ShoeFault):
        return state.current is not None
    return None


def show(game: CheminGame, state: CheminState) -> CheminShown:
    """The retained state: of the cards, those face up."""
    coup, last = state.current, state.last_result()
    free = game.settings.modality == "free"
    return CheminShown(
        **dealt.common(game, state),
        to_act=course.to_act(game.turn(state)),
        hands={who: _face_up(coup, who) for who in game.book.everyone} if coup else {},
        words=dict(coup.words) if coup else {},
        table_followed=bool(coup and coup.table) or game.settings.banker == "table",
        bets=coup.bets if coup else (),
        last_result=_last(last) if last else None,
        shoe=shoe.show(state.shoe),
        players=game.book.players,
        deduction=game.book.deductions[game.settings.modality],
        bank_maximum=_times(state.minimum, 0 if free else game.book.bank_maximum),
        garage=_times(state.minimum, game.book.garage),
        garage_half_from=game.book.garage_half_from or None,
    )


def _face_up(coup: CheminCoup, who: str) -> tuple[str | None, ...]:
    """The face-up cards of a hand."""
    return tuple(card.card if card.up else None for card in hand(coup.cards, who))


def _times(minimum: int | None, factor: int) -> int | None:
    return minimum * factor if minimum is not None and factor else None


def _last(entry: DealtEntry) -> LastBaccarat:
    return LastBaccarat(
        winner=WINNERS[entry.winner] if entry.winner else None,
        hands={hand.who: (hand.points, hand.outcome) for hand in entry.hands},
    )


class CheminGame(Machine[Chemin, CheminSettings, CheminState, CheminTurn]):
    """The game under one decree with one table's settings. Raises ``ValueError`` for settings that
    the decree does not allow.
    """

    kind = Kind(
        state_type=CheminState,
        turn_type=CheminTurn,
        inputs=INPUTS,
        show=show,
        history=dealt.history,
        choices=choices,
        prepare=prepare,
        confidential=confidential,
        decider_kind=decider_kind,
    )
