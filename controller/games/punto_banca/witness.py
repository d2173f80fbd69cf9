"""The shoe's other reports about a round: the cut card, and its verdict, which is a second witness
and never the result.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.events import RoundUnresolved
from common.readings import CardCut, ShoeResult
from controller.games import shoe, talla
from controller.games.coups import moves
from controller.games.coups.state import ROUND_DECISIONS
from controller.games.dealt.cards import TableCard
from controller.games.moves import readings_of
from controller.games.punto_banca.course import PuntoBancaTurn, disagree
from controller.games.punto_banca.state import PuntoBancaEntry


def on_cut(turn: PuntoBancaTurn, _reading: CardCut) -> None:
    """Handle the cut card: the round in progress is the last; without one the shoe is over."""
    state, coup = turn.state, turn.state.current
    if state.shoe is None or state.shoe.continuous or state.shoe.cut_at is not None:
        return
    now = shoe.cut(state.shoe)
    turn.change(shoe=now)
    plays = coup is not None and (bool(coup.cards) or turn.settings.cut_first == "play")
    talla.cut(turn, turn.number, int(plays), turn.call("cut"))
    if plays:
        turn.change_current(last=True)
    elif coup is None:
        moves.close_shoe(turn)
    else:
        turn.irregular("shoe_over", asks=("round.void",))
        moves.end_shoe(turn, now)


def on_verdict(turn: PuntoBancaTurn, reading: ShoeResult) -> None:
    """Handle the shoe's verdict."""
    coup = turn.state.current
    if not turn.state.open or reading.late:
        return
    if coup is None:
        if turn.state.unseen:
            moves.lose(turn)
        else:
            _compare(turn, reading)
        turn.change(out_of_sync=False)
        return
    turn.change_current(verdict=reading)
    if len(coup.cards) < 4 or (reading.forced and reading.winner is None):
        turn.irregular(
            "witnesses_disagree",
            asks=ROUND_DECISIONS,
            detail="the shoe has ended the round, its cards have not all come",
        )
        moves.unresolved(turn, turn.state.current, "witnesses_disagree")
    else:
        turn.settle()


def _compare(turn: PuntoBancaTurn, reading: ShoeResult) -> None:
    """Compare the verdict with the result that was just published."""
    last = turn.state.entry(turn.state.round)
    if last is None or last.kind != "result" or last.compared or not last.hands:
        return
    turn.state = turn.state.with_entry(replace(last, compared=True))
    if not disagree(reading, last.winner or "", last.marks):
        return
    readings = (*last.readings, *readings_of(reading))
    turn.irregular(
        "witnesses_disagree",
        asks=ROUND_DECISIONS,
        detail=f"the shoe says {reading.winner}",
        readings=readings,
    )
    cards = tuple(TableCard(to="", card=card, up=True) for card in in_order(last))
    turn.record(
        PuntoBancaEntry(round=last.round, kind="unresolved", cards=cards, readings=readings)
    )
    turn.emit(
        RoundUnresolved(
            round=last.round, why="witnesses_disagree", candidate=last.winner, readings=readings
        )
    )


def in_order(entry: PuntoBancaEntry) -> tuple[str, ...]:
    """The cards of a result in the order in which they came."""
    player, banker = (hand.cards for hand in entry.hands)
    return (player[0], banker[0], player[1], banker[1], *player[2:], *banker[2:])
