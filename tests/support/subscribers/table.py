"""A table as its messages show it: what the tests of the display publish."""

from __future__ import annotations

from typing import Any

from subscribers.terminal.table_view import TableView

ENVELOPE = {
    "table": "ruleta-1",
    "boot": "b1",
    "session": 1,
    "game": "roulette-french",
    "decree": "ARA02",
    "simulated": True,
}
ARTICLE = (
    "Decreto 159/2002, anexo I, art. 3, epígrafe 1, IV.3.d): «un lanzamiento defectuoso de la bola»"
)

RED = {"colour": "red", "parity": "odd", "half": "falta", "dozen": 1, "column": 1}
BLACK = {"colour": "black", "parity": "even", "half": "falta", "dozen": 1, "column": 2}
ZERO: dict[str, Any] = {"colour": None, "parity": None, "half": None, "dozen": None, "column": None}


class Narrator:
    """Numbers the events of one table."""

    def __init__(self) -> None:
        self.seq = 0

    def event(self, kind: str, **fields: Any) -> dict[str, Any]:
        self.seq += 1
        return {**ENVELOPE, "seq": self.seq, "type": kind, **fields}


def state(phase: str, status: str = "open", **shown: Any) -> dict[str, Any]:
    return {
        **ENVELOPE,
        "status": status,
        "devices": {"wheel": {"state": "up", "since": "2026-01-01T00:00:00.000000Z"}},
        "shown": {"phase": phase, "session": 1, "round": 0, **shown},
    }


def info() -> dict[str, Any]:
    return {**ENVELOPE, "about": {"title": {"es": "Ruleta francesa"}}}


def played() -> tuple[TableView, Narrator]:
    """A view of a table with a red, a zero, a null spin, an unresolved one and a black number; bets
    are closed.
    """
    view, narrator = TableView("ruleta-1"), Narrator()
    view.retained("info", info())
    view.retained("state", state("waiting"))
    for fields in (
        narrator.event("session.opened", by="M. Lasa", role="table_head"),
        narrator.event("round.result", round=1, outcome={"number": 1, **RED}),
        narrator.event("round.result", round=2, outcome={"number": 0, **ZERO}),
        narrator.event(
            "round.void",
            round=3,
            reason="bad_launch",
            law="ARA02-015",
            article=ARTICLE,
            announcement={"es": "bola nula"},
        ),
        narrator.event("round.unresolved", round=4, why="silence", candidate=12),
        narrator.event("round.result", round=5, outcome={"number": 2, **BLACK}),
        narrator.event("round.opened", round=6),
        narrator.event(
            "bets.closed", round=6, announcement={"es": "no va más", "ca": "prou apostes"}
        ),
    ):
        assert view.event(fields)
    return view, narrator


PUNTO = {"table": "punto-1", "game": "punto-banca"}
SHOE = {"number": "1", "decks": 6, "drawn": 11, "unread": 0, "left": 301, "cut": False}


def card_state(phase: str, **shown: Any) -> dict[str, Any]:
    return {**state(phase, shoe=SHOE, **shown), **PUNTO, "devices": {"shoe": {"state": "up"}}}


def card_info() -> dict[str, Any]:
    return {**ENVELOPE, **PUNTO, "about": {"title": {"es": "Punto y banca"}}}


def hands(player: str, banker: str) -> list[dict[str, Any]]:
    return [
        {"who": who, "cards": cards.split()}
        for who, cards in (("player", player), ("banker", banker))
    ]


def coup(
    narrator: Narrator, number: int, player: str, banker: str, winner: str | None, *marks: str
) -> list[dict[str, Any]]:
    """A round from its first card to its result: the first four cards lie face down until all have
    come.
    """
    own = {"player": player.split(), "banker": banker.split()}
    events = [
        narrator.event("round.opened", round=number),
        narrator.event("bets.closed", round=number, announcement={"es": "no va más"}),
    ]
    events += [
        narrator.event("card.dealt", round=number, to=who, index=index, card=None)
        for index in (1, 2)
        for who in own
    ]
    for who, cards in own.items():
        events += [
            narrator.event("card.turned", round=number, to=who, index=n, card=card)
            for n, card in enumerate(cards[:2], 1)
        ]
    for who, cards in own.items():
        events += [
            narrator.event("card.dealt", round=number, to=who, index=3, card=card)
            for card in cards[2:]
        ]
    result = {"hands": hands(player, banker), "winner": winner, "marks": list(marks)}
    return [*events, narrator.event("round.result", round=number, outcome=result)]


def dealt() -> tuple[TableView, Narrator]:
    """A view of a card table: a coup of the player, one of the bank, a tie, a null one; then two
    cards, and the third expected.
    """
    view, narrator = TableView("punto-1"), Narrator()
    view.retained("info", card_info())
    view.retained("state", card_state("waiting"))
    for fields in (
        narrator.event("session.opened", by="M. Lasa", role="table_head"),
        narrator.event("shoe.started", shoe="1", decks=6, cards=312, cut=7),
        narrator.event("card.dealt", to="burn", index=1, card="5c"),
        narrator.event("cards.burned", count=5, shown="5c"),
        *coup(narrator, 1, "6h Th", "9d As Kc", "player"),
        *coup(narrator, 2, "Jd Js", "4h 4d", "banker", "natural", "pair_player", "pair_banker"),
        *coup(narrator, 3, "2c 4c", "3d 3h", "tie", "tie", "pair_banker"),
        narrator.event("round.opened", round=4),
        narrator.event("round.void", round=4, reason="misdeal", law="ARA02-075", article="art. 3"),
        narrator.event("round.opened", round=5),
        narrator.event("bets.closed", round=5, announcement={"es": "no va más"}),
        narrator.event("card.dealt", round=5, to="player", index=1, card=None),
        narrator.event("card.dealt", round=5, to="banker", index=1, card=None),
        narrator.event("card.expected", round=5, to="player"),
    ):
        assert view.event(fields)
    return view, narrator
