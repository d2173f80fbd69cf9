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
from msgspec.structs import replace
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
from subscribers.feed.meter import Meter, on_state, silence
from subscribers.feed.tables import (
    BrokerLogin,
    ConnectionChange,
    FeedMessage,
    check_broker,
    table_feed,
)
from subscribers.terminal.floor import SCREENSHOT_COLUMNS, TURN_SECONDS, TableOnFloor, floor
from subscribers.terminal.meter_line import line
from subscribers.terminal.screen import ScreenTrouble
from subscribers.terminal.space import MIN_TABLE_LINES
from subscribers.terminal.table_view import TableView

SILENCE_SECONDS = 75.0
"""Seconds without a message from the daemon after which the picture is marked as old; health is
published every 30.
"""
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


class Display:
    """The display of one table. ``rounds``: number of results after which it is done;
    ``language``: as in :class:`TableView`.
    """

    def __init__(self, table: str, rounds: int | None = None, language: str | None = None) -> None:
        self.view = TableView(table, language)
        self._rounds = rounds
        self._linked = ConnectionChange(up=False)
        self.tried = False
        """Whether a connection to the broker was made, or failed."""
        self._nodes: dict[str, bool] = {}
        self._has_table_list = False
        """Whether the daemon has published the list of its tables."""
        self._node: str | None = None
        self._trouble = self._since = ""
        self.last_message_at = clock.monotonic()

    @property
    def done(self) -> bool:
        """Whether all requested rounds were received."""
        return self._rounds is not None and self.view.results >= self._rounds

    def on_message(self, message: FeedMessage | ConnectionChange) -> bytes | None:
        """Apply one message. Returns the event, as received, if it is new. A message that is not a
        JSON object is skipped with a warning.
        """
        if isinstance(message, ConnectionChange):
            self._linked, self.tried = message, True
            self._nodes.clear()
            return None
        try:
            fields = _fields(message.body)
        except (ValueError, RecursionError) as error:
            print(f"display: {message.path}: not a JSON object: {error}", file=sys.stderr)  # noqa: T201
            return None
        self.last_message_at = clock.monotonic()
        if message.path == "event":
            return message.body if fields and self.view.event(fields) else None
        if message.path.startswith("node/"):
            _, node, leaf = message.path.split("/", 2)
            if leaf == "status":
                self._nodes[node] = fields is not None and fields.get("status") == "online"
            elif fields:
                self._has_table_list = True
                table = (fields.get("tables") or {}).get(self.view.table)
                if table is not None and not table.get("elsewhere"):
                    self._node = node
        else:
            self.view.retained(message.path, fields)
        return None

    def trouble(self) -> ScreenTrouble:
        """Return why the picture may be outdated, and when that was noticed."""
        trouble = self._current_trouble()
        if trouble.what != self._trouble:
            self._trouble, self._since = trouble.what, clock.now().isoformat()
        return replace(trouble, since=self._since if trouble.what else "")

    def _current_trouble(self) -> ScreenTrouble:
        if not self._linked.up:
            return ScreenTrouble("no_broker", detail=self._linked.reason)
        if not self._nodes:
            return ScreenTrouble("no_daemon")
        if not self._nodes.get(self._node or "", any(self._nodes.values())):
            return ScreenTrouble("daemon_offline")
        if self._has_table_list and self._node is None and not self.view.state:
            return ScreenTrouble("no_table")
        silent_seconds = clock.monotonic() - self.last_message_at
        return (
            ScreenTrouble("quiet", round(silent_seconds))
            if silent_seconds > SILENCE_SECONDS
            else ScreenTrouble()
        )


@functools.lru_cache(maxsize=1)
def _fields(body: bytes) -> dict[str, Any] | None:
    """Decode a message. Cached, because a node's message is applied to every table."""
    return msgspec.json.decode(body, type=dict[str, Any] | None) if body else None


class Meters:
    """The jackpots, one line each. ``language``: as in :class:`TableView`."""

    def __init__(self, jackpots: Sequence[str], language: str | None) -> None:
        self._known = {jackpot: Meter(jackpot=jackpot) for jackpot in jackpots}
        self._language = language
        self._no_broker: str | None = _now()

    def on_message(self, message: FeedMessage | ConnectionChange) -> bool:
        """Apply one message. Return True if it belongs to a jackpot."""
        if isinstance(message, ConnectionChange):
            self._no_broker = None if message.up else self._no_broker or _now()
            return False
        prefix, _, leaf = message.path.partition("/")
        if message.table is not None or prefix != "jackpot":
            return False
        jackpot, _, leaf = leaf.partition("/")
        if leaf == "state" and jackpot in self._known:
            self._known[jackpot] = on_state(self._known[jackpot], message.body, _now())
        return True

    def snapshot(self) -> tuple[tuple[Meter, bool], ...]:
        """Return the meters and whether each is silent, for the detection of changes."""
        now = _now()
        return tuple(
            (meter, silence(meter, self._no_broker, now) is not None)
            for meter in self._known.values()
        )

    def lines(self) -> list[Text]:
        """Return one line per jackpot."""
        now = _now()
        return [line(meter, self._no_broker, now, self._language) for meter in self._known.values()]


async def watch(
    displays: list[Display], meters: Meters, arguments: argparse.Namespace, stop: asyncio.Event
) -> None:
    """Show or print until all requested rounds were received, or until stopped."""
    drawing = sys.stdout.isatty() and not arguments.json
    if drawing and Console().is_dumb_terminal:
        drawing = False
        warning = "this terminal cannot show a picture (TERM=dumb): events follow as JSON lines"
        print(f"display: {warning}", file=sys.stderr, flush=True)  # noqa: T201
    reading = asyncio.create_task(_read(displays, meters, arguments, printing=not drawing))
    stopping = asyncio.create_task(stop.wait())
    showing = [asyncio.create_task(_draw(displays, meters, arguments.note_file))] if drawing else []
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


async def _read(
    displays: list[Display], meters: Meters, arguments: argparse.Namespace, printing: bool
) -> None:
    topics = Topics(arguments.site, arguments.simulated)
    wire = table_feed(_login(arguments), topics, arguments.table, arguments.jackpot)
    last_reason = ""
    by_table: dict[str, list[Display]] = {}
    for display in displays:
        by_table.setdefault(display.view.table, []).append(display)
    async with contextlib.aclosing(wire) as feed:
        async for message in feed:
            if isinstance(message, ConnectionChange) and message.up and arguments.ready:
                _touch(arguments.ready)
            if isinstance(message, ConnectionChange) and message.reason != last_reason:
                last_reason = message.reason
                if printing and last_reason:
                    print(f"display: no connection to {last_reason}", file=sys.stderr, flush=True)  # noqa: T201
            if meters.on_message(message):
                continue
            table = message.table if isinstance(message, FeedMessage) else None
            for display in displays if table is None else by_table[table]:
                event = display.on_message(message)
                if event is not None and printing:
                    sys.stdout.write(msgspec.json.format(event, indent=-1).decode("utf-8") + "\n")
                    sys.stdout.flush()
            if displays[0].done:  # only the first display counts rounds
                return


async def _draw(displays: list[Display], meters: Meters, note_file: Path | None) -> None:
    """Draw whenever something has changed. Constant redrawing would flicker."""
    console = Console()
    drawn, started = None, clock.monotonic()
    with Live(console=console, screen=True, auto_refresh=False) as live:
        while True:
            if not displays[0].tried and clock.monotonic() < started + CONNECT_GRACE_SECONDS:
                await clock.sleep(REDRAW_INTERVAL_SECONDS)
                continue
            tables = [TableOnFloor(display.view, display.trouble()) for display in displays]
            note = _read_note(note_file)
            turn, size = int((clock.monotonic() - started) / TURN_SECONDS), console.size
            if drawn != (
                drawn := (
                    [display.last_message_at for display in displays],
                    [table.trouble for table in tables],
                    meters.snapshot(),
                    note,
                    turn,
                    size,
                )
            ):
                below = [] if note is None or size.height <= MIN_TABLE_LINES else [_note(note)]
                above = meters.lines()
                height = size.height - len(above) - len(below)
                shown = floor(tables, size.width, turn, height)
                live.update(_between(above, shown, below), refresh=True)
            await clock.sleep(REDRAW_INTERVAL_SECONDS)


def _read_note(file: Path | None) -> str | None:
    return None if file is None else file.read_text(encoding="utf-8")


def _note(note: str) -> Text:
    return Text(note, style="bold", no_wrap=True, overflow="ellipsis")


def _between(
    above: Sequence[Text], picture: RenderableType, below: Sequence[Text]
) -> RenderableType:
    """Return the picture with these lines above and below it."""
    if not above and not below:
        return picture
    whole = Layout()
    lines = [[Layout(line_, size=1) for line_ in part] for part in (above, below)]
    whole.split_column(*lines[0], Layout(picture), *lines[1])
    return whole


def _now() -> str:
    return clock.now().isoformat().replace("+00:00", "Z")


def _touch(path: str) -> None:
    Path(path).touch()


def screenshot(displays: list[Display], path: Path, above: Sequence[Text] = ()) -> None:
    """Write the current picture, with these lines above it, as an SVG without embedded fonts."""
    columns = min(len(displays), SCREENSHOT_TABLES_PER_ROW)
    table_width = (
        SCREENSHOT_SIZE[0] if len(displays) <= MAX_WIDE_SCREENSHOT_TABLES else SCREENSHOT_COLUMNS
    )
    width, tall = table_width * columns, SCREENSHOT_SIZE[1] * -(-len(displays) // columns)
    height = tall + len(above)
    console = Console(
        record=True,
        width=width,
        height=height,
        file=StringIO(),
        force_terminal=True,
        color_system="truecolor",
    )
    shown = floor(
        [TableOnFloor(display.view, display.trouble()) for display in displays], width, height=tall
    )
    console.print(_between(above, shown, ()), height=height)
    names = " and ".join(display.view.table for display in displays)
    svg = console.export_svg(title=f"novamas: {names}", unique_id="novamas")
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
        "--note-file", type=Path, metavar="FILE", help="its text is a line below the picture"
    )
    parser.add_argument(
        "--screenshot", metavar="FILE.svg", help="write the last picture to this SVG file"
    )
    return parser


async def _run(arguments: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    first, *others = arguments.table
    displays = [Display(first, arguments.rounds, arguments.language)]
    displays += [Display(table, language=arguments.language) for table in others]
    meters = Meters(arguments.jackpot, arguments.language)
    try:
        await watch(displays, meters, arguments, stop)
    except BrokenPipeError:  # the program that reads the output has ended, which is no error
        sys.stderr.close()
        return 0
    if arguments.screenshot:
        try:
            screenshot(displays, Path(arguments.screenshot), meters.lines())
        except OSError as error:
            print(f"display: {arguments.screenshot}: {error.strerror}", file=sys.stderr)  # noqa: T201
            return 1
    return 0


def main(argv: list[str] | None = None) -> int:
    """Watch the tables. Returns the exit code."""
    parser = _parser()
    arguments = parser.parse_args(argv)
    if wrong := _mistake(arguments):
        parser.error(wrong)
    escape_unencodable_output()
    return asyncio.run(_run(arguments))


if __name__ == "__main__":
    end_process(main())
