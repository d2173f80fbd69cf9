"""How a running daemon answers whoever had it read its configuration again: the file
``<journal>.reload``, which has the last answer.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import msgspec

from controller.contract.node import ReloadHealth
from devices.log import structlog


class Answer(msgspec.Struct, frozen=True):
    """How a configuration was taken over. ``boot``: by which run of the daemon; ``begun``: when it
    began to read the file, by the machine's monotonic clock in nanoseconds; ``waits``: it is one of
    a pair, and the other one may have the tables.
    """

    boot: str
    begun: int
    reload: ReloadHealth
    waits: bool = False


def answer_file(journal: Path) -> Path:
    """Where the daemon of that journal answers."""
    return journal.with_name(f"{journal.name}.reload")


def write_answer(journal: Path, answer: Answer) -> None:
    """Replace the last answer. If that fails, the log and health alone tell."""
    file = answer_file(journal)
    new = file.with_name(f"{file.name}.new")
    try:
        new.unlink(missing_ok=True)
        with new.open("xb") as opened:
            opened.write(msgspec.json.encode(answer))
        new.replace(file)
    except OSError as error:
        structlog.get_logger().error("answer to the reload not written", reason=str(error))


def read_answer(journal: Path) -> Answer | None:
    """The last answer; None if there is none, or it cannot be read."""
    with suppress(OSError, ValueError):
        return msgspec.json.decode(answer_file(journal).read_bytes(), type=Answer)
    return None
