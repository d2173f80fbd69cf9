"""A command to a device: stored, then sent; a command that could not be sent is recorded too."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec
import pytest

from common.contract.commands import DeviceCommand, Role
from common.contract.events import AnyEvent, DeviceCommanded
from common.contract.notation import Input
from common.contract.orders import DeviceOrder
from common.contract.refusals import RejectedError
from common.contract.retained import About
from common.readings import WheelNumber
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.tables import device_orders
from controller.tables import runner as runner_module
from controller.tables.device_orders import command_device
from controller.tables.runner import TableRunner
from controller.tables.table import Table
from devices.device import DeviceSupervisor
from tests.controller.tables.counting import FAILING_NUMBER, Counting
from tests.support.devices.parts import Lines, Pty
from tests.support.journal.premises import entries
from tests.support.waiting import until_async

GAME = make_game("roulette-french", "ARA02", {})


class Floor(NamedTuple):
    """A table and its device; ``path``: of the journal."""

    runner: TableRunner
    device: DeviceSupervisor
    pty: Pty
    path: Path

    async def send(self, argument: str, role: Role = "table_head", command: str = "say") -> None:
        order = DeviceOrder(
            command=command,
            device="wheel",
            by="M. Lasa",
            role=role,
            argument=argument,
            note="as agreed",
        )
        await command_device(self.runner, {"wheel": self.device}, order)

    async def stored(self) -> list[dict[str, Any]]:
        """The journal's records of commands to devices."""
        await self.runner.drain()
        bodies = [
            msgspec.json.decode(e.body) for e in entries(self.path) if e.kind in ("input", "event")
        ]
        return [body for body in bodies if body["type"].startswith("device.command")]

    @contextmanager
    def occupied(self) -> Iterator[None]:
        """Another process writes to the file, and the journal has to wait."""
        with closing(sqlite3.connect(self.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")


@asynccontextmanager
async def floor(folder: Path, *, commands: bool = True) -> AsyncIterator[Floor]:
    path, pty = folder / "journal.sqlite3", Pty(folder)
    with closing(Journal(path)) as journal:

        def make() -> Table:
            about = About(devices={"wheel": "lines"})
            return Table(
                "palma",
                "r1",
                "roulette-french",
                "ARA02",
                GAME,
                "b1",
                saved=journal.saved_state("r1"),
                about=about,
            )

        made = TableRunner(make, journal, lambda: 1.0, lambda: None)
        device = DeviceSupervisor(
            id="wheel",
            url=pty.url,
            codec=Lines(),
            on_readings=made.on_readings,
            stale_after=1000.0,
            commands_enabled=commands,
        )
        running = asyncio.create_task(device.run())
        await until_async(lambda: device.health().link)
        yield Floor(made, device, pty, path)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        pty.unplug()
        await made.drain()


async def test_a_device_command_is_an_input_with_its_event_and_is_sent(tmp_path: Path) -> None:
    async with floor(tmp_path) as at:
        await at.send("hello")
        assert await asyncio.to_thread(at.pty.hear, 6) == b"hello\n"
        given, told = await at.stored()
        said = {
            "device": "wheel",
            "command": "say",
            "argument": "hello",
            "by": "M. Lasa",
            "role": "table_head",
        }
        assert given == {"type": "device.command", "at": 1.0, "note": "as agreed", **said}
        assert told.items() >= {"type": "device.commanded", **said}.items()
        assert "unsent" not in told


async def test_nothing_is_sent_before_it_is_stored(tmp_path: Path) -> None:
    async with floor(tmp_path) as at:
        with at.occupied():
            sending = asyncio.create_task(at.send("hello"))
            await until_async(lambda: at.runner.oldest_pending_seconds > 0)
            assert not at.pty.hears()
            assert not sending.done()
        await sending
        assert await asyncio.to_thread(at.pty.hear, 6) == b"hello\n"


async def test_a_command_stored_too_late_is_not_sent_and_that_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner_module, "STORE_TIMEOUT_SECONDS", 0.1)
    async with floor(tmp_path) as at:
        with at.occupied(), pytest.raises(RejectedError, match="taken, but not stored yet"):
            await at.send("hello")
        assert [entry.get("unsent") for entry in await at.stored()] == [
            None,
            None,
            device_orders.STORED_TOO_LATE,
            device_orders.STORED_TOO_LATE,
        ]
        assert not at.pty.hears()


async def test_a_device_that_disconnects_before_the_command_is_sent(tmp_path: Path) -> None:
    async with floor(tmp_path) as at:
        with at.occupied():
            sending = asyncio.create_task(at.send("hello"))
            await until_async(lambda: at.runner.oldest_pending_seconds > 0)
            at.pty.unplug()
            await until_async(lambda: at.device.health().state == "lost")
        with pytest.raises(RejectedError, match="wheel is not connected"):
            await sending
        told = [each for each in await at.stored() if each["type"] == "device.commanded"]
        assert ["not connected" in each.get("unsent", "") for each in told] == [False, True]


@pytest.mark.parametrize(
    ("role", "command", "enabled", "why"),
    [
        (
            "croupier",
            "say",
            True,
            (
                "role croupier is not allowed to do this; allowed: table_head, inspector, "
                "director, "
                "technician"
            ),
        ),
        ("table_head", "dance", True, "no command 'dance'"),
        ("table_head", "say", False, "accepts no commands"),
    ],
)
async def test_a_refused_command_leaves_nothing(
    tmp_path: Path, role: Role, command: str, enabled: bool, why: str
) -> None:
    async with floor(tmp_path, commands=enabled) as at:
        with pytest.raises(RejectedError, match=why):
            await at.send("hello", role, command)
        assert await at.stored() == []
        assert not at.pty.hears()


def at_table(devices: tuple[str, ...] = ("wheel",)) -> Table:
    return Table(
        "palma",
        "r1",
        "counting",
        "ARA02",
        Counting(),
        "b1",
        about=About(devices=dict.fromkeys(devices, "driver")),
    )


def take(table: Table, given: Input) -> list[AnyEvent]:
    return table.handle(given, "now", 1).events


def to_wheel(command: str = "power_off", role: Any = "table_head", **more: Any) -> DeviceCommand:
    return DeviceCommand(at=1.0, by="M. Lasa", role=role, device="wheel", command=command, **more)


@pytest.mark.parametrize(
    ("command", "roles"),
    [
        ("power_off", {"table_head", "inspector", "director", "technician"}),
        ("unlock", {"table_head", "inspector", "director", "technician"}),
        ("start", {"croupier", "table_head", "inspector", "director", "technician"}),
        ("fire", {"croupier", "table_head", "inspector", "director", "technician"}),
    ],
)
def test_a_device_command_is_for_some_roles(command: str, roles: set[str]) -> None:
    for role in get_args(Role):
        table = at_table()
        if role in roles:
            (told,) = take(table, to_wheel(command, role))
            assert isinstance(told, DeviceCommanded)
            assert (told.device, told.command, told.by, told.role, told.unsent, told.seq) == (
                *("wheel", command, "M. Lasa", role, None, 1),
            )
        else:
            with pytest.raises(
                RejectedError, match=f"role {role} is not allowed to do this; allowed: .*technician"
            ):
                take(table, to_wheel(command, role))
            assert table.seq == 0


def test_a_command_to_an_unknown_device_is_refused() -> None:
    with pytest.raises(RejectedError, match="this table has no device wheel; devices: shoe"):
        take(at_table(("shoe",)), to_wheel())


def test_a_command_to_a_device_needs_a_journal_and_no_game() -> None:
    table = at_table()
    take(table, WheelNumber(at=2.0, device="wheel", number=FAILING_NUMBER))
    assert not table.sound
    assert [type(event) for event in take(table, to_wheel())] == [DeviceCommanded]
    table.halted = "no room"
    with pytest.raises(RejectedError, match="in fault: no room"):
        take(table, to_wheel())
    (told,) = take(table, to_wheel(role="croupier", unsent="the link was closed before"))
    assert isinstance(told, DeviceCommanded)
    assert told.unsent == "the link was closed before"
