"""Commands of a person at a table of punto y banca. One that cannot be followed is rejected with
the reason.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.commands import (
    BetsClose,
    BetsOpen,
    CardsTurn,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    ShoeStart,
)
from controller.contract.events import ResultCorrected
from controller.contract.refusals import RejectedError
from controller.games import talla
from controller.games.baccarat import SIDES, WINNERS, Side
from controller.games.punto_banca import coups
from controller.games.punto_banca.coup import count, redealt, winner_of
from controller.games.punto_banca.readings import follow_all
from controller.games.punto_banca.state import PuntoBancaBurn, PuntoBancaCoup, PuntoBancaEntry
from controller.games.punto_banca.turn import PuntoBancaTurn
from controller.games.session import confirmer, no_round, session, undecided, void_law

# The shoe


def start_shoe(turn: PuntoBancaTurn, given: ShoeStart) -> None:
    """Start a shoe: its cards are burned first."""
    session(turn)
    no_round(turn)
    law = turn.book.laws["shoe_unnumbered"]
    talla.numbered(given, f"{law.rule}, {law.article}")
    turn.clear_shoe()
    burn = None if turn.settings.continuous else PuntoBancaBurn()
    turn.change(burn=burn, out_of_sync=False, unseen=False, reset=False)
    talla.begin(turn, given, turn.book.announcements.get("shoe"))
    turn.expect()


# Bets and cards


def open_bets(turn: PuntoBancaTurn, given: BetsOpen) -> None:
    """Open bets for a new round."""
    coups.may_open(turn, burned=turn.state.burn is None)
    turn.open_bets(given.by)
    turn.expect()


def close_bets(turn: PuntoBancaTurn, given: BetsClose) -> None:
    """No more bets; cards carried over to this round are its first."""
    session(turn)
    if turn.state.current is None or turn.state.current.closed:
        raise RejectedError("bets_not_open")
    turn.close_bets(given.by)
    carried = turn.state.carried
    turn.change(carried=())
    follow_all(turn, carried)
    turn.expect()


def turn_cards(turn: PuntoBancaTurn, given: CardsTurn) -> None:
    """Turn the cards of a hand face up."""
    coup = _hand(turn)
    side = _side(given.who) if given.who is not None else None
    sides = SIDES if side is None else (side,)
    if count(coup) < 4:
        raise RejectedError("first_four_cards", count=count(coup))
    if all(card.up for side in sides for card in coup.cards(side)):
        raise RejectedError("turned_already")
    turn.turn_cards(sides)
    turn.settle()


# Decisions


def void(turn: PuntoBancaTurn, given: RoundVoid) -> None:
    """Void the round on the word of the person in charge."""
    of = undecided(turn.state, turn.state.current, given.round)
    law = void_law(turn, given)
    turn.void(of, given.reason, law, given)
    turn.expect()


def confirm(turn: PuntoBancaTurn, given: RoundConfirm) -> None:
    """Confirm the result of an unresolved round, by the cards that were seen or by the person's
    word.
    """
    coup = turn.state.current
    of = undecided(turn.state, coup, given.round, first=coup is not None and coup.gap)
    winner = None if given.winner is None else WINNERS.get(given.winner)
    if winner is None and given.winner is not None:
        raise RejectedError("winner_one_of", winners=(*SIDES, "tie"))
    if isinstance(of, PuntoBancaCoup):
        if not of.gap:
            raise RejectedError("nothing_to_confirm", round=of.round)
        cards = tuple(card for _, card in of.dealt)
        frames = tuple(card.frame for card in cards if card.frame is not None and card.known)
    else:
        cards, frames = of.cards, of.frames
    hands = redealt(turn.book.third, cards)
    if hands is None and winner is None:
        raise RejectedError("round_cards_unknown", round=of.round)
    player, banker = hands or ((), ())
    if hands is not None and winner in (None, winner_of(player, banker)):
        frames = tuple(card.frame for card in cards if card.frame is not None) or frames
    turn.result(of.round, player, banker, frames, confirmer(given), winner)
    if isinstance(of, PuntoBancaCoup):
        turn.change(out_of_sync=True)  # its last cards may still come
    turn.expect()


def correct(turn: PuntoBancaTurn, given: ResultCorrect) -> None:
    """Correct a published result: another hand has won. The shoe's verdict is not compared again.
    The cards are not repeated: they made another result.
    """
    entry: PuntoBancaEntry = coups.to_correct(turn, given)
    was = entry.winner
    assert was is not None
    winner = WINNERS.get(given.winner or "")
    if winner is None:
        raise RejectedError("winner_one_of", winners=(*SIDES, "tie"))
    if winner == was:
        raise RejectedError("winner_unchanged", round=given.round, winner=was)
    marks = ("tie",) if winner == "tie" else ()
    now = replace(entry, winner=winner, hands=(), marks=marks, corrected=True, compared=True)
    turn.state = turn.state.with_entry(now)
    turn.say(
        ResultCorrected(
            round=entry.round,
            replaces=None,
            replaces_boot=None,
            outcome=now.outcome,
            was=was,
            by=given.by,
            role=given.role,
        )
    )


# What commands stand on


def _hand(turn: PuntoBancaTurn) -> PuntoBancaCoup:
    if turn.state.current is None:
        raise RejectedError("no_round_in_progress")
    return turn.state.current


def _side(who: str) -> Side:
    for side in SIDES:
        if side == who:
            return side
    raise RejectedError("who_one_of", players=SIDES)
