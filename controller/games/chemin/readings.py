"""What a table of chemin de fer or two-cloth baccarat makes of its shoe's readings. It never acts
on a card by guess.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.games import shoe, talla
from controller.games.chemin.course import settle
from controller.games.chemin.hands import next_to_act, placed, unplaced
from controller.games.chemin.state import CheminCard, CheminCoup
from controller.games.chemin.turn import CheminTurn
from controller.games.moves import frame_of
from devices.readings import (
    AnyReading,
    CardCut,
    CardDrawn,
    LinkLost,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    ShoeFault,
    ShoeReset,
)


def take_card(turn: CheminTurn, given: CardDrawn) -> None:
    """A card left the shoe and never goes back, whatever becomes of it."""
    state = turn.state
    if not state.open:
        turn.irregular("card_out_of_round")
        return
    if state.shoe is None:
        talla.missing(turn, given)
        return
    counted, trouble = shoe.draw(state.shoe, given.card)
    turn.change(shoe=counted)
    if given.late:
        take_silence(turn, given)
        return
    doubt = trouble or ("card_unsure" if given.unsure else "shoe_over" if state.shoe.over else None)
    coup = state.current
    turn.add(CheminCard(card=given.card, doubt=doubt, frame=frame_of(given)))
    if doubt is not None:
        turn.irregular(doubt, asks=turn.asks())
    elif given.exposed and coup is not None and coup.closed:
        if _dealt_face_up(turn, coup):
            face_up(turn, len(turn.current.cards) - 1)
        else:
            turn.doubt(len(turn.current.cards) - 1, "card_exposed")
    elif coup is None or not coup.closed:
        _early(turn)
    settle(turn)


def _dealt_face_up(turn: CheminTurn, before: CheminCoup) -> bool:
    """Whether the latest card is dealt face up: a third one that was asked for, or that the bank
    draws.
    """
    drawn = next_to_act(turn.book, before) == turn.book.bank and not unplaced(before)
    return drawn or placed(turn.book, turn.current).cards[-1].up


def face_up(turn: CheminTurn, at: int) -> None:
    """A card that leaves the shoe face up is discarded; the next one takes its place."""
    turn.change_card(at, up=True)
    turn.irregular("card_exposed")
    turn.remove(at, "card_exposed")


def _early(turn: CheminTurn) -> None:
    """A card came before the bets closed: it is played, unless the inspector rejects it."""
    if turn.settings.early_card == "keep":
        turn.irregular("card_before_close")
        return
    coup = turn.state.current
    cards = turn.state.unplaced if coup is None else coup.cards
    doubted = (*cards[:-1], replace(cards[-1], doubt="card_before_close"))
    if coup is None:
        turn.change(unplaced=doubted)
    else:
        turn.change_current(cards=doubted)
    turn.irregular("card_before_close", asks=turn.asks())


def take_silence(turn: CheminTurn, given: AnyReading) -> None:
    """The shoe is silent, or was: cards may be missing from the count, and from the round in
    progress.
    """
    state = turn.state
    if isinstance(given, LinkUp) and not state.silent:
        return
    if isinstance(given, LinkUp | LinkStale | LinkLost | LinkUnintelligible):
        turn.change(silent=not isinstance(given, LinkUp))
    if state.shoe is not None:
        turn.change(shoe=shoe.lose_count(state.shoe))
        missed(turn)
        turn.expect()


def missed(turn: CheminTurn) -> None:
    """Ask a person whether cards of the round were missed."""
    coup = turn.state.current
    if coup is not None and coup.closed and coup.question is None:
        turn.question("silence")


def take_cut(turn: CheminTurn, _given: CardCut) -> None:
    """The cut card came: the round in progress is the last; with none in progress the shoe is
    over.
    """
    state = turn.state
    if state.shoe is None or state.shoe.continuous or state.shoe.cut_at is not None:
        return
    now = shoe.cut(state.shoe)
    turn.change(shoe=now)
    coup = state.current
    plays = coup is not None and (bool(coup.cards) or turn.settings.cut_first == "play")
    talla.cut(turn, turn.number, int(plays))
    if coup is not None and not plays:
        turn.void(coup, "inspector", turn.book.laws["shoe_over"])
    elif coup is None:
        turn.end_talla("cut")
    turn.expect()


def take_reset(turn: CheminTurn, _given: ShoeReset) -> None:
    """The shoe restarted: only a person knows what is in it now."""
    state = turn.state
    if state.shoe is None or state.shoe.over or not (state.shoe.drawn or state.current):
        return
    if state.current is not None:
        turn.unresolved(state.current, "undecided")
    turn.change(shoe=shoe.lose_count(state.shoe), unplaced=())
    turn.irregular("shoe_reset", asks=("shoe.start",))
    turn.end_talla("reset")
    turn.expect()


def take_fault(turn: CheminTurn, given: ShoeFault) -> None:
    """The shoe reports a fault, or its end. The croupier deals with two cards at once."""
    alert = f"shoe_{given.fault}"
    if not given.active:
        turn.clear_alert(alert)
        return
    coup = turn.state.current
    if given.fault == "overdraw" and coup is not None and coup.closed and coup.question is None:
        turn.question("overdraw")
        turn.expect()
    elif given.fault == "overdraw":
        turn.irregular("overdraw")
    turn.raise_alert(alert, given)
