"""``python -m subscribers.terminal.display``: shows tables on a terminal, or their events as JSON
lines, from MQTT alone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import re
import signal
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console, RenderableType
from rich.layout import Layout
from rich.live import Live
from rich.text import Text

from common import clock
from common.broker.login import BrokerUnusableError, password, tls
from common.command_line import CommandLine, end_process, escape_unencodable_output
from common.contract.messages.messages import LANGUAGES
from common.contract.topics import Topics
from common.new_file import replace_file
from common.plain_errors import describe
from subscribers.display.picture import table_picture
from subscribers.display.rounds import PlayedRound, ended_rounds, merge_rounds
from subscribers.feed.floor import Floor
from subscribers.feed.tables import (
    BrokerLogin,
    ConnectionChange,
    FeedMessage,
    check_broker,
    table_feed,
)
from subscribers.terminal.current import Printable
from subscribers.terminal.event_log import EventLog
from subscribers.terminal.floor import SCREENSHOT_COLUMNS, TURN_SECONDS, draw_floor
from subscribers.terminal.meter_line import line
from subscribers.terminal.space import MIN_TABLE_LINES
from subscribers.terminal.table import TerminalTable

REDRAW_INTERVAL_SECONDS = 0.1
"""Interval for checking for changes to draw."""
SCREENSHOT_TABLES_PER_ROW, MAX_WIDE_SCREENSHOT_TABLES = 4, 2
"""Tables per row in a screenshot, and the number of tables up to which each has its full width."""
SCREENSHOT_SIZE = (80, 40)
"""Columns per table, and lines, of a screenshot."""
CONNECT_GRACE_SECONDS = 2.0
"""Seconds from the start for which nothing is drawn, not even a missing connection."""
LINGER_SECONDS = 2.0
"""Seconds for which the last picture remains after the last round."""


class WatchedTables:
    """The tables and jackpots of one terminal. ``tables``: in the order in which they are drawn;
    ``language``: of the pictures, default: that of each table's decree.
    """

    def __init__(
        self,
        tables: Sequence[str],
        jackpots: Sequence[str] = (),
        *,
        simulated: bool = False,
        language: str | None = None,
    ) -> None:
        self.tables = tuple(tables)
        self._simulated, self._language = simulated, language
        self.floor = Floor(
            dict.fromkeys(tables, simulated), _now, dict.fromkeys(jackpots, simulated)
        )
        self._rounds: dict[str, tuple[PlayedRound, ...]] = dict.fromkeys(tables, ())
        self.logs = {table: EventLog() for table in tables}
        self.reason = ""
        """Why the broker cannot be reached."""
        self.tried = False
        """Whether a connection to the broker was made, or failed."""

    def on_message(self, message: FeedMessage | ConnectionChange) -> bytes | None:
        """Apply one message. Returns the event, as received, if it is new. A message that is not a
        JSON object is reported.
        """
        self.floor.on_message(self._simulated, message)
        if isinstance(message, ConnectionChange):
            self.reason, self.tried = message.reason, True
            return None
        if (problem := _json_problem(message.body)) is not None:
            print(f"display: {message.path}: not a JSON object: {problem}", file=sys.stderr)  # noqa: T201
            return None
        if message.table is None:
            return None
        rounds = self._rounds[message.table]
        if new := ended_rounds(rounds, message.path, message.body):
            self._rounds[message.table] = merge_rounds(rounds, new)
        is_new = message.path == "event" and self.logs[message.table].add(message.body)
        return message.body if is_new else None

    def drawn_tables(self) -> list[TerminalTable]:
        """Return the tables as they are drawn now."""
        floor = self.floor
        return [
            TerminalTable(
                picture=table_picture(
                    floor.known[table], self._rounds[table], floor.outdated[table], self._language
                ),
                known=floor.known[table],
                notes=tuple(self.logs[table].notes),
                missed=self.logs[table].missed,
                reason=self.reason,
            )
            for table in self.tables
        ]

    def meter_lines(self) -> list[Text]:
        """Return one line per jackpot."""
        no_broker, now = self.floor.no_broker(self._simulated), _now()
        meters = self.floor.meters.values()
        return [line(meter, no_broker, now, self._language) for meter in meters]


@functools.lru_cache(maxsize=1)
def _json_problem(body: bytes) -> str | None:
    """Return why a message is not a JSON object, or None. An empty one clears its topic."""
    try:
        msgspec.json.decode(body or b"null", type=dict[str, Any] | None)
    except (ValueError, RecursionError) as error:
        return describe(error)
    return None


async def watch(watched: WatchedTables, arguments: argparse.Namespace, stop: asyncio.Event) -> None:
    """Show or print until all requested rounds were received, or until stopped."""
    drawing = sys.stdout.isatty() and not arguments.json
    if drawing and Console().is_dumb_terminal:
        drawing = False
        warning = "this terminal cannot show a picture (TERM=dumb): events follow as JSON lines"
        print(f"display: {warning}", file=sys.stderr, flush=True)  # noqa: T201
    reading = asyncio.create_task(_read(watched, arguments, printing=not drawing))
    stopping = asyncio.create_task(stop.wait())
    showing = [asyncio.create_task(_draw(watched, arguments.note_file))] if drawing else []
    await asyncio.wait({reading, stopping, *showing}, return_when=asyncio.FIRST_COMPLETED)
    if reading.done() and not reading.exception() and showing:
        await asyncio.wait(
            {stopping, *showing}, timeout=LINGER_SECONDS, return_when=asyncio.FIRST_COMPLETED
        )
    for task in (reading, stopping, *showing):
        task.cancel()
    for end in await asyncio.gather(reading, *showing, return_exceptions=True):
        if isinstance(end, Exception):
            raise end


async def _read(watched: WatchedTables, arguments: argparse.Namespace, printing: bool) -> None:
    topics = Topics(arguments.site, arguments.simulated)
    wire = table_feed(_login(arguments), topics, arguments.table, arguments.jackpot)
    last_reason = ""
    async with contextlib.aclosing(wire) as feed:
        async for message in feed:
            if isinstance(message, ConnectionChange) and message.up and arguments.ready:
                _touch(arguments.ready)
            if isinstance(message, ConnectionChange) and message.reason != last_reason:
                last_reason = message.reason
                if printing and last_reason:
                    print(f"display: no connection to {last_reason}", file=sys.stderr, flush=True)  # noqa: T201
            event = watched.on_message(message)
            if event is not None and printing:
                sys.stdout.write(msgspec.json.format(event, indent=-1).decode("utf-8") + "\n")
                sys.stdout.flush()
            counted = watched.logs[watched.tables[0]].results
            if arguments.rounds is not None and counted >= arguments.rounds:
                return


async def _draw(watched: WatchedTables, note_file: Path | None) -> None:
    """Draw whenever something has changed. Constant redrawing would flicker."""
    console = Console()
    drawn, started = None, clock.monotonic()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            if not watched.tried and clock.monotonic() < started + CONNECT_GRACE_SECONDS:
                await clock.sleep(REDRAW_INTERVAL_SECONDS)
                continue
            watched.floor.check_silence()
            watched.floor.check_jackpots()
            note = _read_note(note_file)
            turn, size = int((clock.monotonic() - started) / TURN_SECONDS), console.size
            shown = watched.floor.change, watched.reason, note, turn, size
            if drawn != shown:
                drawn = shown
                below = [] if note is None else _note(note, console)
                above = watched.meter_lines()
                height = size.height - len(above) - len(below)
                tables = draw_floor(watched.drawn_tables(), size.width, turn, height)
                live.update(_between(above, tables, below), refresh=True)
            await clock.sleep(REDRAW_INTERVAL_SECONDS)


def _read_note(file: Path | None) -> str | None:
    return None if file is None else file.read_text(encoding="utf-8")


def _note(note: str, console: Console) -> list[Text]:
    """Return the lines of a note, those that are too long in several; on a small terminal the first
    alone.
    """
    lines = list(Text(note, style="bold").wrap(console, console.width))
    return lines if console.height > MIN_TABLE_LINES else lines[:1]


def _between(
    above: Sequence[Text], picture: RenderableType, below: Sequence[Text]
) -> RenderableType:
    """Return the picture with these lines above and below it."""
    if not above and not below:
        return picture
    whole = Layout()
    lines = [[Layout(line_, size=1) for line_ in part] for part in (above, below)]
    whole.split_column(*lines[0], Layout(picture), *lines[1])
    return Printable(whole)


def _now() -> str:
    return clock.now().isoformat().replace("+00:00", "Z")


def _touch(path: str) -> None:
    Path(path).touch()


def screenshot(watched: WatchedTables, path: Path) -> None:
    """Write the current picture, with the jackpots above it, as an SVG without embedded fonts."""
    count, above = len(watched.tables), watched.meter_lines()
    columns = min(count, SCREENSHOT_TABLES_PER_ROW)
    table_width = SCREENSHOT_SIZE[0] if count <= MAX_WIDE_SCREENSHOT_TABLES else SCREENSHOT_COLUMNS
    width, tall = table_width * columns, SCREENSHOT_SIZE[1] * -(-count // columns)
    height = tall + len(above)
    console = Console(
        record=True,
        width=width,
        height=height,
        file=StringIO(),
        force_terminal=True,
        color_system="truecolor",
    )
    shown = draw_floor(watched.drawn_tables(), width, height=tall)
    console.print(_between(above, shown, ()), height=height)
    svg = console.export_svg(title=f"novamas: {' and '.join(watched.tables)}", unique_id="novamas")
    replace_file(path, re.sub(r"\s*@font-face \{.*?\}", "", svg, flags=re.DOTALL).encode())


def _login(arguments: argparse.Namespace) -> BrokerLogin:
    return BrokerLogin(
        url=arguments.broker,
        username=arguments.username,
        password_file=arguments.password_file,
        ca_file=arguments.ca_file,
        cert_file=arguments.cert_file,
        key_file=arguments.key_file,
    )


def _mistake(arguments: argparse.Namespace) -> str | None:
    """Return the mistake in the broker's connection settings, or None."""
    if wrong := check_broker(arguments.broker):
        return f"--broker {wrong}"
    if (arguments.cert_file is None) != (arguments.key_file is None):
        return "--cert-file and --key-file go together; add the other"
    files = (arguments.ca_file, arguments.cert_file)
    if any(files) and not arguments.broker.startswith("mqtts:"):
        return "--ca-file, --cert-file and --key-file are for mqtts://; change --broker"
    try:
        password(_login(arguments))
        tls(_login(arguments))
    except BrokerUnusableError as error:
        return str(error)
    if arguments.password_file is not None and arguments.username is None:
        return "--password-file needs --username; add it"
    return None


def _parser() -> argparse.ArgumentParser:
    parser = CommandLine(prog="python -m subscribers.terminal.display", description=__doc__)
    parser.add_argument("--broker", default="mqtt://127.0.0.1:1883", metavar="mqtt[s]://HOST:PORT")
    parser.add_argument("--username", help="user name for the broker")
    parser.add_argument(
        "--password-file", metavar="FILE", help="file that contains the password and nothing else"
    )
    parser.add_argument(
        "--ca-file",
        metavar="FILE",
        help="CA of the broker's certificate (default: the CAs that this system trusts)",
    )
    parser.add_argument(
        "--cert-file", metavar="FILE", help="client certificate, if the broker needs one"
    )
    parser.add_argument("--key-file", metavar="FILE", help="private key of the certificate")
    parser.add_argument("--site", required=True)
    parser.add_argument(
        "--table",
        required=True,
        action="append",
        help=("a table; several are shown side by side and in rows if they fit, otherwise in turn"),
    )
    parser.add_argument(
        "--jackpot",
        action="append",
        default=[],
        help="a jackpot whose meter is shown in a line above the tables; may be repeated",
    )
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        help="language of the picture (default: that of each table's decree)",
    )
    parser.add_argument(
        "--simulated",
        action="store_true",
        help="show simulated tables, which have their own topics",
    )
    parser.add_argument(
        "--json",
        action="store_true",
        help="print events as JSON lines; default if the output is not a terminal",
    )
    parser.add_argument(
        "--rounds", type=int, help="stop after this many results at the first table"
    )
    parser.add_argument("--ready", metavar="FILE", help="create this file once subscribed")
    parser.add_argument(
        "--note-file", type=Path, metavar="FILE", help="its lines are shown below the picture"
    )
    parser.add_argument(
        "--screenshot", metavar="FILE.svg", help="write the last picture to this SVG file"
    )
    return parser


async def _run(arguments: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    watched = WatchedTables(
        arguments.table,
        arguments.jackpot,
        simulated=arguments.simulated,
        language=arguments.language,
    )
    try:
        await watch(watched, arguments, stop)
    except BrokenPipeError:  # the program that reads the output has ended, which is no error
        sys.stderr.close()
        return 0
    if arguments.screenshot:
        try:
            screenshot(watched, Path(arguments.screenshot))
        except OSError as error:
            print(f"display: {arguments.screenshot}: {error.strerror}", file=sys.stderr)  # noqa: T201
            return 1
    return 0


def main(argv: list[str] | None = None) -> int:
    """Show the tables. Returns the exit code."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if wrong := _mistake(arguments):
        parser.error(wrong)
    escape_unencodable_output()
    return asyncio.run(_run(arguments))


if __name__ == "__main__":
    end_process(main())
