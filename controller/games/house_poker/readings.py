"""Devices at a table of poker against the dealer: a shoe or reader, a packet shuffler, coin slots.

Cards go where the order of the deal says. One that does not fit it, or the deck, stops the round;
what comes after it waits. Cards after a silence are never acted upon: a person states which were
dealt, and which are face up.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.events import DeckChecked
from common.readings import (
    AnyReading,
    LinkGap,
    LinkLate,
    LinkUp,
    ShoeReset,
    ShufflerState,
    ShufflerVerdict,
    SlotCoin,
)
from controller.games.house_poker import moves
from controller.games.house_poker.moves import HousePokerTurn
from controller.games.jackpot import refused
from controller.games.poker.readings import track_shuffler, verdict

CARDS = 52


# Silences


def on_silence(turn: HousePokerTurn, reading: AnyReading) -> None:
    """Handle a silence or restart of a device: a card may have come unseen. The slots deal none."""
    device, silent = reading.device, turn.state.silent
    if not isinstance(reading, LinkLate | LinkGap | ShoeReset):
        others = tuple(other for other in silent if other != device)
        turn.change(silent=others if isinstance(reading, LinkUp) else (*others, device))
    if device not in turn.state.slots and not isinstance(reading, LinkUp):
        moves.lose_place(turn)


# The shuffler


def on_state(turn: HousePokerTurn, reading: ShufflerState) -> None:
    """Handle the shuffler's state. While it is not ready, a deal in progress stops and none begins
    until it is ready or the deck is found right.
    """
    before, hand, unready = turn.state.shuffler, turn.state.current, track_shuffler(turn, reading)
    turn.change(shuffler=unready)
    if unready is None or before == unready:
        return
    if hand is not None and turn.state.stop is None and moves.belongs(turn):
        moves.doubt(turn, "shuffler_unready", detail=unready)


def on_verdict(turn: HousePokerTurn, reading: ShufflerVerdict) -> None:
    """Handle the shuffler's count of the deck and its check of the cards: two facts."""
    if not reading.late:
        check_deck(turn, verdict(reading, CARDS * (reading.decks or 1)))


def check_deck(turn: HousePokerTurn, checked: DeckChecked) -> None:
    """Record a check of the deck. A wrong deck is not dealt; a deal in progress stops."""
    hand = turn.state.current
    turn.change(deck=checked.right)
    turn.emit(replace(checked, round=hand.round if hand else 0))
    if checked.right:
        turn.clear_alert("deck_wrong")
        return
    if hand is not None and turn.state.stop is None and moves.belongs(turn):
        moves.doubt(turn, "deck_wrong")
    else:
        turn.irregular("deck_wrong")
    turn.raise_alert("deck_wrong")


# Coins


def on_coin(turn: HousePokerTurn, reading: SlotCoin) -> None:
    """Record a coin before the deal as a bet on the jackpot of this round. Coins at other times, of
    a wrong value, or while the jackpot is out of play do not count.
    """
    if reading.device not in turn.state.slots:
        turn.change(slots=(*turn.state.slots, reading.device))
    if "jackpot" not in turn.book.sides:
        return
    hand = turn.state.current
    if hand is None or hand.closed or reading.late:
        turn.irregular("bet_late", detail=f"box:{reading.box}")
        return
    who, (_, most) = f"box:{reading.box}", moves.stakes(turn, "jackpot")
    if why := refused(turn):
        turn.irregular("jackpot_not_in_play", detail=f"{who}: {reading.amount}; {why}")
    elif most is not None and reading.amount > most:
        turn.irregular("stake_limit", detail=f"{who}: {reading.amount}, the most is {most}")
    elif moves.no_jackpot(turn, reading.amount):
        decided = turn.settings.jackpot_stake or "nothing"
        turn.irregular(
            "jackpot_stake", detail=f"{who}: {reading.amount}; decided and displayed: {decided}"
        )
    elif moves.jackpot_decided(turn) and hand.has_bet(who, "jackpot"):
        turn.irregular(
            "jackpot_stake", detail=f"{who}: it takes part already, {reading.amount} more came"
        )
    else:
        moves.bet(
            turn, who, "jackpot", reading.amount + (hand.amounts.get(who, {}).get("jackpot") or 0)
        )
