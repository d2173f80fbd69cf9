"""From which seed; floors that end with their test."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.chaos.floor import Floor

SEED = "NOVAMAS_CHAOS_SEED"


@pytest.fixture
def seed() -> int:
    return int(os.environ.get(SEED, "1"))


@pytest.fixture
def floor(
    programs: None, tmp_path: Path, seed: int, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Floor]]:
    """``floor(tables=2)``: not yet started. If the test fails, print the log of the daemon and its
    wheels.
    """
    with ExitStack() as stack:

        def make(name: str = "floor", **settings: Any) -> Floor:
            made = Floor(tmp_path / name, **{"seed": seed, **settings})
            stack.callback(
                lambda: request.node.add_report_section("teardown", name, made.diagnosis())
            )
            stack.callback(made.close)
            return made

        yield make
