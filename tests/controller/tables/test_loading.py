"""A table loads its game and its drivers when it is made, and nothing in play: the first card of a
round would wait for it.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("programs")

ROOT = Path(__file__).parents[3]


def test_playing_a_game_or_decoding_a_recording_loads_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.games.alone"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("", 0), done.stderr
