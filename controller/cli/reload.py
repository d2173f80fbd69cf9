"""``novamas reload``: makes the running daemon reload its configuration, and prints the outcome."""

from __future__ import annotations

import argparse
import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

from common import clock
from common.contract.node import ReloadHealth
from controller.cli import CommandLineError, print_error
from controller.cli.configured import config_argument, configuration_at
from controller.journal.file import serving_process
from controller.service.reload_answer import ReloadReply, read_reply

REPLY_TIMEOUT_SECONDS = 50.0
"""Maximum seconds to wait for the daemon's reply: less than the service manager waits."""
CHECK_INTERVAL_SECONDS = 0.05
WAITING_NOTE = (
    "this daemon waits: it will use this file when it takes over the tables; reload the other "
    "daemon too"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """CONFIG."""
    config_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Return 0 if the daemon uses the whole file, or will after a take-over, else 1."""
    from controller.cli.check import decree_violations, unusable

    configuration = configuration_at(arguments.config)
    if errors := [*unusable(configuration), *decree_violations(configuration)]:
        raise CommandLineError("\n".join(f"{arguments.config}: {error}" for error in errors))
    reply = _request_reload(Path(configuration.journal.path))
    outcome = reply.reload
    if outcome.trouble is not None:
        print_error(f"novamas: nothing was changed\n{outcome.trouble}")
        return 1
    for line in outcome_lines(outcome):
        print(line)
    if reply.waits:
        print(WAITING_NOTE)
    return int(bool(outcome.waiting or outcome.restart))


def outcome_lines(outcome: ReloadHealth) -> Iterator[str]:
    """Yield the lines that describe the outcome."""
    yield from (f"{table}: added" for table in outcome.added)
    yield from (f"{table}: changed ({', '.join(keys)})" for table, keys in outcome.changed.items())
    yield from (f"{table}: removed" for table in outcome.removed)
    yield from (f"{table}: unchanged: {why}" for table, why in outcome.waiting.items())
    if outcome.restart:
        yield f"restart the daemon for: {', '.join(outcome.restart)}"
    for command, sections in outcome.others.items():
        yield f"restart {command} for: {', '.join(f'[{section}]' for section in sections)}"
    if not (
        outcome.added or outcome.changed or outcome.removed or outcome.waiting or outcome.restart
    ):
        yield "ok: the daemon already uses this file"


def _request_reload(journal: Path) -> ReloadReply:
    """Request the reload and return the daemon's reply. Raises :class:`CommandLineError`."""
    daemon = _daemon(journal)
    try:
        sent = clock.monotonic_ns()
        try:
            signal.pidfd_send_signal(daemon, signal.SIGHUP)
        except PermissionError:
            raise CommandLineError(
                "the daemon is another user's: run this as root, or as the daemon's user"
            ) from None
        ended = select.poll()
        ended.register(daemon, select.POLLIN)
        end = clock.monotonic() + REPLY_TIMEOUT_SECONDS
        while (reply := read_reply(journal)) is None or reply.begun < sent:
            if ended.poll(CHECK_INTERVAL_SECONDS * 1000):
                raise CommandLineError("the daemon has ended meanwhile; see its log")
            if clock.monotonic() > end:
                raise CommandLineError(
                    f"the daemon got the signal but has not replied within "
                    f"{REPLY_TIMEOUT_SECONDS:.0f} s; see its log"
                )
        return reply
    finally:
        os.close(daemon)


def _daemon(journal: Path) -> int:
    """Return a pidfd of the daemon with this journal, so that its pid cannot be reused. Raises
    :class:`CommandLineError`.
    """
    try:
        while (pid := serving_process(journal)) is not None:
            pidfd = os.pidfd_open(pid)
            if serving_process(journal) == pid:
                return pidfd
            os.close(pidfd)
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
