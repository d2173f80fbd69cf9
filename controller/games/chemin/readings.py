"""Cut card, restarts and faults of the shoe at a table of chemin de fer or two-cloth baccarat."""

from __future__ import annotations

from common.readings import CardCut, ShoeFault, ShoeReset
from controller.games import shoe, talla
from controller.games.chemin import moves
from controller.games.chemin.course import CheminTurn


def on_cut(turn: CheminTurn, _reading: CardCut) -> None:
    """The cut card came: the round in progress is the last; with none in progress the shoe is
    over.
    """
    state, coup = turn.state, turn.state.current
    if state.shoe is None or state.shoe.continuous or state.shoe.cut_at is not None:
        return
    turn.change(shoe=shoe.cut(state.shoe))
    cards_came = coup is not None and bool(coup.cards or state.held)
    plays = cards_came or (coup is not None and turn.settings.cut_first == "play")
    talla.cut(turn, turn.number, int(plays))
    if coup is None:
        moves.end_shoe(turn, "cut")
    elif not plays:
        moves.void(turn, coup.round, "inspector", turn.book.laws["shoe_over"])


def on_reset(turn: CheminTurn, _reading: ShoeReset) -> None:
    """The shoe restarted: only a person knows what is in it now."""
    state = turn.state
    if state.shoe is None or state.shoe.over or not (state.shoe.drawn or state.current):
        return
    if state.current is not None:
        moves.unresolved(turn, state.current, "undecided")
    turn.change(shoe=shoe.lose_count(state.shoe), held=(), carried=())
    turn.irregular("shoe_reset", asks=("shoe.start",))
    moves.end_shoe(turn, "reset")


def on_fault(turn: CheminTurn, reading: ShoeFault) -> None:
    """The shoe reports a fault, or its end. The croupier deals with two cards at once."""
    alert = f"shoe_{reading.fault}"
    if not reading.active:
        turn.clear_alert(alert)
        return
    coup = turn.state.current
    if reading.fault == "overdraw" and coup is not None and coup.closed and coup.question is None:
        moves.ask(turn, "overdraw")
        turn.course.expect(turn)
    elif reading.fault == "overdraw":
        turn.irregular("overdraw")
    turn.raise_alert(alert, reading)
