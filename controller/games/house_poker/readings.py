"""Devices at a table of poker against the dealer: a shoe or reader, a packet shuffler, coin slots.

Cards go where the order of the deal says. One that does not fit it, or the deck, stops the round;
what comes after it waits. What comes after a silence is never acted upon: a person tells what was
dealt, and what is face up.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.events import DeckChecked
from controller.games.dealt.cards import trouble
from controller.games.house_poker import course
from controller.games.house_poker.state import DEALER, QUEUE, Came
from controller.games.house_poker.turn import HousePokerTurn
from controller.games.moves import frame_of
from controller.games.poker.deal import packet
from controller.games.poker.readings import heed_shuffler
from devices.readings import (
    AnyReading,
    CardDrawn,
    LinkGap,
    LinkLate,
    LinkUp,
    ShoeReset,
    ShufflerPacket,
    ShufflerState,
    ShufflerVerdict,
    SlotCoin,
)

CARDS = 52


# Cards and packets


def take_came(turn: HousePokerTurn, given: Came) -> None:
    """A card or a packet came out."""
    hand = turn.state.current
    if hand is None:
        if "card_out_of_round" not in turn.state.alerts:
            turn.irregular("card_out_of_round")
        turn.raise_alert("card_out_of_round", given)
    elif given.late:
        lose_place(turn)
    else:
        follow(turn, given)
    turn.settle()


def follow(turn: HousePokerTurn, given: Came) -> None:
    """It goes to the hand that the order says, or waits, or stops the round."""
    hand = turn.state.current
    if hand is None:
        return
    if hand.stop is not None:
        turn.change_current(queue=(*hand.queue, given)[:QUEUE])
    elif (why := _objection(turn, given)) is not None:
        turn.stop(why, given)
    else:
        place(turn, given)


def follow_all(turn: HousePokerTurn, waiting: tuple[Came, ...]) -> None:
    """Several, in their order; where one stops the round, those after it wait with it."""
    for each in waiting:
        follow(turn, each)


def place(turn: HousePokerTurn, given: Came, count: int | None = None) -> None:
    """It goes to the next hand. ``count``: how many a packet was, where a person says so."""
    to = course.to_come(turn.rules, turn.current)[0]
    if isinstance(given, CardDrawn):
        turn.place_card(to, given.card, frame_of(given))
    else:
        turn.place_card(to, frame=frame_of(given), count=given.size if count is None else count)


def _objection(turn: HousePokerTurn, given: Came) -> str | None:
    """Why it may not simply go where the next one belongs."""
    hand = turn.current
    if not hand.closed:
        return "card_before_close"
    to_come = course.to_come(turn.rules, hand)
    if not to_come:
        return "card_extra"
    faced = course.faces_up(turn.rules, hand, to_come[0])
    if isinstance(given, CardDrawn):
        why = (
            trouble(hand.cards, [given.card], turn.rules.deck)
            if given.card is not None
            else "card_unread"
            if faced
            else None
        )
        if why or given.unsure:
            return why or "card_unsure"
        if given.exposed and not faced:
            return "card_exposed"
    elif not _fits(turn, given, packet(to_come)):
        return "packet_wrong"
    claimed = (given.to or "").startswith(
        ("box:", DEALER, "burn")
    )  # a device may have words of its own
    return "card_order" if claimed and given.to != to_come[0] else None


def _fits(turn: HousePokerTurn, given: ShufflerPacket, most: int) -> bool:
    """Whether a packet is as large as it has to be; cards that were asked for may also come one by
    one.
    """
    return given.size == most or (
        0 < given.size < most and course.is_dealt(turn.rules, turn.current)
    )


# What a silence hides


def take_silence(turn: HousePokerTurn, given: AnyReading) -> None:
    """A device is not heard, or was not, or started afresh: a card may have come unseen. The slots
    deal none.
    """
    device, silent = given.device, turn.state.silent
    if not isinstance(given, LinkLate | LinkGap | ShoeReset):
        others = tuple(each for each in silent if each != device)
        turn.change(silent=others if isinstance(given, LinkUp) else (*others, device))
    if device not in turn.state.slots and not isinstance(given, LinkUp):
        lose_place(turn)
    turn.settle()


def lose_place(turn: HousePokerTurn) -> None:
    """Where cards are still to come, or wait, one may have come unseen: a person says what was
    dealt.
    """
    hand = turn.state.current
    if (
        hand is None
        or hand.gap
        or not (course.to_come(turn.rules, hand) or (hand.stop is not None and not hand.closed))
    ):
        return
    turn.change_current(gap=True)
    if hand.stop is None:
        turn.stop("silence")


# The shuffler


def take_state(turn: HousePokerTurn, given: ShufflerState) -> None:
    """A shuffler that is not ready stops a deal in progress, and none begins until it is or the
    deck is found right.
    """
    before, hand, unready = turn.state.shuffler, turn.state.current, heed_shuffler(turn, given)
    turn.change(shuffler=unready)
    if unready is None or before == unready:
        return
    if hand is not None and hand.stop is None and course.to_come(turn.rules, hand):
        turn.stop("shuffler_unready", detail=unready)
    turn.settle()


def take_verdict(turn: HousePokerTurn, given: ShufflerVerdict) -> None:
    """The shuffler has counted the deck and looked at it: two facts."""
    if given.late:
        return
    whole = CARDS * (given.decks or 1)
    count_right = (
        given.count_right
        if given.count is None
        else given.count == whole and given.count_right is not False
    )
    check_deck(
        turn,
        DeckChecked(
            right=count_right is not False
            and given.set_right is not False
            and not (given.missing or given.extra),
            count=given.count,
            count_right=count_right,
            set_right=given.set_right,
            device=given.device or None,
        ),
    )
    turn.settle()


def check_deck(turn: HousePokerTurn, checked: DeckChecked) -> None:
    """The deck was looked at. A wrong one is not dealt from; a deal in progress stops."""
    hand = turn.state.current
    turn.change(deck=checked.right)
    turn.say(replace(checked, round=hand.round if hand else 0))
    if checked.right:
        turn.clear_alert("deck_wrong")
        return
    if hand is not None and hand.stop is None and course.to_come(turn.rules, hand):
        turn.stop("deck_wrong")
    else:
        turn.irregular("deck_wrong")
    turn.raise_alert("deck_wrong")


# Coins


def take_coin(turn: HousePokerTurn, given: SlotCoin) -> None:
    """A coin before the deal takes part in the jackpot of this round; any other does not count, nor
    one of a wrong value.
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
    if most is not None and given.amount > most:
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
        turn.bet(who, "jackpot", given.amount + (hand.bets.get(who, {}).get("jackpot") or 0))
