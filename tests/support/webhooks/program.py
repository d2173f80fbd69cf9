"""``novamas webhooks`` as a separate process."""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from pathlib import Path

from tests.support.daemon.process import Daemon
from tests.support.video.receivers import HTTPReceiver, Request

NOVAMAS = "import sys; from controller.cli import main; sys.exit(main())"


class Webhooks(Daemon):
    """The service with a configuration of its own, in a folder."""

    def start(self, **environment: str) -> None:
        self._since = len(self._lines)
        self.start_program("-c", NOVAMAS, "webhooks", str(self.file), **environment)

    def say(self, action: str, *options: str) -> str:
        """Return the output of an action."""
        done = subprocess.run(
            [self.python, "-c", NOVAMAS, "webhooks", action, str(self.file), *options],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "STATE_DIRECTORY": str(self.folder)},
        )
        return done.stdout + done.stderr


def secret(folder: Path, name: str = "hook.secret") -> Path:
    """Write a key."""
    path = folder / name
    path.write_text("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3\n")
    return path


def first_of_each(receiver: HTTPReceiver) -> list[Request]:
    """The accepted requests without those that came again, in their order."""
    return list(
        {request.headers["webhook-id"]: request for request in reversed(receiver.requests)}.values()
    )[::-1]


def runs(requests: list[Request]) -> dict[tuple[str, str], list[int]]:
    """The numbers of the events, by table and run."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for request in requests:
        body = request.told
        found[body["table"], body["boot"]].append(body["seq"])
    return dict(found)
