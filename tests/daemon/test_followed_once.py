"""A signed command is followed once, though the clock of the machine is put back while the daemon
does not run: a board without a battery begins with the time at which it was switched off.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from tests.daemon.test_signed_commands import key
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.chaos.faked_clock import Clock
from tests.support.daemon.play import TABLE, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.people.signing import LASA, RIERA, SIGNED, claims, enrol, say, token
from tests.support.waiting import until


def test_a_clock_that_was_put_back_brings_no_command_to_life(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
) -> None:
    clock = Clock(tmp_path)
    running = daemon(configuration(mosquitto.port, table("r1", wheel), people=SIGNED))
    enrol(running.folder)
    running.start(**clock.environment)
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, running)
    given = [
        claims(who, command, role, exp=int(time.time()) + 120)
        for who, command, role in (
            (LASA, "session.open", "table_head"),
            (LASA, "session.close", "table_head"),
            (RIERA, "session.close", "croupier"),
            (LASA, "session.open", "table_head"),
        )
    ]
    bodies = [token(each) for each in given]
    replies = [say(subscriber, each, body) for each, body in zip(given, bodies, strict=True)]
    assert [reply["ok"] for reply in replies] == [True, True, False, True]
    running.kill()
    clock.set(-3600)
    running.start(**clock.environment)
    until_up(subscriber, running)
    clock.set(0)
    events = len(subscriber.events("session.closed"))
    for each, body in zip(given, bodies, strict=True):
        assert key(say(subscriber, each, body, 2)) == "signed_already"
    until("the session is open", lambda: subscriber.latest(f"{TABLE}/state")["status"] != "closed")
    assert len(subscriber.events("session.closed")) == events
