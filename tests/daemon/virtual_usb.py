"""``novamas`` with a virtual USB bus in the place of libusb. What happens on the bus comes from a
socket, one line at a time.

``plug``, ``plug SERIAL``, ``unplug``, ``report HEX`` or nothing; each line is answered with the log
of the device that was plugged in last.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from pathlib import Path

from controller.cli import main
from devices.links import usb
from simulators.usb import UsbDevice, VirtualBus

BUS = VirtualBus()


def obey(path: str) -> None:
    """Do what the socket says until it is closed."""
    plugged = BUS.plug(UsbDevice(strings=("Acme", "Scanner", "17")))
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        with connection.makefile("rw") as lines:
            for line in lines:
                match line.split():
                    case ["plug", *serial]:
                        strings = ("Acme", "Scanner", *(serial or plugged.device.strings[2:]))
                        plugged = BUS.plug(plugged.device._replace(strings=strings))
                    case ["unplug"]:
                        BUS.unplug(plugged)
                    case ["report", *reports]:
                        plugged.report(*map(bytes.fromhex, reports))
                print(json.dumps(plugged.log), file=lines, flush=True)


if __name__ == "__main__":
    threading.Thread(target=obey, args=(sys.argv.pop(1),), daemon=True).start()
    usb.usb_backend = lambda: BUS
    usb.SYSFS = Path("/nowhere")  # else a device of this machine would be taken for one of the bus
    sys.exit(main())
