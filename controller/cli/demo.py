"""``novamas demo``: a whole floor on one machine: a simulated wheel and a simulated shoe, the daemon with its embedded broker,
a display.

Each is a program of its own, as on a real floor; they know each other by a serial port and by MQTT alone.
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

import msgspec

from controller.cli import Failed
from controller.cli.demo_floor import Floor
from controller.cli.demo_head import Head
from controller.rulebook import rulebook

HELP = "see it work: a simulated wheel and a simulated shoe, the daemon and a display, until Ctrl-C"

SITE = "demo"


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """One table of the demo and its one device. ``simulator``: what the simulated device is told; ``faults``: in the model's
    seconds; ``more``: the rest of the device's and the table's configuration.
    """

    table: str
    game: str
    device: str
    driver: str
    baud: int
    simulator: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    more: str = ""


ROULETTE = Place(
    table="ruleta-1",
    game="roulette-french",
    device="wheel",
    driver="cammegh-ss2",
    baud=9600,
    simulator=(
        "--mode",
        "2181",
    ),  # plays by itself, reverses the rotor, and bets stay open while it waits for its share of the hour
    faults=("100:ball_with_rotor", "340:rotor_not_reversed"),  # null spins in the second and in the sixth round
    more="stale_after = 10.0 # the wheel is mute for four seconds when its power comes on",
)
PUNTO = Place(
    table="punto-1",
    game="punto-banca",
    device="shoe",
    driver="angel-eye",
    baud=4800,
    simulator=("--games-per-hour", "120"),
    faults=("95:overdraw",),  # behind the fourth coup
    more="""
[table.settings] # nobody presses a key: the first card opens a round, and with the fourth they are turned
rounds = "shoe"
turn = "when_complete"
""".strip(),
)

_CONFIGURATION = """\
[site]
id = "{site}"

[journal]
path = {journal}

[recordings]
path = {recordings}

[broker]
url = "embedded://127.0.0.1:{port}"

[log]
format = "console"
level = "warning"
"""
_TABLE = """
[[table]]
id = "{table}"
game = "{game}"
decree = {decree}
simulated = true
speed = {speed}

[[table.device]]
id = "{device}"
driver = "{driver}"
link = {link}
{more}
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument(
        "--speed",
        type=_positive,
        default=1.0,
        help="run so many times faster than real devices; then this machine's own delays show as late data",
    )
    parser.add_argument("--rounds", type=_count, help="end after so many results at the roulette table")
    parser.add_argument("--seed", type=int, default=1, help="of wheel and shoe; the same seed gives the same numbers and cards")
    parser.add_argument("--decree", default="ARA02", help="under which the tables play; 'novamas games' tells which there are")
    parser.add_argument("--state-dir", type=Path, metavar="DIR", help="keep configuration, journal, recordings and logs here")
    parser.add_argument("--no-faults", action="store_true", help="no null spins, no card too many")
    parser.add_argument("--screenshot", metavar="FILE.svg", help="leave the last picture as an SVG")


def run(arguments: argparse.Namespace) -> int:
    """Run until the rounds are played, or until we are told to stop. Gives 0 in both cases."""
    with ExitStack() as stack:
        room = arguments.state_dir or Path(stack.enter_context(TemporaryDirectory(prefix="novamas-demo-")))
        try:
            room.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failed(f"--state-dir {room}: {error.strerror}") from None
        floor = Floor(room.resolve())
        stack.callback(floor.close)
        return asyncio.run(_play(floor, arguments))


async def _play(floor: Floor, arguments: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # a closed terminal ends the demo too
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    playing = asyncio.create_task(_open_and_watch(floor, arguments))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({playing, stopping}, return_when=asyncio.FIRST_COMPLETED)
    for task in (playing, stopping):
        if not task.done():
            task.cancel()
    await asyncio.wait({playing, stopping})
    return 0 if playing.cancelled() else playing.result()


async def _open_and_watch(floor: Floor, arguments: argparse.Namespace) -> int:
    places, ready, port = _places(arguments.decree), floor.room / "display.ready", _free_port()
    ready.unlink(missing_ok=True)
    for place in places:
        floor.start(place.device, "simulators", *_simulator(floor.room, place, arguments))
    configuration = _configuration(floor.room, places, port, arguments)
    for place in places:
        await floor.until(f"the simulated {place.device}", _link(floor.room, place).is_symlink)
    floor.start("daemon", "controller.cli", "run", str(configuration))
    await floor.until("the broker", lambda: _answers(port))
    shown = ["--broker", f"mqtt://127.0.0.1:{port}", "--site", SITE, "--simulated", "--ready", str(ready)]
    shown += [word for place in places for word in ("--table", place.table)]
    shown += ["--rounds", str(arguments.rounds)] if arguments.rounds else []
    shown += ["--screenshot", arguments.screenshot] if arguments.screenshot else []
    display = floor.start("display", "subscribers.display", *shown, own_group=False)
    await floor.until("the display", ready.exists)
    shoes = [place.table for place in places if place.device == "shoe"]
    on_terminal = os.isatty(1)
    head = Head(port, SITE, [place.table for place in places], shoes, arguments.speed)
    try:
        async with asyncio.TaskGroup() as group:
            presiding = group.create_task(head.preside())
            await floor.until("the session", head.opened.is_set)
            for place in places:
                floor.tell(place.device, "start")
            # A hang-up is told to the first program of a terminal alone, and "make demo" makes that one make.
            while display.poll() is None and os.isatty(1) == on_terminal:
                floor.check()
                await asyncio.sleep(0.05)
            presiding.cancel()
    except* Failed as failures:
        raise failures.exceptions[0] from None
    floor.check()
    return 0


def _places(decree: str) -> list[Place]:
    """Both tables, or the roulette alone where the decree has no other. What is wrong with a decree is the daemon's to say."""
    try:
        book = rulebook(decree).punto_banca
    except KeyError:
        book = None
    if book is None:
        return [ROULETTE]
    shoe = ("--decks", str(book.shoe.decks), "--cut", str(book.shoe.behind))
    return [ROULETTE, msgspec.structs.replace(PUNTO, simulator=(*PUNTO.simulator, *shoe))]


def _link(room: Path, place: Place) -> Path:
    return room / place.device


def _simulator(room: Path, place: Place, arguments: argparse.Namespace) -> list[str]:
    words = [place.device, "--protocol", place.driver, "--link", str(_link(room, place)), *place.simulator]
    words += ["--seed", str(arguments.seed), "--speed", str(arguments.speed), "--wait", "--end-with-stdin"]
    faults = () if arguments.no_faults else place.faults
    return [*words, *(f"--fault={fault}" for fault in faults)]


def _configuration(room: Path, places: list[Place], port: int, arguments: argparse.Namespace) -> Path:
    path = room / "demo.toml"
    text = _CONFIGURATION.format(
        site=SITE, port=port, journal=_quoted(str(room / "journal.sqlite3")), recordings=_quoted(str(room / "recordings"))
    )
    for place in places:
        text += _TABLE.format(
            **msgspec.structs.asdict(place),
            speed=arguments.speed,
            decree=_quoted(arguments.decree),
            link=_quoted(f"serial://{_link(room, place)}?baud={place.baud}"),
        )
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


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1000")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1")
    return value
