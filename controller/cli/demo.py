"""``novamas demo``: a whole floor on one machine: simulated devices, the daemon with its embedded
broker, a display, and people at the tables.

Each is a separate program, as on a real floor; they share only serial ports and MQTT.
"""

from __future__ import annotations

import argparse
import asyncio
import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from common import clock
from common.contract.messages.messages import ENGLISH, LANGUAGES, word
from common.errors import NovamasError
from common.money import EURO, format_amount
from common.system_errors import describe_system_error
from controller.cli import CommandLineError, numbers
from controller.cli.web import write_laws
from controller.demo import jackpot, recorder
from controller.demo.files import (
    PEOPLE,
    SITE,
    enrol_people,
    write_configuration,
)
from controller.demo.floor import DemoError, DemoFloor
from controller.demo.places import BOXES, COIN, DemoTable, places
from controller.demo.staff import VISITORS, Staff
from controller.demo.table_head import TableHead
from controller.rulebooks import chapters

NEXT_STEPS = """\
That was a simulated floor: devices, daemon, broker, people and displays on this machine. Try next:

  {novamas} demo --floor --language en
      eight tables on one screen and a jackpot over two of them, in English
  {novamas} demo --floor --web-port 8080
      the same in the browser: http://127.0.0.1:8080/floor, and the pit console at /pit
  {novamas} demo --state-dir demo
      the same, kept: then {novamas} verify demo/journal.sqlite3,
      and with --floor {novamas} carrousel verify demo/carrousel.sqlite3
  {novamas} demo --floor --surveillance
      the same with a recorder: what happened, the evidence beside the article, at /surveillance
  {novamas} rules --decree ARA02 --game roulette-french --list
      what the decree says of the game, rule by rule
  {novamas} check docs/technician/novamas.toml
      whether the configuration of a site is sound; this one explains every key

Continue with docs/technician/connect-a-wheel.md."""
"""Printed on the terminal when the demo ends."""
DISK_FULL_ERRORS = errno.ENOSPC, errno.EDQUOT, errno.EFBIG
MIN_FREE_BYTES = 1 << 20
"""Free bytes on the disk below which a failed demo is reported as a full disk."""
STACKED_DECK_NOTE = "(its hits are of a stacked deck, so that you see one)"
HISTORY_ROUNDS = 10
"""Results of the first table before the display opens, on a terminal."""
HISTORY_SPEED = 20.0
"""Speed of these rounds. Faster, a busy machine's delays would show as late data."""
HISTORY_SEED = 1000
"""Added to the seed of these rounds, so that later ones do not repeat their numbers."""
RESULTS = f"novamas-sim/v1/{SITE}/+/result"
"""The topics of the results."""


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
        help="show every simulated table: wheels, dice, shoes, poker; with a jackpot",
    )
    parser.add_argument(
        "--surveillance",
        action="store_true",
        help="record all of it too, and show the archive in the browser at /surveillance",
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
        "--web-port",
        type=numbers.port,
        default=0,
        help="port of the displays in the browser (default: a free one)",
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
        help="language of the displays (default: that of the decree)",
    )
    parser.add_argument(
        "--history",
        type=numbers.count,
        metavar="ROUNDS",
        help="results of the first table that are played quickly before the picture "
        f"(default: {HISTORY_ROUNDS} on a terminal at the usual speed, none otherwise)",
    )
    parser.add_argument("--no-faults", action="store_true", help="show nothing irregular")
    parser.add_argument("--screenshot", metavar="FILE.svg", help="save the last picture as SVG")


def run(arguments: argparse.Namespace) -> int:
    """Run until the rounds are played or the demo is stopped. Returns 0 in both cases."""
    _check_web_port(arguments.web_port)
    code = _run(arguments)
    if os.isatty(1):
        print(NEXT_STEPS.format(novamas=_own_name()))
    return code


def _check_web_port(port: int) -> None:
    """Raise ``CommandLineError`` if another program listens there."""
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise CommandLineError(
            f"--web-port {port}: {describe_system_error(error)}; choose another port, or leave it "
            "out for a free one"
        ) from None


def _own_name() -> str:
    """Return how this program was called, for commands printed to the terminal."""
    own = sys.argv[0]
    return own if Path(own).name == "novamas" else "novamas"


def _run(arguments: argparse.Namespace) -> int:
    with ExitStack() as stack:
        try:
            room = arguments.state_dir or Path(
                stack.enter_context(TemporaryDirectory(prefix="novamas-demo-"))
            )
        except OSError as error:
            raise CommandLineError(
                f"no folder for the demo: {error.strerror or error}; name one with --state-dir"
            ) from None
        try:
            room.mkdir(parents=True, exist_ok=True)
            existing = set(room.iterdir())
        except OSError as error:
            raise CommandLineError(f"--state-dir {room}: {error.strerror}") from None
        try:
            return _run_in(room.resolve(), arguments)
        except (NovamasError, OSError) as error:
            full_disk = _disk_full_error(error, room)
            if full_disk is None:
                if isinstance(error, DemoError):
                    raise CommandLineError(str(error)) from None
                raise
            for path in set(room.iterdir()) - existing:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            raise CommandLineError(
                f"{room}: {os.strerror(full_disk)}; make room there, or name a folder on "
                f"another disk with --state-dir ({error})"
            ) from None


def _run_in(room: Path, arguments: argparse.Namespace) -> int:
    """Run in a folder."""
    rounds = _history(arguments)
    if rounds and not _play_history(room, rounds, arguments):
        return 0
    with ExitStack() as stack:
        floor = DemoFloor(room)
        stack.callback(_print_notes, floor)  # after the display has ended
        stack.callback(floor.close)
        asyncio.run(_play(floor, arguments))
    return 0


def _play_history(room: Path, rounds: int, arguments: argparse.Namespace) -> bool:
    """Play rounds with the same people and tables, faster and unseen. The tables' clocks run faster
    too, because the daemon takes frames that come faster than a device can send them for late ones.
    Return False if the user has stopped it.
    """
    if os.isatty(1):
        print(f"playing {rounds} rounds quickly, for the picture to begin with")
    hurried = argparse.Namespace(**vars(arguments))
    hurried.speed, hurried.rounds = max(arguments.speed, HISTORY_SPEED), rounds
    hurried.seed, hurried.no_faults = arguments.seed + HISTORY_SEED, True
    floor = DemoFloor(room)
    try:
        return asyncio.run(_play(floor, hurried, unseen=True))
    finally:
        floor.close()


def _disk_full_error(error: BaseException, room: Path) -> int | None:
    """Return the errno if a demo failed because the disk is full. Its programs cannot write it to
    their logs on the same disk.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in DISK_FULL_ERRORS:
            return cause.errno
        cause = cause.__context__
    disk = os.statvfs(room)
    return errno.ENOSPC if disk.f_bavail * disk.f_frsize < MIN_FREE_BYTES else None


def _print_notes(floor: DemoFloor) -> None:
    if os.isatty(1):
        print(*floor.note.events, sep="\n")


async def _play(floor: DemoFloor, arguments: argparse.Namespace, *, unseen: bool = False) -> bool:
    """Play until the display ends. Return False if a signal stopped it."""
    stop = asyncio.Event()
    # closing the terminal ends the demo too
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    playing = asyncio.create_task(_open_and_watch(floor, arguments, unseen=unseen))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait({playing, stopping}, return_when=asyncio.FIRST_COMPLETED)
    for task in (playing, stopping):
        if not task.done():
            task.cancel()
    await asyncio.wait({playing, stopping})
    if playing.cancelled():
        return False
    error = playing.exception()
    if error is not None and not stop.is_set():  # at a stop, programs end in any order
        raise error
    return not stop.is_set()


async def _open_and_watch(floor: DemoFloor, arguments: argparse.Namespace, *, unseen: bool) -> None:
    decree = arguments.decree or ("EUS96" if arguments.floor else "ARA02")
    tables = places(
        decree, floor=arguments.floor, speed=arguments.speed, faults=not arguments.no_faults
    )
    spoken = chapters.head(decree).languages if decree in chapters.decrees() else LANGUAGES
    language = arguments.language or spoken[0]
    ready, port = floor.room / "display.ready", _free_port()
    ready.unlink(missing_ok=True)
    _start_devices(floor, tables, arguments)
    linked = jackpot.linked(tables)
    staff = enrol_people(floor.room, tables, linked, surveillance=arguments.surveillance)
    configuration = write_configuration(floor.room, tables, port, decree, arguments.speed, staff)
    for place in tables:
        for device in place.devices:
            await floor.until(f"the simulated {device}", (floor.room / device).is_symlink)
    floor.start("daemon", "controller.cli", "run", str(configuration))
    await floor.until("the broker", lambda: _is_listening(port))
    for program in staff.readers:
        floor.start(program, "controller.cli", program, str(configuration))
    occupied = floor.room / "console.occupied"
    occupied.unlink(missing_ok=True)
    on_terminal = os.isatty(1) and not unseen
    if not unseen:
        web = floor.room / "web.ready"
        web.unlink(missing_ok=True)
        settings = _write_web_settings(tables, bool(linked), port, web, occupied, staff, arguments)
        floor.start("web", "subscribers.web", "--settings", settings)
        await floor.until("the web server", lambda: web.is_file() and web.stat().st_size > 0)
        if on_terminal:
            address = web.read_text(encoding="utf-8").strip()
            invitation = recorder.invitation(address, _own_name(), configuration, tables[0].table)
            surveillance = invitation if arguments.surveillance else None
            query = f"?lang={language}" if arguments.language else ""
            _invite(floor, address, query, port, linked, surveillance, language)
    words = _display_options(tables, port, ready, bool(linked), arguments)
    words += ["--note-file", str(floor.note.path)] if on_terminal else []
    words += ["--screenshot", arguments.screenshot] if arguments.screenshot and not unseen else []
    display = floor.start("display", "subscribers.terminal.display", *words, on_terminal=not unseen)
    await floor.until("the display", ready.exists)
    head = TableHead(
        port,
        SITE,
        tables,
        arguments.seed,
        arguments.speed,
        staff,
        occupied,
        lambda slots: floor.write_line(slots, "coins"),
    )
    payment = jackpot.AwardPayers(
        port, SITE, linked, staff, arguments.speed, floor.note.add_event, language
    )
    try:
        async with asyncio.TaskGroup() as group:
            working = [group.create_task(head.preside())]
            await floor.until("the session", head.opened.is_set)
            if linked:
                working.append(group.create_task(payment.attend()))
                await floor.until("the jackpot", payment.ready.is_set)
            for device in (device for place in tables for device in place.devices):
                floor.write_line(device, "start")
            await _watch(floor, display)
            for task in working:
                task.cancel()
    except* DemoError as failures:
        await floor.check_soon()
        raise CommandLineError(_first_message(failures)) from None
    floor.check()


def _start_devices(
    floor: DemoFloor, tables: list[DemoTable], arguments: argparse.Namespace
) -> None:
    for place in tables:
        floor.start(place.device, "simulators", *_simulator(floor.room, place, arguments))
        if place.slots is not None:
            floor.start(place.slots, "simulators", *_slots(floor.room, place, arguments))


def _display_options(
    tables: list[DemoTable],
    port: int,
    ready: Path,
    has_jackpot: bool,
    arguments: argparse.Namespace,
) -> list[str]:
    """Return the options of the display on the terminal."""
    words = ["--broker", f"mqtt://127.0.0.1:{port}", "--site", SITE]
    words += ["--simulated", "--ready", str(ready)]
    words += [word for place in tables for word in ("--table", place.table)]
    words += ["--jackpot", jackpot.JACKPOT] if has_jackpot else []
    words += ["--rounds", str(arguments.rounds)] if arguments.rounds else []
    words += ["--language", arguments.language] if arguments.language else []
    return words


async def _watch(floor: DemoFloor, display: subprocess.Popen[bytes]) -> None:
    """Wait until the display ends or the terminal is closed: a hang-up reaches only the first
    program of a terminal, which is make in "make demo".
    """
    on_terminal = os.isatty(1)
    while display.poll() is None and os.isatty(1) == on_terminal:
        floor.check()
        await clock.sleep(0.05)


def _history(arguments: argparse.Namespace) -> int:
    """Return the rounds to play before the display opens: none without a terminal, and none at a
    speed at which they are played soon enough.
    """
    if arguments.history is not None:
        return int(arguments.history)
    return HISTORY_ROUNDS if os.isatty(1) and arguments.speed == 1.0 else 0


def _first_message(failures: BaseExceptionGroup[DemoError]) -> str:
    """Return the message of the first error; a group may contain groups."""
    first = failures.exceptions[0]
    return str(first) if isinstance(first, DemoError) else _first_message(first)


def _simulator(room: Path, place: DemoTable, arguments: argparse.Namespace) -> list[str]:
    words = [
        place.kind,
        "--protocol",
        place.driver,
        "--link",
        str(room / place.device),
        *place.simulator,
        *_pace_options(place, arguments),
    ]
    return [*words, *(f"--fault={fault}" for fault in place.faults)]


def _slots(room: Path, place: DemoTable, arguments: argparse.Namespace) -> list[str]:
    """Return the options of the coin slots, whose players insert coins on request."""
    words = ["slot", "--protocol", "slot-board", "--link", str(room / str(place.slots))]
    words += ["--boxes", str(BOXES), "--coin", format_amount(COIN, EURO), "--games-per-hour", "1"]
    return [*words, *_pace_options(place, arguments)]


def _pace_options(place: DemoTable, arguments: argparse.Namespace) -> tuple[str, ...]:
    seed, speed = str(arguments.seed + place.seed), str(arguments.speed)
    return ("--seed", seed, "--speed", speed, "--wait", "--end-with-stdin")


def _invite(
    floor: DemoFloor,
    address: str,
    query: str,
    port: int,
    linked: list[str],
    surveillance: str | None,
    language: str,
) -> None:
    """Print where to look, and as whom to sign in; show it below the picture, in its language.
    ``query``: added to the addresses of displays.
    """
    floor_page = f"{address}/floor{query}"
    results = f"mosquitto_sub -p {port} -v -t '{RESULTS}'"
    print(f"in the browser: {floor_page}  console: {address}/pit")
    print(f"  the results over MQTT: {results}")
    if linked:
        print(f"  the jackpot: {address}/jackpot/{jackpot.JACKPOT}{query}  {STACKED_DECK_NOTE}")
    for visitor in VISITORS:
        print(
            f"  sign in there with badge {visitor.badge}, PIN {visitor.pin}: "
            f"{word('role', visitor.roles[0], ENGLISH)}"
        )
    addresses = [floor_page, f"{address}/pit"]
    if surveillance is not None:
        print(surveillance)
        addresses.append(f"{address}/surveillance")
    people = [
        f"{word('role', each.roles[0], language)}: {each.badge}, PIN {each.pin}"
        for each in VISITORS
    ]
    floor.note.set_always("  ".join(addresses), results, "  ·  ".join(people))


def _write_web_settings(
    tables: list[DemoTable],
    linked: bool,
    port: int,
    ready: Path,
    occupied: Path,
    staff: Staff,
    arguments: argparse.Namespace,
) -> str:
    """Return the settings of the web server."""
    room = ready.parent
    archive_settings = {
        "archive": str(recorder.archive(room)),
        "cards_key": str(recorder.cards_key(room)),
    }
    return json.dumps(
        {
            **(archive_settings if arguments.surveillance else {}),
            "site": SITE,
            "broker": {"url": f"mqtt://127.0.0.1:{port}"},
            "tables": [{"id": place.table, "simulated": True} for place in tables],
            "jackpots": [{"id": jackpot.JACKPOT, "simulated": True}] if linked else [],
            "port": arguments.web_port,
            "ready": str(ready),
            "log": "console",
            "state": str(room),
            "pit": {
                "people_file": str(room / PEOPLE),
                "people_key": staff.site_key,
                "keys": str(staff.pins),
                "pepper": str(staff.pepper),
                "laws": str(write_laws(room)),
                "occupied": str(occupied),
            },
        }
    )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
