"""A person's command to a device: stored first, then sent."""

from __future__ import annotations

from collections.abc import Mapping

from controller.contract.commands import DeviceCommand, Signature
from controller.contract.orders import DeviceOrder
from controller.contract.refusals import RejectedError
from controller.tables.runner import NotStoredError, TableRunner
from devices.device import CommandRefusedError, Device

LATE = "it was not stored in time"
"""Why a command stored too late is not sent: nobody expects it any more."""


async def command_device(
    runner: TableRunner,
    devices: Mapping[str, Device],
    order: DeviceOrder,
    signed: tuple[Signature, ...] = (),
) -> None:
    """Follow an order that these persons signed. Raises :class:`RejectedError` with the reason for
    the person: nothing was sent then.

    What cannot be sent is refused and leaves nothing behind. Once it is stored, a failure to send
    it is stored too.
    """
    given = DeviceCommand(
        at=runner.clock(),
        by=order.by,
        role=order.role,
        note=order.note,
        device=order.device,
        command=order.command,
        argument=order.argument,
        signed=signed,
    )
    runner.table.allow(given)
    device = devices[order.device]
    try:
        request = device.prepare(order.command, order.argument)
        await runner.follow(given)
        device.send(request, lambda why: runner.unsent(given, why))
    except NotStoredError:
        runner.unsent(given, LATE)
        raise
    except CommandRefusedError as refused:
        raise RejectedError("device_rejected", reason=str(refused)) from None
