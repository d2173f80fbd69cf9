"""The display of punto y banca, chemin de fer and two-cloth baccarat: hands, winner, and the shoe's
roads and counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from common.contract.messages.messages import text, word
from common.contract.outcomes import BaccaratOutcome
from common.contract.shown import CheminShown, PuntoBancaShown, ShoeCounts
from subscribers import words
from subscribers.cards import points, short
from subscribers.display import roads
from subscribers.display.context import PictureContext
from subscribers.display.hands import (
    FinishedRounds,
    HandPicture,
    finished_rounds,
    in_progress,
    last_action,
    result_of,
    rounds_of,
    settled_hand,
    shown_hand,
)
from subscribers.display.roads import Coup, Side, Winner
from subscribers.display.rounds import PlayedRound

SIDES: tuple[Side, ...] = ("player", "banker")
WINNERS: tuple[Winner, ...] = (*SIDES, "tie")
CLOTHS = ("cloth:1", "cloth:2", "bank")


class Road(msgspec.Struct, frozen=True):
    """One road with its title and cells."""

    id: str
    title: str
    cells: Any


class ShoeCount(msgspec.Struct, frozen=True):
    """How often something occurred in this shoe."""

    id: str
    text: str
    letter: str | None
    number: int
    percent: int | None
    """Percentage of the coups in the sample; None if not meaningful, or if there is no sample."""


class BaccaratBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the picture."""

    hands: tuple[HandPicture, ...]
    """The bank's is last."""
    finish: FinishedRounds
    letters: dict[str, str]
    """The winners' letters on the bead plate."""
    roads: tuple[Road, ...]
    """Empty for two cloths, where no single hand wins the coup."""
    sample: str
    """The number of coups counted in ``counts``, as text."""
    counts: tuple[ShoeCount, ...]
    shoe: tuple[str, ...]
    """The state of the shoe, as lines of text."""
    notes: tuple[str, ...]


def punto_banca(context: PictureContext, shown: PuntoBancaShown) -> BaccaratBody:
    """Return the body for punto y banca."""
    burned = _burned(context) if shown.phase in ("burning", "waiting") and not shown.round else ()
    last_coup = (text("display.last_of_shoe", context.language),) if shown.last_round else ()
    return _body(context, shown, None, (*burned, *last_coup))


def chemin(context: PictureContext, shown: CheminShown) -> BaccaratBody:
    """Return the body for chemin de fer or two-cloth baccarat."""
    followed = (word("command", "table.follow", context.language),) if shown.table_followed else ()
    return _body(context, shown, shown.to_act, followed)


def _body(
    context: PictureContext,
    shown: PuntoBancaShown | CheminShown,
    acting_hand: str | None,
    notes: tuple[str, ...],
) -> BaccaratBody:
    language = context.language
    playing = in_progress(shown, shown.hands.values())
    finished = finished_rounds(context, shown, playing, shown.unresolved)
    result = result_of(finished, context, shown)
    two_cloths = any(
        hand_id.startswith("cloth") for hand_id in (*shown.hands, *(hand.who for hand in result))
    )
    current_hands = shown.hands if playing else {}
    decisions = shown.words if isinstance(shown, CheminShown) else {}
    names = [
        hand_id
        for hand_id in (CLOTHS if two_cloths else SIDES)
        if hand_id in current_hands or not two_cloths
    ]
    hands = (
        tuple(settled_hand(hand, language) for hand in result)
        if result
        else tuple(
            shown_hand(
                hand_id,
                current_hands.get(hand_id, ()),
                language,
                points=hand_points(current_hands.get(hand_id, ())),
                decision=words.decision(decisions[hand_id], None, language)
                if hand_id in decisions
                else last_action(context, shown, hand_id)
                if playing
                else None,
                is_acting=acting_hand == hand_id,
                expected=shown.expected if playing else None,
            )
            for hand_id in names
        )
    )
    coups = coups_of(context, shown)
    return BaccaratBody(
        hands=hands,
        finish=finished,
        letters={hand_id: text(f"display.letter_{hand_id}", language) for hand_id in WINNERS},
        roads=() if two_cloths else roads_of(coups, language),
        sample=text("display.coups", language, count=len(coups)),
        counts=() if two_cloths else shoe_counts(coups, language),
        shoe=shoe_lines(shown.shoe, language),
        notes=notes,
    )


def hand_points(hand: Sequence[str | None]) -> str | None:
    """Return the points of a hand; None if it has no cards or a card is face down."""
    return str(points(hand)) if hand and None not in hand else None


def coups_of(context: PictureContext, shown: PuntoBancaShown | CheminShown) -> tuple[Coup, ...]:
    """Return the coups of the current shoe, or of the last one; empty if its start is unknown."""
    talla = context.known.talla
    if talla is None or talla[0] != shown.session:
        return ()
    return coups(round_ for round_ in rounds_of(context, shown) if round_.round >= talla[1])


def coups(rounds: Iterable[PlayedRound]) -> tuple[Coup, ...]:
    """Return the coups of these rounds. A round that is void or has no result is no coup."""
    return tuple(
        Coup(
            round_.outcome.winner,
            pairs=tuple(side for side in SIDES if f"pair_{side}" in round_.outcome.marks),
            natural="natural" in round_.outcome.marks,
            corrected=round_.corrected,
        )
        for round_ in rounds
        if round_.kind == "result"
        and isinstance(round_.outcome, BaccaratOutcome)
        and round_.outcome.winner is not None
    )


def roads_of(coups: Sequence[Coup], language: str) -> tuple[Road, ...]:
    """Return all five roads, the bead plate first."""
    builders = {
        "bead_plate": roads.bead_plate,
        "big_road": roads.big_road,
        "big_eye_boy": roads.big_eye_boy,
        "small_road": roads.small_road,
        "cockroach_road": roads.cockroach_road,
    }
    return tuple(
        Road(name, text(f"display.{name}", language), build(coups))
        for name, build in builders.items()
    )


def shoe_counts(coups: Sequence[Coup], language: str) -> tuple[ShoeCount, ...]:
    """Return how often each side won, and the number of naturals and pairs."""
    win_counts = Counter(coup.winner for coup in coups)
    wins = [
        ShoeCount(
            winner,
            words.who(winner, language),
            text(f"display.letter_{winner}", language),
            win_counts[winner],
            round(100 * win_counts[winner] / len(coups)) if coups else None,
        )
        for winner in WINNERS
    ]
    marks = {
        "natural": sum(coup.natural for coup in coups),
        **{f"pair_{side}": sum(side in coup.pairs for coup in coups) for side in SIDES},
    }
    return (
        *wins,
        *(
            ShoeCount(mark, words.mark(mark, language), None, number, None)
            for mark, number in marks.items()
        ),
    )


def shoe_lines(shoe: ShoeCounts | None, language: str) -> tuple[str, ...]:
    """Return the state of the shoe as text: counts, never cards."""
    if shoe is None:
        return (text("display.no_shoe", language),)
    left_text = (
        text("display.not_counted", language)
        if shoe.left is None
        else text("display.left", language, count=shoe.left)
    )
    unread_lines = [text("display.unread", language, count=shoe.unread)] if shoe.unread else []
    cut_key = "cut_card_came" if shoe.cut else "before_cut_card"
    return (
        text("display.shoe", language, number=shoe.number, decks=shoe.decks),
        text("display.drawn", language, count=shoe.drawn),
        *unread_lines,
        *(() if shoe.continuous else (left_text, text(f"display.{cut_key}", language))),
    )


def _burned(context: PictureContext) -> tuple[str, ...]:
    progress, language = context.known.progress, context.language
    burn_card = (
        [text("display.burn_card", language, card=short(progress.burn_card))]
        if progress.burn_card
        else []
    )
    burned = [text("display.burned", language, count=progress.burned)] if progress.burned else []
    return (*burn_card, *burned)
