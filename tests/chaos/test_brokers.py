"""Troubles with the broker that are not its sudden end."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from itertools import pairwise

from controller.mqtt.publisher import MAX_REFUSED_RETRY_SECONDS
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.chaos.archive import events_of
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import sound
from tests.support.waiting import until


def stored(floor: Floor) -> int:
    """How many events the journal holds."""
    return len(events_of(floor.journal))


def test_a_broker_that_refuses_us_for_a_while(floor: Callable[..., Floor]) -> None:
    made = floor()
    users = made.folder / "users"
    subprocess.run(["mosquitto_passwd", "-c", "-b", users, "pit", "correct-horse"], check=True)
    subprocess.run(["mosquitto_passwd", "-b", users, "archive", "battery"], check=True)
    (made.folder / "secret").write_text("correct-horse")
    assert isinstance(made.broker, Mosquitto)
    made.broker.configure("allow_anonymous false", f"password_file {users}")
    made.daemon.file.write_text(
        made.configuration(f'username = "pit"\npassword_file = "{made.folder / "secret"}"')
    )
    archive = made.start(username="archive", password="battery")
    made.until_results(1)
    made.broker.kill()
    subprocess.run(["mosquitto_passwd", "-b", users, "pit", "another"], check=True)
    made.broker.start()
    known = stored(made)

    def why_not_reached() -> list[str]:
        return [line["reason"] for line in made.daemon.logged("broker not reached")]

    until("it is refused", lambda: "Not authorized" in str(why_not_reached()), made.daemon.log)
    until("the table plays on", lambda: stored(made) > known + 3, made.daemon.log)
    let_in = made.logged("broker connected")
    (made.folder / "secret").write_text("another")
    until(
        "it is let in",
        lambda: made.logged("broker connected") > let_in,
        made.daemon.log,
        timeout=2 * MAX_REFUSED_RETRY_SECONDS,
    )
    reasons = why_not_reached()
    # a line for each change, none for each attempt
    assert all(reason != after for reason, after in pairwise(reasons))
    made.until_results(1)
    sound(made)
    assert archive.tally.events


def test_two_daemons_with_one_client_id(floor: Callable[..., Floor]) -> None:
    """Each throws the other out. Nothing is lost, both health reports show it, and the broker is
    not flooded.
    """
    made = [floor()]
    made.append(floor("twin", site="twin", broker=made[0].broker))
    for each in made:  # a command to one of those who share an id may come to the other
        each.start()
        each.daemon.stop()
    for each in made:
        each.daemon.file.write_text(each.configuration('client_id = "one"'))
        each.start_daemon()
    for each in made:
        assert each.archive is not None
        timeout = 2 * MAX_REFUSED_RETRY_SECONDS
        until(
            "it says so",
            partial(each.logged, "another client has our client id, it seems"),
            each.daemon.log,
            timeout,
        )
        until(
            "the alert is retained",
            partial(each.archive.latest, "r1/alert/broker-client-id"),
            each.daemon.log,
            timeout,
        )
        each.until_results(1)
    for each in made:
        assert each.logged("broker connected") <= 15
    made[1].daemon.file.write_text(made[1].configuration())
    made[1].daemon.stop()
    made[1].start_daemon()
    made[1].until_results(1)
    for each in made:
        sound(each)
