"""Readings of the shoe at black jack.

A card goes where the rules say that the next one belongs. If that is unknown, it waits with all
that follow until a key or a person decides.
"""

from __future__ import annotations

from common.readings import CardCut, ShoeReset
from controller.games import shoe, talla
from controller.games.blackjack import moves
from controller.games.blackjack.moves import BlackjackTurn


def on_cut(turn: BlackjackTurn, _reading: CardCut) -> None:
    """Handle the cut card: the round in progress is the last. Without one the previous round was,
    if the start of rounds is reported.
    """
    now, deal = turn.state.shoe, turn.state.current
    if now is None or not turn.state.open or now.continuous or now.cut_at is not None:
        return
    now = shoe.cut(now)
    turn.change(shoe=now)
    begun = deal is not None and (deal.begun or turn.settings.cut_first == "play")
    plays = begun or (deal is None and not turn.settings.keys)
    call = turn.book.announcements.get("last_round")
    talla.cut(turn, turn.number, int(plays), call)
    if begun:
        turn.change_current(last=True)
    elif not plays:
        moves.end_talla(turn)


def on_reset(turn: BlackjackTurn, _reading: ShoeReset) -> None:
    """Handle a restart of the shoe: a person decides whether it has the same cards, and whether all
    on the table were seen.
    """
    if turn.state.shoe is not None and turn.state.shoe.drawn:
        moves.lose_place(turn, "shoe_reset")
