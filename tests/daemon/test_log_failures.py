"""A log that cannot be written ends nothing and changes no exit status; health reports it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from controller.service.health import REPORT_INTERVAL_SECONDS
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, spin
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import TIMEOUT_SECONDS, until

Make = Callable[[str], Daemon]
TROUBLE = {"full": "No space left on device", "closed": "Broken pipe"}


@pytest.fixture(params=sorted(TROUBLE))
def broken(request: pytest.FixtureRequest) -> Iterator[tuple[str, int]]:
    """A descriptor that nothing can be written to, and how it is called."""
    with ExitStack() as stack:
        if request.param == "full":
            made = os.open("/dev/full", os.O_WRONLY)
        else:
            reader, made = os.pipe()
            os.close(reader)
        stack.callback(os.close, made)
        yield request.param, made


def test_the_tables_play_on_and_health_counts(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Make,
    subscribe: Callable[..., Subscriber],
    broken: tuple[str, int],
) -> None:
    kind, descriptor = broken
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel)))
    made.stderr = descriptor
    made.start()
    until(
        "the wheel is up",
        lambda: (
            subscriber.events("device.state")
            and subscriber.events("device.state")[-1]["state"] == "up"
        ),
    )
    assert command(subscriber, "session.open")["ok"]
    assert spin(wheel, subscriber, "17", 2)["outcome"]["number"] == 17

    def told() -> bool:
        log = subscriber.latest("/health")["log"]
        return bool(log["trouble"] == TROUBLE[kind] and log["lost"] >= 3)

    until(
        "health says so", told, timeout=REPORT_INTERVAL_SECONDS + TIMEOUT_SECONDS
    )  # lines are counted as they are lost
    assert made.stop() == 0
    until("the farewell", lambda: subscriber.latest("/status")["status"] == "offline")


def test_the_exit_status_stays_the_same(daemon: Make, broken: tuple[str, int]) -> None:
    made = daemon("[site]\n")
    made.stderr = broken[1]
    made.start()
    assert made.wait() == 78


def test_so_does_that_of_a_journal_that_cannot_be_used(
    wheel: Wheel, daemon: Make, broken: tuple[str, int]
) -> None:
    made = daemon(configuration(1883, table("r1", wheel)))
    (made.folder / "journal.sqlite3").mkdir()
    made.stderr = broken[1]
    made.start()
    assert made.wait() == 1
