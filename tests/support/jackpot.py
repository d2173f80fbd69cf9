"""Statements of a jackpot's controller, as it would publish them."""

from __future__ import annotations

import time
from typing import Any

from common.contract.jackpot import (
    Authorisation,
    JackpotAward,
    JackpotState,
    JackpotTable,
)
from common.contract.times import format_utc

BEGAN = "2026-03-20T02:00:00.000000Z"
TITLE = {
    "es": "Gran Carrusel de Póquer",
    "ca": "Gran Carrusel de Pòquer",
    "eu": "Poker Karrusel Handia",
    "gl": "Gran Carrusel de Póker",
    "en": "Grand Poker Carrousel",
}
AUTHORISED = Authorisation(
    number="DGJ-2026/117",
    date="2026-01-15",
    authority="Gobierno de Aragón",
    until="2026-12-31",
    percentage=(1, 1),
    tables=("poker-1", "poker-2", "poker-3"),
)


def table(in_play: bool = True, why: Any = None, since: str = BEGAN) -> JackpotTable:
    return JackpotTable(in_play=in_play, why=why, since=since)


def award(number: int = 1, **fields: Any) -> JackpotAward:
    told: dict[str, Any] = {
        "award": number,
        "hit": number,
        "table": "poker-2",
        "session": 1,
        "round": 40 + number,
        "box": "box:3",
        "hand": "royal_flush",
        "cards": ("Ah", "Kh", "Qh", "Jh", "Th"),
        "time": "2026-03-20T02:10:16.215319Z",
        "share": (1, 1),
        "value": 1_250_000,
        "status": "payable",
    }
    return JackpotAward(**{**told, **fields})


def statement(
    value: int = 1_234_567, seconds: float = 15.0, now: float | None = None, **fields: Any
) -> JackpotState:
    """A statement valid for this many seconds from now."""
    said = time.time() if now is None else now
    told: dict[str, Any] = {
        "site": "casino-mayor",
        "jackpot": "gran",
        "title": TITLE,
        "decree": "ARA02",
        "currency": "EUR",
        "boot": "c1",
        "time": format_utc(said),
        "until": format_utc(said + seconds),
        "in_play": True,
        "why": None,
        "value": value,
        "seq": 1,
        "awards": (),
        "tables": {name: table() for name in AUTHORISED.tables},
        "authorisation": AUTHORISED,
    }
    return JackpotState(**{**told, **fields})
