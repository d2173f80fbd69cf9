"""``novamas demo``: a whole floor on one machine: simulated devices, the daemon with its embedded
broker, a display, and people at the tables.

Each is a program of its own, as on a real floor; they share nothing but serial ports and MQTT.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from controller.cli import CommandLineError, numbers
from controller.contract.messages.messages import LANGUAGES
from controller.demo.floor import DemoError, Floor
from controller.demo.places import DemoTable, places
from controller.demo.staff import Staff, enrol
from controller.demo.table_head import TableHead

HELP = "show it at work: a simulated wheel and shoe, the daemon and a display, until Ctrl-C"

SITE, PEOPLE = "demo", "people.jsonl"

_CONFIGURATION = """\
[site]
id = "{site}"

[journal]
path = {journal}

[recordings]
path = {recordings}

[broker]
url = "embedded://127.0.0.1:{port}"

[people]
file = {people}
key = "{key}"
two_persons = []

[log]
format = "console"
level = "warning"
"""
_TABLE = """
[[table]]
id = "{place.table}"
game = "{place.game}"
decree = {decree}
simulated = true
speed = {speed}

[[table.device]]
id = "{place.device}"
driver = "{place.driver}"
link = {link}
{place.more}
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Options only."""
    parser.add_argument(
        "--speed",
        type=numbers.speed,
        default=1.0,
        help=(
            "run this many times faster than real devices; this machine's own delays then show as "
            "late data"
        ),
    )
    parser.add_argument(
        "--floor",
        action="store_true",
        help="show every simulated table: wheels, dice, shoes, poker",
    )
    parser.add_argument(
        "--rounds",
        type=numbers.count,
        help="stop after this many results at the roulette table, or else the first table",
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=1,
        help="seed of the devices; the same seed gives the same numbers and cards",
    )
    parser.add_argument(
        "--decree",
        help=(
            "decree that the tables play under (default: ARA02, or EUS96 with --floor); "
            "'novamas games' lists them"
        ),
    )
    parser.add_argument(
        "--state-dir",
        type=Path,
        metavar="DIR",
        help="keep the configuration, journal, recordings and logs in this folder",
    )
    parser.add_argument(
        "--language",
        choices=LANGUAGES,
        help="language of the display (default: that of the decree)",
    )
    parser.add_argument("--no-faults", action="store_true", help="show nothing irregular")
    parser.add_argument("--screenshot", metavar="FILE.svg", help="save the last picture as SVG")


def run(arguments: argparse.Namespace) -> int:
    """Run until the rounds are played or the demo is stopped. Returns 0 in both cases."""
    with ExitStack() as stack:
        room = arguments.state_dir or Path(
            stack.enter_context(TemporaryDirectory(prefix="novamas-demo-"))
        )
        try:
            room.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CommandLineError(f"--state-dir {room}: {error.strerror}") from None
        floor = Floor(room.resolve())
        stack.callback(floor.close)
        try:
            return asyncio.run(_play(floor, arguments))
        except DemoError as failed:
            raise CommandLineError(str(failed)) from None


async def _play(floor: Floor, arguments: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
    ):  # closing the terminal ends the demo too
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    playing = asyncio.create_task(_open_and_watch(floor, arguments))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({playing, stopping}, return_when=asyncio.FIRST_COMPLETED)
    for task in (playing, stopping):
        if not task.done():
            task.cancel()
    await asyncio.wait({playing, stopping})
    if playing.cancelled():
        return 0
    if (
        stop.is_set() and playing.exception() is not None
    ):  # when stopped, the order in which the programs end is no failure
        return 0
    return playing.result()


async def _open_and_watch(floor: Floor, arguments: argparse.Namespace) -> int:
    decree = arguments.decree or ("EUS96" if arguments.floor else "ARA02")
    tables = places(
        decree, floor=arguments.floor, speed=arguments.speed, faults=not arguments.no_faults
    )
    ready, port = floor.room / "display.ready", _free_port()
    ready.unlink(missing_ok=True)
    for place in tables:
        floor.start(place.device, "simulators", *_simulator(floor.room, place, arguments))
    staff = enrol(floor.room / PEOPLE, SITE, (place.role for place in tables))
    configuration = _configuration(floor.room, tables, port, decree, arguments.speed, staff)
    for place in tables:
        await floor.until(f"the simulated {place.device}", _link(floor.room, place).is_symlink)
    floor.start("daemon", "controller.cli", "run", str(configuration))
    await floor.until("the broker", lambda: _answers(port))
    shown = [
        "--broker",
        f"mqtt://127.0.0.1:{port}",
        "--site",
        SITE,
        "--simulated",
        "--ready",
        str(ready),
    ]
    shown += [word for place in tables for word in ("--table", place.table)]
    shown += ["--rounds", str(arguments.rounds)] if arguments.rounds else []
    shown += ["--language", arguments.language] if arguments.language else []
    shown += ["--screenshot", arguments.screenshot] if arguments.screenshot else []
    display = floor.start("display", "subscribers.display", *shown, own_group=False)
    await floor.until("the display", ready.exists)
    on_terminal = os.isatty(1)
    head = TableHead(port, SITE, tables, arguments.seed, arguments.speed, staff)
    try:
        async with asyncio.TaskGroup() as group:
            presiding = group.create_task(head.preside())
            await floor.until("the session", head.opened.is_set)
            for place in tables:
                floor.tell(place.device, "start")
            # A hang-up reaches only the first program of a terminal, which is make in "make demo".
            while display.poll() is None and os.isatty(1) == on_terminal:
                floor.check()
                await asyncio.sleep(0.05)
            presiding.cancel()
    except* DemoError as failures:
        raise CommandLineError(_first(failures)) from None
    floor.check()
    return 0


def _first(failures: BaseExceptionGroup[DemoError]) -> str:
    """The message of the first error; a group may contain groups."""
    first = failures.exceptions[0]
    return str(first) if isinstance(first, DemoError) else _first(first)


def _link(room: Path, place: DemoTable) -> Path:
    return room / place.device


def _simulator(room: Path, place: DemoTable, arguments: argparse.Namespace) -> list[str]:
    words = [
        place.kind,
        "--protocol",
        place.driver,
        "--link",
        str(_link(room, place)),
        *place.simulator,
    ]
    words += [
        "--seed",
        str(arguments.seed),
        "--speed",
        str(arguments.speed),
        "--wait",
        "--end-with-stdin",
    ]
    return [*words, *(f"--fault={fault}" for fault in place.faults)]


def _configuration(
    room: Path, tables: list[DemoTable], port: int, decree: str, speed: float, staff: Staff
) -> Path:
    path = room / "demo.toml"
    text = _CONFIGURATION.format(
        site=SITE,
        port=port,
        journal=_quoted(str(room / "journal.sqlite3")),
        people=_quoted(str(room / PEOPLE)),
        key=staff.site_key,
        recordings=_quoted(str(room / "recordings")),
    )
    for place in tables:
        link = f"serial://{_link(room, place)}?baud={place.baud}"
        text += _TABLE.format(place=place, decree=_quoted(decree), speed=speed, link=_quoted(link))
    path.write_text(text, encoding="utf-8")
    return path


def _quoted(text: str) -> str:
    """A TOML string; its escapes are those of JSON."""
    return json.dumps(text)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
