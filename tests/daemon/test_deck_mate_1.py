"""``novamas run`` with a simulated Deck Mate 1 on a pseudo-terminal: its power comes on, and that
is proved afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from nacl.public import PrivateKey

from common.confidential.boxes import open_sealed
from controller.proof.audit import audit
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import until_open
from tests.support.daemon.process import Daemon, configuration
from tests.support.programs import running
from tests.support.waiting import until

KEY = PrivateKey.generate()


def test_a_shuffler_whose_power_comes_on(
    mosquitto: Mosquitto,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    link = tmp_path / "shuffler"
    words = [
        "shuffler",
        "--protocol",
        "deck-mate-1",
        "--link",
        str(link),
        "--speed",
        "10",
        "--wait",
    ]
    command = [sys.executable, "-m", "simulators", *words]
    program = ending.enter_context(running(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
    assert program.stdout is not None
    assert program.stdin is not None
    assert json.loads(program.stdout.readline())["port"] == str(link)
    subscriber = subscribe(mosquitto.port)
    table = f"""
[surveillance]
public_key = "{bytes(KEY.public_key).hex()}"

[[table]]
id = "p1"
game = "poker-no-draw"
decree = "ARA02"

[[table.device]]
id = "shuffler"
driver = "deck-mate-1"
link = "serial://{link}?baud=19200"
"""
    made = daemon(configuration(mosquitto.port, table))
    made.start()
    until_open(subscriber, made, "p1", "shuffler")
    program.stdin.write(b"start\n")
    program.stdin.flush()

    def up() -> bool:
        state = subscriber.latest("novamas/v1/palma/p1/state") or {}
        return bool(state.get("devices", {}).get("shuffler", {}).get("state") == "up")

    until("the shuffler is up", up, made.log)
    assert made.stop() == 0
    proved = audit(made.folder / "journal.sqlite3", lambda body: bytes(open_sealed(body, KEY).body))
    assert proved.differences == []
    assert proved.proved_readings == proved.readings > 0
