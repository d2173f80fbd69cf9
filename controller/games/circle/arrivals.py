"""A card or a packet that comes to a table of circle poker: where it goes, or why it stops play."""

from __future__ import annotations

from common.readings import CardDrawn, ShufflerPacket
from controller.games.circle.doubts import doubt
from controller.games.circle.moves import (
    add,
    apply,
    belongs,
    close_bets,
    count_used,
    deal_several,
    due_first,
    emit_removed,
    expect,
    lose_place,
)
from controller.games.circle.state import (
    EARLY_PLACE,
    OUT_PLACE,
    CirclePlace,
)
from controller.games.circle.streets import places, streets
from controller.games.circle.turn import CircleDealError, CircleTurn
from controller.games.dealt.cards import TableCard
from controller.games.dealt.state import Held


def arrived(turn: CircleTurn, reading: CardDrawn | ShufflerPacket) -> Held | None:
    """The card or packet as a held one; None if no card may come."""
    shut = any(doubt.what == "deal_exposed_in_cut" for doubt in turn.state.doubts)
    none = turn.state.current is None or shut
    if not turn.state.open or (none and not reading.late):
        turn.refuse(reading)
        return None
    if isinstance(reading, CardDrawn):
        return Held(given=reading)
    unread = CardDrawn(
        at=reading.at,
        device=reading.device,
        reading=reading.reading,
        card=None,
        late=reading.late,
    )
    return Held(given=unread, packet=reading.size)


def divert(turn: CircleTurn, held: Held) -> bool:
    """Whether it is more or less than the card that is due: betting is open, none is due, a
    packet came, or it may not be the next one. The first card closes the antes.
    """
    if turn.state.current is None:
        return True
    if turn.current.open:
        _premature(turn, held)
        return True
    if not turn.current.closed:
        unseen = turn.current.used is None
        close_bets(turn, unobserved=True)
        if unseen:
            lose_place(turn)  # it need not be the first
    if belongs(turn) is None:
        leave_out(turn, held)
        turn.irregular("card_out_of_round")
        return True
    if held.packet is not None:
        _packet(turn, turn.current.due[0].to, held.packet)
    elif held.given.unsure:
        lose_place(turn, "a reading that is not sure")
    return held.packet is not None or held.given.unsure


def objection(turn: CircleTurn, held: Held) -> tuple[str, str | None] | None:
    """A device's word turns no card."""
    place = turn.current.due[0]
    wrong = held.given.exposed and not place.up and place.to != "burn"
    return ("deal_exposed", place.to) if wrong else None


def hold(turn: CircleTurn, held: Held, what: str, detail: str | None = None) -> None:
    """The card stops the table: until a person has looked, its reading is no evidence."""
    turn.change(held=(held, *turn.state.held))
    turn.irregular(what, asks=turn.state.asks, detail=detail)
    expect(turn)


def place(
    turn: CircleTurn, drawn: CardDrawn, to: str, *, seen: bool = False, **_packet: int
) -> None:
    """Deal a card."""
    burned = drawn.exposed and not turn.current.due[0].up
    turn.variant.deal(turn, drawn.card, drawn.reading, exposed=seen, unread=drawn.card is None)
    if burned and turn.state.current is not None:
        apply(turn, CircleDealError(name="exposed", who=to))


def _packet(turn: CircleTurn, to: str, size: int) -> None:
    own = sum(place.to == to for place in turn.current.due)
    deal_several(turn, due_first(turn, to, min(size, own)))
    if size > own and turn.state.current is not None:
        apply(turn, CircleDealError(name="too_many", who=to))


def _premature(turn: CircleTurn, held: Held) -> None:
    """A card came while betting was open. A common card is replaced if the decree requires it;
    otherwise a person decides.
    """
    hand, remedy = turn.current, turn.book.errors["premature"]
    following = _following(turn)
    if remedy == "replace" and following is not None and following.up and not following.turn:
        why = "premature" if hand.spoken else "extra_common"
        law = turn.book.laws[f"deal_{why}"]
        turn.irregular(f"deal_{why}")
        early_card = turn.variant.believed(turn, held.given.card)
        leave_out(turn, held)
        emit_removed(turn, why, law, following.to, early_card)
        return
    believed, count = turn.variant.believed(turn, held.given.card), held.packet or 1
    count_used(turn, count)
    add(turn, TableCard(to=EARLY_PLACE, card=believed, reading=held.given.reading))
    add(turn, *[TableCard(to=EARLY_PLACE)] * (count - 1))
    if remedy == "burn":
        turn.irregular("deal_premature")
    else:
        doubt(turn, "deal_premature")


def _following(turn: CircleTurn) -> CirclePlace | None:
    """Where the first card of the next street goes."""
    every, number = streets(turn.book, turn.settings), turn.current.street + 1
    if number == len(every):
        return None
    return next(iter(places(every[number], turn.current.live, turn.current)), None)


def leave_out(turn: CircleTurn, held: Held) -> None:
    """Record cards that left the pack and belong nowhere."""
    count_used(turn, held.packet or 1)
    card = held.given.card if held.given.card in turn.pack else None
    add(turn, TableCard(to=OUT_PLACE, card=card, gone=True))
