"""What several tests need."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from itertools import zip_longest
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

SHARED = Path(__file__).resolve().parents[2] / "shared"
LONG = "NOVAMAS_LONG"
"""Whether the environment has this: tests take their long form."""

# How long an example takes on a busy machine, or its making, proves nothing. The short form judges
# a commit, and the same commit alike each time; the long form looks for examples nobody has seen.
settings.register_profile(
    "novamas",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=LONG not in os.environ,
)
settings.load_profile("novamas")


def cases(short: int, whole: int) -> int:
    """How many cases of those that are drawn by chance a test takes: the whole of them in its long
    form.
    """
    return whole if LONG in os.environ else short


WAITING = (
    *("tests/chaos/", "tests/web/", "tests/controller/demo/test_demo.py", "tests/daemon/"),
    *("tests/cluster/", "tests/brokers/"),
    *("tests/controller/cli/", "tests/controller/demo/", "tests/controller/doctor/"),
    *("tests/controller/journal/test_journal_damage.py", "tests/devices/test_reader.py"),
    *("tests/simulators/", "tests/subscribers/test_", "tests/subscribers/terminal/"),
    *("tests/subscribers/display/test_permanency.py", "tests/subscribers/display/test_picture.py"),
    *("tests/subscribers/display/test_statistics.py", "tests/subscribers/video/"),
    *("tests/subscribers/surveillance/test_outages.py", "tests/subscribers/surveillance/test_s"),
)
"""Where tests spend most of their time waiting for programs, the slowest first."""
COMPUTING = (
    *("tests/mutants/", "tests/controller/confidential/test_confidential.py"),
    *("tests/controller/games/test_circle_own", "tests/controller/games/test_circle_properties"),
    "tests/controller/games/test_banked_properties",
    "tests/controller/confidential/test_two_worlds.py",
    *("tests/controller/people/test_signed", "tests/subscribers/carrousel/"),
)
"""Where they reckon for long, the slowest first. After these come those with the most tests."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Some fifteen thousand tests stay until the end. The garbage collector would look at them
    again and again, and find nothing.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several workers share the tests, they take a module that waits and one that computes
    in turn, so that neither kind is left for the end, and what takes long begins early.
    """
    if not hasattr(config, "workerinput"):
        return
    modules: dict[str, list[pytest.Item]] = {}
    for item in items:
        modules.setdefault(item.nodeid.partition("::")[0], []).append(item)
    waiting = sorted(
        (name for name in modules if name.startswith(WAITING)),
        key=lambda name: _place(name, WAITING),
    )
    computing = sorted(
        modules.keys() - set(waiting),
        key=lambda name: (_place(name, COMPUTING), -len(modules[name]), name),
    )
    turns = zip_longest(waiting, computing)
    items[:] = [item for turn in turns for name in turn if name for item in modules[name]]


def _place(module: str, first: tuple[str, ...]) -> int:
    """Its place among those that begin so, or the one after all of them."""
    places = (place for place, name in enumerate(first) if module.startswith(name))
    return next(places, len(first))


@pytest.fixture
def long() -> bool:
    """Whether this is the long form: ``make chaos``."""
    return LONG in os.environ


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with decrees and recordings beside the checkout. Needed on CI; elsewhere its tests
    are skipped.
    """
    if not SHARED.is_dir():
        if os.environ.get("CI"):
            pytest.fail(f"{SHARED.name}/ is missing beside the checkout, and CI is set")
        pytest.skip(
            f"{SHARED.name}/ is not beside this checkout: no decrees and recordings to test against"
        )
    return SHARED
