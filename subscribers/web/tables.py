"""The pictures of all tables and jackpots, each built once per change and language for all
browsers.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from subscribers.display import jackpot
from subscribers.display.picture import Picture, table_picture
from subscribers.display.round_store import RoundStore
from subscribers.display.rounds import (
    MAX_ROUNDS,
    PlayedRound,
    ended_rounds,
    merge_rounds,
)
from subscribers.feed.floor import Floor


class Pictures:
    """The pictures for browsers, and the ended rounds on which they are based. ``dealer``: whether
    they name the croupier.
    """

    def __init__(self, floor: Floor, store: RoundStore, *, dealer: bool = False) -> None:
        self._floor, self._dealer = floor, dealer
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
                floor.known[table],
                self.rounds(table),
                floor.outdated[table],
                language,
                dealer=self._dealer,
            )
        return jackpot.jackpot_picture(
            meter, floor.no_broker(meter.simulated), floor.now(), language
        )

    def for_language(self, language: str | None) -> Callable[[str], bytes]:
        """Return :meth:`json` for one language."""
        return lambda table: self.json(table, language)

    def _on_message(self, table: str, leaf: str, body: bytes) -> None:
        """Store the outcome of a round, however old."""
        self._store(table, ended_rounds(self._rounds[table], leaf, body))

    def _store(self, table: str, rounds: list[PlayedRound]) -> None:
        if not rounds:
            return
        self._rounds[table] = merge_rounds(self._rounds[table], rounds)
        for round_ in rounds:
            self.store.store(table, round_)
        self._floor.touch(table)
