"""Devices at a table of circle poker: a card reader, a shuffler that gives packets, a shuffler that
counts.
"""

from __future__ import annotations

from controller.contract.events import CardRemoved, DeckChecked
from controller.games.circle.errors import CircleDealError, apply
from controller.games.circle.state import QUEUE, Came, CircleCard, CirclePlace
from controller.games.circle.streets import places, streets
from controller.games.circle.turn import DECISIONS, CircleTurn
from controller.games.moves import frame_of
from controller.games.poker.readings import heed_shuffler
from devices.readings import (
    AnyReading,
    CardDrawn,
    LinkGap,
    LinkLate,
    LinkUp,
    ShoeFault,
    ShoeReset,
    ShufflerPacket,
    ShufflerState,
    ShufflerVerdict,
)


def take_card(turn: CircleTurn, given: CardDrawn) -> None:
    """A card left the pack: it goes where the next one is due."""
    if given.late:
        lose_place(turn)
        return
    if _waits(turn, given) or not _due(turn, given):
        return
    if given.unsure:
        lose_place(turn, "a reading that is not sure")
        return
    place = turn.current.due[0]
    seen = given.exposed and not place.up
    if seen and place.to != "burn":  # a device's word turns no card
        turn.change_current(waiting=(given,))
        turn.irregular("deal_exposed", asks=DECISIONS, detail=place.to)
        turn.expect()
        return
    turn.put(given.card, frame_of(given), unread=given.card is None)
    if seen and turn.state.current is not None:
        apply(turn, CircleDealError(name="exposed", who=place.to))


def take_packet(turn: CircleTurn, given: ShufflerPacket) -> None:
    """A packet came face down: cards for the hand whose cards are due next."""
    if given.late:
        lose_place(turn)
        return
    if _waits(turn, given) or not _due(turn, given, given.size):
        return
    who = turn.current.due[0].to
    own = [place for place in turn.current.due if place.to == who]
    left = list(turn.current.due)
    fit = own[: given.size]
    for place in fit:
        left.remove(place)
    turn.change_current(due=(*fit, *left))
    for place in fit:
        if turn.state.current is not None and turn.current.due[:1] == (
            place,
        ):  # else the deal has taken another course
            turn.put(None)
    if given.size > len(own) and turn.state.current is not None:
        apply(turn, CircleDealError(name="too_many", who=who))


def _waits(turn: CircleTurn, given: Came) -> bool:
    """Whether it waits behind a card whose exposure a person must confirm first."""
    hand = turn.state.current
    if hand is None or not hand.waiting:
        return False
    turn.change_current(waiting=(*hand.waiting, given)[:QUEUE])
    return True


def _due(turn: CircleTurn, given: Came, count: int = 1) -> bool:
    """Whether a card is due now; if not, report what is wrong with this one."""
    state = turn.state
    shut = any(each.what == "deal_exposed_in_cut" for each in state.troubles)
    if state.current is None or shut:
        if "card_out_of_round" not in state.alerts:
            turn.irregular("card_out_of_round")
        turn.raise_alert("card_out_of_round", given)
        return False
    if state.current.open:
        _premature(turn, given, count)
        return False
    if not state.current.closed:
        unseen = state.current.used is None
        turn.close_antes()
        if unseen and turn.state.current is not None:
            lose_place(turn)  # it need not be the first
    if turn.state.current is None or not turn.current.due or turn.current.due[0].turn:
        leave(turn, given, count)
        turn.irregular("card_out_of_round")
        return False
    return True


def _premature(turn: CircleTurn, given: Came, count: int) -> None:
    """A card came while betting was open. A common card is replaced if the decree says so;
    otherwise a person decides.
    """
    hand, card = turn.current, given.card if isinstance(given, CardDrawn) else None
    error = "deal_premature" if hand.spoken else "deal_extra_common"
    following = _following(turn)
    if (
        turn.book.errors["premature"] == "replace"
        and following is not None
        and following.up
        and not following.turn
    ):
        law = turn.book.laws[error]
        turn.irregular(error)
        told = turn.believed(card)
        leave(turn, given, count)
        why = error.removeprefix("deal_")
        turn.say(
            CardRemoved(
                round=hand.round,
                why=why,
                card=told,
                to=following.to,
                law=law.rule,
                article=law.article,
            )
        )
        return
    known = turn.believed(card)
    held = CircleCard(to="", index=0, card=known, frame=frame_of(given))
    used = None if hand.used is None else hand.used + count
    turn.change_current(
        held=(*hand.held, held, *[CircleCard(to="", index=0)] * (count - 1)), used=used
    )
    if turn.book.errors["premature"] == "burn":
        turn.irregular("deal_premature")
    else:
        turn.trouble("deal_premature")


def leave(turn: CircleTurn, given: Came, count: int) -> None:
    """Cards left the pack and go nowhere."""
    hand, card = turn.current, given.card if isinstance(given, CardDrawn) else None
    gone = (*hand.gone, card) if card in turn.pack and card is not None else hand.gone
    turn.change_current(gone=gone, used=None if hand.used is None else hand.used + count)


def _following(turn: CircleTurn) -> CirclePlace | None:
    """Where the first card of the next street goes."""
    every = streets(turn.book, turn.settings)
    number = turn.current.street + 1
    if number == len(every):
        return None
    return next(iter(places(every[number], turn.current.live, turn.current.cards)), None)


# What a silence hides


def take_silence(turn: CircleTurn, given: AnyReading) -> None:
    """The device is or was silent, or restarted: a card may have gone unseen."""
    was = turn.state.silent
    if not isinstance(given, LinkLate | LinkGap | ShoeReset):
        others = tuple(each for each in was if each != given.device)
        turn.change(silent=others if isinstance(given, LinkUp) else (*others, given.device))
    if not isinstance(given, LinkUp) or given.device in was:
        lose_place(turn)


def lose_place(turn: CircleTurn, detail: str | None = None) -> None:
    """Cards may have gone unseen. If some are due, a person says how many are where."""
    hand = turn.state.current
    if hand is None:
        return
    turn.change_current(used=None)
    if hand.closed and hand.due and not hand.due[0].turn and not hand.open:
        turn.change_current(doubted=True)
        due = sum(not place.turn for place in hand.due)
        to = hand.due[0].to
        lies = (
            f"{due} cards are due, the next to {to}; cards.deal, cards.burn or cards.show say "
            "first what lies there already"
        )
        turn.trouble("silence", detail=detail or lies)


# What devices say of themselves and of the pack


def take_verdict(turn: CircleTurn, given: ShufflerVerdict) -> None:
    """A shuffler has counted the pack."""
    if given.late:
        return
    counted = (
        given.count_right
        if given.count is None
        else given.count == len(turn.pack) and given.count_right is not False
    )
    right = (
        counted is not False
        and given.set_right is not False
        and not given.missing
        and not given.extra
    )
    turn.say(
        DeckChecked(
            right=right,
            count=given.count,
            count_right=counted,
            set_right=given.set_right,
            device=given.device or None,
        )
    )
    checked(turn, right)


def checked(turn: CircleTurn, right: bool) -> None:
    """The pack was looked at."""
    turn.change(deck=right, unchecked=0)
    if right:
        turn.clear_alert("deck_defective")
    else:
        turn.irregular("deck_defective", asks=("deck.check",))
        turn.raise_alert("deck_defective")


def take_shuffler(turn: CircleTurn, given: ShufflerState) -> None:
    """A shuffler reports its state."""
    heed_shuffler(turn, given)


def take_fault(turn: CircleTurn, given: ShoeFault) -> None:
    """A reader reports or clears a fault. Card details in it are not published."""
    alert = f"shoe_{given.fault}"
    if given.active:
        turn.raise_alert(alert, given)
    else:
        turn.clear_alert(alert)
