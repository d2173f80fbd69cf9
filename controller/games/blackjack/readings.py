"""What a table of black jack makes of its shoe's readings.

A card goes where the rules say that the next one belongs. If that is unknown, it waits with all
that follow until a key or a person decides.
"""

from __future__ import annotations

from controller.games import shoe, talla
from controller.games.blackjack.state import BlackjackHeld, Doubt
from controller.games.blackjack.turn import BlackjackTurn, expected, question
from controller.games.moves import frame_of
from devices.readings import AnyReading, CardCut, CardDrawn, LinkGap, LinkLate, LinkUp, ShoeReset


def take_card(turn: BlackjackTurn, given: CardDrawn) -> None:
    """A card left the shoe. It counts, wherever it goes."""
    state = turn.state
    if not state.open:
        turn.irregular("card_out_of_round")
        return
    if state.shoe is None:
        talla.missing(turn, given)
        return
    counted, trouble = shoe.draw(state.shoe, given.card)
    turn.change(shoe=counted)
    why: str | None = trouble or (
        "silence" if given.late else "card_unsure" if given.unsure else None
    )
    if given.exposed and why is None:
        if _goes_to_a_hand(turn):
            turn.remove("card_exposed", given.card)
            return
        why = "card_exposed"
    burned = state.burn > 0 and not state.doubt
    if burned and trouble not in (
        None,
        "card_unread",
    ):  # nobody sees it: report that there is such a card, not which
        turn.irregular(str(trouble))
    if burned and not (given.exposed or state.held):
        turn.place(BlackjackHeld(card=None), "burn")
    else:
        why = "card_exposed" if burned and given.exposed else why
        turn.change(
            held=(
                *turn.state.held,
                BlackjackHeld(card=given.card, trouble=why, frame=frame_of(given)),
            )
        )
    turn.settle()


def _goes_to_a_hand(turn: BlackjackTurn) -> bool:
    """Whether the next card is dealt face up. A card burned or waiting is unseen, and not disclosed
    on a device's word.
    """
    state = turn.state
    return (
        not (state.burn or state.held)
        and question(turn.rules, state) is None
        and expected(turn.rules, state) is not None
    )


def take_cut(turn: BlackjackTurn, _given: CardCut) -> None:
    """The cut card came: the round in progress is the last. With none in progress the previous one
    was, if anybody reports when one begins.
    """
    now, deal = turn.state.shoe, turn.state.deal
    if now is None or not turn.state.open or now.continuous or now.cut_at is not None:
        return
    now = shoe.cut(now)
    turn.change(shoe=now)
    begun = deal is not None and (deal.begun or turn.settings.cut_first == "play")
    plays = begun or (deal is None and not turn.settings.keys)
    call = turn.book.announcements.get("last_round")
    talla.cut(turn, turn.number, int(plays), call)
    if begun:
        turn.change_deal(last=True)
    elif not plays:
        turn.end_talla()
    turn.settle()


def take_silence(turn: BlackjackTurn, given: AnyReading) -> None:
    """The shoe is silent, or was: a card may be missing. A person knows what is on the table."""
    state = turn.state
    again = isinstance(given, LinkUp)
    if again and not state.silent:
        return  # heard for the first time
    if not isinstance(given, LinkLate | LinkGap):
        turn.change(silent=not again)
    _doubt(turn, "silence")


def take_reset(turn: BlackjackTurn, _given: ShoeReset) -> None:
    """The shoe restarted: a person knows whether the same cards are in it, and all of them on the
    table.
    """
    if turn.state.shoe is not None and turn.state.shoe.drawn:
        _doubt(turn, "shoe_reset")


def _doubt(turn: BlackjackTurn, what: Doubt) -> None:
    state = turn.state
    if state.shoe is None:
        return
    turn.change(shoe=shoe.lose_count(state.shoe))
    total = turn.book.shoe.burn
    burning = state.burn > 0 and state.burn != total
    if (
        state.deal is not None or state.held or burning or what == "shoe_reset"
    ) and state.doubt != "hands_too_few":
        turn.change(doubt=what)
    turn.settle()
