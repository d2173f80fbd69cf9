"""The pictures of all tables and jackpots, each built once per change and language for all
browsers.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from controller.contract.retained import History
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
from subscribers.web.floor import Floor


class Pictures:
    """What browsers are shown. It listens to the floor for rounds that end, and keeps them."""

    def __init__(self, floor: Floor, store: RoundStore) -> None:
        self._floor = floor
        self.store = store
        self._rounds = {table: store.latest(table, MAX_ROUNDS) for table in floor.known}
        self._made: dict[tuple[str, str | None], tuple[int, bytes]] = {}
        floor.listeners.append(self._hear)

    def rounds(self, table: str) -> tuple[PlayedRound, ...]:
        """The latest rounds of a table, oldest first."""
        return self._rounds[table]

    def json(self, table: str, language: str | None) -> bytes:
        """The picture of a table, or of a jackpot, as one line."""
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

    def of_language(self, language: str | None) -> Callable[[str], bytes]:
        """Return the pictures for one browser's language."""
        return lambda table: self.json(table, language)

    def _hear(self, table: str, leaf: str, body: bytes) -> None:
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
        self._keep(table, [each for each in found if each is not None])

    def _missed(self, table: str, history: History) -> list[PlayedRound | None]:
        """Return rounds of a table's history that differ from the stored ones."""
        known = {(each.session, each.round): each for each in self._rounds[table]}
        told = [round_from_line(history.session, line) for line in history.results]
        return [each for each in told if _differs(known.get((each.session, each.round)), each)]

    def _keep(self, table: str, found: list[PlayedRound]) -> None:
        if not found:
            return
        self._rounds[table] = merge_rounds(self._rounds[table], found)
        for each in found:
            self.store.store(table, each)
        self._floor.touch(table)


def _differs(known: PlayedRound | None, told: PlayedRound) -> bool:
    """Return True if ``history`` has details of a round that its received events lack."""
    return known is None or (known.kind, known.outcome) != (told.kind, told.outcome)
