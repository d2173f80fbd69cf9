"""A floor with two linked tables that ends with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.carrousel.floor import Controller, Dealer, Floor, terms

Make = Callable[..., Floor]


@pytest.fixture
def make(programs: None, tmp_path: Path) -> Iterator[Make]:
    """``make(**terms)``: a floor whose controller is in play."""
    with ExitStack() as ending:

        def made(settings: dict[str, Any] | None = None, **fields: Any) -> Floor:
            broker = Mosquitto(tmp_path / "mosquitto")
            ending.callback(broker.kill)
            broker.start()
            subscriber = Subscriber(broker.port, "#")
            ending.callback(subscriber.close)
            dealer = Dealer(broker.port)
            ending.callback(dealer.close)
            dealer.serve("poker-1", "poker-2")
            controller = Controller(
                tmp_path / "carrousel",
                broker.port,
                terms("poker-1", "poker-2", **fields),
                **(settings or {}),
            )
            ending.callback(controller.kill)
            controller.start()
            floor = Floor(broker, subscriber, dealer, controller)
            floor.in_play("poker-1", "poker-2")
            return floor

        yield made


@pytest.fixture
def floor(make: Make) -> Floor:
    """A progressive jackpot."""
    return make()
