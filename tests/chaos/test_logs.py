"""The log cannot be written: its reader is gone or frozen, its disk is full. The tables play on;
health counts the lines.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from tests.controller.service.test_log_output import F_SETPIPE_SZ, PIPE_BYTES, held
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import sound
from tests.support.chaos.report import tell
from tests.support.waiting import until

LINE = 400
"""Bytes that a line has at most."""


class Reader:
    """The reader of the daemon's log: a process behind a pipe of the smallest size, which can be
    killed and stopped.
    """

    def __init__(self, floor: Floor) -> None:
        self._daemon = floor.daemon
        self._path = floor.folder / "log"
        os.mkfifo(self._path)
        first = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
        self._daemon.stderr = self.descriptor = os.open(self._path, os.O_WRONLY)
        fcntl.fcntl(self.descriptor, F_SETPIPE_SZ, PIPE_BYTES)
        self._start()
        os.close(first)

    def _start(self) -> None:
        self._program = subprocess.Popen(["cat", self._path], stdout=subprocess.PIPE)
        assert self._program.stdout is not None
        self._listening = threading.Thread(target=self._daemon.listen, args=(self._program.stdout,))
        self._listening.start()

    def go(self) -> None:
        self._program.kill()
        self._program.wait()
        self._listening.join()

    def come_back(self) -> None:
        self._start()

    def stand_still(self) -> None:
        self._program.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        self._program.send_signal(signal.SIGCONT)

    def close(self) -> None:
        self._daemon.stderr = subprocess.STDOUT
        os.close(self.descriptor)
        self.go()


def health(floor: Floor) -> dict[str, Any]:
    """The daemon's health report on its log."""
    assert floor.archive is not None
    found: dict[str, Any] = floor.archive.latest("node/pit-1/health")["log"]
    return found


def told_again(floor: Floor, told: int) -> bool:
    """Have a line logged. Whether the loss of lines has been reported since."""
    assert floor.archive is not None
    floor.archive.command("r1", "bets.close", note="again")
    return len(floor.daemon.logged("log lines were lost")) > told


def test_logs(floor: Callable[..., Floor], seed: int, long: bool) -> None:
    made = floor()
    reader = Reader(made)
    try:
        archive = made.start()
        made.until_results(1)
        kinds = ["gone", "still"] + (Random(seed).choices(["gone", "still"], k=28) if long else [])
        for number, kind in enumerate(kinds, 1):
            tell(f"{number:>4} the log's reader: {kind}; {health(made)['lost']} lines lost so far")
            (reader.go if kind == "gone" else reader.stand_still)()
            lost = health(made)["lost"]
            said = 0
            while said < 5 or (kind == "still" and held(reader.descriptor) < PIPE_BYTES - LINE):
                assert not archive.command("r1", "bets.close", note=str(said))[
                    "ok"
                ]  # there is no such field: a line of the log
                said += 1
            made.until_results(1)
            if kind == "gone":
                until("health says so", lambda: health(made)["trouble"] == "Broken pipe")
                count = len(made.daemon.logged("log lines were lost"))
                reader.come_back()
                # the reader may not have opened the pipe yet when the next line is written
                until("the loss is reported", partial(told_again, made, count))
            else:
                assert health(made) == {"lost": lost, "trouble": None}  # they wait
                refused = len(made.daemon.logged("command refused"))
                reader.go_on()
                made.daemon.until_logged("command refused", refused + said)
            until("health is well", lambda: health(made)["trouble"] is None, made.daemon.log)
            assert (
                health(made)["lost"] == lost
                if kind == "still"
                else health(made)["lost"] >= lost + said
            )
        assert made.daemon.stop() == 0
    finally:
        reader.close()
    made.daemon.stderr = os.open("/dev/full", os.O_WRONLY)
    made.start_daemon()
    made.until_results(1)
    until("health says so", lambda: health(made)["trouble"] == "No space left on device")
    assert made.daemon.stop() == 0
    os.close(made.daemon.stderr)
    made.daemon.stderr = subprocess.STDOUT
    made.start_daemon()
    made.until_results(1)
    sound(made)
