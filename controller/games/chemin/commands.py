"""The commands of a table of chemin de fer or two-cloth baccarat: moves and guards."""

from __future__ import annotations

from common.contract.commands import (
    BetPlace,
    BetsClose,
    BetsOpen,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
    ShoeEnd,
    ShoeStart,
    TableFollow,
)
from common.contract.refusals import RejectedError
from controller.games import shoe, stakes, talla
from controller.games.chemin import course, moves
from controller.games.chemin.course import CheminTurn
from controller.games.chemin.state import BANK_EARLY, CheminCoup
from controller.games.dealt.guards import between_rounds
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry
from controller.games.guards import Refused, bets_closed, has_round, has_unresolved, require
from controller.games.session import confirmer, sent, undecided, void_law

# Sessions and shoes


def open_session(turn: CheminTurn, command: SessionOpen) -> None:
    """Open the table, without a shoe."""
    turn.open_table(command)
    turn.change(past=shoe.new_session(turn.state.past), last=None)


def close_session(turn: CheminTurn, command: SessionClose) -> None:
    """Close the table. A round that has begun is left unresolved, and the shoe is over."""
    if moves.begun(turn):
        moves.unresolved(turn, turn.current, "undecided")
    turn.change(current=None)
    moves.clear_shoe(turn)
    talla.close_session(turn, command)


def start_shoe(turn: CheminTurn, command: ShoeStart) -> None:
    """Start a shoe."""
    turn.change(current=None)
    moves.clear_shoe(turn)
    talla.begin(turn, command, turn.call("cards_pass"))


def end_shoe(turn: CheminTurn, command: ShoeEnd) -> None:
    """End the shoe; if the cards left in it were counted, check the count."""
    turn.change(current=None)
    moves.clear_shoe(turn, command.left)


# Bets


def open_bets(turn: CheminTurn, command: BetsOpen) -> None:
    """Call the bank: bets are open up to its amount."""
    turn.open_bets(command.by)


def close_bets(turn: CheminTurn, command: BetsClose) -> None:
    """Close the bets: the banker may draw."""
    turn.change_current(banco=command.banco)
    turn.close_bets(command.by)
    if turn.state.silent:
        course.miss(turn)


def follow_table(turn: CheminTurn, command: TableFollow) -> None:
    """Bind the bank to the table of plays in this round."""
    if turn.current.table and not command.advice:
        raise RejectedError("bank_follows_table")
    turn.change_current(table=True)
    if command.advice:
        turn.irregular("table_followed")


# Decisions about a round


def void(turn: CheminTurn, command: RoundVoid) -> None:
    """Void the round: no bet wins or loses, and its cards leave the game."""
    law = void_law(turn, command)
    moves.void(turn, round_to_void(turn, command).round, command.reason, law, command)


def confirm(turn: CheminTurn, command: RoundConfirm) -> None:
    """Confirm the round as it is, or its winner if the cards are not known."""
    round_ = round_to_confirm(turn, command)
    who = confirmer(command)
    if isinstance(round_, DealtEntry) or round_.question == "silence":
        moves.stated_result(turn, round_.round, _winners(turn, command.winner), who)
        return
    if round_.question == "player_word" and any(
        course.baccarat(turn, who) for who in turn.book.hands
    ):
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


def _undecided(turn: CheminTurn, number: int | None) -> CheminCoup | DealtEntry:
    """The round of a decision. Decisions are final."""
    entry = turn.state.entry(number) if number is not None else None
    if entry is not None and entry.kind != "unresolved":
        law = turn.book.laws["no_claim"]
        raise RejectedError("no_claim_decided", round=entry.round, law=law.cited)
    return undecided(turn.state, turn.state.current, number)


# Bets


# Guards


def changeable(turn: CheminTurn) -> Refused | None:
    """No card of a round has come: the shoe may be changed, also while bets are open."""
    untouched = turn.current_stage() is Phase.BETS_OPEN and not moves.begun(turn)
    return None if untouched else between_rounds(turn)


def is_numbered(turn: CheminTurn, command: ShoeStart) -> None:
    """Reject a shoe without a number."""
    talla.numbered(command, turn.book.laws["shoe_systematic"].cited)


def shoe_lasts(turn: CheminTurn) -> Refused | None:
    """The cut card of the shoe has not come."""
    if turn.current_stage() is Phase.SHOE_OVER:
        return Refused("shoe_over", law=turn.book.laws["shoe_over"])
    return None


def no_card_early(turn: CheminTurn) -> Refused | None:
    """Nothing waits for a decision."""
    return None if turn.stop is None else Refused("card_early")


def bank_silent(turn: CheminTurn) -> Refused | None:
    """The bank has not decided."""
    acted = turn.book.bank in turn.current.words
    return Refused("bank_acted") if acted else None


def round_to_void(turn: CheminTurn, command: RoundVoid) -> CheminCoup | DealtEntry:
    """The round that is to be void. Raises ``RejectedError`` for a reason that the decree does not
    have, and unless exactly one round matches.
    """
    void_law(turn, command)
    return _undecided(turn, command.round)


def round_to_confirm(turn: CheminTurn, command: RoundConfirm) -> CheminCoup | DealtEntry:
    """The round that waits for a person. Raises ``RejectedError`` unless exactly one matches."""
    round_ = _undecided(turn, command.round)
    asked = isinstance(round_, DealtEntry) or round_.question == "silence"
    if not asked and "round.confirm" not in turn.asks():
        raise RejectedError("nothing_to_confirm", round=round_.round)
    return round_


def unconfirmed(turn: CheminTurn) -> bool:
    """A round is unresolved, or waits for a person."""
    return has_unresolved(turn) or "round.confirm" in turn.asks()


def is_final(turn: CheminTurn) -> Refused:
    """Settled rounds are final."""
    return Refused("no_claim", law=turn.book.laws["no_claim"])


def bank_takes_bet(turn: CheminTurn, command: BetPlace) -> None:
    """Reject a bet on the bank of more players than the decree allows."""
    coup, bank, most = turn.state.current, turn.book.bank, turn.book.bank_bets
    if coup is not None and command.bet == bank and most:
        others = {bet.who for bet in coup.bets if bet.bet == bank} - {command.who}
        if len(others) >= most:
            law = turn.book.laws["bank_bets"]
            raise RejectedError("too_many_on_bank", most=most, law=law.cited)


def in_time_to_withdraw(turn: CheminTurn) -> Refused | None:
    """Bets are open, or the bank has shown its cards too early."""
    coup = turn.state.current
    early = coup is not None and BANK_EARLY in coup.said
    return None if early else stakes.in_time_to_withdraw(turn)


def closed_round(turn: CheminTurn) -> CheminCoup:
    """The round in progress. Raises ``RejectedError`` unless its bets are closed and no decision is
    pending.
    """
    require(turn, has_round, bets_closed)
    if turn.stop is not None:
        raise RejectedError("table_waits_for", commands=sent(turn.asks()))
    return turn.current
