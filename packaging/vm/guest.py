"""QEMU with the guest: commands to its shell, keys to its keyboard, plugging and unplugging of
devices, its power.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import pytest
from image import Image

from tests.support.brokers.mosquitto import free_port
from tests.support.waiting import until

PATIENCE = 300.0
"""Seconds after which a test gives up. An emulated processor is slow, and is shared."""
MEMORY = "1024"
PROBE = 8.0
"""Maximum seconds for a kernel's first line, to see whether KVM can run it at all."""
FIRST_LINE = b"Linux version"
BOOT = "console=ttyS0 root=/dev/vda rw panic=-1 mitigations=off audit=0"
BUS = "qemu-xhci"


def acceleration(image: Image) -> str:
    """Return ``kvm`` if a kernel boots with it, else ``tcg``: on some machines the device file
    exists but a guest hangs.
    """
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    words = [
        *("qemu-system-x86_64", "-accel", "kvm", "-cpu", "max", "-m", MEMORY, "-nodefaults"),
        *("-display", "none", "-serial", "stdio", "-no-reboot", "-kernel", str(image.kernel)),
        *("-append", "console=ttyS0 earlyprintk=ttyS0 panic=-1"),
    ]
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as tried:
        assert tried.stdout is not None
        os.set_blocking(tried.stdout.fileno(), False)
        said, end = b"", time.monotonic() + PROBE
        while FIRST_LINE not in said and tried.poll() is None and time.monotonic() < end:
            said += tried.stdout.read() or b""
            time.sleep(0.1)
        tried.kill()
    return "kvm" if FIRST_LINE in said else "tcg"


class Lines:
    """Bidirectional JSON lines over a socket."""

    def __init__(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE)
        self._connection = connection
        self._file: IO[bytes] = connection.makefile("rb")

    def say(self, what: dict[str, Any]) -> None:
        self._connection.sendall(json.dumps(what).encode() + b"\n")

    def hear(self) -> dict[str, Any]:
        line = self._file.readline()
        if not line:
            raise ConnectionResetError("QEMU has closed the connection")
        heard: dict[str, Any] = json.loads(line)
        return heard

    def close(self) -> None:
        self._file.close()
        self._connection.close()


class Guest:
    """One machine. Its root is an overlay of the unchanged image; ``data`` is the address of the
    disk below /var/lib/novamas, and ``handed`` a file attached as a disk.
    """

    def __init__(
        self, folder: Path, image: Image, accelerator: str, data: Path, handed: Path
    ) -> None:
        self.folder, self.image, self.accelerator = folder, image, accelerator
        self.data, self.handed = data, handed
        self.broker = free_port()
        self.console = folder / "console.log"
        self._root = folder / "root.qcow2"
        self._process: subprocess.Popen[bytes] | None = None
        self._asked = 0
        folder.mkdir(parents=True, exist_ok=True)
        overlay = ("qemu-img", "create", "-q", "-f", "qcow2", "-F", "raw")
        subprocess.run([*overlay, "-b", image.disk.absolute(), self._root], check=True)

    def start(self) -> None:
        """Power on, and wait until it accepts commands."""
        shell, control = self.folder / "shell", self.folder / "control"
        for path in (shell, control):
            path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(shell))
            listening.listen()
            listening.settimeout(60)
            with self.console.open("ab") as console:
                self._process = subprocess.Popen(
                    [*self._words(shell, control)], stdout=console, stderr=console
                )
            accepted, _ = listening.accept()
        self._shell = Lines(accepted)
        connection = socket.socket(socket.AF_UNIX)
        until("QEMU's control", lambda: connection.connect_ex(str(control)) == 0, self.said)
        self._control = Lines(connection)
        self._control.hear()
        self.control("qmp_capabilities")
        self.run("systemctl is-system-running --wait || true")

    def _words(self, shell: Path, control: Path) -> Iterator[str]:
        yield from ("nice", "-n", "19", "qemu-system-x86_64", "-nodefaults", "-display", "none")
        yield from ("-machine", "pc,i8042=off", "-cpu", "max", "-smp", "2", "-m", MEMORY)
        yield from ("-accel", "tcg,thread=multi" if self.accelerator == "tcg" else "kvm")
        yield from ("-serial", f"file:{self.folder / 'kernel.log'}", "-no-reboot")
        yield from ("-kernel", str(self.image.kernel), "-initrd", str(self.image.initrd))
        yield from ("-append", BOOT)
        for name, driver in (
            ("root", f"driver=qcow2,file.driver=file,file.filename={self._root}"),
            ("data", f"driver=nbd,server.type=unix,server.path={self.data}"),
            ("handed", f"driver=raw,read-only=on,file.driver=file,file.filename={self.handed}"),
        ):
            yield from ("-blockdev", f"node-name={name},{driver}")
            yield from ("-device", f"virtio-blk-pci,drive={name},serial={name},write-cache=on")
        forwarded = f"hostfwd=tcp:127.0.0.1:{self.broker}-10.0.2.15:1883"
        yield from ("-netdev", f"user,id=network,restrict=on,{forwarded}")
        yield from ("-device", "virtio-net-pci,netdev=network")
        yield from ("-device", "virtio-rng-pci", "-device", f"{BUS},id=usb")
        yield from ("-device", "virtio-serial-pci")
        yield from ("-chardev", f"socket,id=shell,path={shell}")
        yield from ("-device", "virtserialport,chardev=shell,name=commands")
        yield from ("-qmp", f"unix:{control},server=on,wait=off")

    def is_plugged(self, name: str) -> bool:
        """True if QEMU has this device."""
        found = self.control("qom-list", path="/machine/peripheral")
        return any(each["name"] == name for each in found)

    def said(self) -> str:
        """Last output of its kernel and of QEMU, for diagnosing a failed test."""
        texts = [path for path in (self.console, self.folder / "kernel.log") if path.exists()]
        return "\n".join(path.read_text(errors="replace")[-3000:] for path in texts)

    def run(self, script: str, status: int | None = 0) -> str:
        """Run a script in the guest as root; return its output, with the errors."""
        self._asked += 1
        self._shell.say({"id": self._asked, "script": script})
        answer = self._shell.hear()
        assert answer["id"] == self._asked
        output: str = answer["output"]
        if status is not None and answer["status"] != status:
            pytest.fail(f"{script}\nended with {answer['status']}: {output}")
        return output.strip()

    def until(self, what: str, script: str) -> str:
        """Wait until a script in the guest succeeds, and return its output."""
        found: str = until(
            what,
            lambda: self.run(f'if out=$({script}); then echo "=$out"; fi', None),
            self.said,
            PATIENCE,
        )
        return found.removeprefix("=")

    def control(self, command: str, **arguments: Any) -> Any:
        """Return the result of a QEMU control command."""
        self._control.say({"execute": command, "arguments": arguments})
        while True:
            heard = self._control.hear()
            if "error" in heard:
                raise RuntimeError(f"{command}: {heard['error']}")
            if "return" in heard:
                return heard["return"]

    def plug_serial(self, name: str, serial: str, port: int) -> None:
        """Plug in an FTDI adapter whose line is a TCP port of this machine."""
        address = {"type": "inet", "data": {"host": "127.0.0.1", "port": str(port)}}
        backend = {"type": "socket", "data": {"addr": address, "server": False, "nodelay": True}}
        self.control("chardev-add", id=f"{name}-line", backend=backend)
        self.control(
            "device_add", driver="usb-serial", id=name, serial=serial, chardev=f"{name}-line"
        )

    def plug_keyboard(self, name: str, serial: str) -> None:
        self.control("device_add", driver="usb-kbd", id=name, serial=serial)

    def unplug(self, name: str) -> None:
        """Unplug a device, and wait until it has disappeared."""
        self.control("device_del", id=name)
        until("the device is out", lambda: not self.is_plugged(name), self.said)
        until("its line is closed", lambda: self._closed(f"{name}-line"), self.said)

    def _closed(self, line: str) -> bool:
        """True if the line does not exist; it remains busy briefly after unplugging."""
        with suppress(RuntimeError):
            self.control("chardev-remove", id=line)
        return all(each["label"] != line for each in self.control("query-chardev"))

    def press(self, *keys: str) -> None:
        """Press these keys and release them."""
        self.control("send-key", keys=[{"type": "qcode", "data": key} for key in keys])

    def type(self, text: str) -> None:
        """Type letters and digits, then Enter."""
        for character in text:
            self.press(*(["shift", character.lower()] if character.isupper() else [character]))
        self.press("ret")

    def power_off(self) -> None:
        """Cut the power, as by pulling the plug."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self._shell.close()
            self._control.close()

    def cut_power(self) -> None:
        """Cut the power from another thread, without waiting for the end of QEMU."""
        if self._process is not None:
            self._process.kill()
