"""Hands as drawn, and how a round ended: common to all card games."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from common.contract import card_events, outcomes
from common.contract.messages.messages import catalogue, text, word
from common.contract.shown import Shown, Stake
from subscribers import words
from subscribers.display.cards import CardPicture, card
from subscribers.display.context import PictureContext
from subscribers.display.rounds import PlayedRound

IDLE_PHASES = ("closed", "no_shoe", "shoe_over", "burning", "waiting")
"""Phases without a round in progress."""
MAX_LATEST_ROUNDS = 12
"""Length of the list of latest rounds."""

EndingKind = Literal["result", "void", "unresolved"]


class Label(msgspec.Struct, frozen=True):
    """A wire word and its text."""

    id: str
    text: str


class HandPicture(msgspec.Struct, frozen=True, kw_only=True):
    """One hand, row or board."""

    id: str
    """Its wire name, such as ``box:3.2``."""
    name: str
    cards: tuple[CardPicture, ...]
    points: str | None = None
    """The points of the cards if all are face up; None in poker."""
    makes: tuple[str, ...] = ()
    """Text of the hand: in poker its rank, and that of its low hand."""
    said: str | None = None
    """Its last decision."""
    outcome: Label | None = None
    bets: tuple[str, ...] = ()
    """The reported bets on it, and their outcomes."""
    low: tuple[CardPicture, ...] = ()
    """The cards of its low hand."""
    badge: Label | None = None
    """``to_act``: the table waits for its decision; ``next``: it gets the next card."""


class RoundEnding(msgspec.Struct, frozen=True, kw_only=True):
    """The ending of a round, as text."""

    round: int
    label: str
    """Which round, as text."""
    kind: EndingKind
    winner: str | None = None
    """The wire word, if one hand won."""
    text: str = ""
    """Who won, or that it is void or unresolved, and why."""
    marks: tuple[str, ...] = ()
    corrected: str | None = None
    """Text that a person corrected the result, if so."""


class RoundSummary(msgspec.Struct, frozen=True, kw_only=True):
    """One of the latest rounds, in short."""

    round: int
    kind: EndingKind
    winner: str | None
    text: str


class FinishedRounds(msgspec.Struct, frozen=True, kw_only=True):
    """The finished rounds, without their hands."""

    ended: RoundEnding | None
    """The last round, while no other is in progress."""
    before: RoundEnding | None
    """The last earlier result."""
    before_label: str
    """Label of ``before``."""
    open: tuple[str, ...]
    """Unresolved rounds whose result a person may still enter."""
    latest: tuple[RoundSummary, ...]
    """Newest first."""


def in_progress(shown: Shown, cards: Iterable[object]) -> bool:
    """Return True if a round is in progress. In phase ``decision`` that is so if
    there are cards.
    """
    return any(cards) if shown.phase == "decision" else shown.phase not in IDLE_PHASES


def finished_rounds(
    context: PictureContext, shown: Shown, playing: bool, unresolved: tuple[int, ...]
) -> FinishedRounds:
    """Return the finished rounds of this session."""
    language = context.language
    rounds = rounds_of(context, shown)
    last = rounds[-1] if rounds else None
    result = next((round_ for round_ in reversed(rounds) if round_.kind == "result"), None)
    is_idle = last is not None and not playing
    before = result if playing or result is not last else None
    return FinishedRounds(
        ended=round_ending(last, language) if last is not None and is_idle else None,
        before=None if before is None else round_ending(before, language),
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
        latest=tuple(
            _summary(round_, language) for round_ in reversed(rounds[-MAX_LATEST_ROUNDS:])
        ),
    )


def rounds_of(context: PictureContext, shown: Shown) -> list[PlayedRound]:
    """Return the finished rounds of this session. One with a number beyond the table's current
    round belongs to another journal.
    """
    return [
        round_
        for round_ in context.rounds
        if round_.session == shown.session and round_.round <= shown.round
    ]


def result_of(
    finished: FinishedRounds, context: PictureContext, shown: Shown
) -> tuple[card_events.Hand, ...]:
    """Return the hands of the last round if it has a result; otherwise none."""
    if finished.ended is None or finished.ended.kind != "result":
        return ()
    outcome = rounds_of(context, shown)[-1].outcome
    return () if outcome is None else outcomes.hands(outcome)


def round_ending(round_: PlayedRound, language: str) -> RoundEnding:
    """Return how a round ended, as text."""
    if round_.kind != "result":
        group = "void_reason" if round_.kind == "void" else "unresolved"
        reason = word(group, round_.reason, language) if round_.reason else ""
        kind_text = text(f"display.{round_.kind}", language)
        return RoundEnding(
            round=round_.round,
            label=text("display.round", language, round=round_.round),
            kind=round_.kind,
            text=f"{kind_text} · {reason}" if reason else kind_text,
        )
    winner, outcome = _winner(round_), round_.outcome
    marks = () if outcome is None else outcome.marks
    cloths = (
        outcome.hands if isinstance(outcome, outcomes.BaccaratOutcome) and winner is None else ()
    )
    cloth_results = " · ".join(
        f"{words.who(hand.who, language)} {word('outcome', hand.outcome, language)}"
        for hand in cloths
        if hand.who.startswith("cloth") and hand.outcome
    )
    return RoundEnding(
        round=round_.round,
        label=text("display.round", language, round=round_.round),
        kind="result",
        winner=winner,
        text=cloth_results or _winner_text(winner, language),
        marks=tuple(words.mark(mark, language) for mark in marks if mark != winner),
        corrected=text("display.corrected", language) if round_.corrected else None,
    )


def _winner_text(winner: str | None, language: str) -> str:
    if winner is None:
        return text("display.settled", language)
    if winner == "tie":
        return words.who(winner, language)
    if winner == "refait":
        return words.mark(winner, language)
    return text("display.wins", language, who=words.who(winner, language))


def _winner(round_: PlayedRound) -> str | None:
    return None if round_.outcome is None else round_.outcome.winner


def _summary(round_: PlayedRound, language: str) -> RoundSummary:
    ending = round_ending(round_, language)
    only_marks = ending.text == text("display.settled", language) and ending.marks
    summary = " · ".join([*([] if only_marks else [ending.text]), *ending.marks])
    return RoundSummary(
        round=round_.round,
        kind=round_.kind,
        winner=ending.winner,
        text=f"{summary} · {ending.corrected}" if ending.corrected else summary,
    )


def shown_hand(
    hand_id: str,
    cards: Iterable[str | None],
    language: str,
    *,
    points: str | None = None,
    makes: tuple[str, ...] = (),
    decision: str | None = None,
    bets: tuple[str, ...] = (),
    low: Iterable[str] = (),
    is_acting: bool = False,
    expected: str | None = None,
) -> HandPicture:
    """Return a hand of the round in progress. ``expected``: the hand that gets the next card."""
    return HandPicture(
        id=hand_id,
        name=words.who(hand_id, language),
        cards=tuple(card(name, language) for name in cards),
        points=points,
        makes=makes,
        said=decision,
        bets=bets,
        low=tuple(card(name, language) for name in low),
        badge=_badge("to_act", language)
        if is_acting
        else _badge("next", language)
        if expected == hand_id
        else None,
    )


def _badge(name: str, language: str) -> Label:
    return Label(name, text(f"display.{name}", language))


def settled_hand(hand: card_events.Hand, language: str) -> HandPicture:
    """Return a hand of a result."""
    ranks = [word("hand", kind, language) for kind in (hand.kind, hand.low_kind) if kind]
    return HandPicture(
        id=hand.who,
        name=words.who(hand.who, language),
        cards=tuple(card(item, language) for item in hand.cards),
        points=None if hand.points is None else str(hand.points),
        makes=tuple(ranks),
        outcome=None
        if hand.outcome is None
        else Label(hand.outcome, word("outcome", hand.outcome, language)),
        bets=tuple(
            f"{bet_name(item.bet, language)}: {word('outcome', item.outcome, language)}"
            for item in hand.settled
        ),
        low=tuple(card(item, language) for item in hand.low),
    )


BET_GROUPS = ("bet", "chance", "colour", "symbol", "who", "mark")
"""Text groups that name bets; many bets are named after what they win on."""


def bet_name(name: str, language: str) -> str:
    """Return the name of a bet at the table. With two boards, a pot is named after its board."""
    kind, _, number = name.partition(":")
    if kind in ("board", "cloth"):
        return words.who(name, language)
    texts = catalogue(language)
    candidates = (texts.get(f"{group}.{kind}") for group in BET_GROUPS)
    label = next(
        (candidate for candidate in candidates if candidate is not None), kind.replace("_", " ")
    )
    return f"{label} {number}".rstrip()


def bets_of(bets: Iterable[Stake], hand_id: str, language: str) -> tuple[str, ...]:
    """Return the reported bets on a hand."""
    return tuple(bet_name(bet.bet, language) for bet in bets if bet.who == hand_id)


def last_action(context: PictureContext, shown: Shown, hand_id: str) -> str | None:
    """Return the last decision of a hand in the round in progress, if known."""
    progress = context.known.progress
    if (progress.session, progress.round) != (shown.session, shown.round):
        return None
    action = progress.actions.get(hand_id)
    return (
        None if action is None else words.decision(action.decision, action.count, context.language)
    )


def hand_order(hand_id: str) -> tuple[str, int, str]:
    """Sort key of hands: kind, then number."""
    kind, _, number = hand_id.partition(":")
    digits = number.partition(".")[0]
    return kind, int(digits) if digits.isdecimal() else 0, number
