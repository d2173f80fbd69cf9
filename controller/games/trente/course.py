"""The course of a coup of trente et quarante: cards go face up to the black row until it makes 31
or more, then to the red one. The cut card voids the coup and ends the shoe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from common.contract.commands import CardDecide, Command, LastRoundsAnnounce, RoundVoid
from common.contract.events import (
    Announcement,
    CardDealt,
    CardRemoved,
    TrenteOutcome,
)
from common.contract.refusals import RejectedError
from common.readings import CardCut, CardDrawn
from controller.games import shoe, stakes, talla
from controller.games.coups import commands, moves
from controller.games.coups.moves import CoupRules, CoupTurn, Made, of_no_place
from controller.games.dealt.cards import Table, dealt
from controller.games.dealt.state import DealtRound, Held
from controller.games.dealt.turn import Course, deal_card
from controller.games.guards import Refused
from controller.games.session import announce_last_rounds, confirmer, round_to_void, void_law
from controller.games.stakes import Bounds, bounds
from controller.games.trente import refait
from controller.games.trente.rows import ROWS, WINNERS, hands, is_coup, marks, next_row, winner
from controller.games.trente.settings import TrenteSettings
from controller.games.trente.state import MAX_WAITING_CARDS, TrenteEntry, TrenteState
from controller.rulebooks.trente import Trente


def offered(turn: TrenteTurn) -> Mapping[str, Bounds]:
    """The chances, and their insurance against 31-31, with their limits."""
    table = bounds(turn.state.minimum, turn.book.limits, turn.settings.highest.get("chances"))
    return {**dict.fromkeys(turn.book.chances, table), "insurance": Bounds()}


def allow_highest(turn: TrenteTurn, minimum: int) -> None:
    """Reject a minimum of which the highest bet is not a multiple that the decree allows."""
    law = turn.book.laws.get("bet_limit")
    stakes.require_lawful(turn.settings.highest, bands(turn.book), minimum, law)


# Where cards go


def belongs(turn: TrenteTurn) -> str | None:
    """The row that is not full; None behind an unread card and after a silence."""
    coup = turn.state.current
    return None if coup is None or coup.unread or coup.gap else next_row(coup.known)


def arrived(turn: TrenteTurn, drawn: CardDrawn) -> Held | None:
    """Count a card, also the last five, which come face down after the cut card."""
    held = moves.arrived(turn, drawn)
    if held is None or turn.state.shoe is None or turn.state.shoe.cut_at is None:
        return held
    turn.change(tail=turn.state.tail + 1)
    law, behind = turn.book.laws["last_five"], turn.book.shoe.behind
    turn.emit(CardRemoved(why="last_cards", card=None, law=law.rule, article=law.article))
    if turn.state.tail == behind + 1:
        turn.irregular("last_five", detail=f"more than {behind} cards came after the cut card")
    return None


def unplaced(turn: TrenteTurn, held: Held) -> None:
    """Leave the coup to a person after a silence; else wait until the card before is known."""
    coup = turn.state.current
    if coup is None or coup.unread:
        moves.wait(turn, held)
    else:
        moves.unresolved(turn, coup, "silence", (of_no_place(held),))


def advance(turn: TrenteTurn) -> None:
    """Publish the result once both rows are full."""
    coup = turn.state.current
    if coup is None or (outcome := moves.whole(turn, coup.cards)) is None:
        return
    if coup.gap:
        moves.unresolved(turn, coup, "silence")
    else:
        moves.result(turn, coup, outcome, coup.confirmed_by)


def restarted(turn: TrenteTurn) -> None:
    """After a restart the waiting cards are dropped with the round in progress."""
    turn.change(unseen=False, held=(), overflowed=False)


# What wins


def judged(_turn: TrenteTurn, cards: Sequence[str]) -> Made | None:
    """The outcome of these cards in order; None unless they are exactly one whole coup."""
    return (winner(cards), hands(cards), marks(cards)) if is_coup(cards) else None


def stated_marks(won: str) -> tuple[str, ...]:
    """The marks of a result given by a person without cards."""
    return () if won in ROWS else (won,)


def result_call(turn: TrenteTurn, marks: tuple[str, ...]) -> Announcement | None:
    """The call that announces the winning colour."""
    return turn.call(CALLS.get(marks[0] if marks else "", ""))


def noted(turn: TrenteTurn, entry: TrenteEntry) -> TrenteEntry:
    """The result, marked if it is a refait of the last round, which is settled differently."""
    return replace(entry, last=turn.state.is_last(entry.round))


def outcome_of(turn: TrenteTurn, entry: TrenteEntry) -> TrenteOutcome:
    """The outcome of a coup with a result."""
    return refait.outcome(turn.state, turn.settings, entry)


def revise(turn: TrenteTurn, before: TrenteState, number: int, by: Command) -> None:
    """Publish later refaits again if their count changed: their bets are worth more, or
    less.
    """
    was, now = refait.counts(before), refait.counts(turn.state)
    for entry in turn.state.entries:
        if entry.round > number and was.get(entry.round) != now.get(entry.round):
            turn.emit_correction(entry, entry.winner, by)


def waiting(turn: TrenteTurn) -> Table:
    """Waiting cards, which may belong to a round whose result is left open."""
    return tuple(map(of_no_place, turn.state.held))


# Decisions


def decide_unread(turn: TrenteTurn, command: CardDecide) -> bool:
    """Read or remove the last, unread card of the round."""
    coup, held, now = turn.state.current, turn.state.held, turn.state.shoe
    if coup is None or now is None or not coup.unread:
        return False
    *before, last = coup.cards
    turn.change(held=())
    if command.action == "remove":
        turn.change_current(cards=tuple(before))
        turn.emit(CardRemoved(round=coup.round, why="card_unread", card=None))
    elif command.action == "read":
        card = talla.read_card(command)
        counted, trouble = shoe.read(now, card)
        turn.change(shoe=counted)
        turn.change_current(cards=(*before, replace(last, card=card)))
        index = len(dealt(coup.cards, last.to))
        turn.emit(CardDealt(round=coup.round, to=last.to, index=index, card=card))
        if trouble is not None:
            turn.irregular(trouble)
    else:
        raise RejectedError("card_not_read_on_table")
    turn.change_current(confirmed_by=confirmer(command))
    turn.settle()
    turn.change(held=held)
    commands.release(turn)
    return True


def decide_held(turn: TrenteTurn, command: CardDecide, held: Held) -> None:
    """Accept the held card, read it, remove it, or keep it as the first of the next round."""
    rest = turn.state.held[1:]
    turn.change(held=())
    if command.action == "remove":
        commands.remove(turn, command, held.trouble or "decided", held.given.card)
    elif command.action == "for":
        raise RejectedError("card_placed_by_rules")
    else:
        _accept(
            turn, command, commands.read(turn, command, held) if command.action == "read" else held
        )
    turn.change(held=rest)


def _accept(turn: TrenteTurn, command: CardDecide, held: Held) -> None:
    commands.of_the_game(held)
    sound, coup = Held(given=replace(held.given, unsure=False)), turn.state.current
    if (coup is not None and command.action == "next_round") or (
        not moves.by_shoe(turn) and (coup is None or not coup.closed)
    ):
        turn.change(carried=(*turn.state.carried, sound))
        commands.record_confirmer(turn, command)
        return
    moves.ready(turn)
    commands.record_confirmer(turn, command)
    coup = turn.state.current
    assert coup is not None
    to = next_row(coup.known)
    if coup.gap or to is None:
        moves.unresolved(turn, coup, "silence", (of_no_place(sound),))
    else:
        deal_card(turn, sound.given, to)


def confirmation_refusal(turn: TrenteTurn, coup: DealtRound) -> Refused | None:
    """Why the round in progress may not be confirmed: a card waits, or no silence hides one."""
    waits = turn.state.held or coup.unread
    return Refused("card_waits") if waits else moves.unhidden(turn, coup)


# The cut card


def cut(turn: TrenteTurn, by: Command | None = None) -> None:
    """Void the round in progress after the cut card, which the decree's number of cards
    follows. ``by``: the person who reported it.
    """
    coup = turn.state.current
    assert turn.state.shoe is not None
    turn.change(shoe=replace(shoe.cut(turn.state.shoe), over=True), carried=())
    talla.cut(turn, turn.number, 0)
    if coup is not None:
        moves.void(turn, coup.round, "cut_card", turn.book.void["cut_card"], by)
    turn.change(held=(), overflowed=False, out_of_sync=False, unseen=False)


def count_out(turn: TrenteTurn, now: shoe.Shoe, left: int | None) -> None:
    """Compare the cards behind the cut card with the decree's number."""
    if now.cut_at is None:
        moves.compare_count(turn, now, left)
        return
    tail, behind = turn.state.tail, turn.book.shoe.behind
    if (tail or left is not None) and (counted := tail + (left or 0)) != behind:
        turn.irregular("last_five", detail=f"{counted} cards, {behind} are behind the cut card")
    turn.emit(shoe.ended(now, "cut", left))


def new_shoe(turn: TrenteTurn) -> None:
    """Reset the cut card."""
    turn.change(tail=0)


CALLS: Mapping[str, Literal["colour_wins", "colour_loses"]] = {
    "colour": "colour_wins",
    "inverse": "colour_loses",
}


def on_cut(turn: TrenteTurn, _reading: CardCut) -> None:
    """Handle the cut card."""
    now = turn.state.shoe
    if now is not None and not now.continuous and now.cut_at is None:
        cut(turn)


def void(turn: TrenteTurn, command: RoundVoid) -> None:
    """Void the round by decision of the person in charge, also for a cut card that the shoe did not
    see.
    """
    round_, now = round_to_void(turn, command), turn.state.shoe
    law = void_law(turn, command)
    if command.reason != "cut_card" or not isinstance(round_, DealtRound):
        moves.void(turn, round_.round, command.reason, law, command)
    elif now is None or now.continuous:
        raise RejectedError("no_cut_card")
    else:
        cut(turn, command)


def announce_last(turn: TrenteTurn, command: LastRoundsAnnounce) -> None:
    """Announce the last rounds of the session. Where the decree gives no number, it is the round in
    progress, or the next: in the last one 31-31 leaves no choice.
    """
    announce_last_rounds(turn, command, default=1)


def bands(book: Trente) -> dict[str, stakes.Band]:
    """The highest bets that the decree allows on a chance."""
    return {"chances": stakes.Band(book.limits)}


class TrenteTurn(CoupTurn[Trente, TrenteSettings, TrenteState]):
    """One step of a table of trente et quarante."""

    course = Course(
        stage=moves.stage,
        belongs=belongs,
        objection=moves.objection,
        faces_up=lambda *_: True,
        advance=advance,
        late=moves.late,
        lose_place=moves.lose_place,
        leave=moves.leave,
        outcome_of=outcome_of,
        offered=offered,
        allow_highest=allow_highest,
        max_held=MAX_WAITING_CARDS,
        entry_type=TrenteEntry,
        arrived=arrived,
        holds=moves.holds,
        wait=moves.wait,
        divert=moves.divert,
        ready=moves.ready,
        unplaced=unplaced,
    )
    coup = CoupRules(
        winners=WINNERS,
        judged=judged,
        stated_marks=stated_marks,
        decide_unread=decide_unread,
        decide_held=decide_held,
        result_call=result_call,
        restarted=restarted,
        confirmation_refusal=confirmation_refusal,
        noted=noted,
        revise=revise,
        waiting=waiting,
        new_shoe=new_shoe,
        count_out=count_out,
    )
