"""Readings of a shoe or shuffler at a table whose boxes play one deck.

An unread card stays unknown, as do all cards of a shuffler's packet. A card that should not have
come waits, with all that follow it, until a person decides; so does whatever a silence may have
hidden.
"""

from __future__ import annotations

from typing import Any

from controller.contract.events import DeckChecked
from controller.games.banked.state import QUEUE, BankedHeld
from controller.games.banked.turn import BankedTurn
from controller.games.dealt import cards as on_table
from controller.games.moves import frame_of
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
)

Turn = BankedTurn[Any, Any, Any]

PLACES = ("box:", "dealer", "common:", "board", "burn")
"""How a device names a place as we do; it may have words of its own."""


def take_card(turn: Turn, given: CardDrawn) -> None:
    """A card came."""
    state = turn.state
    if not state.open:
        if "card_while_closed" not in state.alerts:
            turn.irregular("card_out_of_round")
        turn.raise_alert("card_while_closed", given)
    elif given.late:
        lose_place(turn)
    elif state.stop is not None:
        wait(turn, given)
    else:
        follow(turn, given)
    turn.expect()


def wait(turn: Turn, given: CardDrawn) -> None:
    """The card waits until a person decides; at most a deck is kept."""
    if len(turn.state.held) < QUEUE:
        turn.change(held=(*turn.state.held, BankedHeld(given=given)))
    else:
        lose_place(turn)


def follow(turn: Turn, given: CardDrawn) -> None:
    """The card goes where the next one belongs, or stops the table."""
    if why := objection(turn, given):
        seen = turn.current.due[0] if why == "card_exposed" else None
        law = turn.void_if_seen(seen) if seen else None
        if law is None:
            turn.change(held=(BankedHeld(given=given, trouble=why), *turn.state.held))
        turn.irregular(why, asks=turn.state.stop_asks, detail=seen)
        if law is not None:
            turn.void(turn.current.round, "card_exposed", law)
        return
    turn.place_card(turn.current.due[0], given.card, frame=frame_of(given))
    if turn.state.deal is not None:
        turn.advance()


def go_on(turn: Turn) -> None:
    """Deal the cards that waited, in order, once nothing stops the table."""
    if turn.state.deal is not None and turn.state.stop is None:
        turn.advance()
    while (
        turn.state.held
        and turn.state.doubt is None
        and not (turn.state.deal and turn.state.deal.gap)
    ):
        first, *rest = turn.state.held
        if first.trouble is not None:
            break
        turn.change(held=tuple(rest))
        follow(turn, first.given)
    turn.expect()


def objection(turn: Turn, given: CardDrawn) -> str | None:
    """Why this card may not simply go where the next one belongs."""
    deal = turn.state.deal
    if deal is None:
        return "card_out_of_round"
    if not deal.closed:
        return "card_before_close"
    if given.unsure:
        return "card_unsure"
    if why := turn.too_early():
        return why
    if not deal.due:
        return "card_extra"
    claimed = turn.heeds_places and given.to is not None and given.to.startswith(PLACES)
    if claimed and given.to != deal.due[0]:
        return "card_unsure"
    if given.card is not None and (wrong := on_table.trouble(deal.table, [given.card], turn.deck)):
        return wrong
    return (
        "card_exposed" if given.exposed and not turn.dealt_face_up(deal.due[0]) else None
    )  # a device's word turns no card


def take_packet(turn: Turn, given: ShufflerPacket) -> None:
    """Cards came for a hand, and nobody knows which. They go where the next ones belong; another
    claim asks.
    """
    deal = turn.state.deal
    if not turn.state.open or deal is None or not deal.closed or turn.too_early() or not deal.due:
        turn.irregular("card_out_of_round", detail=f"a packet of {given.size}")
    elif given.late or turn.state.stop is not None:
        lose_place(turn)
    else:
        to = deal.due[0]
        if turn.heeds_places and given.to not in (None, to):
            turn.doubt("packet_wrong", detail=f"a packet for {given.to}, and {to} is next")
        elif given.size > deal.due.count(to):
            turn.doubt(
                "packet_wrong",
                detail=f"a packet of {given.size} for {to}, to which {deal.due.count(to)} are due",
            )
        else:
            turn.place_card(to, count=given.size)
            turn.advance()
    turn.expect()


# What a silence hides


def take_silence(turn: Turn, given: AnyReading) -> None:
    """A device is not heard, or was not: a card may have come unseen while cards were due."""
    if not isinstance(given, LinkLate | LinkGap):
        others = tuple(each for each in turn.state.silent if each != given.device)
        turn.change(silent=others if isinstance(given, LinkUp) else (*others, given.device))
    lose_place(turn)
    turn.expect()


def take_reset(turn: Turn, _given: ShoeReset) -> None:
    """The shoe started afresh."""
    lose_place(turn)
    turn.expect()


def lose_place(turn: Turn) -> None:
    """Where cards are due, one may have come that nobody told."""
    deal = turn.state.deal
    if deal is None or not deal.closed or deal.gap or not deal.due:
        return
    turn.change_deal(gap=True)
    turn.irregular("silence", asks=turn.state.stop_asks)


# The deck, and what the devices say of themselves


def take_verdict(turn: Turn, given: ShufflerVerdict) -> None:
    """A shuffler looked at a deck."""
    if given.late:
        return
    whole = (
        given.count == turn.counted()
        if given.count is not None and given.decks in (None, 1)
        else None
    )
    count_right = whole if given.count_right is None else given.count_right
    right = False not in (count_right, given.set_right) and not given.missing and not given.extra
    turn.say(
        DeckChecked(
            right=right,
            count=given.count,
            count_right=count_right,
            set_right=given.set_right,
            device=given.device or None,
        )
    )
    turn.judge(right)
    go_on(turn)


def take_state(turn: Turn, given: ShufflerState) -> None:
    """A shuffler needs a person, or does so no longer. While cards are due, one may have come that
    it did not tell; no deal begins until it is ready or the cards are found right.
    """
    unready, deal = heed_shuffler(turn, given), turn.state.deal
    turn.change(shuffler=unready)
    if (
        unready is not None
        and deal is not None
        and deal.closed
        and deal.due
        and turn.state.doubt is None
    ):
        turn.doubt("shuffler_unready", detail=unready)
    turn.expect()
