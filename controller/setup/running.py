"""Runs what setup has configured in the foreground, for a trial: simulated devices, Mosquitto, the
daemon, the displays and the archive.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from common import clock
from common.command_line import stop_signals
from controller.configuration.file import load
from controller.configuration.listening import address, reachable
from controller.demo.floor import DemoError, DemoFloor
from controller.setup.change import SERVICE_GROUP, SetupError
from controller.setup.facts import Facts
from controller.setup.opening import first_results, login, open_tables
from controller.setup.plan import SetupPlan

LOGS = "log"
MOSQUITTO_PATHS = "/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin"
POLL_SECONDS = 0.1
SERVICE_STATE = Path("/var/lib/novamas")
"""Where the installed daemon keeps its journal."""


def mosquitto_program() -> str | None:
    """Return the path of Mosquitto, which is not in every user's search path."""
    return shutil.which("mosquitto", path=f"{os.environ.get('PATH', '')}:{MOSQUITTO_PATHS}")


def run_all(
    plan: SetupPlan, facts: Facts, say_ready: Callable[[], None], say: Callable[..., None]
) -> None:
    """Run until a signal. ``say_ready`` is called once everything runs; ``say`` with each message's
    key and fields. Raises :class:`SetupError`.
    """
    given = os.environ.get("STATE_DIRECTORY")
    state = SERVICE_STATE if facts.is_service else Path(given) if given else plan.file.parent
    options: dict[str, Any] = {}
    if facts.is_service:  # as systemd would, but for a user of each program
        options = {"user": SERVICE_GROUP, "group": SERVICE_GROUP, "extra_groups": ["dialout"]}
        options["env"] = {**os.environ, "STATE_DIRECTORY": str(SERVICE_STATE)}
    folder = state / LOGS
    folder.mkdir(exist_ok=True)
    brokers, programs = DemoFloor(folder, options), DemoFloor(folder, options)
    try:
        asyncio.run(_run(brokers, programs, plan, say_ready, say))
    except DemoError as error:
        raise SetupError(str(error)) from None
    finally:
        programs.close()
        brokers.close()  # last, so that the others can say that they end


async def _run(
    brokers: DemoFloor,
    programs: DemoFloor,
    plan: SetupPlan,
    say_ready: Callable[[], None],
    say: Callable[..., None],
) -> None:
    stop = asyncio.Event()
    with _on_signal(stop):
        starting = asyncio.create_task(_start(brokers, programs, plan, say_ready, say))
        stopping = asyncio.create_task(stop.wait())
        await asyncio.wait({starting, stopping}, return_when=asyncio.FIRST_COMPLETED)
        if not starting.done():
            starting.cancel()
        await asyncio.wait({starting})
        if not starting.cancelled() and (error := starting.exception()) and not stop.is_set():
            stopping.cancel()
            raise error
        while not stop.is_set():
            brokers.check()
            programs.check()
            await clock.sleep(POLL_SECONDS)
        await stopping


@contextmanager
def _on_signal(stop: asyncio.Event) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in stop_signals():
        loop.add_signal_handler(signal.Signals(number), stop.set)
    yield


async def _start(
    brokers: DemoFloor,
    programs: DemoFloor,
    plan: SetupPlan,
    say_ready: Callable[[], None],
    say: Callable[..., None],
) -> None:
    configuration = load(plan.file)
    for table, words in plan.simulators.items():
        programs.start(f"simulated-{table}", "controller.cli", *words)
        where = words[words.index("--tcp") + 1]
        await _listens(programs, f"the simulated device of {table}", where)
    broker = login(configuration, plan.console_password)
    where = broker.url.partition("://")[2].partition(",")[0].partition("/")[0]
    if plan.runs_mosquitto is not None:
        program = mosquitto_program()
        if program is None:
            raise SetupError("mosquitto is not installed: apt-get install mosquitto")
        brokers.start_program("mosquitto", [program, "-c", str(plan.runs_mosquitto)])
        await _listens(brokers, "Mosquitto", where)
    programs.start("daemon", "controller.cli", "run", str(plan.file))
    if configuration.broker.url.startswith("embedded:"):
        await _listens(programs, "the daemon", where)
    if plan.archives:
        programs.start("surveillance", "controller.cli", "surveillance", str(plan.file))
    if plan.has_web:
        programs.start("web", "controller.cli", "web", str(plan.file))
        await _listens(programs, "the web server", configuration.web.listen)
    if plan.opens:
        await open_tables(configuration, broker, plan.enrolment, say)
    say_ready()
    if plan.opens:
        await first_results(configuration, broker, say)


async def _listens(floor: DemoFloor, what: str, where: str) -> None:
    host, port = address(where)
    local = reachable(host)

    def listening() -> bool:
        try:
            with socket.create_connection((local, port), timeout=1):
                return True
        except OSError:
            return False

    await floor.until(what, listening)
