"""The tasks of a serving daemon: the services that it cannot do without, and the reading of each
device.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine
from typing import Any

import msgspec

from common.errors import error_fields
from common.log import structlog
from controller.mqtt.served_table import ServedTable
from controller.service.ending import (
    FAILURE_TIMEOUT_SECONDS,
    Deadline,
    TaskDiedError,
    cancel_all,
)


class DaemonTasks:
    """The tasks of one daemon, in ``group``, until ``stop``. ``places``: the served tables, whose
    devices are read.
    """

    def __init__(
        self,
        *,
        group: asyncio.TaskGroup,
        deadline: Deadline,
        stop: asyncio.Event,
        places: dict[str, ServedTable],
    ) -> None:
        self._group = group
        self._deadline = deadline
        self._stop = stop
        self._places = places
        self._reading: dict[str, list[asyncio.Task[None]]] = {}
        """By table, the tasks that read its devices."""
        self._log = structlog.get_logger()

    @property
    def reading(self) -> list[asyncio.Task[None]]:
        """The tasks that read devices, one each."""
        return [task for tasks in self._reading.values() for task in tasks]

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task without which the daemon does not serve: if it ends before the stop, the
        daemon ends.
        """
        return self.start_optional(name, self._essential(name, work))

    def start_optional(self, name: str, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that may end at any time."""
        return self._group.create_task(work, name=name)

    def read_devices(self, table: str) -> None:
        """Start reading the devices of a table."""
        self._reading[table] = [
            self.start(f"device {name} of table {table}", device.run())
            for name, device in self._places[table].devices.items()
        ]

    async def stop_reading(self, tables: Collection[str]) -> None:
        """Stop reading the devices of these tables."""
        await cancel_all(*(task for table in tables for task in self._reading.pop(table)))
        for table in tables:
            self._places[table] = msgspec.structs.replace(self._places[table], devices={})

    async def _essential(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Run a task that the daemon needs. If it ends before the stop, the whole daemon ends
        within seconds, to be restarted by its unit: a daemon that runs but does not serve is worse.
        """
        task = asyncio.current_task()
        died: BaseException | None = None
        try:
            await work
        except asyncio.CancelledError as cancelled:
            if task is None or task.cancelling():
                raise
            died = cancelled  # nothing requested the cancellation
        except Exception as error:
            died = error
        if died is None and self._stop.is_set():
            return
        self._deadline.within(FAILURE_TIMEOUT_SECONDS)
        confidential = any(place.runner.table.face_down for place in self._places.values())
        self._log.error("essential task died", task=name, **error_fields(died, confidential))
        raise TaskDiedError(name)
