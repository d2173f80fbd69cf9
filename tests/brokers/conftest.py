"""One engine, and one floor that plays at it, for the tests of a module."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.chaos.conftest import SEED
from tests.conftest import LONG
from tests.support.brokers.engines import ENGINES, LONG_ALONE, Engine
from tests.support.brokers.mosquitto import Subscriber
from tests.support.chaos.floor import Floor

ALSO_SHORT = ("test_contract", "test_faults", "test_jackpot")
"""The modules of which ``make test`` has a short form."""


@pytest.fixture(autouse=True, scope="module")
def long_alone(request: pytest.FixtureRequest) -> None:
    """The other modules are run by ``make brokers``."""
    if request.module.__name__.rpartition(".")[2] not in ALSO_SHORT and LONG not in os.environ:
        pytest.skip("make brokers runs it")


@pytest.fixture
def seed() -> int:
    return int(os.environ.get(SEED, "1"))


@pytest.fixture(scope="module", params=ENGINES)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """Each engine in turn."""
    short = getattr(request.module, "SHORT", [each for each in ENGINES if each not in LONG_ALONE])
    if request.param not in short and LONG not in os.environ:
        pytest.skip(f"{request.param}: make brokers")
    with ExitStack() as stack:
        kinds = getattr(request.module, "KINDS", ENGINES)
        yield kinds[request.param](tmp_path_factory.mktemp(request.param), stack)


@pytest.fixture(scope="module")
def floor(
    programs: None, engine: Engine, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Floor]:
    """Two tables with wheels in play, and an archive subscribed to them."""
    with ExitStack() as stack:
        made = Floor(
            tmp_path_factory.mktemp("floor"),
            tables=2,
            broker=engine,
            url=engine.url,
            settings=engine.settings,
            hears={**engine.hears, "session": "archive"},
        )
        stack.callback(made.close)
        made.start()
        yield made


@pytest.fixture
def listen(engine: Engine, request: pytest.FixtureRequest) -> Iterator[Callable[..., Subscriber]]:
    """``listen(*topics, session="")``: a client at the engine."""
    with ExitStack() as stack:

        def make(*topics: str, **how: Any) -> Subscriber:
            made = Subscriber(0, *topics, **{**engine.hears, **how})
            stack.callback(
                lambda: request.node.add_report_section("teardown", "", made.transcript())
            )
            stack.callback(made.close)
            return made

        yield make
