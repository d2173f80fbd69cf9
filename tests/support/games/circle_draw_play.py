"""A table of covered poker with discards to play at in tests."""

from __future__ import annotations

from common.contract.events import AnyEvent, Irregularity, RoundResult
from tests.support.games.circle_play import Play, table
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

DEAL = "7c 8c 9c Jc  7d 8d 9d Jd  8h 9h Td Qc  9s Tc Js Kc  Ac Kd Qh 8s"
"""Five cards each to 4, 1, 2, 3: a pair of sevens, eights, nines, jacks."""
HANDS = {4: "7c 7d 8h 9s Ac", 1: "8c 8d 9h Tc Kd", 2: "9c 9d Td Js Qh", 3: "Jc Jd Qc Kc 8s"}


def covered(decree: str = "BAL09", deal: str = DEAL, seats: tuple[int, ...] = (1, 2, 3, 4)) -> Play:
    play = table(decree, "circle-draw", seats)
    play.bets()
    play.cards(deal)
    return play


def opened(opener: int = 3) -> Play:
    """A pot that was opened, after the first bets."""
    play = covered()
    play.act(opener, "open")
    play.close()
    return play


def discard(play: Play, seat: int, count: int, cards: str = "") -> list[AnyEvent]:
    events = play.send(
        "hand.act", role="croupier", who=f"seat:{seat}", action="discard", count=count
    )
    return events + play.cards(cards)


def played(opener: int = 3, count: int = 3, cards: str = "Ad Ah As") -> Play:
    """Only the opener draws; all others show."""
    play = opened(opener)
    order = [3, 4, 1, 2]
    place = order.index(opener)
    for seat in (*order[place:], *order[:place]):
        discard(play, seat, count if seat == opener else 0, cards if seat == opener else "")
    play.close()
    play.turn()
    return play


def irregularities(events: list[AnyEvent]) -> list[str]:
    return [event.what for event in of_kind(events, Irregularity)]


def results(events: list[AnyEvent]) -> list[tuple[str | None, tuple[str, ...]]]:
    return [
        (outcome_of(event).winner or None, outcome_of(event).marks)
        for event in of_kind(events, RoundResult)
    ]
