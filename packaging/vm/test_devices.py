"""USB devices of QEMU with the guest's real kernel: an FTDI adapter as the line of a wheel, a
keyboard as a barcode scanner.
"""

from __future__ import annotations

import csv
import io
import socket
import threading
from collections.abc import Iterator

import pytest
from guest import PATIENCE, Guest
from play import (
    CARDS,
    WHEEL,
    Simulator,
    command,
    events,
    open_session,
    results,
    until_link,
    until_more,
)

from simulators.shoe.barcode import card_code
from tests.support.brokers.mosquitto import Subscriber

JOURNAL = "/var/lib/novamas/journal.sqlite3"
NAME = "/dev/novamas/ruleta-1-wheel"
BURN = ("2h", "Kc", "Kd")
COUP = ("9h", "2c", "Kd", "3s")


class WheelLine:
    """The other end of the adapter's line: a wheel that repeats its status until it is changed, as
    tests/support/daemon/process.py has it on a pseudo-terminal.
    """

    PERIOD = 0.5

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(PATIENCE)
        self.port = int(self._listening.getsockname()[1])
        self.line = b"*X;6;001;  ;0;000;0\r\n"
        self._connection: socket.socket | None = None
        self._broken: socket.socket | None = None
        self._speaking = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._repeat)

    def connect(self, guest: Guest) -> None:
        """Plug in the adapter whose line ends here."""
        guest.plug_serial("wheel", "WHEEL1", self.port)
        with self._speaking:
            self._connection, _ = self._listening.accept()
        if not self._thread.is_alive():
            self._thread.start()

    def show(self, state: int, spin: int, number: str = "  ") -> None:
        self.line = f"*X;{state};{spin:03d};{number:>2};0;200;0\r\n".encode()

    def half(self, line: str) -> str:
        """Send and return the first half of a line, and nothing more on this connection."""
        half = line[: len(line) // 2]
        with self._speaking:
            assert self._connection is not None
            self._connection.sendall(half.encode())
            self._broken, self._connection = self._connection, None
        return half

    def _repeat(self) -> None:
        while not self._end.wait(self.PERIOD):
            with self._speaking:
                if self._connection is not None:
                    try:
                        self._connection.sendall(self.line)
                    except OSError:
                        self._connection = None

    def close(self) -> None:
        self._end.set()
        if self._thread.is_alive():
            self._thread.join()
        for each in (self._listening, self._connection, self._broken):
            if each is not None:
                each.close()


@pytest.fixture
def line(guest: Guest, heard: Subscriber) -> Iterator[WheelLine]:
    made = WheelLine()
    yield made
    if guest.is_plugged("wheel"):
        guest.unplug("wheel")
    made.close()
    until_link(heard, WHEEL, "wheel", "lost")  # who connects next does not take it for his own


@pytest.fixture
def scanner(guest: Guest) -> Iterator[Guest]:
    """The guest with the keyboard plugged in."""
    guest.plug_keyboard("scanner", "SCANNER1")
    yield guest
    if guest.is_plugged("scanner"):
        guest.unplug("scanner")


def spin(line: WheelLine, heard: Subscriber, number: str, count: int) -> None:
    """Send a whole spin except its end."""
    for state, kind in ((2, "round.opened"), (3, None), (4, "bets.closed")):
        known = len(events(heard, WHEEL, kind)) if kind else 0
        line.show(state, count, number)
        if kind:
            until_more(heard, WHEEL, kind, known)


def test_the_rules_name_the_adapter_and_let_the_daemon_in(guest: Guest) -> None:
    with_wheel = Simulator()
    try:
        guest.plug_serial("wheel", "WHEEL1", with_wheel.port)
        guest.until("the name", f"test -e {NAME}")
        assert guest.run(f"stat --dereference --format %G:%a {NAME}") == "dialout:660"
        assert "ID_MM_DEVICE_IGNORE=1" in guest.run(f"udevadm info {NAME}")
        assert "ftdi_sio" in guest.run(f"udevadm info --attribute-walk {NAME}")
        assert NAME in guest.run("novamas devices")
    finally:
        guest.unplug("wheel")
        with_wheel.close()
    guest.until("the name is gone", f"! test -e {NAME}")


def test_a_wheel_of_the_simulators_plays_over_the_adapter(guest: Guest, heard: Subscriber) -> None:
    """The results are the numbers set in the simulator, in the journal too."""
    numbers = (17, 0, 36, 5)
    wheel = Simulator("--numbers", ",".join(map(str, numbers)), "--games-per-hour", "120", "--wait")
    try:
        guest.plug_serial("wheel", "WHEEL1", wheel.port)
        daemon = "$(systemctl show --value -p MainPID novamas)"
        guest.until("the daemon has the port open", f"ls -l /proc/{daemon}/fd | grep ttyUSB")
        wheel.say("start")
        until_link(heard, WHEEL, "wheel", "up")
        open_session(heard, WHEEL)
        known = len(results(heard, WHEEL))
        found = until_more(heard, WHEEL, "round.result", known, 3)
        thrown = [event["outcome"]["number"] for event in found[:3]]
        assert thrown in ([17, 0, 36], [0, 36, 5]), thrown
    finally:
        guest.unplug("wheel")
        wheel.close()
    until_link(heard, WHEEL, "wheel", "lost")
    stored = {
        (row["boot"], int(row["seq"]), row["type"])
        for row in csv.DictReader(io.StringIO(guest.run(f"novamas export --format csv {JOURNAL}")))
    }
    assert {(each["boot"], each["seq"], "round.result") for each in found} <= stored


def test_unplugged_in_the_middle_of_a_line_it_invents_no_result(
    guest: Guest, heard: Subscriber, line: WheelLine
) -> None:
    line.connect(guest)
    until_link(heard, WHEEL, "wheel", "up")
    open_session(heard, WHEEL)
    main = guest.run("systemctl show --value -p MainPID novamas")
    spin(line, heard, "  ", 40)
    known = len(results(heard, WHEEL))
    half = line.half("*X;5;040;17;0;200;0")
    guest.until("the daemon has read that half", f"grep -rF '{half}' /var/lib/novamas/recordings")
    guest.unplug("wheel")
    until_link(heard, WHEEL, "wheel", "lost")
    assert len(results(heard, WHEEL)) == known
    line.show(2, 41)
    line.connect(guest)
    until_link(heard, WHEEL, "wheel", "up")
    until_more(heard, WHEEL, "round.unresolved", 0)
    assert len(results(heard, WHEEL)) == known
    assert guest.run("systemctl show --value -p MainPID novamas") == main


@pytest.mark.parametrize("way", ["authorized", "reset"])
def test_after_a_reset_of_the_bus_the_wheel_is_heard_again(
    guest: Guest, heard: Subscriber, line: WheelLine, way: str
) -> None:
    """Between two rounds, the device disappears and returns, or only loses its state, without human
    action.
    """
    line.connect(guest)
    line.show(6, 50)
    until_link(heard, WHEEL, "wheel", "up")
    open_session(heard, WHEEL)
    found = guest.run("grep -l WHEEL1 /sys/bus/usb/devices/*/serial")
    device = found.rpartition("/")[0]
    if way == "authorized":
        guest.run(f"echo 0 >{device}/authorized")
        until_link(heard, WHEEL, "wheel", "lost")
        guest.run(f"echo 1 >{device}/authorized")
    else:
        guest.run(
            f"bus=$(cat {device}/busnum) && number=$(cat {device}/devnum) && "
            "usbreset $(printf %03d/%03d $bus $number)"
        )
    until_link(heard, WHEEL, "wheel", "up")
    known = len(results(heard, WHEEL))
    spin(line, heard, "  ", 51)
    line.show(5, 51, "23")
    (result,) = until_more(heard, WHEEL, "round.result", known)
    assert result["outcome"]["number"] == 23
    line.show(6, 51, "23")


def dealt(heard: Subscriber) -> list[str]:
    return [event["card"] for event in events(heard, CARDS, "card.dealt") if event["to"] != "burn"]


def test_a_keyboard_is_a_scanner_that_only_the_daemon_hears(
    scanner: Guest, heard: Subscriber
) -> None:
    """The kernel's own driver has released it: no key reaches the console. Half a code before
    unplugging is never completed, and yields no result.
    """
    until_link(heard, CARDS, "shoe", "open")
    main = scanner.run("systemctl show --value -p MainPID novamas")
    interface = scanner.run("dirname $(grep -l SCANNER1 /sys/bus/usb/devices/*/serial)")
    assert scanner.run(f"basename $(readlink {interface}/*:1.0/driver)") == "usbfs"
    open_session(heard, CARDS)
    assert command(heard, CARDS, "shoe.start", shoe="S1")["ok"]
    for card in (*BURN, *COUP):
        scanner.type(card_code(card))
    (result,) = until_more(heard, CARDS, "round.result", 0)
    assert dealt(heard) == list(COUP)
    assert result["outcome"]["winner"] == "player"
    assert events(heard, CARDS, "irregularity") == []

    known = len(events(heard, CARDS, "card.dealt"))
    scanner.type(card_code("9h"))
    until_more(heard, CARDS, "card.dealt", known)
    scanner.press("shift", "s")
    scanner.unplug("scanner")
    until_link(heard, CARDS, "shoe", "lost")
    scanner.plug_keyboard("scanner", "SCANNER1")
    until_link(heard, CARDS, "shoe", "open")
    scanner.type("1")
    until_link(heard, CARDS, "shoe", "up")
    assert dealt(heard)[: len(COUP) + 1] == [*COUP, "9h"]
    assert "As" not in dealt(heard)
    assert results(heard, CARDS) == [result]
    assert scanner.run("systemctl show --value -p MainPID novamas") == main
