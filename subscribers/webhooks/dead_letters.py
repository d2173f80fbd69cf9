"""``novamas webhooks list``, ``retry`` and ``drop``: the queues and dead letters of receivers."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from common.command_line import CommandLine, end_process
from common.contract.times import format_utc
from subscribers.webhooks.errors import OutboxError
from subscribers.webhooks.outbox import DeadLetter, Outbox, QueueState
from subscribers.webhooks.settings import OutboxSettings


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return the exit status."""
    options = command_line().parse_args(arguments)
    settings = msgspec.json.decode(options.settings, type=OutboxSettings)
    try:
        outbox = Outbox(Path(settings.outbox))
        try:
            if options.action == "list":
                _print(outbox, settings)
                return 0
            return _decide(outbox, options)
        finally:
            outbox.close()
    except OutboxError as error:
        print(f"novamas webhooks: {error}", file=sys.stderr)  # noqa: T201
        return 1


def _decide(outbox: Outbox, options: argparse.Namespace) -> int:
    """Queue dead letters again, or drop them."""
    dead = {letter.number: letter for letter in outbox.dead_letters(options.webhook)}
    unknown = [number for number in options.numbers if number not in dead]
    if unknown:
        print(  # noqa: T201
            f"novamas webhooks: no dead letter {unknown[0]}; `novamas webhooks list` shows them",
            file=sys.stderr,
        )
        return 1
    numbers = options.numbers or list(dead)
    if options.action == "retry":
        print(f"{outbox.revive(numbers)} queued again")  # noqa: T201
    else:
        print(f"{outbox.drop(numbers)} dropped")  # noqa: T201
    return 0


def _print(outbox: Outbox, settings: OutboxSettings) -> None:
    states = outbox.states()
    for webhook in dict.fromkeys((*settings.webhooks, *sorted(states))):
        state = states.get(webhook, QueueState())
        since = "" if state.oldest is None else f", the oldest since {format_utc(state.oldest)}"
        gone = "" if webhook in settings.webhooks else " (not in the configuration)"
        dropped = f", {state.dropped} dropped" if state.dropped else ""
        print(  # noqa: T201
            f"{webhook}{gone}: {state.waiting} waiting{since}, {state.dead} dead{dropped}"
        )
    for letter in outbox.dead_letters():
        print(_line(letter))  # noqa: T201


def _line(letter: DeadLetter) -> str:
    return (
        f"{letter.number}  {letter.webhook}  {letter.id}  {letter.type}  {letter.time}\n"
        f"    {letter.died}, attempt {letter.attempts}: {letter.why}"
    )


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = CommandLine(prog="novamas webhooks", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    listed = actions.add_parser("list", help="show the queues and the dead letters")
    retried = actions.add_parser("retry", help="queue dead letters again")
    dropped = actions.add_parser("drop", help="remove dead letters")
    for action in (retried, dropped):
        chosen = action.add_mutually_exclusive_group(required=True)
        chosen.add_argument("--all", action="store_true", help="all dead letters")
        chosen.add_argument("--webhook", metavar="ID", help="those of a receiver")
        chosen.add_argument(
            "--number",
            dest="numbers",
            type=int,
            action="append",
            default=[],
            metavar="N",
            help="the number of one in the list; may be repeated",
        )
    for action in (listed, retried, dropped):
        action.add_argument("--settings", required=True, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    end_process(main())
