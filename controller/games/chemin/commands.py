"""Commands of a person at a table of chemin de fer or two-cloth baccarat. One that cannot be
followed is rejected with the reason.
"""

from __future__ import annotations

from controller.contract.commands import (
    BetsClose,
    BetsOpen,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionOpen,
    ShoeEnd,
    ShoeStart,
    TableFollow,
)
from controller.contract.events import BetsClosed, RoundOpened
from controller.contract.refusals import RejectedError
from controller.games import shoe, talla
from controller.games.chemin.course import baccarat, settle
from controller.games.chemin.hands import waits
from controller.games.chemin.readings import missed
from controller.games.chemin.state import CheminCoup, CheminEntry
from controller.games.chemin.turn import CheminTurn
from controller.games.session import another_round, confirmer, sent, session
from controller.rulebooks.law import Law

# Sessions


def open_session(turn: CheminTurn, given: SessionOpen) -> None:
    """Open the table, without a shoe."""
    turn.open_session(given)
    turn.change(past=shoe.new_session(turn.state.past), last=None)


# The shoe


def start_shoe(turn: CheminTurn, given: ShoeStart) -> None:
    """Start a shoe."""
    session(turn)
    _no_cards(turn)
    law = turn.book.laws["shoe_systematic"]
    talla.numbered(given, f"{law.rule}, {law.article}")
    turn.change(current=None)
    turn.clear_shoe()
    talla.begin(turn, given, turn.call("cards_pass"))
    turn.expect()


def end_shoe(turn: CheminTurn, given: ShoeEnd) -> None:
    """Take the cards out of the shoe; if they were counted, check the count against the
    composition.
    """
    session(turn)
    _no_cards(turn)
    turn.change(current=None)
    talla.end(turn, given)


# Bets


def open_bets(turn: CheminTurn, given: BetsOpen) -> None:
    """Call the bank: bets are open up to its amount."""
    another_round(turn, turn.state.last)
    state = turn.state
    if state.current is not None:
        raise RejectedError("round_in_progress", round=state.current.round)
    if state.shoe is None:
        raise RejectedError("no_shoe")
    if state.shoe.over:
        law = turn.book.laws["shoe_over"]
        raise RejectedError("shoe_over", law=law.cited)
    turn.change(
        round=state.round + 1,
        current=CheminCoup(round=state.round + 1, cards=state.unplaced),
        unplaced=(),
    )
    turn.say(RoundOpened(round=turn.number, by=given.by, announcement=turn.call("bank")))


def close_bets(turn: CheminTurn, given: BetsClose) -> None:
    """No more bets: the banker may draw."""
    session(turn)
    coup = turn.state.current
    if coup is None or coup.closed:
        raise RejectedError("bets_not_open")
    if turn.asks():
        raise RejectedError("card_early")
    turn.change_current(closed=True, banco=given.banco)
    turn.say(BetsClosed(round=coup.round, by=given.by, announcement=turn.call("bets_closed")))
    if turn.state.silent:
        missed(turn)
    settle(turn)


def follow_table(turn: CheminTurn, given: TableFollow) -> None:
    """Hold the bank to the table of plays in this round."""
    coup = _round(turn)
    if turn.book.bank in coup.words:
        raise RejectedError("bank_acted")
    if coup.table and not given.advice:
        raise RejectedError("bank_follows_table")
    turn.change_current(table=True)
    if given.advice:
        turn.irregular("table_followed")


# Decisions about a round


def void(turn: CheminTurn, given: RoundVoid) -> None:
    """Void the round: no bet wins or loses, and its cards are out of the game."""
    law = turn.book.void.get(given.reason)
    if law is None:
        raise RejectedError(
            "void_reason_not_allowed", reason=given.reason, reasons=tuple(turn.book.void)
        )
    turn.void(_undecided(turn, given.round), given.reason, law, given)
    turn.expect()


def confirm(turn: CheminTurn, given: RoundConfirm) -> None:
    """Confirm the round as it is, or give its winner where the cards are not known."""
    of = _undecided(turn, given.round)
    who = confirmer(given)
    if isinstance(of, CheminEntry) or of.question == "silence":
        turn.told_result(of.round, _winners(turn, given.winner), who)
        turn.expect()
        return
    if "round.confirm" not in turn.asks():
        raise RejectedError("nothing_to_confirm", round=of.round)
    if of.question == "player_word" and any(baccarat(turn, hand) for hand in turn.book.hands):
        law = turn.book.laws["player_word"]
        raise RejectedError("baccarat_card", law=law.cited)
    if of.question == "two_third_cards" and any(
        each.startswith("two_third_cards ") for each in of.said
    ):
        raise RejectedError("which_third_card")
    turn.change_current(question=None, confirmed_by=who)
    settle(turn)


def _winners(turn: CheminTurn, said: str | None) -> tuple[str, ...]:
    """The winner: a hand's name, the bank's or ``tie``. At two cloths, one for each, separated by a
    comma.
    """
    given = (said or "").split(",")
    if len(given) != len(turn.book.hands) or any(
        each not in (who, turn.book.bank, "tie")
        for each, who in zip(given, turn.book.hands, strict=True)
    ):
        example = ",".join(turn.book.hands)
        raise RejectedError("which_winners", hands=example, bank=turn.book.bank)
    return tuple(given)


def correct(turn: CheminTurn, given: ResultCorrect) -> None:  # noqa: ARG001 - whatever is claimed
    """Reject every correction: what has been settled stands."""
    law = turn.book.laws["no_claim"]
    raise RejectedError("no_claim", law=law.cited)


def _undecided(turn: CheminTurn, number: int | None) -> CheminCoup | CheminEntry:
    """The round that a decision concerns: the one in progress, else the only unresolved one, else
    the one named.
    """
    coup, waiting = turn.state.current, turn.state.unresolved()
    if number is None:
        if coup is not None:
            return coup
        if len(waiting) == 1:
            return waiting[0]
        if not waiting:
            raise RejectedError("no_round_to_decide")
        raise RejectedError("say_round", rounds=tuple(str(each.round) for each in waiting))
    if coup is not None and coup.round == number:
        return coup
    entry = turn.state.entry(number)
    if entry is None:
        raise RejectedError("round_not_remembered", round=number)
    if entry.kind != "unresolved":
        law: Law = turn.book.laws["no_claim"]
        raise RejectedError("no_claim_decided", round=number, law=law.cited)
    return entry


# What commands stand on


def _no_cards(turn: CheminTurn) -> None:
    coup = turn.state.current
    if coup is not None and coup.begun:
        raise RejectedError("round_in_progress", round=coup.round)


def _round(turn: CheminTurn) -> CheminCoup:
    coup = turn.state.current
    if coup is None:
        raise RejectedError("no_round_in_progress")
    if not coup.closed:
        raise RejectedError("bets_still_open")
    return coup


def closed_round(turn: CheminTurn, *, unasked: bool = True) -> CheminCoup:
    """The round in progress, its bets closed. ``unasked``: reject it if a decision is pending."""
    coup = _round(turn)
    if unasked and waits(coup):
        raise RejectedError("table_waits_for", commands=sent(turn.asks()))
    return coup
