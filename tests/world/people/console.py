"""The web server's console and keypads as a program of the world, below HTTP: signing in, the view
of a table, touches and keys are the code that a browser's requests reach.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from pathlib import Path

from common import clock
from common.contract.times import format_utc
from common.contract.topics import Topics
from common.people.register import to_base64url
from subscribers.console.settings import PitSettings
from subscribers.feed.floor import Floor
from subscribers.feed.tables import BrokerLogin, table_feed
from subscribers.web.keypads import Keypads
from subscribers.web.pit import Pit
from subscribers.web.settings import WebSettings, WebTable
from tests.world.people.staff import FILE_NAME, SITE

BEAT_SECONDS = 1.0
"""As a stream to a browser, which looks for answers that did not come."""


class Desk:
    """One life of the server."""

    def __init__(self, web: WebSettings) -> None:
        assert web.pit is not None
        self.floor = Floor(
            {table.id: table.simulated for table in web.tables}, lambda: format_utc(clock.wall())
        )
        self.pit = Pit(web.pit, web, self.floor, lambda: True)
        self.keypads = Keypads(self.pit, self.floor, {})
        self._web = web

    async def serve(self) -> None:
        """Serve until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self.pit.run())
            group.create_task(self._beat())

    async def _listen(self) -> None:
        tables = [table.id for table in self._web.tables]
        messages = table_feed(self._web.broker, Topics(self._web.site), tables)
        async with contextlib.aclosing(messages) as feed:
            async for message in feed:
                self.floor.on_message(False, message)

    async def _beat(self) -> None:
        while True:
            await clock.sleep(BEAT_SECONDS)
            self.pit.sending.query_outcomes(self.pit.door.sessions.all)


class Console:
    """The program with its files in ``folder``. ``desk``: its present life."""

    def __init__(
        self, folder: Path, tables: Iterable[str], url: str, site_key: str, pepper: bytes
    ) -> None:
        self.folder, self.keys, self.pepper = folder, folder / "keys", pepper
        self.desk: Desk | None = None
        self.keys.mkdir(parents=True)
        pepper_file = folder / "pepper"
        pepper_file.write_text(to_base64url(pepper), encoding="ascii")
        pepper_file.chmod(0o600)
        self._settings = WebSettings(
            site=SITE,
            broker=BrokerLogin(url=url),
            tables=tuple(WebTable(table) for table in tables),
            state=str(folder / "state"),
            pit=PitSettings(
                people_file=str(folder / FILE_NAME),
                people_key=site_key,
                keys=str(self.keys),
                pepper=str(pepper_file),
            ),
        )

    async def serve(self, stop: asyncio.Event) -> None:
        """Serve one life, until ``stop``."""
        self.desk = Desk(self._settings)
        serving = asyncio.create_task(self.desk.serve())
        stopping = asyncio.create_task(stop.wait())
        done, waiting = await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
        for task in waiting:
            task.cancel()
        for task in done:
            task.result()
