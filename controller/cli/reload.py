"""``novamas reload``: has the running daemon take over its configuration, and says what it did."""

from __future__ import annotations

import argparse
import os
import select
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from controller.cli import CommandLineError, tell
from controller.cli.configured import config_argument, configuration_at
from controller.contract.node import ReloadHealth
from controller.journal.file import serving_process
from controller.service.reload_answer import ReloadReply, read_reply

PATIENCE = 50.0
"""Seconds that the daemon has for its answer: less than the service manager waits."""
LOOK = 0.05
WAITS = (
    "this daemon waits: it serves by this file when it takes the tables over; reload the other "
    "daemon too"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """CONFIG."""
    config_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if the daemon runs by the whole file now, or will when it has the tables, else 1."""
    from controller.cli.check import decree_violations, unusable

    configuration = configuration_at(arguments.config)
    if wrong := [*unusable(configuration), *decree_violations(configuration)]:
        raise CommandLineError("\n".join(f"{arguments.config}: {each}" for each in wrong))
    answer = _asked(Path(configuration.journal.path))
    told = answer.reload
    if told.trouble is not None:
        tell(f"novamas: nothing was changed\n{told.trouble}")
        return 1
    for line in said(told):
        print(line)
    if answer.waits:
        print(WAITS)
    return int(bool(told.waiting or told.restart))


def said(told: ReloadHealth) -> Iterator[str]:
    """What a person reads of it."""
    yield from (f"{table}: added" for table in told.added)
    yield from (f"{table}: changed ({', '.join(keys)})" for table, keys in told.changed.items())
    yield from (f"{table}: removed" for table in told.removed)
    yield from (f"{table}: not touched: {why}" for table, why in told.waiting.items())
    if told.restart:
        yield f"restart the daemon for: {', '.join(told.restart)}"
    for command, sections in told.others.items():
        yield f"restart {command} for: {', '.join(f'[{section}]' for section in sections)}"
    if not (told.added or told.changed or told.removed or told.waiting or told.restart):
        yield "ok: the daemon runs by this file already"


def _asked(journal: Path) -> ReloadReply:
    """The daemon's answer. Raises :class:`CommandLineError`."""
    daemon = _daemon(journal)
    try:
        sent = time.monotonic_ns()
        try:
            signal.pidfd_send_signal(daemon, signal.SIGHUP)
        except PermissionError:
            raise CommandLineError(
                "the daemon is another user's: run this as root, or as the daemon's user"
            ) from None
        ended = select.poll()
        ended.register(daemon, select.POLLIN)
        end = time.monotonic() + PATIENCE
        while (answer := read_reply(journal)) is None or answer.begun < sent:
            if ended.poll(LOOK * 1000):
                raise CommandLineError("the daemon has ended meanwhile; its log says why")
            if time.monotonic() > end:
                raise CommandLineError(
                    f"the daemon was told, and has not answered within {PATIENCE:.0f} s: its log "
                    "says what it does"
                )
        return answer
    finally:
        os.close(daemon)


def _daemon(journal: Path) -> int:
    """The daemon that has this journal, which cannot become another process any more. Raises
    :class:`CommandLineError`.
    """
    try:
        while (pid := serving_process(journal)) is not None:
            found = os.pidfd_open(pid)
            if serving_process(journal) == pid:
                return found
            os.close(found)
    except (FileNotFoundError, ProcessLookupError):
        pass
    except PermissionError as error:
        raise CommandLineError(
            f"{error.filename or journal}: {error.strerror}; run this as root, or as the daemon's "
            "user"
        ) from None
    raise CommandLineError(
        f"no daemon runs with the journal {journal}. Under systemd: systemctl reload novamas; if "
        "[journal] path was changed, the daemon must be restarted"
    )
