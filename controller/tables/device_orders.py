"""Commands of a person to a device: stored first, then sent."""

from __future__ import annotations

from collections.abc import Mapping

from common.contract.commands import DeviceCommand, Signature
from common.contract.orders import DeviceOrder
from common.contract.refusals import RejectedError
from controller.tables.runner import NotStoredError, TableRunner
from devices.device import CommandRefusedError, DeviceSupervisor

STORED_TOO_LATE = "it was not stored in time"
"""Reason for not sending a command that was stored too late: the person no longer expects it."""


async def command_device(
    runner: TableRunner,
    devices: Mapping[str, DeviceSupervisor],
    order: DeviceOrder,
    signed: tuple[Signature, ...] = (),
) -> None:
    """Execute an order signed by these people. Raises :class:`RejectedError` with the reason to
    show; nothing was sent then.

    An order that cannot be sent is rejected before it is stored. If sending fails after that, the
    failure is stored too.
    """
    command = DeviceCommand(
        at=runner.clock(),
        by=order.by,
        role=order.role,
        note=order.note,
        device=order.device,
        command=order.command,
        argument=order.argument,
        signed=signed,
    )
    runner.table.allow(command)
    device = devices[order.device]
    try:
        request = device.prepare(order.command, order.argument)
        await runner.execute(command)
        device.send(request, lambda why: runner.record_unsent(command, why))
    except NotStoredError:
        runner.record_unsent(command, STORED_TOO_LATE)
        raise
    except CommandRefusedError as refused:
        raise RejectedError("device_rejected", reason=str(refused)) from None
