"""Which scene a light shows. A scene begins with a live hit or number alone, and ends when its time
is over or what it shows no longer holds.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from common import clock
from common.contract.jackpot import JackpotAward
from common.contract.times import parse_utc
from subscribers.feed.floor import JACKPOT_PREFIX, Floor
from subscribers.feed.live import MAX_AGE_SECONDS, current_state
from subscribers.feed.wheel_result import WheelResult, still_stands
from subscribers.lights.settings import LightSettings, SceneSettings

HOLDING = ("pending", "payable", "paid")
"""Statuses of an award that nobody disputes or took back."""


class PlayingScene(msgspec.Struct, frozen=True):
    """A scene, the end of its time on the monotonic clock, and its cause: a result, or the number
    of a hit.
    """

    scene: SceneSettings
    until: float
    cause: WheelResult | int


class LightScenes:
    """The scenes of one light. The latest begins; another that is on ends."""

    def __init__(self, settings: LightSettings, floor: Floor) -> None:
        self._settings, self._floor = settings, floor
        self._hits: dict[str, int | None] = {}
        """By jackpot: the last hit that was seen; None while its state is not current."""
        self._playing: PlayingScene | None = None

    def on_result(self, result: WheelResult) -> None:
        """Handle a live result of a table."""
        for scene in self._settings.scene:
            if scene.table == result.table and result.number in scene.numbers:
                self._begin(scene, result)

    def scene(self) -> SceneSettings | None:
        """Return the scene to show now, or None."""
        for jackpot in dict.fromkeys(scene.jackpot for scene in self._settings.scene):
            if jackpot is not None:
                self._check_hits(jackpot)
        if self._playing is not None and not self._holds(self._playing):
            self._playing = None
        return None if self._playing is None else self._playing.scene

    @property
    def connected(self) -> bool:
        """Return whether the broker is connected."""
        return self._floor.connected(self._settings.simulated)

    def _begin(self, scene: SceneSettings, cause: WheelResult | int) -> None:
        self._playing = PlayingScene(scene, clock.monotonic() + scene.seconds, cause)

    def _check_hits(self, jackpot: str) -> None:
        """Look for a new hit. Those known when its state became current are old."""
        seen = self._hits.get(jackpot)
        awards = [*self._awards(jackpot)]
        if self._floor.silent(JACKPOT_PREFIX + jackpot):
            self._hits[jackpot] = None
            return
        self._hits[jackpot] = max([seen or 0, *(award.hit for award in awards)])
        for award in awards:
            is_new = seen is not None and award.hit > seen
            if is_new and _is_live(award) and award.status in HOLDING:
                for scene in self._settings.scene:
                    if scene.jackpot == jackpot:
                        self._begin(scene, award.hit)

    def _awards(self, jackpot: str) -> Iterator[JackpotAward]:
        """Yield the awards that the jackpot's state shows, oldest first."""
        state = self._floor.meters[JACKPOT_PREFIX + jackpot].state
        if state is not None:
            yield from reversed(state.last)
            if state.won is not None:
                yield state.won

    def _holds(self, playing: PlayingScene) -> bool:
        if clock.monotonic() >= playing.until:
            return False
        scene, cause = playing.scene, playing.cause
        if isinstance(cause, WheelResult):
            state = current_state(self._floor, cause.table)
            return state is not None and still_stands(cause, state)
        assert scene.jackpot is not None
        latest = [award for award in self._awards(scene.jackpot) if award.hit == cause]
        return (
            self._hits.get(scene.jackpot) is not None
            and bool(latest)
            and all(award.status in HOLDING for award in latest)
        )


def _is_live(award: JackpotAward) -> bool:
    """Return whether an award was won just now."""
    try:
        return abs(clock.wall() - parse_utc(award.time)) <= MAX_AGE_SECONDS
    except ValueError:
        return False
