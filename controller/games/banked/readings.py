"""Readings of a shoe or shuffler at a table whose boxes play one deck.

An unread card stays unknown, as do all cards of a shuffler's packet. A card that should not have
come waits, with all that follow it, until a person decides; so does whatever a silence may have
hidden.
"""

from __future__ import annotations

from common.contract.events import DeckChecked
from common.readings import (
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
from controller.games.banked import moves
from controller.games.banked.moves import Turn
from controller.games.dealt.arrivals import follow
from controller.games.dealt.state import Held
from controller.games.poker.readings import track_shuffler


def deal_waiting(turn: Turn) -> None:
    """Deal the waiting cards, in order, once nothing stops the table."""
    if turn.state.current is not None and turn.state.stop is None:
        turn.course.advance(turn)
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


def on_packet(turn: Turn, reading: ShufflerPacket) -> None:
    """Deal unknown cards where the next ones belong, or stop the table if the packet claims another
    place. An early packet waits for a person, and later ones wait behind it.
    """
    deal = turn.state.current
    if deal is None:
        turn.refuse(reading)
    elif not reading.late and turn.state.held:
        turn.course.wait(turn, _held(reading))
    elif (
        not reading.late
        and turn.state.stop is None
        and (not deal.closed or turn.banked.too_early(turn))
    ):
        follow(turn, _held(reading))
    elif not deal.closed or turn.banked.too_early(turn) or not deal.due:
        turn.irregular("card_out_of_round", detail=f"a packet of {reading.size}")
    elif reading.late or turn.state.stop is not None:
        turn.course.lose_place(turn)
    else:
        to = deal.due[0]
        due = deal.due.count(to)
        if turn.banked.trusts_places and reading.to not in (None, to):
            moves.doubt(turn, "packet_wrong", detail=f"a packet for {reading.to}, and {to} is next")
        elif reading.size > due:
            moves.doubt(
                turn,
                "packet_wrong",
                detail=f"a packet of {reading.size} for {to}, to which {due} are due",
            )
        else:
            moves.place_card(turn, to, count=reading.size)
            turn.course.advance(turn)


def _held(reading: ShufflerPacket) -> Held:
    """The packet as a held card."""
    card = CardDrawn(
        at=reading.at,
        device=reading.device,
        frame=reading.frame,
        card=None,
        reading=reading.reading,
    )
    return Held(given=card, packet=reading.size)


# Silences


def on_silence(turn: Turn, reading: AnyReading) -> None:
    """Handle a silence of a device: a card may have come unseen while cards were due."""
    if not isinstance(reading, LinkLate | LinkGap):
        others = tuple(device for device in turn.state.silent if device != reading.device)
        turn.change(silent=others if isinstance(reading, LinkUp) else (*others, reading.device))
    turn.course.lose_place(turn)


def on_reset(turn: Turn, _reading: ShoeReset) -> None:
    """Handle a restart of the shoe."""
    turn.course.lose_place(turn)


# The deck, and what the devices say of themselves


def on_verdict(turn: Turn, reading: ShufflerVerdict) -> None:
    """Handle the shuffler's check of a deck."""
    if reading.late:
        return
    whole = (
        reading.count == turn.banked.counted(turn)
        if reading.count is not None and reading.decks in (None, 1)
        else None
    )
    count_right = whole if reading.count_right is None else reading.count_right
    right = (
        False not in (count_right, reading.set_right) and not reading.missing and not reading.extra
    )
    turn.emit(
        DeckChecked(
            right=right,
            count=reading.count,
            count_right=count_right,
            set_right=reading.set_right,
            device=reading.device or None,
        )
    )
    turn.banked.judge(turn, right)
    deal_waiting(turn)


def on_state(turn: Turn, reading: ShufflerState) -> None:
    """Handle the shuffler's state. While cards are due, one may have come unreported; no deal
    begins until the device is ready or the cards are found right.
    """
    unready, deal = track_shuffler(turn, reading), turn.state.current
    turn.change(shuffler=unready)
    if (
        unready is not None
        and deal is not None
        and deal.closed
        and deal.due
        and turn.state.doubt is None
    ):
        moves.doubt(turn, "shuffler_unready", detail=unready)
