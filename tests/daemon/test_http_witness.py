"""A camera reader that posts as the second witness of a roulette: daemon, simulator and broker are
real, and the journal is proved afterwards.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from controller.proof.audit import audit
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import command, until_more, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.devices.described import FOLDER
from tests.support.programs import running

SEEN = 17
"""All that this camera ever sees."""


def test_a_camera_that_posts_beside_a_wheel(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
    ending: ExitStack,
) -> None:
    (tmp_path / "camera.toml").write_text((FOLDER / "idp-roulette-http.toml").read_text())
    secret = tmp_path / "camera.token"
    secret.write_text("6f1ed002ab5595859014ebf0951522d9\n")
    secret.chmod(0o600)
    address = f"http://127.0.0.1:{free_port()}/camera"
    witness = f"""
[[table.device]]
id = "camera"
driver = "profile"
link = "{address}?secret_file={secret}"
options = {{ file = "camera.toml" }}
witness = true
answers_within = 1.0
"""
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel), witness))
    made.start()
    until_up(subscriber, made)
    assert command(subscriber, "session.open")["ok"]
    camera = ["wheel", "--protocol", "idp-camera", "--games-per-hour", "3600", "--speed", "4"]
    where = ["--http", address, "--secret-file", str(secret)]
    numbers = ["--numbers", ",".join([str(SEEN)] * 5000)]
    line = [sys.executable, "-m", "simulators", *camera, *where, *numbers]
    ending.enter_context(running(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE))

    def begin(count: int) -> None:
        """Play until the bets are closed and the camera has reported."""
        closed = len(subscriber.events("bets.closed"))
        for state in (2, 3, 4):
            wheel.show(state, count, "  ")
        until_more(subscriber, "bets.closed", closed)
        while (reported := subscriber.events("witness.reported")[-1:]) != []:
            if reported[0]["round"] == count:
                break
            until_more(subscriber, "witness.reported", len(subscriber.events("witness.reported")))
        else:
            until_more(subscriber, "witness.reported", 0)

    begin(1)
    assert not subscriber.events("round.result"), "a witness alone gives no result"
    wheel.show(5, 1, str(SEEN))
    (result,) = until_more(subscriber, "round.result", 0)
    assert result["witnesses"] == [{"device": "camera", "number": SEEN, "agrees": True}]

    begin(2)
    wheel.show(5, 2, "20")
    (doubt,) = until_more(subscriber, "round.unresolved", 0)
    assert (doubt["why"], doubt["candidate"]) == ("witnesses_disagree", 20)
    assert doubt["witnesses"] == [{"device": "camera", "number": SEEN, "agrees": False}]
    assert made.stop() == 0
    (tmp_path / "camera.toml").unlink()  # the journal knows what the readings were made by
    proved = audit(tmp_path / "journal.sqlite3")
    assert proved.differences == []
    assert proved.proved_readings == proved.readings > 0
