"""Brokers, wheels and daemons that end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table

Tell = Callable[[str, Callable[[], str]], None]


SUBSCRIBED_TOPICS = ("+/+", "+/reply/#", "+/alert/+", "node/#")
"""All topics but the commands: the subscriber's own library may not survive hostile ones."""


class Shared(NamedTuple):
    """A daemon with a wheel, and a subscriber to everything but the commands."""

    subscriber: Subscriber
    running: Daemon


@pytest.fixture(scope="module")
def shared_daemon(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """One for all tests of a module that leave it as they found it: no session is open."""
    folder = tmp_path_factory.mktemp("shared")
    with ExitStack() as stack:
        broker = Mosquitto(folder / "mosquitto")
        stack.callback(broker.kill)
        broker.start()
        made = Wheel(folder / "wheel")
        stack.callback(made.close)
        running = Daemon(folder, configuration(broker.port, table("r1", made)))
        stack.callback(running.kill)
        running.start()
        running.until_logged("broker connected")
        subscriber = Subscriber(
            broker.port, *(f"novamas/v1/palma/{topic}" for topic in SUBSCRIBED_TOPICS)
        )
        stack.callback(subscriber.close)
        until_up(subscriber, running)
        yield Shared(subscriber, running)


@pytest.fixture
def mosquitto(programs: None, tmp_path: Path, ending: ExitStack) -> Mosquitto:
    """A broker that is up and lets everybody in."""
    broker = Mosquitto(tmp_path / "mosquitto")
    ending.callback(broker.kill)
    broker.start()
    return broker


@pytest.fixture
def tell(request: pytest.FixtureRequest) -> Tell:
    """``tell(title, text)``: show this text with the test's failure, if it fails."""
    return lambda what, text: request.node.add_report_section("teardown", what, text())


@pytest.fixture
def subscribe(ending: ExitStack, tell: Tell) -> Callable[..., Subscriber]:
    """``subscribe(port)``: a client that is subscribed to everything."""

    def make(port: int, *topics: str, **credentials: Any) -> Subscriber:
        subscriber = Subscriber(port, *topics, **credentials)
        ending.callback(tell, "messages", subscriber.transcript)
        ending.callback(subscriber.close)
        return subscriber

    return make


@pytest.fixture
def wheel(tmp_path: Path, ending: ExitStack) -> Wheel:
    made = Wheel(tmp_path / "wheel")
    ending.callback(made.close)
    return made


@pytest.fixture
def daemon(
    programs: None, tmp_path: Path, ending: ExitStack, tell: Tell
) -> Callable[[str], Daemon]:
    """``daemon(configuration)``: written down, not yet started."""

    def make(configuration: str) -> Daemon:
        made = Daemon(tmp_path, configuration)
        ending.callback(tell, "log of the daemon", made.log)
        ending.callback(made.kill)
        return made

    return make
