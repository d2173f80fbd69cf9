"""Poker dealt to boxes against the dealer's hand: one state machine; the rulebook makes the
difference between the games.

A round: ``bets.open``, the boxes in play (``boxes.set``) and what lies beside the ante
(``bet.place``, coins in slots), ``bets.close``. Cards go to the boxes in their order and to the
bank last, one by one or in packets (``card.dealt``, ``card.expected``). Each hand says
``hand.act``: ``go`` or ``pass``, and ``buy`` or ``discard`` where the decree has it. The bank's
hand is turned (``cards.turn``, or ``cards.show`` if its cards are unknown), then those that are
compared or have a bet by their own cards; the ``round.result`` follows by itself, with every bet
settled, and with the right to a jackpot.

Any error of the deal makes the whole play void: a person says it (``deal.error``), or a device's
word stops the round until one decides.

Where to read on: ``house_poker.course`` for the rules of a round, ``house_poker.pays`` for what is
paid, ``house_poker.moves`` for the moves, ``house_poker.readings`` for devices,
``house_poker.commands`` and ``house_poker.decisions`` for people.
"""

from __future__ import annotations

import msgspec

from common import readings as device
from common.contract import commands as person
from common.contract.shown import HousePokerBox, HousePokerShown
from controller.games import talla
from controller.games.dealt import game as dealt
from controller.games.dealt.arrivals import on_card
from controller.games.dealt.cards import hand as lying
from controller.games.dealt.phases import Phase
from controller.games.house_poker import commands, course, decisions, readings
from controller.games.house_poker.course import HousePokerRules
from controller.games.house_poker.moves import HousePokerTurn
from controller.games.house_poker.settings import HousePokerSettings, faults
from controller.games.house_poker.state import (
    DEALER,
    HousePokerRound,
    HousePokerSeat,
    HousePokerState,
)
from controller.games.jackpot import on_standing
from controller.games.machine import SILENCES, Choices, Inputs, Kind, Machine
from controller.games.poker.machine import named
from controller.rulebooks.house_poker import HousePoker

INPUTS = Inputs(
    readings={
        **dict.fromkeys((device.CardDrawn, device.ShufflerPacket), on_card),
        **dict.fromkeys((*SILENCES, device.ShoeReset), readings.on_silence),
        device.ShufflerState: readings.on_state,
        device.ShufflerVerdict: readings.on_verdict,
        device.SlotCoin: readings.on_coin,
        device.JackpotStanding: on_standing,
        device.ShoeFault: talla.report_fault,
    },
    commands=commands.COMMANDS,
    withdrawn=(person.HandAct,),
    leaves_out={
        person.RoundConfirm: ("number", "winner", "dice"),
        person.ResultCorrect: ("number", "winner", "dice"),
        person.BetsClose: ("banco",),
        person.RoundVoid: ("alone",),
        person.CardsShow: ("low",),
        person.CardDecide: ("fault",),
    },
)


def prepare(book: HousePoker, settings: HousePokerSettings) -> HousePoker:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    if wrong := faults(settings, book):
        raise ValueError(f"{'; '.join(wrong)}: {book.article}")
    return book


def jackpot_bet(game: HousePokerGame) -> str | None:
    """The bet on a jackpot, if this table has one."""
    jackpot, stake = game.book.jackpot, game.settings.jackpot_stake
    return "jackpot" if jackpot and (stake is not None or not jackpot.decided) else None


def choices(game: HousePokerGame) -> Choices:
    """The choices of a hand, the bets, and the errors that the decree names."""
    bets = ("ante", *game.book.sides)
    return {
        person.HandAct: {"action": decisions.actions(game.book)},
        person.DealError: {"error": tuple(commands.ERRORS)},
        person.BetPlace: {"bet": bets},
        person.BetWithdraw: {"bet": bets},
    }


def seen(_game: HousePokerGame, state: HousePokerState) -> set[str]:
    """The cards of the round in progress that are face up."""
    cards = state.current.cards if state.current else ()
    return {card.card for card in cards if card.up and card.card}


def show(game: HousePokerGame, state: HousePokerState) -> HousePokerShown:
    """The retained state."""
    hand, book, rules = state.current, game.book, game.rules
    deciding = hand is not None and course.stage(rules, hand) is Phase.DECISIONS
    return HousePokerShown(
        **dealt.common(game, state),
        undecided=tuple(seat.who for seat in course.undecided(hand)) if hand and deciding else (),
        hands={seat.who: _box(hand, seat) for seat in hand.seats} if hand else {},
        dealer=tuple(card.card if card.up else None for card in lying(hand.cards, DEALER))
        if hand
        else (),
        deck=state.deck,
        shuffler=state.shuffler,
        boxes=rules.boxes,
        bets_per_box=book.bets_per_box,
        second_bet=book.second,
        qualifies=msgspec.to_builtins(book.qualifies),
        pays=msgspec.to_builtins(book.pays),
        bonus=msgspec.to_builtins(book.bonus),
        side_bets=msgspec.to_builtins(rules.tables),
        jackpot=msgspec.to_builtins(book.jackpot),
        jackpot_standing=state.jackpot,
        limits=tuple(book.limits),
    )


def _box(hand: HousePokerRound, seat: HousePokerSeat) -> HousePokerBox:
    """What everybody sees of a hand: of what it discarded, that it did."""
    cards = [card.card if card.up else None for card in lying(hand.cards, seat.who)]
    if course.unseen_discards(hand, seat.who):
        for _ in range(seat.dropped):
            cards.remove(None)
    return HousePokerBox(
        cards=tuple(cards),
        decision=seat.decision,
        bought=seat.bought,
        discards=seat.discards,
        bets=tuple(sorted(hand.amounts.get(seat.who, {}))),
    )


class HousePokerGame(Machine[HousePoker, HousePokerSettings, HousePokerState, HousePokerTurn]):
    """A game under one decree with one table's settings. Raises ``ValueError`` for settings that
    the decree does not allow.
    """

    rules: HousePokerRules
    kind = Kind(
        state_type=HousePokerState,
        turn_type=HousePokerTurn,
        inputs=INPUTS,
        prepare=prepare,
        rules=HousePokerRules,
        seen=seen,
        show=show,
        history=dealt.history,
        choices=choices,
        jackpot_bet=jackpot_bet,
        named=named,
    )
