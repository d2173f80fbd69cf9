"""The running daemon's reply to a reload request: the file ``<journal>.reload``, which contains the
last reply.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from common.contract.node import ReloadHealth
from common.log import structlog
from common.new_file import replacing


class ReloadReply(msgspec.Struct, frozen=True):
    """Outcome of a reload. ``boot``: the run of the daemon; ``begun``: when it began to read the
    file, by the monotonic clock in nanoseconds; ``waits``: the daemon is waiting in a pair, and the
    other one may have the tables.
    """

    boot: str
    begun: int
    reload: ReloadHealth
    waits: bool = False


def reply_file(journal: Path) -> Path:
    """Return the path of the reply of the daemon with this journal."""
    return journal.with_name(f"{journal.name}.reload")


def write_reply(journal: Path, reply: ReloadReply) -> None:
    """Replace the last reply. If that fails, only the log and health have the outcome."""
    try:
        with replacing(reply_file(journal), sync=False) as file:
            file.write(msgspec.json.encode(reply))
    except OSError as error:
        structlog.get_logger().error("answer to the reload not written", reason=str(error))


def read_reply(journal: Path) -> ReloadReply | None:
    """Return the last reply; None if there is no readable one."""
    with suppress(OSError, ValueError):
        return msgspec.json.decode(reply_file(journal).read_bytes(), type=ReloadReply)
    return None
