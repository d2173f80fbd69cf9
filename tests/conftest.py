"""What several tests need."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes on a busy machine, or its making, proves nothing.
settings.register_profile("novamas", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("novamas")

SHARED = Path(__file__).resolve().parents[2] / "shared"


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
