"""Devices at a table of poker against the dealer: a shoe or reader, a packet shuffler, coin slots.

Cards go where the order of the deal says. One that does not fit it, or the deck, stops the round;
what comes after it waits. Cards after a silence are never acted upon: a person states which were
dealt, and which are face up.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.events import DeckChecked
from controller.games.house_poker.turn import HousePokerTurn
from controller.games.jackpot import refused
from controller.games.poker.readings import heed_shuffler, verdict
from devices.readings import (
    AnyReading,
    LinkGap,
    LinkLate,
    LinkUp,
    ShoeReset,
    ShufflerState,
    ShufflerVerdict,
    SlotCoin,
)

CARDS = 52


# Silences


def take_silence(turn: HousePokerTurn, given: AnyReading) -> None:
    """A device is or was silent, or restarted: a card may have come unseen. The slots deal none."""
    device, silent = given.device, turn.state.silent
    if not isinstance(given, LinkLate | LinkGap | ShoeReset):
        others = tuple(each for each in silent if each != device)
        turn.change(silent=others if isinstance(given, LinkUp) else (*others, device))
    if device not in turn.state.slots and not isinstance(given, LinkUp):
        turn.lose_place()


# The shuffler


def take_state(turn: HousePokerTurn, given: ShufflerState) -> None:
    """A shuffler that is not ready stops a deal in progress, and none begins until it is or the
    deck is found right.
    """
    before, hand, unready = turn.state.shuffler, turn.state.current, heed_shuffler(turn, given)
    turn.change(shuffler=unready)
    if unready is None or before == unready:
        return
    if hand is not None and turn.state.stop is None and turn.belongs():
        turn.doubt("shuffler_unready", detail=unready)


def take_verdict(turn: HousePokerTurn, given: ShufflerVerdict) -> None:
    """The shuffler has counted the deck and looked at it: two facts."""
    if not given.late:
        check_deck(turn, verdict(given, CARDS * (given.decks or 1)))


def check_deck(turn: HousePokerTurn, checked: DeckChecked) -> None:
    """The deck was looked at. A wrong one is not dealt from; a deal in progress stops."""
    hand = turn.state.current
    turn.change(deck=checked.right)
    turn.say(replace(checked, round=hand.round if hand else 0))
    if checked.right:
        turn.clear_alert("deck_wrong")
        return
    if hand is not None and turn.state.stop is None and turn.belongs():
        turn.doubt("deck_wrong")
    else:
        turn.irregular("deck_wrong")
    turn.raise_alert("deck_wrong")


# Coins


def take_coin(turn: HousePokerTurn, given: SlotCoin) -> None:
    """A coin before the deal takes part in the jackpot of this round; any other does not count, nor
    one of a wrong value, nor one while the jackpot is not in play.
    """
    if given.device not in turn.state.slots:
        turn.change(slots=(*turn.state.slots, given.device))
    if "jackpot" not in turn.book.sides:
        return
    hand = turn.state.current
    if hand is None or hand.closed or given.late:
        turn.irregular("bet_late", detail=f"box:{given.box}")
        return
    who, (_, most) = f"box:{given.box}", turn.stakes("jackpot")
    if why := refused(turn):
        turn.irregular("jackpot_not_in_play", detail=f"{who}: {given.amount}; {why}")
    elif most is not None and given.amount > most:
        turn.irregular("stake_limit", detail=f"{who}: {given.amount}, the most is {most}")
    elif turn.no_jackpot(given.amount):
        decided = turn.settings.jackpot_stake or "nothing"
        turn.irregular(
            "jackpot_stake", detail=f"{who}: {given.amount}; decided and displayed: {decided}"
        )
    elif turn.jackpot_decided and hand.has_bet(who, "jackpot"):
        turn.irregular(
            "jackpot_stake", detail=f"{who}: it takes part already, {given.amount} more came"
        )
    else:
        turn.bet(who, "jackpot", given.amount + (hand.amounts.get(who, {}).get("jackpot") or 0))
