"""Handlers of commands at a table of chemin de fer or two-cloth baccarat."""

from __future__ import annotations

from controller.contract.commands import (
    BetPlace,
    BetsClose,
    BetsOpen,
    BetWithdraw,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
    ShoeEnd,
    ShoeStart,
    TableFollow,
)
from controller.contract.refusals import RejectedError
from controller.games import shoe, stakes, talla
from controller.games.chemin.course import CheminTurn
from controller.games.chemin.state import BANK_EARLY, CheminCoup
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry
from controller.games.session import another_round, confirmer, sent, undecided, void_law

# Sessions and shoes


def open_session(turn: CheminTurn, command: SessionOpen) -> None:
    """Open the table, without a shoe."""
    turn.open_session(command)
    turn.change(past=shoe.new_session(turn.state.past), last=None)


def close_session(turn: CheminTurn, command: SessionClose) -> None:
    """Close the table. A round that has begun is left unresolved, and the shoe is over."""
    if turn.begun:
        turn.unresolved(turn.current, "undecided")
    talla.close_session(turn, command)


def start_shoe(turn: CheminTurn, command: ShoeStart) -> None:
    """Start a shoe."""
    law = turn.book.laws["shoe_systematic"]
    talla.numbered(command, f"{law.rule}, {law.article}")
    turn.change(current=None)
    turn.clear_shoe()
    talla.begin(turn, command, turn.call("cards_pass"))


def end_shoe(turn: CheminTurn, command: ShoeEnd) -> None:
    """End the shoe; if the cards left in it were counted, check the count."""
    turn.change(current=None)
    turn.clear_shoe(command.left)


# Bets


def open_bets(turn: CheminTurn, command: BetsOpen) -> None:
    """Call the bank: bets are open up to its amount."""
    another_round(turn, turn.state.last)
    if turn.stage() is Phase.SHOE_OVER:
        raise RejectedError("shoe_over", law=turn.book.laws["shoe_over"].cited)
    turn.open_bets(command.by)


def close_bets(turn: CheminTurn, command: BetsClose) -> None:
    """Close the bets: the banker may draw."""
    if turn.stop is not None:
        raise RejectedError("card_early")
    turn.change_current(banco=command.banco)
    turn.close_bets(command.by)
    if turn.state.silent:
        turn.miss()


def follow_table(turn: CheminTurn, command: TableFollow) -> None:
    """Bind the bank to the table of plays in this round."""
    coup = _round(turn)
    if turn.book.bank in coup.words:
        raise RejectedError("bank_acted")
    if coup.table and not command.advice:
        raise RejectedError("bank_follows_table")
    turn.change_current(table=True)
    if command.advice:
        turn.irregular("table_followed")


# Decisions about a round


def void(turn: CheminTurn, command: RoundVoid) -> None:
    """Void the round: no bet wins or loses, and its cards leave the game."""
    law = void_law(turn, command)
    turn.void(_undecided(turn, command.round).round, command.reason, law, command)


def confirm(turn: CheminTurn, command: RoundConfirm) -> None:
    """Confirm the round as it is, or its winner if the cards are not known."""
    round_ = _undecided(turn, command.round)
    who = confirmer(command)
    if isinstance(round_, DealtEntry) or round_.question == "silence":
        turn.stated_result(round_.round, _winners(turn, command.winner), who)
        return
    if "round.confirm" not in turn.asks():
        raise RejectedError("nothing_to_confirm", round=round_.round)
    if round_.question == "player_word" and any(map(turn.baccarat, turn.book.hands)):
        law = turn.book.laws["player_word"]
        raise RejectedError("baccarat_card", law=law.cited)
    if round_.question == "two_third_cards" and round_.pairs:
        raise RejectedError("which_third_card")
    turn.change_current(question=None, confirmed_by=who)


def _winners(turn: CheminTurn, winners: str | None) -> tuple[str, ...]:
    """The winner: a hand's name, the bank's or ``tie``. At two cloths, one for each, separated by a
    comma.
    """
    names = (winners or "").split(",")
    if len(names) != len(turn.book.hands) or any(
        name not in (who, turn.book.bank, "tie")
        for name, who in zip(names, turn.book.hands, strict=True)
    ):
        example = ",".join(turn.book.hands)
        raise RejectedError("which_winners", hands=example, bank=turn.book.bank)
    return tuple(names)


def correct(turn: CheminTurn, command: ResultCorrect) -> None:  # noqa: ARG001 - whatever is claimed
    """Reject every correction: settled rounds are final."""
    law = turn.book.laws["no_claim"]
    raise RejectedError("no_claim", law=law.cited)


def _undecided(turn: CheminTurn, number: int | None) -> CheminCoup | DealtEntry:
    """The round of a decision. Decisions are final."""
    entry = turn.state.entry(number) if number is not None else None
    if entry is not None and entry.kind != "unresolved":
        law = turn.book.laws["no_claim"]
        raise RejectedError("no_claim_decided", round=entry.round, law=law.cited)
    return undecided(turn.state, turn.state.current, number)


# Bets


def place_bet(turn: CheminTurn, command: BetPlace) -> None:
    """Place a bet on a hand, or on the bank if the decree allows it to this number of players."""
    coup, bank, most = turn.state.current, turn.book.bank, turn.book.bank_bets
    if coup is not None and command.bet == bank and most:
        others = {bet.who for bet in coup.bets if bet.bet == bank} - {command.who}
        if len(others) >= most:
            law = turn.book.laws["bank_bets"]
            raise RejectedError("too_many_on_bank", most=most, law=law.cited)
    stakes.place_bet(turn, command)


def withdraw_bet(turn: CheminTurn, command: BetWithdraw) -> None:
    """Withdraw a bet while bets are open, or after the bank has shown its cards too early."""
    coup = turn.state.current
    if coup is None or BANK_EARLY not in coup.said:
        stakes.withdraw_bet(turn, command)
        return
    stakes.limits_of(command.bet, turn.offered())
    turn.change_current(bets=stakes.without_bet(coup.bets, command))
    turn.emit(stakes.bet_event(turn.number, command))


# Preconditions of commands


def _round(turn: CheminTurn) -> CheminCoup:
    coup = turn.state.current
    if coup is None:
        raise RejectedError("no_round_in_progress")
    if not coup.closed:
        raise RejectedError("bets_still_open")
    return coup


def closed_round(turn: CheminTurn, *, unasked: bool = True) -> CheminCoup:
    """The round in progress, its bets closed. ``unasked``: raise ``RejectedError`` if a decision is
    pending.
    """
    coup = _round(turn)
    if unasked and turn.stop is not None:
        raise RejectedError("table_waits_for", commands=sent(turn.asks()))
    return coup
