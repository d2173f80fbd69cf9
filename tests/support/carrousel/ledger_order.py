"""When the events of linked tables count, whatever their clocks show: the order that
docs/integrator/carrousel-money.md promises, with nothing of the controller in it.
"""

from __future__ import annotations

import sqlite3
from typing import Any

import msgspec

Moment = tuple[str, str, str, int]
"""Time, table, run and number of an event, by which events are ordered."""
NEVER: Moment = ("", "", "", 0)


def moments(ledger: sqlite3.Connection, jackpot: str) -> dict[tuple[str, str, int], Moment]:
    """Return when each event of a jackpot's ledger counts: at its own time; if its table has
    already reported until a later one, directly after that.
    """
    order = _Order(_posted(ledger, jackpot))
    for (text,) in ledger.execute(
        "SELECT fact FROM entry WHERE jackpot = ? ORDER BY position", (jackpot,)
    ):
        order.add(msgspec.json.decode(text))
    return order.found


def _posted(ledger: sqlite3.Connection, jackpot: str) -> dict[tuple[str, str, int], Moment]:
    """Return when the ledger has counted each event that it has posted."""
    rows = ledger.execute(
        "SELECT cause_table, cause_boot, cause_seq, at_time, at_table, at_boot, at_seq FROM posting"
        " WHERE jackpot = ? AND cause_table IS NOT NULL AND (what IN "
        "('stake', 'stake_returned', 'stakes_told') OR (position, line) IN (SELECT min(position), "
        "line FROM posting WHERE what = 'award' AND account = 'award' GROUP BY part))",
        (jackpot,),
    )
    return {tuple(row[:3]): tuple(row[3:]) for row in rows}


class _Order:
    def __init__(self, posted: dict[tuple[str, str, int], Moment]) -> None:
        self.found: dict[tuple[str, str, int], Moment] = {}
        self._posted = posted
        self._reported: dict[str, Moment] = {}
        self._begun = NEVER
        self._hits: set[Moment] = set()
        self._is_fixed = False
        """Whether persons have made a hit final before all tables had reported. What is reported
        later counts from it on: from which event on, is not looked at.
        """

    def add(self, fact: dict[str, Any]) -> None:
        """Add the next fact of the ledger."""
        if fact["fact"] == "terms_given" and self._begun == NEVER:
            self._begun = fact["time"], "", "", 0
        elif fact["fact"] == "heard":
            until = fact["time"], fact["table"], "", 0
            self._reported[fact["table"]] = max(self._until(fact["table"]), until)
        elif fact["fact"] == "ordered" and fact["order"]["type"] == "hit.fix":
            self._is_fixed = True
        elif (cause := fact.get("cause")) is not None:
            key = cause["table"], cause["boot"], cause["seq"]
            before, own = self._until(key[0]), (cause["time"], *key)
            at = own if own > before else _after(before)
            posted = self._posted.get(key, at)
            if self._is_fixed and posted > at and (*posted[:3], 0) in self._hits:
                at = posted
                self._begun = max(self._begun, (*at[:3], at[3] - 1))
            if fact["fact"] == "won":
                self._hits.add((*at[:3], 0))
            self.found[key] = self._reported[key[0]] = at

    def _until(self, table: str) -> Moment:
        return max(self._reported.get(table, self._begun), self._begun)


def _after(moment: Moment) -> Moment:
    return (*moment[:3], moment[3] + 1)
