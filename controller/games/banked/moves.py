"""One step of a table whose boxes play with one deck: the moves by which readings and commands take
effect in all such games.

Each move changes the state and publishes its event together, so that they always agree. Each game's
own ``Turn`` supplies its rules: who receives each card, which cards are face up, who may show, what
a dealing error does, and when the round is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, cast

from msgspec.structs import replace

from common.contract.commands import CardsShow, Command, DealError, ResultCorrect, VoidReason
from common.contract.events import AwardQualified, HandDecided
from common.contract.refusals import RejectedError
from common.readings import CardDrawn
from controller.games.banked.state import MAX_WAITING_CARDS, BankedDeal, BankedState
from controller.games.dealt import cards as on_table
from controller.games.dealt.phases import PHASES, Phase
from controller.games.dealt.state import DealtEntry, Held
from controller.games.dealt.turn import Course, DealtTurn, is_stopped, lose_late, stop_with
from controller.games.decks import deck
from controller.games.guards import Refused
from controller.games.poker import moves as poker
from controller.games.poker.correction import PokerOutcome, emit_awards
from controller.rulebooks.common_poker import Banked
from controller.rulebooks.law import Law

B = TypeVar("B", bound=Banked)
S = TypeVar("S")
T = TypeVar("T", bound=BankedState)
R_co = TypeVar("R_co", bound=BankedDeal, covariant=True)
PLACES = ("box:", "dealer", "common:", "board", "burn")
"""Translate a device's name of a place; devices may use words of their own."""


def judge_deck(turn: Turn, right: bool) -> None:
    """Record whether a check found the deck complete. With a wrong deck no round begins, and a
    round in progress waits for a person.
    """
    turn.change(checked=True, defective=not right)
    if right:
        resolve(turn, "deck_wrong")
    elif turn.state.current is not None and turn.state.doubt is None:
        doubt(turn, "deck_wrong")
    else:
        turn.irregular("deck_wrong")


def lacks(turn: Turn) -> tuple[str, ...]:
    """The requests without a stop: a right deck, a shuffler that is ready, or hands to show."""
    state, deal = turn.state, turn.state.current
    if deal is None or not deal.closed:
        unready = state.open and (
            state.defective or (deal is not None and state.shuffler is not None)
        )
        return ("deck.check",) if unready else ()
    return ("cards.show",) if not deal.due and turn.banked.missing(turn) else ()


# Phases, and where cards go


def stage(turn: Turn) -> Phase:
    """The phase, regardless of any stop."""
    deal = turn.state.current
    if not turn.state.open:
        return Phase.CLOSED
    if deal is None:
        return Phase.WAITING
    if not deal.closed:
        return Phase.BETS_OPEN
    return Phase.DEALING if deal.due else turn.banked.after_deal(turn)


def belongs(turn: Turn) -> str | None:
    """The hand that gets the next card."""
    return turn.current.due[0] if turn.current.due else None


def objection(turn: Turn, held: Held) -> tuple[str, str | None] | None:
    """Why this card must not go where the next one belongs. A device never turns a card."""
    drawn, stage = held.given, turn.course.stage(turn)
    early = PHASES[stage].card
    if stage in (Phase.WAITING, Phase.BETS_OPEN) and early is not None:
        return early, None
    to, why = turn.course.belongs(turn), None if drawn.unsure else turn.banked.too_early(turn)
    claimed = turn.banked.trusts_places and drawn.to is not None and drawn.to.startswith(PLACES)
    if drawn.unsure or (why is None and to is not None and claimed and drawn.to != to):
        return "card_unsure", None
    if why is not None or to is None:
        return why or "card_extra", None
    if (held.packet or 1) > turn.current.due.count(to):
        return "packet_wrong", f"a packet of {held.packet} for {to}"
    cards = () if drawn.card is None else (drawn.card,)
    if wrong := on_table.trouble(turn.current.cards, cards, turn.deck):
        return wrong, None
    return ("card_exposed", to) if drawn.exposed and not turn.course.faces_up(turn, to) else None


def hold(turn: Turn, held: Held, what: str, detail: str | None = None) -> None:
    """Stop the table with this card; an exposed one may void the round."""
    law = turn.banked.void_if_seen(turn, detail) if what == "card_exposed" and detail else None
    if law is None:
        stop_with(turn, replace(held, trouble=what), what, detail)
        return
    turn.irregular(what, detail=detail)
    void(turn, turn.number, "card_exposed", law)


def place(turn: Turn, drawn: CardDrawn, to: str, *, seen: bool = False, count: int = 1) -> None:
    """Deal a card, or an unread one, which stays unknown."""
    place_card(turn, to, drawn.card, up=seen, reading=drawn.reading, count=count)
    if turn.state.current is not None:
        turn.course.advance(turn)


def lose_place(turn: Turn) -> None:
    """Record that a card may have come unseen, if one is due."""
    deal = turn.state.current
    if deal is None or not deal.closed or deal.gap or not deal.due:
        return
    turn.change_current(gap=True)
    turn.irregular("silence", asks=turn.state.asks)


def open_bets(turn: Turn, by: str | None = None, *, relaunch: bool = False) -> None:
    """Open bets for the next round; a void one is played again."""
    last = turn.state.entry(turn.state.round)
    relaunch = last is not None and last.kind == "void"
    turn.open_bets(by, relaunch=relaunch)


def close_bets(turn: Turn, by: str | None = None, *, unobserved: bool = False) -> None:
    """Close the bets and begin the deal."""
    turn.close_bets(by, unobserved=unobserved)
    turn.banked.begin_deal(turn)


def place_card(
    turn: Turn,
    to: str,
    card: str | None = None,
    *,
    up: bool = False,
    reading: int | None = None,
    count: int = 1,
) -> None:
    """Deal cards to a hand. A card that is face up against the rules counts as exposed. Only a
    person sets ``up``, never a device.
    """
    before, by_rule = turn.current.cards, turn.course.faces_up(turn, to)
    lies = up or by_rule
    turn.put(on_table.place_card(before, to, card, up=lies, reading=reading, count=count))
    if up and not by_rule:
        turn.banked.exposed(turn, to)


def show_hand(turn: Turn, command: CardsShow, *, trust: bool = False) -> None:
    """Show a hand with these cards. Cards that contradict the deal wait for a person, unless
    ``trust`` says that a person confirmed them.
    """
    table, who = turn.current.cards, command.who
    if trust:
        table = on_table.unread(table, who, command.cards)
    wrong = on_table.trouble(table, command.cards, turn.deck, but=who)
    if wrong == "card_foreign" or len(set(command.cards)) < len(command.cards):
        raise RejectedError("cards_not_of_deck")
    if command.index is not None and len(command.cards) != 1:
        raise RejectedError("one_card_with_index", count=len(command.cards))
    if command.index is None:
        after = on_table.show(table, who, command.cards, trust=trust)
    else:
        [card] = command.cards
        after = on_table.show_one(table, who, command.index, card, trust=trust)
    if wrong is not None or isinstance(after, str):
        if trust:
            raise RejectedError("card_up_elsewhere")
        turn.change(shown=command)
        doubt(turn, "shown_differs", about=who, detail=f"{who}, there twice" if wrong else who)
        return
    resolve(turn, "shown_differs", "card_unread")
    turn.put(after)
    turn.banked.faced(turn, who)


def decided(
    turn: Turn,
    who: str,
    decision: Literal["go", "pass", "withdraw", "set"],
    by: str | None = None,
    *,
    valid: bool = True,
) -> None:
    """Publish a hand's decision; without ``valid``, publish that it is withdrawn."""
    call = turn.book.announcements.get(decision) if valid else None
    event = HandDecided(
        round=turn.current.round,
        who=who,
        decision=decision,
        by=by,
        announcement=call,
        valid=valid,
    )
    turn.emit(event)


# The outcome of a round


def result(turn: Turn, outcome: PokerOutcome) -> None:
    """Publish the result hand by hand, and end the round, whose cards have all come."""
    poker.result(turn, outcome, replace(turn.current, order=()))


def void(turn: Turn, number: int, reason: VoidReason, law: Law, by: Command | None = None) -> None:
    """Void the round, and what was already published as won in it."""
    awards = turn.banked.awarded(turn, number)
    turn.void(number, reason, law, by)
    emit_awards(turn, awards, ())


def leave(turn: Turn) -> None:
    """End the round in progress and clear what stopped it."""
    untouched = turn.state.checked and not turn.current.cards
    turn.change(current=None, doubt=None, about=None, shown=None, held=(), checked=untouched)


# Irregularities


def doubt(turn: Turn, what: str, *, about: str | None = None, detail: str | None = None) -> None:
    """Stop the table until a person decides."""
    turn.change(doubt=what, about=about)
    turn.irregular(what, detail=detail, asks=turn.state.asks)


def resolve(turn: Turn, *doubts: str) -> None:
    """Clear the doubt if it is one of these."""
    if turn.state.doubt in doubts:
        turn.change(doubt=None, about=None, shown=None)


class BankedRules(NamedTuple):
    """What differs between the games whose boxes play with one deck, besides the course. Each
    function gets the turn first.
    """

    after_deal: Callable[[Any], Phase]
    """The phase of the round while no card is due."""
    begin_deal: Callable[[Any], None]
    """Sets the order of the deal when bets close, if it is known then."""
    exposed: Callable[[Any, str], None]
    """Acts on a person's report that a covered card of this hand was exposed."""
    error: Callable[[Any, DealError], None]
    """Acts on a dealing error that does not by itself void the round."""
    unshowable: Callable[[Any, str], Refused | None]
    """Why this hand may not be shown or turned now; None if it may."""
    outcome: Callable[[Any, Any, Mapping[str, tuple[str, ...]]], PokerOutcome]
    """The outcome of a round from its face-up cards by hand."""
    missing: Callable[[Any], tuple[str, ...]]
    """The hands still covered that must be face up to decide the round."""
    trusts_places: bool = True
    """Whether a shuffler can know which hand each packet is for."""
    decides: bool = False
    """Whether hands play or fold in this game, so that a wrong decision can be corrected."""
    unplayable: Callable[[Any], Refused | None] = lambda _: None
    """Why a round cannot be played with these boxes; None if it can."""
    too_early: Callable[[Any], str | None] = lambda _: None
    """The irregularity of a card that is dealt too early although bets are closed; None if it may
    come.
    """
    void_if_seen: Callable[[Any, str], Law | None] = lambda *_: None
    """The law that voids the round when a device alone reports that a card of this hand was seen;
    None if a person must decide. The answer never depends on the card, because a void round would
    then reveal it.
    """
    correctable: Callable[[Any], bool] = lambda _: False
    """Whether the round continues after a corrected dealing error."""
    continue_despite: Callable[[Any], None] = lambda _: None
    """Continues the round despite the irregularity, by a person's decision."""
    show: Callable[..., None] = show_hand
    """Shows a hand with the cards of a command."""
    faced: Callable[[Any, str], None] = lambda *_: None
    """Acts on a hand that was shown, or a card of it that was turned."""
    amended: Callable[
        [Any, Any, DealtEntry, ResultCorrect], tuple[Any, DealtEntry, ResultCorrect]
    ] = lambda _, *given: given
    """The round, its outcome and the correction, completed with what the correction implies. Raises
    ``RejectedError`` if it cannot be made.
    """
    awarded: Callable[[Any, int], tuple[AwardQualified, ...]] = lambda *_: ()
    """What was already published as won in this round, besides its result."""
    counted: Callable[[Any], int] = lambda turn: len(turn.deck)
    """The number of cards that a count must find now."""
    judge: Callable[[Any, bool], None] = judge_deck
    """Records whether a check found the deck complete."""


class BankedTurn(DealtTurn[B, S, T], Generic[B, S, T, R_co]):
    """One step of a table whose boxes play with one deck. A game supplies its course and its
    rules.
    """

    banked: ClassVar[BankedRules]

    @property
    def current(self) -> R_co:
        """The round in progress; the caller ensures that there is one."""
        assert self.state.current is not None
        return cast("R_co", self.state.current)

    @property
    def deck(self) -> tuple[str, ...]:
        """All cards of the deck in use."""
        return deck(self.book.deck)


Turn = BankedTurn[Any, Any, Any, BankedDeal]


def course(
    *,
    advance: Callable[[Any], None],
    faces_up: Callable[[Any, str], bool],
    new_round: Callable[[Any, int], BankedDeal],
) -> Course:
    """The course of such a game."""
    return Course(
        stage=stage,
        belongs=belongs,
        objection=objection,
        faces_up=faces_up,
        advance=advance,
        late=lose_late,
        lose_place=lose_place,
        leave=leave,
        outcome_of=poker.outcome_of,
        max_held=MAX_WAITING_CARDS,
        new_round=new_round,
        lacks=lacks,
        holds=is_stopped,
        hold=hold,
        place=place,
    )
