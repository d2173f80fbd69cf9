"""Pai gow to play at in tests: hands, and tables up to a moment of the round."""

from __future__ import annotations

from typing import Any

from tests.support.games.banked_play import Play

DECREES = ("BAL09", "EUS96")
BANK = "Qc Qd 9h 8s 7c Jd Th"
"""The dealer's: a pair of queens in the high hand, jack and ten in the low one."""
LOW = "Jd Th"
WINS = "Kc Kd 2h 3s 5c Ah 4d", "Ah 4d"
NULL = "Kh Ks 2c 3d 5h 6c 4s", "6c 4s"
LOSES = "Jh Js 2d 3c 5d 8c 4c", "8c 4c"


def table(*boxes: int, decree: str = "BAL09", **settings: Any) -> Play:
    """Bets are closed, no dice are thrown yet."""
    play = Play("pai-gow", decree, **settings)
    play.open(*(boxes or (1, 2)))
    play.bets()
    return play


def dealt(*hands: tuple[str, str], **settings: Any) -> Play:
    """Boxes from 1 on and the dealer have these hands, unread, the left cards are counted and all
    have set.
    """
    play = table(*range(1, len(hands) + 1), **settings)
    play.dice(1, 2, 5)
    for _ in range(len(hands) + 1):
        play.packet(7)
    play.send("deck.check", "croupier", cards=53 - 7 * (len(hands) + 1))
    for box in range(1, len(hands) + 1):
        play.act(f"box:{box}", "set")
    return play


def show(play: Play, who: str, cards: str, low: str) -> None:
    play.send("cards.show", "croupier", who=who, cards=cards.split(), low=low.split())


def played(*hands: tuple[str, str], bank: tuple[str, str] = (BANK, LOW), **settings: Any) -> Play:
    play = dealt(*hands, **settings)
    show(play, "dealer", *bank)
    for box, hand in enumerate(hands, 1):
        show(play, f"box:{box}", *hand)
    return play
