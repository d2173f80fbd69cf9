"""``novamas run`` with a wheel that a profile of the site describes: from the wire to a subscriber,
and proved afterwards.
"""

from __future__ import annotations

import os
import threading
import tty
from collections.abc import Callable, Iterator
from functools import reduce
from operator import xor
from pathlib import Path

import pytest

from controller.proof.audit import audit
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import TABLE, command, until_more, until_up
from tests.support.daemon.process import Daemon, configuration
from tests.support.devices.described import FOLDER
from tests.support.waiting import until


class Rota:
    """An Acme Rota on a pseudo-terminal: it repeats its state, and reports a result on request."""

    PERIOD = 0.2

    def __init__(self, link: Path) -> None:
        self.link = link
        self.state = b"S0000"
        self._master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self._master, False)
        link.symlink_to(os.ttyname(slave))
        self._slave = slave
        self._count = 0
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._repeat)
        self._thread.start()

    def say(self, body: bytes) -> None:
        with self._lock:
            content = b"%02d%b\x03" % (self._count, body)
            self._count = (self._count + 1) % 100
            os.write(self._master, b"\x02%b%02X" % (content, reduce(xor, content)))

    def heard(self) -> bytes:
        try:
            return os.read(self._master, 4096)
        except BlockingIOError:
            return b""

    def _repeat(self) -> None:
        while not self._end.wait(self.PERIOD):
            self.say(self.state)

    def close(self) -> None:
        self.link.unlink()  # first: the next terminal that anybody makes may have the same number
        self._end.set()
        self._thread.join()
        os.close(self._master)
        os.close(self._slave)


@pytest.fixture
def rota(tmp_path: Path) -> Iterator[Rota]:
    made = Rota(tmp_path / "rota")
    yield made
    made.close()


def test_a_spin_of_a_described_wheel(
    mosquitto: Mosquitto,
    rota: Rota,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
) -> None:
    text = (FOLDER / "acme-rota.toml").read_text()
    (tmp_path / "rota.toml").write_text(
        text.replace("period = 0.5", "period = 20.0")
    )  # a busy machine is no silence
    table = f"""
[[table]]
id = "r1"
game = "roulette-french"
decree = "ARA02"

[[table.device]]
id = "wheel"
driver = "profile"
link = "serial://{rota.link}?baud=19200"
options = {{ file = "rota.toml" }}
stale_after = 20.0
"""
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table))
    made.start()
    until_up(subscriber, made)
    assert command(subscriber, "session.open")["ok"]
    for state, kind in ((b"S1250", "round.opened"), (b"S2248", None), (b"S3231", "bets.closed")):
        known = len(subscriber.events(kind)) if kind else 0
        rota.state = state
        rota.say(state)
        if kind:
            until_more(subscriber, kind, known)
    for said in (b"N17004", b"N17004", b"S4215", b"N17004"):
        rota.say(said)
    rota.state = b"S4215"
    result = until_more(subscriber, "round.result", 0)[0]
    assert (result["outcome"]["number"], result["spin"]) == (17, 4)
    assert r"N17004" in "".join(frame["frame"] for frame in result["frames"])
    assert subscriber.latest(f"{TABLE}/info")["about"]["devices"] == {"wheel": "profile"}
    until("the wheel is asked for its state", lambda: b"\x02?\x033C" in rota.heard(), made.log)
    assert made.stop() == 0
    (tmp_path / "rota.toml").unlink()  # the journal knows what the readings were made by
    proved = audit(tmp_path / "journal.sqlite3")
    assert proved.differences == []
    assert proved.proved_readings == proved.readings > 0
