"""Poker dealt to boxes against the dealer's hand: one state machine; the rulebook makes the difference between the games.

A round: ``bets.open``, the boxes in play (``boxes.set``) and what lies beside the ante (``bet.place``, coins in slots),
``bets.close``. Cards go to the boxes in their order and to the bank last, one by one or in packets (``card.dealt``,
``card.expected``). Each hand says ``hand.act``: ``go`` or ``pass``, and ``buy`` or ``discard`` where the decree has it. The bank's
hand is turned (``cards.turn``, or ``cards.show`` where nobody knows its cards), then those that are compared or have a bet by
their own cards; the ``round.result`` comes by itself, with every bet settled, and with the right to a jackpot.

Any error of the deal makes the whole play null: a person says it (``deal.error``), or a device's word stops the round until one
decides.

Where to read on: ``house_poker.course`` for the rules of a round, ``house_poker.pays`` for what is paid, ``house_poker.turn`` for
the moves, ``house_poker.readings`` for devices, ``house_poker.commands`` and ``house_poker.decisions`` for people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from controller.commands import (
    AnyCommand,
    BetPlace,
    BetsClose,
    BetsOpen,
    BetWithdraw,
    BoxesSet,
    CardDecide,
    CardsDeal,
    CardsShow,
    CardsTurn,
    Command,
    DealError,
    DeckCheck,
    HandAct,
    LastRoundsAnnounce,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
)
from controller.events import AnyEvent, CardDealt, CardRemoved, CardTurned, DeckChecked, ResultCorrected
from controller.games.game import Rejected
from controller.games.house_poker import commands, course, decisions, readings
from controller.games.house_poker.course import Rules
from controller.games.house_poker.settings import HousePokerSettings, faults
from controller.games.house_poker.state import DEALER, Round, Seat, State
from controller.games.house_poker.turn import Turn
from controller.games.poker.cards import hand as lying
from controller.games.poker.cards import is_known
from controller.games.poker.readings import OF_A_CARD, take_fault
from controller.games.roles import allow
from controller.games.session import announce_last_rounds
from controller.rulebooks.house_poker import HousePoker
from devices.readings import (
    AnyReading,
    CardDrawn,
    LinkGap,
    LinkLate,
    LinkLost,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    ShoeFault,
    ShoeReset,
    ShufflerPacket,
    ShufflerState,
    ShufflerVerdict,
    SlotCoin,
)

TAKE: Mapping[type[Any], Callable[[Turn, Any], None]] = {
    **dict.fromkeys((CardDrawn, ShufflerPacket), readings.take_came),
    **dict.fromkeys((LinkUp, LinkStale, LinkLost, LinkUnintelligible, LinkLate, LinkGap, ShoeReset), readings.take_silence),
    ShufflerState: readings.take_state,
    ShufflerVerdict: readings.take_verdict,
    SlotCoin: readings.take_coin,
    ShoeFault: take_fault,
    SessionOpen: commands.open_session,
    SessionClose: commands.close_session,
    LastRoundsAnnounce: announce_last_rounds,
    DeckCheck: commands.check_cards,
    BetsOpen: commands.open_bets,
    BoxesSet: commands.set_boxes,
    BetPlace: commands.place_bet,
    BetWithdraw: commands.withdraw_bet,
    BetsClose: commands.close_bets,
    RoundVoid: commands.void,
    DealError: commands.deal_error,
    RoundConfirm: commands.confirm,
    ResultCorrect: commands.correct,
    HandAct: decisions.act,
    CardsDeal: decisions.deal,
    CardsTurn: decisions.turn_up,
    CardsShow: decisions.show_cards,
    CardDecide: decisions.decide,
}
"""Who takes which input. A reading that is not here does not concern the game; a command is refused."""


class HousePokerGame:
    """A game under one decree with one table's settings. Raises ``ValueError`` for settings that the decree does not allow."""

    state_type = State
    face_down = True

    def __init__(self, book: HousePoker, settings: HousePokerSettings) -> None:
        if wrong := faults(settings, book):
            raise ValueError(f"{'; '.join(wrong)}: {book.article}")
        self.book = book
        self.settings = settings
        self.rules = Rules(book, settings)

    def begin(self) -> State:
        """A table that never played."""
        return State()

    def step(self, state: State, given: AnyReading | AnyCommand) -> tuple[State, tuple[AnyEvent, ...]]:
        """Take one input."""
        turn = Turn(self.rules, state)
        if isinstance(given, Command):
            allow(given, commands.MAY, self.book.void_by)
        take = TAKE.get(type(given))
        if take is not None:
            take(turn, given)
        return turn.state, tuple(turn.events)

    def confidential(self, state: State, given: AnyReading | AnyCommand) -> bool:
        """Whatever names a card that does not lie face up, and that this very step does not turn."""
        if isinstance(given, ShoeFault):
            return given.fault in OF_A_CARD
        named = _named(given)
        return bool(named) and not named <= self._told(state, given)

    def _told(self, state: State, given: AnyReading | AnyCommand) -> set[str]:
        """The cards that lie face up already, and those that the events of this step tell."""
        try:
            _, events = self.step(state, given)
        except Rejected:
            return set()
        told = {each.card for each in events if isinstance(each, CardDealt | CardTurned | CardRemoved)}
        told |= {card for each in events if isinstance(each, ResultCorrected) for hand in each.hands or () for card in hand.cards}
        checked = (each for each in events if isinstance(each, DeckChecked))
        lie = {each.card for each in state.hand.cards if each.up} if state.hand else set()
        return {card for card in told | lie if card} | {card for each in checked for card in (*each.missing, *each.extra)}

    def show(self, state: State) -> dict[str, Any]:
        """What the retained state tells."""
        hand, book, rules = state.hand, self.book, self.rules
        stage = course.stage(rules, hand) if hand else None
        return {
            "phase": _phase(state, stage),
            "session": state.session,
            "round": state.round,
            "asks": list(asks(rules, state)),
            "expected": state.expected,
            "undecided": [seat.who for seat in course.undecided(hand)] if hand and stage == "decisions" else [],
            "hands": {seat.who: _box(hand, seat) for seat in hand.seats} if hand else {},
            "dealer": [each.card if each.up else None for each in lying(hand.cards, DEALER)] if hand else [],
            "unresolved": [entry.round for entry in state.unresolved()],
            "last_rounds": state.last,
            "deck": state.deck,
            "shuffler": state.shuffler,
            "boxes": rules.boxes,
            "bets_per_box": book.bets_per_box,
            "second_bet": book.second,
            "qualifies": msgspec.to_builtins(book.qualifies),
            "pays": msgspec.to_builtins(book.pays),
            "bonus": msgspec.to_builtins(book.bonus),
            "side_bets": msgspec.to_builtins(rules.tables),
            "jackpot": msgspec.to_builtins(book.jackpot),
            "limits": list(book.limits),
            "minimum": state.minimum,
            "currency": state.currency,
            "settings": msgspec.to_builtins(self.settings),
        }

    def history(self, state: State) -> list[dict[str, Any]]:
        """The latest rounds of the session, oldest first."""
        return state.history()


def asks(rules: Rules, state: State) -> tuple[str, ...]:
    """The commands one of which the table waits for: for a decision, or because hands must be shown that nobody knows.

    ``deck.check``: the shuffler is not ready or the deck not right, and bets cannot be closed.
    """
    hand = state.hand
    if hand is None:
        return ()
    if hand.stop is not None:
        return hand.stop.asks
    stage = course.stage(rules, hand)
    if stage == "bets_open" and (state.shuffler is not None or state.deck is False):
        return ("deck.check",)
    if stage not in ("dealer", "showdown"):
        return ()
    names = [DEALER] if stage == "dealer" else [seat.who for seat in course.to_show(rules, hand)]
    unknown = any(not is_known(hand.cards, who) or decisions.unseen_discards(hand, who) for who in names)
    return ("cards.show", "round.confirm", "round.void") if unknown else ()


def _named(given: AnyReading | AnyCommand) -> set[str]:
    """The cards that an input names."""
    match given:
        case CardDrawn(card=str(card)) | CardDecide(card=str(card)):
            return {card}
        case CardsShow(cards=cards) | CardsDeal(cards=cards):
            return set(cards)
        case ResultCorrect(hands=hands):
            return {card for cards in (hands or {}).values() for card in cards}
        case ShufflerVerdict(missing=missing, extra=extra):
            return {*missing, *extra}
    return set()


def _box(hand: Round, seat: Seat) -> dict[str, Any]:
    """What everybody sees of a hand: of what it discarded, that it did."""
    cards = [each.card if each.up else None for each in lying(hand.cards, seat.who)]
    if decisions.unseen_discards(hand, seat.who):
        for _ in range(seat.dropped):
            cards.remove(None)
    return {
        "cards": cards,
        "decision": seat.decision,
        "bought": seat.bought,
        "discards": seat.discards,
        "bets": sorted(hand.bets.get(seat.who, {})),
    }


def _phase(state: State, stage: str | None) -> str:
    """``closed``, ``waiting`` for bets, ``decision``, or the stage of the round."""
    if not state.open:
        return "closed"
    if stage is None:
        return "waiting"
    return "decision" if state.hand and state.hand.stop else stage
