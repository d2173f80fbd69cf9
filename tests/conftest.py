"""Fixtures that several tests need."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.programs import restore_signals

pytest_plugins = ["tests.rings.marks", "tests.rings.outcomes"]

SHARED = Path(__file__).resolve().parents[2] / "shared"
LONG = "NOVAMAS_LONG"
"""True if the environment asks for the long form of tests."""

# A deadline for an example, or for making one, proves nothing on a busy machine. The short form
# checks a commit and is the same each time; the long form searches for new examples.
settings.register_profile(
    "novamas",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=LONG not in os.environ,
)
settings.load_profile("novamas")


def cases(short: int, whole: int) -> int:
    """Number of random cases for a test: ``whole`` of them in its long form."""
    return whole if LONG in os.environ else short


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Some fifteen thousand tests stay until the end; the garbage collector would only scan them
    repeatedly.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Restore the umask: a command that is called in this process makes it stricter."""
    umask = os.umask(0o022)
    os.umask(umask)
    try:
        return (yield)
    finally:
        os.umask(umask)


def pytest_configure() -> None:
    """Tests send signals to programs, and read what commands say: neither must depend on how this
    run was started.
    """
    restore_signals()
    os.environ["LC_ALL"] = "C.UTF-8"


@pytest.fixture
def ending() -> Iterator[ExitStack]:
    """Resources closed at the end of the test, in reverse order."""
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def long() -> bool:
    """True in the long form: ``make chaos``."""
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
