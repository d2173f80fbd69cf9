"""Circle poker: one state machine for all variants; the rulebook makes the difference.

The players play against each other; the table follows the cards, and the bets as far as the
croupier reports them. A round begins with ``bets.open`` (``button.moved``, ``round.opened``). Then,
street by street, cards are dealt (``card.dealt``, ``cards.burned``), by a reader, a shuffler's
packets or the croupier's word, and a betting interval follows (``betting.opened``,
``hand.decided``, ``betting.closed``). After the last one the hands are shown (``card.turned``) and
the cards speak: ``round.result``. Where all but one give up, nothing is shown.

A variant is a page of the rulebook: pack, ranking, streets, who acts first, remedies of errors. A
family with other errors adds them to ``circle.errors.REMEDIES``, another way to open an interval to
``circle.first_to_act.FIRST_TO_ACT``, another act to ``circle.acts.ACTS``. Each family has its own
turn: ``circle.common``, ``circle.stud``, ``circle.draw``.

Where to read on: ``circle.streets`` for how cards go round, ``circle.showdown`` for who wins,
``circle.moves`` for the course and the moves that all is made of, ``circle.readings``,
``circle.cards``, ``circle.acts``, ``circle.errors``, ``circle.decisions`` and ``circle.commands``
for what devices and persons say, ``circle.state`` for what is remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args, get_type_hints

import msgspec
from msgspec.structs import replace

from common import readings as device
from common.contract import commands as person
from common.contract.events import Hand
from common.contract.shown import CirclePokerShown
from controller.games import guards
from controller.games.circle import acts, cards, commands, correction, decisions, errors, readings
from controller.games.circle.common import CommonTurn
from controller.games.circle.draw import DrawTurn
from controller.games.circle.first_to_act import showers
from controller.games.circle.settings import CircleSettings
from controller.games.circle.showdown import TIE, open_boards, open_hands
from controller.games.circle.state import CircleState
from controller.games.circle.stud import StudTurn
from controller.games.circle.turn import CircleTurn
from controller.games.dealt import game as dealt
from controller.games.dealt.arrivals import on_card
from controller.games.dealt.guards import (
    bets_open,
    between_rounds,
    cards_as_seen,
    decided_first,
    nothing_to_decide,
)
from controller.games.guards import (
    FieldCheck,
    Row,
    above_zero,
    by_moves,
    has_round,
    is_closed,
    is_open,
    rounds_left,
    voidable,
)
from controller.games.machine import SILENCES, Choices, Inputs, Kind, Machine
from controller.games.poker.machine import named
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, VOIDERS
from controller.games.session import LAST_ROUNDS, round_to_void
from controller.rulebooks.circle import Circle

Moves = Callable[[Any, Any], None]


def by_variant(apply: Moves) -> Moves:
    """The moves of a command, unless a variant handles it in its own way."""

    def moves(turn: CircleTurn, command: Any) -> None:
        turn.variant.takes.get(type(command), apply)(turn, command)

    return moves


INPUTS = Inputs(
    readings={
        **dict.fromkeys((device.CardDrawn, device.ShufflerPacket), on_card),
        device.ShufflerVerdict: readings.on_verdict,
        device.ShufflerState: readings.on_shuffler,
        device.ShoeFault: readings.on_fault,
        **dict.fromkeys((*SILENCES, device.ShoeReset), readings.on_silence),
    },
    commands={
        person.SessionOpen: Row(
            IN_CHARGE, (is_closed, FieldCheck(above_zero)), commands.open_session
        ),
        person.SessionClose: Row(IN_CHARGE, (is_open,), commands.close_session),
        person.CardDecide: Row(IN_CHARGE, (decisions.card_waits,), decisions.decide),
        person.RoundVoid: Row(VOIDERS, (FieldCheck(round_to_void, voidable),), commands.void),
        person.RoundConfirm: Row(
            IN_CHARGE,
            (cards.card_settled, FieldCheck(commands.round_to_confirm, commands.unconfirmed)),
            commands.confirm,
        ),
        person.ResultCorrect: Row(
            IN_CHARGE,
            (FieldCheck(correction.result, correction.has_winner),),
            correction.correct,
        ),
        person.LimitAnnounce: Row(
            IN_CHARGE, (is_open, FieldCheck(above_zero)), commands.announce_limit
        ),
        person.BoxesSet: Row(AT_THE_TABLE, (is_open,), by_variant(commands.set_seats)),
        person.ButtonSet: Row(
            AT_THE_TABLE,
            (is_open, guards.between_rounds, FieldCheck(commands.has_place, commands.any_place)),
            commands.set_button,
        ),
        person.DeckCheck: Row(AT_THE_TABLE, (), commands.check_deck),
        person.BetsOpen: Row(
            AT_THE_TABLE,
            (
                is_open,
                between_rounds,
                nothing_to_decide,
                rounds_left,
                commands.enough_seated,
                commands.enough_play,
                commands.pack_suffices,
                commands.deck_whole,
                commands.has_button,
            ),
            commands.open_bets,
        ),
        person.BetsClose: Row(
            AT_THE_TABLE, (is_open, bets_open, decided_first), commands.close_bets
        ),
        person.CardsDeal: Row(
            AT_THE_TABLE,
            (
                cards.card_settled,
                FieldCheck(cards.are_cards),
                has_round,
                *cards.BEFORE_CARDS,
                cards.cards_due,
            ),
            cards.deal,
        ),
        person.CardsBurn: Row(
            AT_THE_TABLE,
            (
                cards.card_settled,
                has_round,
                *cards.BEFORE_CARDS,
                cards.cards_due,
                by_moves(cards.any_to_burn),
            ),
            cards.burn,
        ),
        person.CardsShow: Row(
            AT_THE_TABLE, (cards.card_settled, by_moves(cards.any_to_show)), by_variant(cards.show)
        ),
        person.CardsTurn: Row(
            AT_THE_TABLE,
            (
                cards.card_settled,
                is_open,
                has_round,
                FieldCheck(cards_as_seen),
                by_moves(cards.any_to_turn),
            ),
            by_variant(cards.turn_up),
        ),
        person.HandAct: Row(
            AT_THE_TABLE, (cards.card_settled, by_moves(acts.any_player)), by_variant(acts.act)
        ),
        person.BettingClose: Row(
            AT_THE_TABLE, (cards.card_settled, acts.betting_open, decided_first), acts.close
        ),
        person.DealError: Row(
            AT_THE_TABLE, (cards.card_settled, by_moves(errors.any_error)), errors.report
        ),
        person.LastRoundsAnnounce: LAST_ROUNDS,
    },
    leaves_out={
        person.RoundConfirm: ("number", "dice"),
        person.ResultCorrect: ("number", "dice", "decisions"),
        person.BetsClose: ("banco",),
        person.RoundVoid: ("alone",),
        person.CardsShow: ("low",),
    },
    withdrawn=(person.DealError,),
)


ERRORS = get_args(get_type_hints(person.DealError)["error"])
"""The errors of the deal by which a person reports them."""


SEATS = 10
"""That may win where the decree has no number."""


def prepare(book: Circle, settings: CircleSettings) -> Circle:
    """Return the page as this table plays it. Raise ``ValueError`` for a share of the house, or a
    limit of bets, that the decree does not have.
    """
    book = _with_pack(book, settings.pack) if "pack" in book.doubts else book
    if book.low and settings.low_hand == "common_eight":
        book = replace(book, low="low-any")
    allowed = {rake.of: rake for rake in book.rake}
    if settings.rake is not None:
        rake, percent = allowed.get(settings.rake), settings.rake_percent
        if rake is None:
            raise ValueError(f"rake = {settings.rake!r}: must be one of: {', '.join(allowed)}")
        if percent is None or not rake.least <= percent <= rake.most:
            raise ValueError(
                f"rake_percent = {percent}: must be {rake.least} to {rake.most} for {rake.of}"
            )
    if settings.limit is not None and settings.limit not in book.limits:
        raise ValueError(
            f"limit = {settings.limit!r}: must be one of: {', '.join(book.limits) or 'none'}"
        )
    return book


def turn_of(book: Circle, settings: CircleSettings, state: CircleState, rules: None) -> CircleTurn:
    """One step of the family of variants that this page belongs to."""
    if book.draw:
        return DrawTurn(book, settings, state, rules)
    if book.first_to_act[-1].endswith("_up"):
        return StudTurn(book, settings, state, rules)
    return CommonTurn(book, settings, state, rules)


def choices(game: CircleGame) -> Choices:
    """The errors of which the decree says what follows, and who may have won."""
    reportable = tuple(error for error in ERRORS if error in game.book.errors)
    winners = (*(f"seat:{number}" for number in range(1, (game.book.most or SEATS) + 1)), TIE)
    return {
        person.DealError: {"error": reportable},
        person.RoundConfirm: {"winner": winners},
        person.ResultCorrect: {"winner": winners},
    }


def show(game: CircleGame, state: CircleState) -> CirclePokerShown:
    """The retained state; of cards, only those face up."""
    hand, on_table = state.current, _on_table(state)
    last = next((entry for entry in reversed(state.entries) if entry.kind == "result"), None)
    turn = game.turn(state)
    return turn.variant.view(
        turn,
        **dealt.common(game, state),
        seated=tuple(state.seated),
        resting={f"seat:{name}": rounds for name, rounds in state.resting.items()},
        button=state.button,
        interval=hand.interval if hand else None,
        hands={hand.who: hand.cards for hand in on_table if not hand.who.startswith("board")},
        counts={seat.who: len(hand.cards_of(seat.who)) - seat.discards for seat in hand.live}
        if hand
        else {},
        statuses={seat.who: seat.status for seat in hand.seats} if hand else {},
        boards={hand.who: hand.cards for hand in on_table if hand.who.startswith("board")},
        shows=tuple(showers(hand)) if hand and hand.showdown else (),
        deck_right=state.deck,
        last_winner=last.winner if last else None,
        last_marks=last.marks if last else (),
        players=(game.book.fewest, game.book.most),
        split=game.book.split,
        limits=tuple(game.book.limits),
        raises=game.book.raises,
        stakes=msgspec.to_builtins(game.book.stakes),
        rake=tuple(msgspec.to_builtins(rake) for rake in game.book.rake),
        next_minimum=state.raised,
        rounds_at_this_minimum=None if state.raised is None else int(hand is not None),
    )


def _on_table(state: CircleState) -> tuple[Hand, ...]:
    """The face-up cards: of the round in progress, or of the last result until the next round
    begins.
    """
    if state.current is not None:
        return (*open_hands(state.current), *open_boards(state.current))
    last = state.entry(state.round)
    return last.hands if last is not None else ()


def _with_pack(book: Circle, pack: str) -> Circle:
    """The game with the pack that the table has chosen."""
    if pack == "deck_52":
        return replace(book, few=None)
    if pack == "deck_32" and book.few is not None:
        return replace(book, few=None, deck=book.few.deck, ranking=book.few.ranking)
    return book


class CircleGame(Machine[Circle, CircleSettings, CircleState, CircleTurn]):
    """A variant under one decree with one table's settings."""

    kind = Kind(
        state_type=CircleState,
        turn_type=turn_of,
        inputs=INPUTS,
        prepare=prepare,
        confidential=lambda _game, _state, received: (
            True if isinstance(received, device.ShoeFault) else None
        ),
        show=show,
        history=dealt.history,
        choices=choices,
        named=named,
    )
