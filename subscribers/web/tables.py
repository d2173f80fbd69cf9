"""The pictures of all tables and jackpots, each built once per change and language for all
browsers.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from common.contract.retained import History
from subscribers.display import jackpot
from subscribers.display.picture import Picture, table_picture
from subscribers.display.round_store import RoundStore
from subscribers.display.rounds import (
    MAX_ROUNDS,
    EndingEvent,
    PlayedRound,
    merge_rounds,
    round_from_event,
    round_from_line,
)
from subscribers.feed.floor import Floor


class Pictures:
    """The pictures for browsers, and the ended rounds on which they are based."""

    def __init__(self, floor: Floor, store: RoundStore) -> None:
        self._floor = floor
        self.store = store
        self._rounds = {table: store.latest(table, MAX_ROUNDS) for table in floor.known}
        self._made: dict[tuple[str, str | None], tuple[int, bytes]] = {}
        floor.listeners.append(self._on_message)

    def rounds(self, table: str) -> tuple[PlayedRound, ...]:
        """Return the latest rounds of a table, oldest first."""
        return self._rounds[table]

    def json(self, table: str, language: str | None) -> bytes:
        """Return the picture of a table or jackpot as one line of JSON."""
        change = self._floor.changed[table]
        made = self._made.get((table, language))
        if made is None or made[0] != change:
            made = change, msgspec.json.encode(self._draw(table, language))
            self._made[table, language] = made
        return made[1]

    def _draw(self, table: str, language: str | None) -> Picture | jackpot.JackpotPicture:
        floor, meter = self._floor, self._floor.meters.get(table)
        if meter is None:
            return table_picture(
                floor.known[table], self.rounds(table), floor.outdated[table], language
            )
        return jackpot.jackpot_picture(
            meter, floor.no_broker(meter.simulated), floor.now(), language
        )

    def for_language(self, language: str | None) -> Callable[[str], bytes]:
        """Return :meth:`json` for one language."""
        return lambda table: self.json(table, language)

    def _on_message(self, table: str, leaf: str, body: bytes) -> None:
        """Store the outcome of a round, however old."""
        try:
            if leaf == "event":
                found = [round_from_event(msgspec.json.decode(body, type=EndingEvent))]
            elif leaf == "history" and body:
                found = self._missed(table, msgspec.json.decode(body, type=History))
            else:
                return
        except (ValueError, RecursionError):  # another event, or unreadable
            return
        self._store(table, [round_ for round_ in found if round_ is not None])

    def _missed(self, table: str, history: History) -> list[PlayedRound | None]:
        """Return rounds of a table's history that differ from the stored ones."""
        known = {(round_.session, round_.round): round_ for round_ in self._rounds[table]}
        published = [round_from_line(history.session, line) for line in history.results]
        return [
            round_
            for round_ in published
            if _differs(known.get((round_.session, round_.round)), round_)
        ]

    def _store(self, table: str, rounds: list[PlayedRound]) -> None:
        if not rounds:
            return
        self._rounds[table] = merge_rounds(self._rounds[table], rounds)
        for round_ in rounds:
            self.store.store(table, round_)
        self._floor.touch(table)


def _differs(known: PlayedRound | None, published: PlayedRound) -> bool:
    """Return True if ``history`` has details of a round that its received events lack."""
    return known is None or (known.kind, known.outcome) != (published.kind, published.outcome)
