"""Devices that go and come back, say nothing, or never stop talking."""

from __future__ import annotations

import os
import threading
import tty
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from tests.support.chaos.archive import entries_of
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import sound
from tests.support.waiting import until


class Pty:
    """A port whose other end is in this process. ``babble``: what it says, again and again, at the
    pace of 115200 baud.
    """

    def __init__(self, link: Path, babble: bytes = b"") -> None:
        self._master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(self._master, False)
        self._link = link
        link.symlink_to(os.ttyname(slave))
        os.close(slave)
        self.said = 0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._speak, args=(babble,))
        self._thread.start()

    def _speak(self, babble: bytes) -> None:
        piece = 115  # each hundredth of a second
        whole = babble * (2 + piece // max(1, len(babble)))
        while babble and not self._end.wait(0.01):
            with suppress(OSError):  # full, or without a reader
                at = self.said % len(babble)
                self.said += os.write(self._master, whole[at : at + piece])

    def close(self) -> None:
        self._link.unlink()  # first: the next terminal that anybody makes may have the same number
        self._end.set()
        self._thread.join()
        with suppress(OSError):
            os.close(self._master)


@pytest.mark.parametrize(
    "babble", [b"x\n", 2 * b"*X;2;001;  ;0;160;0\r\n" + 2 * b"*X;4;002;17;2;160;0\r\n"]
)
def test_one_is_silent_and_one_never_stops_and_the_third_plays_on(
    floor: Callable[..., Floor], babble: bytes
) -> None:
    made = floor(tables=3, stale_after=10.0)
    silent, loud = Pty(made.folder / "r2"), Pty(made.folder / "r3", babble)
    try:
        archive = made.start(sessions=("r1",))
        until(
            "the silent wheel is reported",
            partial(archive.latest, "r2/alert/wheel-link"),
            made.daemon.log,
        )
        assert archive.latest("r2/alert/wheel-link")["what"] == "link.stale"
        made.until_results(2, "r1")
        assert archive.command("r1", "bets.close")["error"]  # it answers
        kept = [entry for entry in entries_of(made.journal) if entry.table == "r3"]
        assert len(kept) < loud.said / 5  # one entry for many bytes, whatever they are
    finally:
        silent.close()
        loud.close()
    sound(made)
