"""A null-modem cable of two pseudo-terminals."""

from __future__ import annotations

import os
import select
import threading
import tty
from pathlib import Path


class Cable:
    """What is written at one end, a link in a folder, is read at the other."""

    def __init__(self, folder: Path) -> None:
        self.near, self.far = folder / "near", folder / "far"
        self.carried = b""
        """What was written at the near end."""
        self._masters = [self._end(self.near), self._end(self.far)]
        self._ended, self._end_write = os.pipe()
        self._thread = threading.Thread(target=self._carry)
        self._thread.start()

    def _end(self, link: Path) -> int:
        master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(master, False)
        link.symlink_to(os.ttyname(slave))
        self._slaves = [*getattr(self, "_slaves", []), slave]  # open, so that no end hangs up
        return master

    def _carry(self) -> None:
        near, far = self._masters
        while True:
            readable, _, _ = select.select([near, far, self._ended], [], [])
            if self._ended in readable:
                return
            for source, target in ((near, far), (far, near)):
                if source in readable:
                    data = os.read(source, 4096)
                    self.carried += data if source == near else b""
                    try:
                        os.write(target, data)
                    except BlockingIOError:  # nobody reads there: a line loses what it carries
                        continue

    def close(self) -> None:
        os.write(self._end_write, b"x")
        self._thread.join()
        for fd in (*self._masters, *self._slaves, self._ended, self._end_write):
            os.close(fd)
