"""What a table of punto y banca, chemin de fer or two-cloth baccarat shows: the hands, who won, the
roads of the shoe and its counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from controller.contract.messages.messages import text, word
from controller.contract.outcomes import BaccaratOutcome
from controller.contract.shown import CheminShown, PuntoBancaShown, ShoeCounts
from subscribers import words
from subscribers.cards import points, short
from subscribers.display import roads
from subscribers.display.hands import (
    Finish,
    Hand,
    finish,
    in_progress,
    result_of,
    rounds_of,
    said_by,
    settled_hand,
    shown_hand,
)
from subscribers.display.roads import Coup, Side, Winner
from subscribers.display.rounds import Round
from subscribers.display.seen import Seen

SIDES: tuple[Side, ...] = ("player", "banker")
WINNERS: tuple[Winner, ...] = (*SIDES, "tie")
CLOTHS = ("cloth:1", "cloth:2", "bank")


class Road(msgspec.Struct, frozen=True):
    """One road: its title, and its cells."""

    id: str
    title: str
    cells: Any


class Count(msgspec.Struct, frozen=True):
    """How often something came in this shoe."""

    id: str
    text: str
    letter: str | None
    number: int
    percent: int | None
    """Of the coups of the sample; None where there is no sense in it, or no sample."""


class BaccaratBody(msgspec.Struct, frozen=True, kw_only=True):
    """The body of the picture."""

    hands: tuple[Hand, ...]
    """The bank's last."""
    finish: Finish
    letters: dict[str, str]
    """The letters of the winners on the bead plate."""
    roads: tuple[Road, ...]
    """Empty at two cloths, where no hand wins the coup."""
    sample: str
    """Of how many coups ``counts`` are."""
    counts: tuple[Count, ...]
    shoe: tuple[str, ...]
    """What is known of the shoe, in words."""
    notes: tuple[str, ...]


def punto_banca(seen: Seen, shown: PuntoBancaShown) -> BaccaratBody:
    """What a table of punto y banca shows now."""
    burned = _burned(seen) if shown.phase in ("burning", "waiting") and not shown.round else ()
    last = (text("display.last_of_shoe", seen.language),) if shown.last_round else ()
    return _body(seen, shown, None, (*burned, *last))


def chemin(seen: Seen, shown: CheminShown) -> BaccaratBody:
    """What a table of chemin de fer or of two cloths shows now."""
    followed = (word("command", "table.follow", seen.language),) if shown.table_followed else ()
    return _body(seen, shown, shown.to_act, followed)


def _body(
    seen: Seen,
    shown: PuntoBancaShown | CheminShown,
    acts: str | None,
    notes: tuple[str, ...],
) -> BaccaratBody:
    language = seen.language
    playing = in_progress(shown, shown.hands.values())
    over = finish(seen, shown, playing, shown.unresolved)
    result = result_of(over, seen, shown)
    two = any(who.startswith("cloth") for who in (*shown.hands, *(hand.who for hand in result)))
    own = shown.hands if playing else {}
    said = shown.words if isinstance(shown, CheminShown) else {}
    names = [who for who in (CLOTHS if two else SIDES) if who in own or not two]
    hands = (
        tuple(settled_hand(hand, language) for hand in result)
        if result
        else tuple(
            shown_hand(
                who,
                own.get(who, ()),
                language,
                points=count(own.get(who, ())),
                said=words.decision(said[who], None, language)
                if who in said
                else said_by(seen, shown, who)
                if playing
                else None,
                acts=acts == who,
                expected=shown.expected if playing else None,
            )
            for who in names
        )
    )
    coups = coups_of(seen, shown)
    return BaccaratBody(
        hands=hands,
        finish=over,
        letters={who: text(f"display.letter_{who}", language) for who in WINNERS},
        roads=() if two else roads_of(coups, language),
        sample=text("display.coups", language, count=len(coups)),
        counts=() if two else counts(coups, language),
        shoe=shoe_lines(shown.shoe, language),
        notes=notes,
    )


def count(hand: Sequence[str | None]) -> str | None:
    """What the cards of a hand make, if there are any and all are face up."""
    return str(points(hand)) if hand and None not in hand else None


def coups_of(seen: Seen, shown: PuntoBancaShown | CheminShown) -> tuple[Coup, ...]:
    """The coups of the shoe in use, or of the last one; none where it is not known when it
    began.
    """
    talla = seen.known.talla
    if talla is None or talla[0] != shown.session:
        return ()
    return coups(each for each in rounds_of(seen, shown) if each.round >= talla[1])


def coups(rounds: Iterable[Round]) -> tuple[Coup, ...]:
    """Of these rounds those that have a winner. One that is void or has no result is no coup."""
    return tuple(
        Coup(
            each.outcome.winner,
            pairs=tuple(side for side in SIDES if f"pair_{side}" in each.outcome.marks),
            natural="natural" in each.outcome.marks,
            corrected=each.corrected,
        )
        for each in rounds
        if each.kind == "result"
        and isinstance(each.outcome, BaccaratOutcome)
        and each.outcome.winner is not None
    )


def roads_of(coups: Sequence[Coup], language: str) -> tuple[Road, ...]:
    """All five, the bead plate first."""
    drawn = {
        "bead_plate": roads.bead_plate,
        "big_road": roads.big_road,
        "big_eye_boy": roads.big_eye_boy,
        "small_road": roads.small_road,
        "cockroach_road": roads.cockroach_road,
    }
    return tuple(
        Road(name, text(f"display.{name}", language), draw(coups)) for name, draw in drawn.items()
    )


def counts(coups: Sequence[Coup], language: str) -> tuple[Count, ...]:
    """How often each side won, and naturals and pairs."""
    won = Counter(coup.winner for coup in coups)
    wins = [
        Count(
            winner,
            words.who(winner, language),
            text(f"display.letter_{winner}", language),
            won[winner],
            round(100 * won[winner] / len(coups)) if coups else None,
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
            Count(mark, words.mark(mark, language), None, number, None)
            for mark, number in marks.items()
        ),
    )


def shoe_lines(shoe: ShoeCounts | None, language: str) -> tuple[str, ...]:
    """The shoe in words: counts, never cards."""
    if shoe is None:
        return (text("display.no_shoe", language),)
    left = (
        text("display.not_counted", language)
        if shoe.left is None
        else text("display.left", language, count=shoe.left)
    )
    unread = [text("display.unread", language, count=shoe.unread)] if shoe.unread else []
    cut = "cut_card_came" if shoe.cut else "before_cut_card"
    return (
        text("display.shoe", language, number=shoe.number, decks=shoe.decks),
        text("display.drawn", language, count=shoe.drawn),
        *unread,
        *(() if shoe.continuous else (left, text(f"display.{cut}", language))),
    )


def _burned(seen: Seen) -> tuple[str, ...]:
    progress, language = seen.known.progress, seen.language
    shown = (
        [text("display.burn_card", language, card=short(progress.burn_card))]
        if progress.burn_card
        else []
    )
    count = [text("display.burned", language, count=progress.burned)] if progress.burned else []
    return (*shown, *count)
