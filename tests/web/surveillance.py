"""A room of surveillance for a test: a real broker and daemon, a roulette that is fed by hand, a
table of poker with hidden cards, and an archive of all messages.
"""

from __future__ import annotations

import json
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from nacl.public import PrivateKey

from common.confidential.boxes import format_public_key
from common.confidential.key_file import write_key_file
from common.contract.topics import level
from common.people.signed_command import sign
from controller.cli.web import write_laws
from subscribers.surveillance.open_archive import open_archive
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import until_open
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.daemon.tables import poker_table
from tests.support.devices.parts import Pty
from tests.support.people.signing import SIGNED, answer, claims, enrol
from tests.support.people.staff import KEY_OF, secret
from tests.support.waiting import until
from tests.support.web.pit import PINS, console
from tests.support.web.server import WebServer
from tests.web.archived import archive_records

SITE = "palma"
HIDDEN = ("Ah", "2c", "Th", "3c", "9h", "4c", "8h", "5c", "7h")
"""The cards dealt face down at ``p1``, to the box and the bank in turn."""
LAST = "6c"
"""The last card, which lies face up."""


class Room:
    """Roulette at ``r1``, poker without draw at ``p1``. ``key``: the file of surveillance's key."""

    def __init__(self, folder: Path, ending: ExitStack) -> None:
        self.folder, self._ending = folder, ending
        self.broker = Mosquitto(folder / "mosquitto")
        ending.callback(self.broker.kill)
        self.broker.start()
        self.wheel = Wheel(folder / "wheel")
        ending.callback(self.wheel.close)
        (folder / "reader").mkdir()
        self.reader = Pty(folder / "reader")
        ending.callback(self.reader.unplug)
        self.key = folder / "surveillance.key"
        made = PrivateKey.generate()
        write_key_file(self.key, made.encode())
        given = configuration(
            self.broker.port, table("r1", self.wheel), poker_table(self.reader.url), people=SIGNED
        )
        given += f'\n[surveillance]\npublic_key = "{format_public_key(made.public_key)}"\n'
        self.daemon = Daemon(folder, given)
        ending.callback(self.daemon.kill)
        self.people = enrol(folder)
        self.subscriber = Subscriber(self.broker.port)
        ending.callback(self.subscriber.close)
        self.daemon.start()
        until_open(self.subscriber, self.daemon, "p1", "reader")
        until("r1", lambda: self.subscriber.on("/r1/state"), self.daemon.log)
        self.archive = folder / "archive.sqlite3"
        self.laws = str(write_laws(folder / "web"))
        self.pit = console(folder / "pit", SITE, self.people, laws=self.laws)

    def say(self, who: str, where: str, command: str, **fields: Any) -> Any:
        """A signed command to a table, which is followed."""
        topic = f"novamas/v1/{SITE}/{where}"
        role = fields.pop("role", "table_head")
        given = claims(who, command, role, aud=topic, fields=fields)
        self.subscriber.publish(
            f"{topic}/command/{level(command)}", sign(secret(KEY_OF[who]), given).encode()
        )
        reply = answer(self.subscriber, given)
        assert reply["ok"], reply
        return reply

    def spin(self, count: int, number: str) -> None:
        """A spin with a result."""
        self._spun("round.opened", 2, count, "  ")
        self.wheel.show(3, count, "  ")
        self._spun("bets.closed", 4, count, "  ")
        self._spun("round.result", 5, count, number)

    def void(self, count: int) -> None:
        """A spin in which the ball runs with the rotor; a head of table makes it void."""
        self._spun("round.opened", 2, count, "  ")
        known = len(self.subscriber.events("irregularity"))
        self.wheel.show(3, count, "  ", warning="2")
        self.until_said("irregularity", known + 1)
        self.say("m-lasa", "r1", "round.void", reason="ball_with_rotor")

    def _spun(self, kind: str, state: int, count: int, number: str) -> None:
        known = len(self.subscriber.events(kind))
        self.wheel.show(state, count, number)
        self.until_said(kind, known + 1)

    def until_said(self, kind: str, count: int) -> None:
        until(kind, lambda: len(self.subscriber.events(kind)) >= count, self.daemon.log)

    def deal(self) -> None:
        """A round of poker, as far as all cards are dealt."""
        self.reader.say(b"[Game]<Alarm:E9 AH misread>\r\n")  # so that the reader is up
        until("sealed", lambda: self.subscriber.on("/p1/sealed"), self.daemon.log)
        for command, fields in (
            ("session.open", {}),
            ("deck.check", {"cards": 52}),
            ("bets.open", {}),
            ("boxes.set", {"boxes": [1]}),
            ("bets.close", {}),
        ):
            self.say("m-lasa", "p1", command, **fields)
        for count, card in enumerate((*HIDDEN, LAST), 1):
            self.reader.say(f"[Game]<Card:{card.replace('T', '10').upper()}>\r\n".encode())
            self.until_said("card.dealt", count)

    def keep(self) -> None:
        """Store all messages so far in the archive."""
        until("a checkpoint", lambda: self.subscriber.on("/checkpoint"), self.daemon.log)
        with closing(open_archive(str(self.archive))) as archive:
            archive.store(archive_records(self.subscriber.messages))

    def pin(self, who: str) -> None:
        """A file with the PIN of a person, for a script."""
        path = self.folder / f"{who}.pin"
        path.touch(0o600)
        path.write_text(PINS[who])

    def serve(self, **more: Any) -> WebServer:
        given = {
            "site": SITE,
            "pit": self.pit,
            "archive": str(self.archive),
            "cards_key": str(self.key),
        }
        tables = [("r1", False), ("p1", False)]
        web = WebServer(self.folder / "web", self.broker.port, tables, **{**given, **more})
        self._ending.callback(web.kill)
        return web

    def search_settings(self) -> str:
        return json.dumps(
            {
                "archive": str(self.archive),
                "site": SITE,
                "tables": ["r1", "p1"],
                "laws": self.laws,
            }
        )

    def cards_settings(self) -> str:
        state = str(self.folder / "state")
        given = {"archive": str(self.archive), "site": SITE, "pit": self.pit, "state": state}
        return json.dumps(given)
