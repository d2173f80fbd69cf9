"""What a table of chemin de fer or two-cloth baccarat makes of a person's commands; what cannot be
followed is rejected.
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
from controller.games.session import another_round, confirmer, session
from controller.rulebooks.law import Law

# Sessions


def open_session(turn: CheminTurn, given: SessionOpen) -> None:
    """The table opens, without a shoe."""
    turn.open_session(given)
    turn.change(past=shoe.new_session(turn.state.past), last=None)


# The shoe


def start_shoe(turn: CheminTurn, given: ShoeStart) -> None:
    """Cards are in the shoe: a talla begins."""
    session(turn)
    _no_cards(turn)
    law = turn.book.laws["shoe_systematic"]
    talla.numbered(given, f"{law.rule}, {law.article}")
    turn.change(current=None)
    turn.clear_shoe()
    talla.begin(turn, given, turn.call("cards_pass"))
    turn.expect()


def end_shoe(turn: CheminTurn, given: ShoeEnd) -> None:
    """The cards leave the shoe; if they were counted, the count is held against the composition."""
    session(turn)
    _no_cards(turn)
    turn.change(current=None)
    talla.end(turn, given)


# Bets


def open_bets(turn: CheminTurn, given: BetsOpen) -> None:
    """The bank is called: bets are open up to its amount."""
    another_round(turn, turn.state.last)
    state = turn.state
    if state.current is not None:
        raise RejectedError(f"round {state.current.round} is in hand; it has no result yet")
    if state.shoe is None:
        raise RejectedError("no shoe is at the table: say shoe.start")
    if state.shoe.over:
        law = turn.book.laws["shoe_over"]
        raise RejectedError(f"the talla is over: {law.rule}, {law.article}")
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
        raise RejectedError("no bets are open")
    if turn.asks():
        raise RejectedError("a card that came before the close waits for a decision: card.decide")
    turn.change_current(closed=True, banco=given.banco)
    turn.say(BetsClosed(round=coup.round, by=given.by, announcement=turn.call("bets_closed")))
    if turn.state.silent:
        missed(turn)
    settle(turn)


def follow_table(turn: CheminTurn, given: TableFollow) -> None:
    """The bank keeps to the table of plays in this round."""
    coup = _round(turn)
    if turn.book.bank in coup.words:
        raise RejectedError("the bank has spoken already")
    if coup.table and not given.advice:
        raise RejectedError("the bank keeps to the table already")
    turn.change_current(table=True)
    if given.advice:
        turn.irregular("table_followed")


# Decisions about a round


def void(turn: CheminTurn, given: RoundVoid) -> None:
    """The round is null: no bet wins or loses, and its cards are out of the game."""
    law = turn.book.void.get(given.reason)
    if law is None:
        raise RejectedError(
            f"{given.reason} makes no round null here; there are: {', '.join(turn.book.void)}"
        )
    turn.void(_undecided(turn, given.round), given.reason, law, given)
    turn.expect()


def confirm(turn: CheminTurn, given: RoundConfirm) -> None:
    """The round stands as it lies, or a person says who has won where the cards are not known."""
    of = _undecided(turn, given.round)
    who = confirmer(given)
    if isinstance(of, CheminEntry) or of.question == "silence":
        turn.told_result(of.round, _winner(turn, given.winner), who)
        turn.expect()
        return
    if "round.confirm" not in turn.asks():
        raise RejectedError("the round does not wait for a confirmation")
    if of.question == "player_word" and any(baccarat(turn, hand) for hand in turn.book.hands):
        law = turn.book.laws["player_word"]
        raise RejectedError(
            f"to a hand with baccarat the card may not be denied: {law.rule}, {law.article}"
        )
    if of.question == "two_third_cards" and any(
        each.startswith("two_third_cards ") for each in of.said
    ):
        raise RejectedError("say which of the two cards counts: card.decide")
    turn.change_current(question=None, confirmed_by=who)
    settle(turn)


def _winner(turn: CheminTurn, said: str | None) -> str:
    """At one hand its name, the bank's or ``tie``; at two cloths one of these for each, parted by a
    comma.
    """
    said = said or ""
    given = said.split(",")
    if len(given) != len(turn.book.hands) or any(
        each not in (who, turn.book.bank, "tie")
        for each, who in zip(given, turn.book.hands, strict=True)
    ):
        example = ",".join(turn.book.hands)
        raise RejectedError(
            f"say the winner: {example}, with {turn.book.bank} or tie in the place of who has not "
            "won"
        )
    return said


def correct(turn: CheminTurn, given: ResultCorrect) -> None:  # noqa: ARG001 - whatever is claimed
    """What has been settled stands."""
    law = turn.book.laws["no_claim"]
    raise RejectedError(f"no claim once the bets are settled: {law.rule}, {law.article}")


def _undecided(turn: CheminTurn, number: int | None) -> CheminCoup | CheminEntry:
    """The round that a decision is about: the one in hand, else the one unresolved, else it must be
    named.
    """
    coup, waiting = turn.state.current, turn.state.unresolved()
    if number is None:
        if coup is not None:
            return coup
        if len(waiting) == 1:
            return waiting[0]
        raise RejectedError(
            "say which round" if waiting else "no round is in hand, and none waits for a decision"
        )
    if coup is not None and coup.round == number:
        return coup
    entry = turn.state.entry(number)
    if entry is None:
        raise RejectedError(f"round {number} is not among the rounds remembered of this session")
    if entry.kind != "unresolved":
        law: Law = turn.book.laws["no_claim"]
        raise RejectedError(
            f"round {number} is decided; no claim once the bets are settled: {law.rule}, "
            f"{law.article}"
        )
    return entry


# What commands stand on


def _no_cards(turn: CheminTurn) -> None:
    coup = turn.state.current
    if coup is not None and coup.begun:
        raise RejectedError(f"round {coup.round} is in hand")


def _round(turn: CheminTurn) -> CheminCoup:
    coup = turn.state.current
    if coup is None or not coup.closed:
        raise RejectedError("no round is in hand whose bets are closed")
    return coup


def closed_round(turn: CheminTurn, *, unasked: bool = True) -> CheminCoup:
    """The round in hand, its bets closed; and, if so wanted, nothing waiting for a decision."""
    coup = _round(turn)
    if unasked and waits(coup):
        raise RejectedError(f"the round waits for a decision: {', '.join(turn.asks())}")
    return coup
