"""A table as its messages show it: what the tests of the display publish."""

from __future__ import annotations

from typing import Any

from subscribers.table_view import TableView

ENVELOPE = {"table": "ruleta-1", "boot": "b1", "session": 1, "game": "roulette-french", "decree": "ARA02", "simulated": True}
ARTICLE = "Decreto 159/2002, anexo I, art. 3, epígrafe 1, IV.3.d): «un lanzamiento defectuoso de la bola»"

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
    """A view of a table with a red, a zero, a null spin, an unresolved one and a black number; bets are closed."""
    view, narrator = TableView("ruleta-1"), Narrator()
    view.retained("info", info())
    view.retained("state", state("waiting"))
    for fields in (
        narrator.event("session.opened", by="M. Lasa", role="table_head"),
        narrator.event("round.result", round=1, number=1, **RED),
        narrator.event("round.result", round=2, number=0, **ZERO),
        narrator.event(
            "round.void", round=3, reason="bad_launch", law="ARA02-015", article=ARTICLE, announcement={"es": "bola nula"}
        ),
        narrator.event("round.unresolved", round=4, why="silence", candidate=12),
        narrator.event("round.result", round=5, number=2, **BLACK),
        narrator.event("round.opened", round=6),
        narrator.event("bets.closed", round=6, announcement={"es": "no va más", "ca": "prou apostes"}),
    ):
        assert view.event(fields)
    return view, narrator
