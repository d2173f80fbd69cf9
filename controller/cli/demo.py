"""``novamas demo``: the whole floor on one machine: a simulated wheel, the daemon with its embedded broker, a display.

Each is a program of its own, as on a real floor; they know each other by a serial port and by MQTT alone.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from controller.cli import Failed
from controller.topics import Topics

if TYPE_CHECKING:
    import aiomqtt

HELP = "see it work: a simulated wheel, the daemon and a display, until Ctrl-C"

SITE, TABLE, GAME = "demo", "ruleta-1", "roulette-french"
MODE = 2181
"""The wheel plays by itself, reverses the rotor, and bets stay open while it waits for its share of the hour."""
FAULTS = ("100:ball_with_rotor", "340:rotor_not_reversed")
"""In the model's seconds: a spin that becomes null in the second round, an irregularity in the sixth."""
DECIDED = ("ball_with_rotor", "rotor_not_reversed")
"""What the demo's head of the table calls null, where the table asks."""
PATIENCE = 30.0
"""Seconds for each program to be ready, and for its end."""

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

[[table]]
id = "{table}"
game = "{game}"
decree = {decree}
simulated = true
speed = {speed}

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = {link}
stale_after = 10.0 # the wheel is mute for four seconds when its power comes on
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """What it takes."""
    parser.add_argument(
        "--speed",
        type=_positive,
        default=1.0,
        help="run so many times faster than a real wheel; then this machine's own delays show as late data",
    )
    parser.add_argument("--rounds", type=_count, help="end after so many results")
    parser.add_argument("--seed", type=int, default=1, help="of the wheel; the same seed gives the same numbers")
    parser.add_argument("--decree", default="ARA02", help="under which the table plays; 'novamas games' tells which there are")
    parser.add_argument("--state-dir", type=Path, metavar="DIR", help="keep configuration, journal, recordings and logs here")
    parser.add_argument("--no-faults", action="store_true", help="no null spin in the second round, no irregularity in the sixth")
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


class Floor:
    """The programs of the demo. All of them end with it."""

    def __init__(self, room: Path) -> None:
        self.room = room
        self._programs: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, module: str, *words: str, own_group: bool = True) -> subprocess.Popen[bytes]:
        """Start one program; what it says on standard error goes to ``<name>.log``."""
        with (self.room / f"{name}.log").open("wb") as log:
            program = subprocess.Popen(  # noqa: S603 - our own modules
                [sys.executable, "-m", module, *words],
                stdin=subprocess.PIPE,  # its end tells the simulator that we are gone, however we went
                stdout=None if name == "display" else log,
                stderr=log,
                start_new_session=own_group,
            )
        self._programs[name] = program
        return program

    def tell(self, name: str, line: str) -> None:
        """Write a line to a program's standard input."""
        program = self._programs[name]
        assert program.stdin is not None
        try:
            program.stdin.write(line.encode() + b"\n")
            program.stdin.flush()
        except BrokenPipeError:
            program.wait()
            self.check()

    def check(self) -> None:
        """Raise :class:`Failed` with everything that a program said, if one has ended that should not have."""
        for name, program in self._programs.items():
            code = program.poll()
            if code is not None and (name != "display" or code != 0):
                raise Failed(f"the {name} has ended with {code}; it said:\n{self._said(name)}")

    def _said(self, name: str) -> str:
        return (self.room / f"{name}.log").read_text(errors="replace").strip() or "(nothing)"

    async def until(self, what: str, true: Callable[[], bool]) -> None:
        """Wait for something. Raises :class:`Failed` when it does not come, or when a program has ended."""
        try:
            async with asyncio.timeout(PATIENCE):
                while not true():
                    self.check()
                    await asyncio.sleep(0.02)
        except TimeoutError:
            said = "\n".join(f"{name}: {self._said(name)}" for name in self._programs)
            raise Failed(f"{what} did not come within {PATIENCE:g} s\n{said}") from None

    def close(self) -> None:
        """End them all and wait for each; one that does not end is killed."""
        for program in self._programs.values():
            if program.poll() is None:
                program.terminate()
        for program in self._programs.values():
            try:
                program.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
            with contextlib.suppress(BrokenPipeError):
                assert program.stdin is not None
                program.stdin.close()


async def _play(floor: Floor, arguments: argparse.Namespace) -> int:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
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
    link, ready, port = floor.room / "wheel", floor.room / "display.ready", _free_port()
    ready.unlink(missing_ok=True)
    floor.start("simulator", "simulators", *_simulator(link, arguments))
    await floor.until("the simulated wheel", link.is_symlink)
    configuration = _configuration(floor.room, link, port, arguments)
    floor.start("daemon", "controller.cli", "run", str(configuration))
    await floor.until("the broker", lambda: _answers(port))
    shown = ["--broker", f"mqtt://127.0.0.1:{port}", "--site", SITE, "--table", TABLE, "--simulated", "--ready", str(ready)]
    shown += ["--rounds", str(arguments.rounds)] if arguments.rounds else []
    shown += ["--screenshot", arguments.screenshot] if arguments.screenshot else []
    display = floor.start("display", "subscribers.display", *shown, own_group=False)
    await floor.until("the display", ready.exists)
    head = Head(port, arguments.speed)
    try:
        async with asyncio.TaskGroup() as group:
            presiding = group.create_task(head.preside())
            await floor.until("the session", head.opened.is_set)
            floor.tell("simulator", "start")
            while display.poll() is None:
                floor.check()
                await asyncio.sleep(0.05)
            presiding.cancel()
    except* Failed as failures:
        raise failures.exceptions[0] from None
    floor.check()
    return 0


def _simulator(link: Path, arguments: argparse.Namespace) -> list[str]:
    words = [
        "wheel",
        "--link",
        str(link),
        "--seed",
        str(arguments.seed),
        "--speed",
        str(arguments.speed),
        "--mode",
        str(MODE),
        "--wait",
        "--end-with-stdin",
    ]
    faults = () if arguments.no_faults else FAULTS
    return [*words, *(f"--fault={fault}" for fault in faults)]


def _configuration(room: Path, link: Path, port: int, arguments: argparse.Namespace) -> Path:
    path = room / "demo.toml"
    text = _CONFIGURATION.format(
        site=SITE,
        table=TABLE,
        game=GAME,
        port=port,
        speed=arguments.speed,
        decree=_quoted(arguments.decree),
        journal=_quoted(str(room / "journal.sqlite3")),
        recordings=_quoted(str(room / "recordings")),
        link=_quoted(f"serial://{link}?baud=9600"),
    )
    path.write_text(text, encoding="utf-8")
    return path


def _quoted(text: str) -> str:
    """A TOML string; its escapes are those of JSON."""
    return json.dumps(text)


class Head:
    """The head of the table: opens the session, and decides where the table waits for a person."""

    def __init__(self, port: int, speed: float) -> None:
        self._port = port
        self._thinks = 4.0 / speed
        self.opened = asyncio.Event()

    async def preside(self) -> None:
        """Until cancelled. Raises :class:`Failed` where the table refuses to open, or the broker is gone."""
        import aiomqtt

        try:
            async with aiomqtt.Client("127.0.0.1", self._port, protocol=aiomqtt.ProtocolVersion.V311) as client:
                await self._preside(client)
        except aiomqtt.MqttError as error:
            await asyncio.sleep(PATIENCE)  # whoever looks after the programs finds out more
            raise Failed(f"the broker is gone: {error}") from None

    async def _preside(self, client: aiomqtt.Client) -> None:
        topics = Topics(SITE, simulated=True)
        state, event, reply = topics.table(TABLE, "state"), topics.table(TABLE, "event"), topics.reply(TABLE, "demo")

        async def say(name: str, **more: Any) -> None:
            body = {"by": "demo", "role": "table_head", "client": "demo", "id": name, **more}
            await client.publish(topics.command(TABLE, name), json.dumps(body), qos=1)

        await client.subscribe([(state, 1), (event, 1), (reply, 1)])
        seen = False
        async for message in client.messages:
            topic, body = message.topic.value, json.loads(message.payload if isinstance(message.payload, bytes) else b"{}")
            if topic == reply:
                self._answered(body)
            elif topic == state and not seen:
                seen = True
                if body["shown"]["phase"] == "closed":
                    await say("session.open")
                else:  # --state-dir of an earlier demo: its session goes on
                    self.opened.set()
            elif topic == event and body.get("what") in DECIDED and "round.void" in body.get("asks", ()):
                await asyncio.sleep(self._thinks)
                await say("round.void", reason=body["what"], round=body["round"])

    def _answered(self, reply: dict[str, Any]) -> None:
        if reply["id"] == "session.open":
            if not reply["ok"]:
                raise Failed(f"the table does not open: {reply['error']}")
            self.opened.set()


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
