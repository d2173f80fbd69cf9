"""However the daemon ends, it ends within seconds, with a status that has it restarted, and every
client receives ``offline``.
"""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from controller.service.ending import EXIT_SOFTWARE
from tests.daemon.faults import TAKEN, TASKS
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import TABLE, command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until

Make = Callable[[str], Daemon]
Subscribe = Callable[..., Subscriber]
NAMES = {"device": "device wheel of table r1", "reader": "publisher", "sender": "publisher"}
"""The essential task that a fault ends, where it has another name than what fails in it."""
DEADLY = [
    *[f"{task} raises" for task in TASKS],
    *[f"{task} returns" for task in TASKS if task != "sender"],
    "health is cancelled",
    "reader is cancelled",
    "sender is cancelled",
    "publisher is cancelled",
    "device is cancelled",
]


def test_each_task_that_is_broken_here_exists() -> None:
    """A task that was renamed is noticed by the quick tests."""
    for kind, name in TASKS.values():
        assert callable(getattr(kind, name)), (kind, name)


@pytest.fixture
def faulty(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> Callable[..., tuple[Daemon, Subscriber]]:
    """``faulty(fault)``: a connected daemon with that fault injected, and a subscriber."""

    def make(fault: str, broker: str = "") -> tuple[Daemon, Subscriber]:
        subscriber = subscribe(mosquitto.port)
        made = daemon(configuration(mosquitto.port, table("r1", wheel), broker=broker))
        made.program = ("-m", "tests.daemon.faults", fault)
        made.start(WATCHDOG_USEC="1000000")
        until_up(subscriber, made)
        until(
            "it is online",
            lambda: (subscriber.latest("/status") or {}).get("status") == "online",
            made.log,
        )
        return made, subscriber

    return make


def is_offline(
    mosquitto: Mosquitto, made: Daemon, subscriber: Subscriber, subscribe: Subscribe
) -> bool:
    """Whether every client has received it, including one that connects later."""
    until("it is offline", lambda: subscriber.latest("/status")["status"] == "offline", made.log)
    late = subscribe(mosquitto.port, "novamas/v1/palma/node/#")
    until("the status is retained", lambda: late.latest("/status"))
    return bool(late.latest("/status") == {"status": "offline", "boot": made.boot()})


@pytest.mark.parametrize("fault", DEADLY)
def test_when_an_essential_task_dies_the_daemon_ends_and_is_offline(
    faulty: Callable[..., tuple[Daemon, Subscriber]],
    mosquitto: Mosquitto,
    subscribe: Subscribe,
    fault: str,
) -> None:
    made, subscriber = faulty(fault)
    made.signal(signal.SIGUSR1)
    assert made.wait() == EXIT_SOFTWARE
    task = fault.removesuffix(" raises").removesuffix(" returns").removesuffix(" is cancelled")
    assert [line["task"] for line in made.logged("essential task died")] == [NAMES.get(task, task)]
    assert not made.logged("the daemon did not stop in time; the process is ended")
    assert is_offline(mosquitto, made, subscriber, subscribe)


def test_when_the_journal_has_no_writer_any_more_the_daemon_ends(
    faulty: Callable[..., tuple[Daemon, Subscriber]],
    mosquitto: Mosquitto,
    subscribe: Subscribe,
    wheel: Wheel,
) -> None:
    made, subscriber = faulty("writer raises")
    made.signal(signal.SIGUSR1)
    wheel.unplug()
    assert made.wait() == EXIT_SOFTWARE
    assert [line["task"] for line in made.logged("essential task died")] == ["journal"]
    assert is_offline(mosquitto, made, subscriber, subscribe)


@pytest.mark.parametrize("fault", ["lost and cancelled", "will not end, and health raises"])
def test_no_task_keeps_the_others_from_ending(
    faulty: Callable[..., tuple[Daemon, Subscriber]],
    mosquitto: Mosquitto,
    subscribe: Subscribe,
    fault: str,
) -> None:
    made, subscriber = faulty(fault)
    made.signal(signal.SIGUSR1)
    assert made.wait() == EXIT_SOFTWARE
    assert bool(made.logged("the daemon did not stop in time; the process is ended")) == (
        fault != "lost and cancelled"
    )
    assert is_offline(mosquitto, made, subscriber, subscribe)


@pytest.mark.parametrize("fault", ["will not end", "nothing goes on"])
def test_sigterm_always_ends_it(
    faulty: Callable[..., tuple[Daemon, Subscriber]],
    mosquitto: Mosquitto,
    subscribe: Subscribe,
    fault: str,
) -> None:
    made, subscriber = faulty(fault)
    made.signal(signal.SIGUSR1)
    if fault == "nothing goes on":
        until("the fault strikes", lambda: made.logged(TAKEN), made.log)
    made.signal(signal.SIGTERM)
    assert made.wait() == EXIT_SOFTWARE
    [told] = made.logged("the daemon did not stop in time; the process is ended")
    assert any("in run" in thread for thread in told["threads"])
    assert is_offline(mosquitto, made, subscriber, subscribe)


def test_the_will_is_published_with_mqtt_3_too(
    faulty: Callable[..., tuple[Daemon, Subscriber]], mosquitto: Mosquitto, subscribe: Subscribe
) -> None:
    made, subscriber = faulty("reader raises", broker='protocol = "3.1.1"')
    made.signal(signal.SIGUSR1)
    assert made.wait() == EXIT_SOFTWARE
    assert is_offline(mosquitto, made, subscriber, subscribe)


def test_work_that_no_table_waits_for_ends_nothing(
    faulty: Callable[..., tuple[Daemon, Subscriber]], wheel: Wheel
) -> None:
    made, subscriber = faulty("no day can be sealed")
    until("the alert", lambda: subscriber.latest(f"{TABLE}/alert/journal-seal"), made.log)
    assert "OverflowError" in subscriber.latest(f"{TABLE}/alert/journal-seal")["detail"]
    assert command(subscriber, "session.open")["ok"]
    assert spin(wheel, subscriber, "17", 2)["outcome"]["number"] == 17
    assert made.stop() == 0


def test_after_its_death_it_is_started_again_and_plays(
    faulty: Callable[..., tuple[Daemon, Subscriber]], mosquitto: Mosquitto
) -> None:
    made, subscriber = faulty("journal upkeep raises")
    assert command(subscriber, "session.open")["ok"]
    made.signal(signal.SIGUSR1)
    assert made.wait() == EXIT_SOFTWARE
    made.start()
    until_up(subscriber, made)
    assert subscriber.latest(f"{TABLE}/state")["shown"]["phase"] != "closed"
    assert made.stop() == 0
