"""A service loads only what it needs before it works, so a restart is short."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.usefixtures("programs")

NEEDLESS = {"rich", "jwt", "cryptography.x509"}
"""Traceback rendering, signed commands, certificates: a third of the daemon's start."""


@pytest.mark.parametrize(
    "service",
    [
        "controller.service.daemon",
        "subscribers.carrousel.__main__",
        "subscribers.surveillance.__main__",
        "subscribers.web.__main__",
    ],
)
def test_a_service_loads_nothing_that_it_does_not_need(service: str) -> None:
    program = f"import sys, {service}; print(*sys.modules); import rich.console"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    loaded = set(done.stdout.decode().split())
    assert "structlog" in loaded
    assert loaded & NEEDLESS == set()
