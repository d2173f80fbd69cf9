"""Readings of a shoe or shuffler at a table whose boxes play one deck.

An unread card stays unknown, as do all cards of a shuffler's packet. A card that should not have
come waits, with all that follow it, until a person decides; so does whatever a silence may have
hidden.
"""

from __future__ import annotations

from typing import Any

from controller.contract.events import DeckChecked
from controller.games.banked.turn import BankedTurn
from controller.games.dealt.arrivals import follow
from controller.games.dealt.state import Held
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


def go_on(turn: Turn) -> None:
    """Deal the cards that waited, in order, once nothing stops the table."""
    if turn.state.current is not None and turn.state.stop is None:
        turn.advance()
    while (
        turn.state.held
        and turn.state.doubt is None
        and not (turn.state.current and turn.state.current.gap)
    ):
        first, *rest = turn.state.held
        if first.trouble is not None:
            break
        turn.change(held=tuple(rest))
        follow(turn, first)


def take_packet(turn: Turn, given: ShufflerPacket) -> None:
    """Cards came for an unknown hand. They go where the next ones belong; another claim asks. A
    packet before its time waits for a person, and later ones wait behind it.
    """
    deal = turn.state.current
    if deal is None:
        turn.refuse(given)
    elif not given.late and turn.state.held:
        turn.wait(_held(given))
    elif not given.late and turn.state.stop is None and (not deal.closed or turn.too_early()):
        follow(turn, _held(given))
    elif not deal.closed or turn.too_early() or not deal.due:
        turn.irregular("card_out_of_round", detail=f"a packet of {given.size}")
    elif given.late or turn.state.stop is not None:
        turn.lose_place()
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


def _held(given: ShufflerPacket) -> Held:
    """The packet, as a card that waits."""
    card = CardDrawn(
        at=given.at, device=given.device, frame=given.frame, card=None, reading=given.reading
    )
    return Held(given=card, packet=given.size)


# Silences


def take_silence(turn: Turn, given: AnyReading) -> None:
    """A device is or was silent: a card may have come unseen while cards were due."""
    if not isinstance(given, LinkLate | LinkGap):
        others = tuple(each for each in turn.state.silent if each != given.device)
        turn.change(silent=others if isinstance(given, LinkUp) else (*others, given.device))
    turn.lose_place()


def take_reset(turn: Turn, _given: ShoeReset) -> None:
    """The shoe started afresh."""
    turn.lose_place()


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
    """A shuffler needs a person, or does so no longer. While cards are due, one may have come
    unreported; no deal begins until the device is ready or the cards are found right.
    """
    unready, deal = heed_shuffler(turn, given), turn.state.current
    turn.change(shuffler=unready)
    if (
        unready is not None
        and deal is not None
        and deal.closed
        and deal.due
        and turn.state.doubt is None
    ):
        turn.doubt("shuffler_unready", detail=unready)
