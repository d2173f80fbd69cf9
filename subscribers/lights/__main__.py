"""``python -m subscribers.lights --settings JSON``: scenes over sACN or Art-Net, and relays, on a
jackpot's hit or a number of a wheel. ``novamas lights`` starts it with the settings from a
configuration.
"""

from __future__ import annotations

import argparse
import asyncio

import msgspec

from common.command_line import end_process
from subscribers.essential import NamedWork, end_at_signal, ending_process, run_together
from subscribers.feed.floor import Floor
from subscribers.feed.live import LiveResults
from subscribers.feed.worlds import now, receivers
from subscribers.lights.packets import Levels
from subscribers.lights.relay import Relay
from subscribers.lights.scenes import LightScenes
from subscribers.lights.settings import LightProgramSettings, LightSettings
from subscribers.lights.universe import UniverseSender
from subscribers.service_log import log_lines


class Light:
    """One light: its scenes, and what it shows of them."""

    def __init__(self, settings: LightSettings, floor: Floor, site: str) -> None:
        self.scenes = LightScenes(settings, floor)
        self._rest = settings.rest
        self._shown: Relay | UniverseSender = (
            Relay(settings, self.is_on)
            if settings.protocol == "relay"
            else UniverseSender(settings, site, self.levels)
        )

    def is_on(self) -> bool:
        """Return whether a relay is on now."""
        return self.scenes.scene() is not None

    def levels(self) -> Levels:
        """Return the values of the channels now: of the scene or at rest; none without a broker."""
        scene = self.scenes.scene()
        if scene is not None:
            return scene.channels
        return self._rest if self.scenes.connected else {}

    async def show(self, stop: asyncio.Event) -> None:
        """Show the scenes until ``stop`` is set; then nothing."""
        await self._shown.show(stop)


class LightProgram:
    """The lights of one configuration."""

    def __init__(self, settings: LightProgramSettings) -> None:
        self._settings = settings
        scenes = [(light, scene) for light in settings.lights for scene in light.scene]
        self.floor = Floor(
            {scene.table: light.simulated for light, scene in scenes if scene.table},
            now,
            {scene.jackpot: light.simulated for light, scene in scenes if scene.jackpot},
        )
        self.lights = [Light(light, self.floor, settings.site) for light in settings.lights]
        self._live = LiveResults(self.floor)
        self.floor.listeners.append(self._on_message)

    def _on_message(self, table: str, leaf: str, body: bytes) -> None:
        result = self._live.on_event(table, body) if leaf == "event" else None
        if result is not None:
            for light in self.lights:
                light.scenes.on_result(result)

    async def run(self, stop: asyncio.Event) -> None:
        """Run until ``stop`` is set."""
        settings = self._settings
        receiving = receivers(self.floor, settings.site, settings.broker)
        await run_together(receiving, self._showing(stop), stop)

    def _showing(self, stop: asyncio.Event) -> NamedWork:
        for settings, light in zip(self._settings.lights, self.lights, strict=True):
            yield f"light {settings.id}", light.show(stop)


async def _run(settings: LightProgramSettings) -> None:
    stop = asyncio.Event()
    end_at_signal(stop.set)
    with ending_process():
        await LightProgram(settings).run(stop)


def main(argv: list[str] | None = None) -> int:
    """Run until a signal. Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m subscribers.lights", description=__doc__)
    parser.add_argument("--settings", required=True, metavar="JSON", help="by novamas lights")
    settings = msgspec.json.decode(parser.parse_args(argv).settings, type=LightProgramSettings)
    log_lines("json")
    asyncio.run(_run(settings))
    return 0


if __name__ == "__main__":
    end_process(main())
