"""Hands as they are drawn, and how a round ended: what all card games have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from controller.contract import card_events, outcomes
from controller.contract.messages.messages import catalogue, text, word
from controller.contract.shown import Shown, Stake
from subscribers import words
from subscribers.display.cards import Card, card
from subscribers.display.rounds import Round
from subscribers.display.seen import Seen

IDLE = ("closed", "no_shoe", "shoe_over", "burning", "waiting")
"""Phases in which no round is in progress."""
LATEST = 12
"""Rounds in the list of the latest ones."""

Ending = Literal["result", "void", "unresolved"]


class Told(msgspec.Struct, frozen=True):
    """A word on the wire, and its text."""

    id: str
    text: str


class Hand(msgspec.Struct, frozen=True, kw_only=True):
    """One hand, row or board."""

    id: str
    """Its name on the wire: ``box:3.2``."""
    name: str
    cards: tuple[Card, ...]
    points: str | None = None
    """What they make, where all of them are face up; in poker there are none."""
    makes: tuple[str, ...] = ()
    """What the hand is: in poker its rank, and that of its low hand."""
    said: str | None = None
    """What it did last."""
    outcome: Told | None = None
    bets: tuple[str, ...] = ()
    """The bets on it that were told, and what became of them."""
    low: tuple[Card, ...] = ()
    """The cards of its low hand."""
    badge: Told | None = None
    """``to_act``: the table waits for its word; ``next``: the next card is its own."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """How a round ended."""

    round: int
    label: str
    """Which round, for a person."""
    kind: Ending
    winner: str | None = None
    """The word on the wire, where one hand won."""
    text: str = ""
    """Who won, or that it is void or unresolved, and why."""
    marks: tuple[str, ...] = ()
    corrected: str | None = None
    """The word for it, if a person corrected the result."""


class Latest(msgspec.Struct, frozen=True, kw_only=True):
    """One of the latest rounds, in short."""

    round: int
    kind: Ending
    winner: str | None
    text: str


class Finish(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of rounds that ended, besides the hands."""

    ended: Ended | None
    """The last round, while no other is in progress."""
    before: Ended | None
    """The last result before what else is shown."""
    before_label: str
    """That it is the last one."""
    open: tuple[str, ...]
    """Rounds whose result a person may still give."""
    latest: tuple[Latest, ...]
    """Newest first."""


def in_progress(shown: Shown, cards: Iterable[object]) -> bool:
    """Whether a round is being played. A table that waits for a decision may be in one or between
    two: there are cards then or not.
    """
    return any(cards) if shown.phase == "decision" else shown.phase not in IDLE


def finish(seen: Seen, shown: Shown, playing: bool, unresolved: tuple[int, ...]) -> Finish:
    """What is known of the rounds of this session that ended."""
    language = seen.language
    rounds = rounds_of(seen, shown)
    last = rounds[-1] if rounds else None
    result = next((each for each in reversed(rounds) if each.kind == "result"), None)
    idle = last is not None and not playing
    before = result if playing or result is not last else None
    return Finish(
        ended=ended(last, language) if last is not None and idle else None,
        before=None if before is None else ended(before, language),
        before_label=text("display.last_result", language),
        open=tuple(
            text(
                "display.round_state",
                language,
                round=number,
                state=text("display.unresolved", language),
            )
            for number in unresolved
            if last is None or number != last.round or playing
        ),
        latest=tuple(_latest(each, language) for each in reversed(rounds[-LATEST:])),
    )


def rounds_of(seen: Seen, shown: Shown) -> list[Round]:
    """The rounds of this session that ended. One with a number that the table has not reached is of
    another journal.
    """
    return [
        each for each in seen.rounds if each.session == shown.session and each.round <= shown.round
    ]


def result_of(finish: Finish, seen: Seen, shown: Shown) -> tuple[card_events.Hand, ...]:
    """The hands of the last round, if it has a result; of one that is void or unresolved none."""
    if finish.ended is None or finish.ended.kind != "result":
        return ()
    outcome = rounds_of(seen, shown)[-1].outcome
    return () if outcome is None else outcomes.hands(outcome)


def ended(round_: Round, language: str) -> Ended:
    """How a round ended, in words."""
    if round_.kind != "result":
        group = "void_reason" if round_.kind == "void" else "unresolved"
        reason = word(group, round_.reason, language) if round_.reason else ""
        said = text(f"display.{round_.kind}", language)
        return Ended(
            round=round_.round,
            label=text("display.round", language, round=round_.round),
            kind=round_.kind,
            text=f"{said} · {reason}" if reason else said,
        )
    winner = _winner(round_)
    marks = tuple(getattr(round_.outcome, "marks", ()))
    told = round_.outcome
    cloths = told.hands if isinstance(told, outcomes.BaccaratOutcome) and winner is None else ()
    each = " · ".join(
        f"{words.who(hand.who, language)} {word('outcome', hand.outcome, language)}"
        for hand in cloths
        if hand.who.startswith("cloth") and hand.outcome
    )
    return Ended(
        round=round_.round,
        label=text("display.round", language, round=round_.round),
        kind="result",
        winner=winner,
        text=each or _won(winner, language),
        marks=tuple(words.mark(mark, language) for mark in marks if mark != winner),
        corrected=text("display.corrected", language) if round_.corrected else None,
    )


def _won(winner: str | None, language: str) -> str:
    if winner is None:
        return text("display.settled", language)
    if winner == "tie":
        return words.who(winner, language)
    if winner == "refait":
        return words.mark(winner, language)
    return text("display.wins", language, who=words.who(winner, language))


def _winner(round_: Round) -> str | None:
    return getattr(round_.outcome, "winner", None)


def _latest(round_: Round, language: str) -> Latest:
    told = ended(round_, language)
    settled = told.text == text("display.settled", language) and told.marks
    said = " · ".join([*([] if settled else [told.text]), *told.marks])
    return Latest(
        round=round_.round,
        kind=round_.kind,
        winner=told.winner,
        text=f"{said} · {told.corrected}" if told.corrected else said,
    )


def shown_hand(
    who: str,
    cards: Iterable[str | None],
    language: str,
    *,
    points: str | None = None,
    makes: tuple[str, ...] = (),
    said: str | None = None,
    bets: tuple[str, ...] = (),
    low: Iterable[str] = (),
    acts: bool = False,
    expected: str | None = None,
) -> Hand:
    """A hand of the round in progress. ``expected``: the hand of the next card."""
    return Hand(
        id=who,
        name=words.who(who, language),
        cards=tuple(card(each, language) for each in cards),
        points=points,
        makes=makes,
        said=said,
        bets=bets,
        low=tuple(card(each, language) for each in low),
        badge=_badge("to_act", language)
        if acts
        else _badge("next", language)
        if expected == who
        else None,
    )


def _badge(name: str, language: str) -> Told:
    return Told(name, text(f"display.{name}", language))


def settled_hand(hand: card_events.Hand, language: str) -> Hand:
    """A hand of a result."""
    made = [word("hand", kind, language) for kind in (hand.kind, hand.low_kind) if kind]
    return Hand(
        id=hand.who,
        name=words.who(hand.who, language),
        cards=tuple(card(each, language) for each in hand.cards),
        points=None if hand.points is None else str(hand.points),
        makes=tuple(made),
        outcome=None
        if hand.outcome is None
        else Told(hand.outcome, word("outcome", hand.outcome, language)),
        bets=tuple(
            f"{bet_name(each.bet, language)}: {word('outcome', each.outcome, language)}"
            for each in hand.settled
        ),
        low=tuple(card(each, language) for each in hand.low),
    )


BET_GROUPS = ("bet", "chance", "colour", "symbol", "who", "mark")
"""Where a bet has its name: many are called after what they win on."""


def bet_name(name: str, language: str) -> str:
    """A bet as it is called at the table; where there are two boards, a pot is called after its
    own.
    """
    kind, _, number = name.partition(":")
    if kind in ("board", "cloth"):
        return words.who(name, language)
    texts = catalogue(language)
    found = (texts.get(f"{group}.{kind}") for group in BET_GROUPS)
    said = next((each for each in found if each is not None), kind.replace("_", " "))
    return f"{said} {number}".rstrip()


def stakes(bets: Iterable[Stake], who: str, language: str) -> tuple[str, ...]:
    """The bets of a hand that were told."""
    return tuple(bet_name(each.bet, language) for each in bets if each.who == who)


def said_by(seen: Seen, shown: Shown, who: str) -> str | None:
    """What a hand did last in the round in progress, as far as it was heard."""
    progress = seen.known.progress
    if (progress.session, progress.round) != (shown.session, shown.round):
        return None
    said = progress.actions.get(who)
    return None if said is None else words.decision(said.decision, said.count, seen.language)


def place(who: str) -> tuple[str, int, str]:
    """The order of hands: by kind, then by number."""
    kind, _, number = who.partition(":")
    digits = number.partition(".")[0]
    return kind, int(digits) if digits.isdecimal() else 0, number
