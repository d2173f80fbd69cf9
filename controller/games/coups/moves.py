"""One step of a table of coups: the moves that punto y banca and trente et quarante share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from msgspec.structs import replace

from common.contract.commands import CardDecide, Command, VoidReason
from common.contract.events import Announcement, Hand, RoundResult, RoundUnresolved
from common.contract.refusals import RejectedError
from common.readings import CardDrawn
from controller.games import shoe, talla
from controller.games.cards import is_card
from controller.games.coups.settings import CoupSettings
from controller.games.coups.state import CoupState
from controller.games.dealt.arrivals import follow_all
from controller.games.dealt.cards import Table, TableCard, readings
from controller.games.dealt.phases import PHASES, Phase
from controller.games.dealt.state import DealtEntry, DealtRound, Held
from controller.games.dealt.turn import B, DealtTurn
from controller.games.guards import Refused
from controller.games.session import count_down
from controller.rulebooks.law import Law

S = TypeVar("S", bound=CoupSettings)
T = TypeVar("T", bound=CoupState[Any])
Why = Literal["silence", "witnesses_disagree", "undecided"]

Made = tuple[str, tuple[Hand, ...], tuple[str, ...]]
"""The outcome of a coup's cards: the winner, the hands, the marks."""


def by_shoe(turn: Turn) -> bool:
    """True if bets open and close by themselves: the first card of a round shows it."""
    return bool(turn.settings.rounds == "shoe")


def stage(turn: Turn) -> Phase:
    """The phase, regardless of any stop."""
    state = turn.state
    if not state.open:
        return Phase.CLOSED
    if state.shoe is None:
        return Phase.NO_SHOE
    if state.current is not None:
        return Phase.DEALING if state.current.closed else Phase.BETS_OPEN
    return Phase.SHOE_OVER if state.shoe.over else Phase.WAITING


def whole(turn: Turn, cards: Table) -> Made | None:
    """The outcome of cards on the table; None also if one is unknown or foreign."""
    read_cards = tuple(card.card for card in cards if card.card is not None)
    sound = len(read_cards) == len(cards) and all(map(is_card, read_cards))
    return turn.coup.judged(turn, read_cards) if sound else None


def stated_winner(turn: Turn, winner: str | None) -> str:
    """The winner given by a person. Raises ``RejectedError`` for any other."""
    if winner is None or winner not in turn.coup.winners:
        raise RejectedError("winner_one_of", winners=turn.coup.winners)
    return winner


# Arrivals


def arrived(turn: Turn, drawn: CardDrawn) -> Held | None:
    """Count a card that left the shoe, wherever it goes. None if the table accepts none."""
    state, trouble = turn.state, None
    if state.shoe is not None:
        counted, trouble = shoe.draw(state.shoe, drawn.card)
        turn.change(shoe=counted)
    if not state.open:
        turn.refuse(drawn)
    elif state.shoe is None:
        talla.missing(turn, drawn)
    else:
        return Held(given=drawn, trouble=None if trouble == "card_unread" else trouble)
    return None


def holds(turn: Turn) -> bool:
    """True also while the content of the shoe is unknown."""
    return turn.state.reset or bool(turn.state.held)


def wait(turn: Turn, held: Held) -> None:
    """Make the card wait, unless the content of the shoe is unknown. If more come than can wait,
    their round lacks them.
    """
    if turn.state.reset:
        return
    if len(turn.state.held) < turn.course.max_held:
        turn.change(held=(*turn.state.held, held))
    else:
        turn.change(overflowed=True)


def divert(turn: Turn, held: Held) -> bool:
    """Handle a card of no round after a silence, and one before which another is due."""
    state = turn.state
    if state.out_of_sync and not turn.coup.found(turn, held.given):
        if state.unseen:
            lose(turn)
        return True
    if by_shoe(turn) and state.current is None and state.carried:
        turn.change(carried=())
        follow_all(turn, (*state.carried, held))
        return True
    return False


def objection(turn: Turn, held: Held) -> tuple[str, str | None] | None:
    """The card's own trouble, or that the phase accepts no card. Without keys a card opens its
    round itself. Within a phase that accepts cards, no game objects to one.
    """
    if held.trouble is not None:
        return held.trouble, None
    if held.given.unsure:
        return "card_unsure", None
    phase = stage(turn)
    opens = by_shoe(turn) and phase in (Phase.WAITING, Phase.BETS_OPEN)
    why = None if opens else PHASES[phase].card
    return None if why is None else (why, None)


def ready(turn: Turn) -> None:
    """Without keys, open the round with its first card and close its bets."""
    if turn.state.current is None:
        open_bets(turn)
    if turn.state.current is not None and not turn.state.current.closed and by_shoe(turn):
        close_bets(turn, unobserved=True)


# Bets


def open_bets(turn: Turn, by: str | None = None, *, relaunch: bool = False) -> None:
    """Open bets for the next round."""
    turn.change(out_of_sync=False, unseen=False)
    turn.open_bets(by, relaunch=relaunch)


def close_bets(turn: Turn, by: str | None = None, *, unobserved: bool = False) -> None:
    """Close the bets. A silence that has not ended may hide a card from then on; if bets close
    by themselves, one may be hidden since they opened.
    """
    coup = turn.state.current
    assert coup is not None
    before = coup.gap and (unobserved or bool(coup.cards))
    turn.change_current(gap=bool(turn.state.silent) or before)
    turn.close_bets(by, unobserved=unobserved)


# Gaps


def lose_place(turn: Turn) -> None:
    """Record that cards may have come unseen, to the round in progress or, without keys, to
    another.
    """
    state, coup = turn.state, turn.state.current
    if coup is not None:
        if (coup.begun or by_shoe(turn)) and not turn.coup.is_complete(turn):
            turn.change_current(gap=True)
            if not coup.gap:
                turn.irregular("silence", asks=turn.state.asks)
            turn.coup.gap_opened(turn, coup)
    elif by_shoe(turn) and state.shoe is not None and not state.shoe.over:
        turn.change(out_of_sync=True, unseen=state.unseen or not state.out_of_sync)


def late(turn: Turn, held: Held) -> None:
    """Store a card known only after a silence, for the person who decides about its round."""
    state, card = turn.state, of_no_place(held)
    assert state.shoe is not None
    turn.change(shoe=shoe.lose_count(state.shoe))
    last: DealtEntry | None = state.entries[-1] if state.entries else None
    open_still = last is not None and last.kind == "unresolved" and last.round == state.round
    if state.current is not None:
        unresolved(turn, state.current, "silence", (card,))
        turn.change(out_of_sync=True)
    elif state.out_of_sync and not state.unseen and open_still and last is not None:
        turn.state = turn.state.with_entry(replace(last, cards=(*last.cards, card)))
    elif by_shoe(turn):
        lose(turn, (card,))
    elif not state.out_of_sync:
        turn.change(out_of_sync=True)
        turn.irregular("card_out_of_round", detail="known only after a silence")


def lose(turn: Turn, cards: Table = ()) -> None:
    """Count a round whose beginning was not seen; a person gives its result."""
    number = turn.state.round + 1
    turn.change(round=number, out_of_sync=True, unseen=False)
    entry = turn.course.entry_type(round=number, kind="unresolved", cards=cards)
    turn.record(entry)
    evidence = turn.coup.evidence(entry)
    turn.emit(RoundUnresolved(round=number, why="silence", candidate=None, readings=evidence))


def restart(turn: Turn) -> None:
    """Record a restart: only a person knows whether the shoe has new cards or the same."""
    now = turn.state.shoe
    assert now is not None
    turn.change(shoe=shoe.lose_count(now), reset=not now.over, out_of_sync=False)
    turn.coup.restarted(turn)


def unhidden(_turn: Turn, coup: Any) -> Refused | None:
    """Why the round in progress may not be confirmed: no silence hides a card of it."""
    return None if coup.gap else Refused("nothing_to_confirm", {"round": coup.round})


# The outcome of a round


def evidence_of(round_: DealtRound | DealtEntry) -> tuple[int, ...]:
    """The readings behind a round, oldest first."""
    earlier = round_.readings if isinstance(round_, DealtEntry) else ()
    return tuple(sorted({*earlier, *readings(round_.cards)}))


def result(
    turn: Turn,
    round_: DealtRound | DealtEntry,
    outcome: Made,
    confirmed_by: str | None = None,
) -> None:
    """Publish the result."""
    won, hands, marks = outcome
    evidence = turn.coup.evidence(round_)
    entry = turn.course.entry_type(
        round=round_.round,
        kind="result",
        winner=won,
        hands=hands,
        marks=marks,
        readings=evidence,
    )
    entry = turn.coup.noted(turn, entry)
    turn.record(entry)
    turn.emit(
        RoundResult(
            round=round_.round,
            outcome=turn.course.outcome_of(turn, entry),
            frames=(),
            readings=evidence,
            confirmed_by=confirmed_by,
            announcement=turn.coup.result_call(turn, marks),
        )
    )
    count_down(turn, round_.round)
    close_shoe(turn)


def seen_winner(turn: Turn, coup: Any, late: Table) -> str | None:
    """The winner if all cards of the round were seen; None if one may be missing."""
    outcome = None if late else whole(turn, coup.cards)
    return None if outcome is None else outcome[0]


def unresolved(turn: Turn, coup: Any, why: Why, late: Table = ()) -> None:
    """Leave the result open: it is uncertain, and is not invented. Later cards belong to no
    round. ``late``: its cards that were not dealt.
    """
    late = (*turn.coup.waiting(turn), *late)
    candidate, cards = turn.coup.candidate(turn, coup, late), (*coup.cards, *late)
    entry = turn.course.entry_type(
        round=coup.round, kind="unresolved", cards=cards, readings=turn.coup.evidence(coup)
    )
    turn.record(entry)
    turn.change(out_of_sync=candidate is None and not turn.coup.ended(coup))
    turn.emit(
        RoundUnresolved(
            round=coup.round,
            why=why,
            candidate=candidate,
            readings=turn.coup.evidence(entry),
        )
    )
    close_shoe(turn)


def void(turn: Turn, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
    """Void the round, because of the cut card or by a person's decision."""
    turn.void(number, reason, law, by)
    close_shoe(turn)


def leave(turn: Turn) -> None:
    """End the round in progress. Without keys, the table is out of sync if waiting cards were
    dropped.
    """
    state, dropped = turn.state, bool(turn.state.held)
    lost = dropped and state.overflowed and by_shoe(turn)
    turn.change(
        current=None,
        held=(),
        overflowed=state.overflowed and not dropped,
        out_of_sync=state.out_of_sync or lost,
    )


# The shoe


def close_shoe(turn: Turn) -> None:
    """End the shoe after its cut card, once no round is in progress."""
    now = turn.state.shoe
    if turn.state.current is None and now is not None and now.cut_at is not None:
        end_shoe(turn, now)


def end_shoe(turn: Turn, now: shoe.Shoe) -> None:
    """No further round begins with this shoe."""
    if not now.over:
        turn.change(shoe=replace(now, over=True))
        turn.emit(shoe.ended(now, "cut"))


def compare_count(turn: Turn, now: shoe.Shoe, left: int | None) -> None:
    """Compare the cards left in the shoe with the count, and report the end of the shoe."""
    if shoe.miscounted(now, left):
        turn.irregular("shoe_count", detail=f"{left} cards are left, by the count {now.left}")
    if not now.over:
        turn.emit(shoe.ended(now, "reset" if turn.state.reset else "person", left))


def clear_shoe(turn: Turn, left: int | None = None) -> None:
    """End the shoe; its cards leave the table. ``left``: the number that a person counted."""
    if turn.state.shoe is None:
        return
    turn.coup.count_out(turn, turn.state.shoe, left)
    turn.coup.forget_shoe(turn)
    turn.change(shoe=None, held=(), carried=(), overflowed=False)
    turn.change(reset=False, out_of_sync=False, unseen=False)
    turn.course.expect(turn)


def of_no_place(held: Held) -> TableCard:
    """The held card as a table card without a place."""
    return TableCard(to="", card=held.given.card, reading=held.given.reading)


class CoupRules(NamedTuple):
    """What differs between the games of coups, besides the course. Each function gets the turn
    first.
    """

    winners: tuple[str, ...]
    """The winners that a person may give."""
    judged: Callable[[Any, Sequence[str]], Made | None]
    """The outcome of these cards in order; None unless they are exactly one whole coup."""
    stated_marks: Callable[[str], tuple[str, ...]]
    """The marks of a result given by a person without cards."""
    decide_unread: Callable[[Any, CardDecide], bool]
    """Decides about an unread card on the table. Returns whether there was one."""
    decide_held: Callable[[Any, CardDecide, Held], None]
    """Decides about the first held card."""
    result_call: Callable[[Any, tuple[str, ...]], Announcement | None] = lambda *_: None
    """The call that announces a result with these marks."""
    found: Callable[[Any, CardDrawn], bool] = lambda *_: False
    """Whether the shoe itself reports this as the first card of a round."""
    is_complete: Callable[[Any], bool] = lambda _: False
    """Whether all cards of the round in progress have come and are face up."""
    gap_opened: Callable[[Any, Any], None] = lambda *_: None
    """After a silence that may hide a card of the round. Gets the round as it was before."""
    missed: Callable[[Any], None] = lambda _: None
    """After a silence that may hide a card of no round."""
    restarted: Callable[[Any], None] = lambda _: None
    """After a restart of the shoe."""
    confirmation_refusal: Callable[[Any, Any], Refused | None] = unhidden
    """Why the round in progress may not be confirmed."""
    evidence: Callable[[Any], tuple[int, ...]] = evidence_of
    """The readings behind a round, oldest first."""
    noted: Callable[[Any, Any], Any] = lambda _, entry: entry
    """The result with the game's own fields."""
    revise: Callable[[Any, Any, int, Command], None] = lambda *_: None
    """Reports other changes caused by a result given by a person. Gets the earlier state and the
    number of the round.
    """
    waiting: Callable[[Any], Table] = lambda _: ()
    """The held cards that belong to a round whose result is left open."""
    candidate: Callable[[Any, Any, Table], str | None] = seen_winner
    """The winner if all cards of the round were seen; None if one may be missing."""
    ended: Callable[[Any], bool] = lambda _: False
    """Whether the shoe itself reported that all cards of the round had come."""
    new_shoe: Callable[[Any], None] = lambda _: None
    """Prepares a new shoe before its first round."""
    forget_shoe: Callable[[Any], None] = lambda _: None
    """Resets what does not outlast a shoe."""
    count_out: Callable[[Any, shoe.Shoe, int | None], None] = compare_count
    """Compares the cards left in the shoe with the count, and reports the end of the shoe."""


class CoupTurn(DealtTurn[B, S, T]):
    """One step of a table of coups. A game supplies its course and its rules."""

    coup: ClassVar[CoupRules]


Turn = CoupTurn[Any, Any, Any]
