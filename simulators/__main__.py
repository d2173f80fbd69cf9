"""``novamas simulate wheel --protocol cammegh-ss2 --pty``: a simulated device on a pseudo-terminal
or a TCP port.

``shoe`` has the protocols ``angel-eye``, ``bee-tek`` and ``barcode-serial``; all deal punto y
banca. ``slot`` also has ``cctalk-acceptor``. Self-built devices use the board format of
``docs/engineer/board.md``: ``boule-board``, ``fortune-board``, ``dice-board``, ``shuffler-board``
and ``slot-board``.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common.command_line import CommandLine, end_process, has_terminal, stop_signals
from common.money import EURO, parse_amount
from common.randomness import Random
from common.suggestions import suggest
from simulators.device import SimulatedDevice
from simulators.dice.dice import DiceReader
from simulators.dice.sicbo_shaker import SimulatedSicboShaker
from simulators.faults import FAULTS, FaultKind, FaultTrigger, protocol_faults, read_scheduled
from simulators.line import SimulatedLine
from simulators.pty import PtyPort
from simulators.reported_device import ReportedDevice
from simulators.serve import Server, SimulatorPort, print_json
from simulators.shoe.angel_eye import AngelEyeShoe
from simulators.shoe.baccarat import CARDS
from simulators.shoe.barcode import BarcodeShoe
from simulators.shoe.bee_tek import BeeTekShoe
from simulators.shuffler.deck_mate_1 import SimulatedDeckMate1
from simulators.shuffler.shuffler import Shuffler
from simulators.slot.cctalk import SimulatedCcTalkBus
from simulators.slot.slot import Slots
from simulators.tcp import TcpPort
from simulators.wheel.boule import BoulePlate
from simulators.wheel.cammegh_ss2 import ARCADE, SlingshotSS2
from simulators.wheel.fortune import SimulatedFortuneWheel
from simulators.wheel.idp_camera import SimulatedIdpCamera
from simulators.wheel.saturn import SaturnWheel


def _cammegh_ss2(arguments: argparse.Namespace) -> SimulatedDevice:
    return SlingshotSS2(
        seed=arguments.seed,
        pockets=arguments.pockets,
        mode=arguments.mode,
        games_per_hour=arguments.games_per_hour,
        attended=not arguments.unattended,
        numbers=arguments.numbers,
    )


def _saturn(arguments: argparse.Namespace) -> SimulatedDevice:
    return SaturnWheel(seed=arguments.seed, numbers=arguments.numbers)


def _idp_camera(arguments: argparse.Namespace) -> SimulatedDevice:
    interval = 3600 / arguments.games_per_hour if arguments.http else 0.0
    return SimulatedIdpCamera(arguments.numbers, interval)


def _angel_eye(arguments: argparse.Namespace) -> SimulatedDevice:
    return AngelEyeShoe(**_shoe(arguments))


def _bee_tek(arguments: argparse.Namespace) -> SimulatedDevice:
    return BeeTekShoe(**_shoe(arguments), suit_first=arguments.suit_first)


def _barcode(arguments: argparse.Namespace) -> SimulatedDevice:
    return BarcodeShoe(**_shoe(arguments))


def _shoe(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "seed": arguments.seed,
        "decks": arguments.decks,
        "cut": arguments.cut,
        "games_per_hour": arguments.games_per_hour,
        "burn": not arguments.no_burn,
        "cards": arguments.cards,
    }


def _deck_mate_1(arguments: argparse.Namespace) -> SimulatedDevice:
    return SimulatedDeckMate1(seed=arguments.seed)


def _boule_board(arguments: argparse.Namespace) -> SimulatedDevice:
    return BoulePlate(arguments.seed, arguments.games_per_hour, holes=arguments.numbers)


def _fortune_board(arguments: argparse.Namespace) -> SimulatedDevice:
    return SimulatedFortuneWheel(
        arguments.seed, arguments.games_per_hour, cells=arguments.cells, stops=arguments.numbers
    )


def _dice_board(arguments: argparse.Namespace) -> SimulatedDevice:
    return DiceReader(
        arguments.seed, arguments.games_per_hour, dice=arguments.dice, throws=arguments.throws
    )


def _shuffler_board(arguments: argparse.Namespace) -> SimulatedDevice:
    return Shuffler(
        arguments.seed,
        arguments.games_per_hour,
        boxes=arguments.boxes,
        packet=0 if arguments.no_packets else arguments.packet,
    )


def _slot_board(arguments: argparse.Namespace) -> SimulatedDevice:
    return Slots(
        arguments.seed, arguments.games_per_hour, boxes=arguments.boxes, coin=arguments.coin
    )


def _cctalk_acceptor(arguments: argparse.Namespace) -> SimulatedDevice:
    return SimulatedCcTalkBus(
        arguments.seed,
        arguments.games_per_hour,
        boxes=arguments.boxes,
        coin=arguments.coin,
        crc=arguments.crc,
    )


DEVICES: dict[str, dict[str, Callable[[argparse.Namespace], SimulatedDevice]]] = {
    "wheel": {
        "cammegh-ss2": _cammegh_ss2,
        "saturn": _saturn,
        "boule-board": _boule_board,
        "fortune-board": _fortune_board,
        "idp-camera": _idp_camera,
    },
    "shoe": {"angel-eye": _angel_eye, "bee-tek": _bee_tek, "barcode-serial": _barcode},
    "dice": {"dice-board": _dice_board, "sicbo-shaker": lambda _: SimulatedSicboShaker()},
    "shuffler": {"deck-mate-1": _deck_mate_1, "shuffler-board": _shuffler_board},
    "slot": {"slot-board": _slot_board, "cctalk-acceptor": _cctalk_acceptor},
}
"""Kind -> protocol -> model. The first protocol is the default."""


def _protocol_note(fault: FaultKind) -> str:
    return f" [{', '.join(fault.protocols)}]" if fault.protocols else ""


def _positive(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not a number above 0")
    return value


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return value


def _amount(text: str) -> int:
    try:
        return parse_amount(text, EURO)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _scheduled(text: str) -> tuple[float, FaultTrigger]:
    try:
        return read_scheduled(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(","))


def _throws(text: str) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(int(face) for face in throw) for throw in text.split(","))


def _cards(text: str) -> tuple[str, ...]:
    cards = tuple(text.split(","))
    if wrong := [card for card in cards if card not in CARDS]:
        raise argparse.ArgumentTypeError(
            f"{wrong[0]} is not a card; write rank and suit, as in 7h,Ts,Ad"
        )
    return cards


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise argparse.ArgumentTypeError(f"{text} is not an address; write HOST:PORT")
    return host, int(port)


def _topic(text: str) -> tuple[str, int, str]:
    where, _, base = text.partition("/")
    if not base:
        raise argparse.ArgumentTypeError(f"{text} is not an address; write HOST:PORT/TOPIC")
    return *_address(where), base


def command_line() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    faults = "\n".join(
        f"  {name:<19} {fault.does}{_protocol_note(fault)}" for name, fault in FAULTS.items()
    )
    parser = CommandLine(
        prog="novamas simulate",
        description="Simulate a device on a port, with its real protocol.",
        epilog=(
            "commands on standard input: 'start', with --wait; 'speed N'; a fault, as\n"
            "'NAME SECONDS' or 'NAME xTIMES', or 'SECONDS:NAME' for later, as in --fault:\n"
            f"{faults}"
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("kind", choices=tuple(DEVICES))
    parser.add_argument(
        "--protocol",
        help=f"one of {', '.join(name for names in DEVICES.values() for name in names)}",
    )
    _add_line_options(parser)
    _add_pace_options(parser)
    _add_device_options(parser)
    _add_shoe_options(parser)
    _add_fault_options(parser)
    _add_supervision_options(parser)
    return parser


def _add_line_options(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--pty", action="store_true", help="use a pseudo-terminal (default)")
    where.add_argument(
        "--tcp",
        type=_address,
        metavar="HOST:PORT",
        help="use a TCP port instead; port 0 selects a free one",
    )
    where.add_argument(
        "--mqtt",
        type=_topic,
        metavar="HOST:PORT/TOPIC",
        help="publish below a topic of a broker instead",
    )
    where.add_argument(
        "--http",
        metavar="URL",
        help="post each message to a web address instead, with the token of --secret-file",
    )
    parser.add_argument(
        "--secret-file",
        type=Path,
        metavar="FILE",
        help="with --http: the file with the token that the daemon expects",
    )
    parser.add_argument(
        "--link",
        metavar="PATH",
        help="symbolic link to the pseudo-terminal; removed and restored by the fault unplug",
    )


def _add_pace_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--speed",
        type=_positive,
        default=1.0,
        help="run this many times faster, including the bytes",
    )
    parser.add_argument("--rounds", type=_count, help="stop after this many rounds")


def _add_device_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pockets", type=int, choices=(37, 38, 39, 40), default=37)
    parser.add_argument(
        "--mode",
        type=int,
        default=ARCADE,
        help=f"mode bits of the wheel; {ARCADE} plays by itself, 1159 waits for *u 1",
    )
    parser.add_argument("--games-per-hour", type=_count, default=60)
    parser.add_argument(
        "--numbers",
        type=_numbers,
        default=(),
        metavar="N,N,...",
        help="the first winning pockets, holes or cells; all that a camera sees",
    )
    parser.add_argument("--cells", type=_count, default=54, help="cells of the wheel of fortune")
    parser.add_argument("--dice", type=_count, default=2, help="number of dice")
    parser.add_argument(
        "--throws",
        type=_throws,
        default=(),
        metavar="34,66,...",
        help="faces of the first throws",
    )
    parser.add_argument(
        "--boxes",
        type=_count,
        default=3,
        help="number of boxes that the shuffler serves or that have a slot",
    )
    parser.add_argument("--packet", type=_count, default=5, help="cards per packet of the shuffler")
    parser.add_argument("--no-packets", action="store_true", help="only shuffle; a person deals")
    parser.add_argument(
        "--coin",
        type=_amount,
        default=500,
        metavar="5.00",
        help="value of a coin in the slots, in euros (default: 5.00)",
    )
    parser.add_argument(
        "--crc", action="store_true", help="ccTalk frames have a CRC instead of the simple checksum"
    )


def _add_shoe_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--decks", type=_count, default=6, help="decks in the shoe")
    parser.add_argument("--cut", type=_count, default=52, help="cards behind the cut card")
    parser.add_argument("--no-burn", action="store_true", help="burn no cards from a new shoe")
    parser.add_argument(
        "--cards",
        type=_cards,
        default=(),
        metavar="7h,Ts,...",
        help="the first cards of the first shoe",
    )
    parser.add_argument(
        "--suit-first",
        action="store_true",
        help="the Bee-Tek shoe sends S4 and H10 instead of 4S and TH",
    )


def _add_fault_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--unattended", action="store_true", help="a wheel that has stopped itself is not restarted"
    )
    parser.add_argument(
        "--fault",
        type=_scheduled,
        action="append",
        default=[],
        metavar="SECONDS:NAME=VALUE",
        help="trigger a fault at a time",
    )
    parser.add_argument(
        "--faults-per-hour", type=_positive, help="trigger this many random faults per hour"
    )


def _add_supervision_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--wait",
        action="store_true",
        help="power on only at the line 'start' on standard input",
    )
    parser.add_argument(
        "--tell-lines",
        action="store_true",
        help="print each line that the device sends, before the faults of the line",
    )
    parser.add_argument(
        "--end-with-stdin", action="store_true", help="stop when standard input ends"
    )


def _port(arguments: argparse.Namespace) -> SimulatorPort:
    if arguments.mqtt:
        from simulators.mqtt import (
            MqttPort,
        )  # importing its client takes as long as everything else

        return MqttPort(*arguments.mqtt)
    if arguments.http:
        from simulators.http import HttpPort  # its client takes as long to import

        return HttpPort(arguments.http, arguments.secret_file)
    return TcpPort(*arguments.tcp) if arguments.tcp else PtyPort(arguments.link)


def _print_line(at: float, line: bytes) -> None:
    print_json(at=at, line=line.decode("latin-1").rstrip("\r\n"))


def _random_faults(
    server: Server, known: dict[str, FaultKind], per_hour: float, seed: int, hours: float = 24.0
) -> None:
    random = Random(seed)
    at = random.expovariate(per_hour / 3600)
    while at < hours * 3600:
        name = random.choice(sorted(known))
        server.schedule(at, FaultTrigger(name, known[name].value))
        at += random.expovariate(per_hour / 3600)


def main(argv: list[str] | None = None) -> int:
    """Serve until stopped. Returns the exit code."""
    parser = command_line()
    arguments = parser.parse_args(argv)
    protocols = DEVICES[arguments.kind]
    protocol = arguments.protocol or next(iter(protocols))
    if protocol not in protocols:
        parser.error(
            f"no {arguments.kind} has the protocol {protocol}; {suggest(protocol, protocols)}"
        )
    known = protocol_faults(protocol)
    if strange := [switch.name for _, switch in arguments.fault if switch.name not in known]:
        parser.error(f"{protocol} has no fault {strange[0]}; {suggest(strange[0], known)}")
    if arguments.http and arguments.secret_file is None:
        parser.error("--http needs --secret-file")
    try:
        device = protocols[protocol](arguments)
        if arguments.tell_lines:
            device = ReportedDevice(device, _print_line)
        port = _port(arguments)
    except (OSError, ValueError) as error:
        print(f"simulator: {error}", file=sys.stderr)  # noqa: T201
        return 1
    server = Server(
        SimulatedLine(device, arguments.seed),
        port,
        speed=arguments.speed,
        rounds=arguments.rounds,
        listen=sys.stdin is not None and not sys.stdin.closed,
        end_with_stdin=arguments.end_with_stdin,
        wait=arguments.wait,
        known=known,
    )
    for at, switch in arguments.fault:
        server.schedule(at, switch)
    if arguments.faults_per_hour:
        _random_faults(server, known, arguments.faults_per_hour, arguments.seed)
    wake, woken = os.pipe()
    for number in stop_signals():
        signal.signal(number, lambda *_: os.write(woken, b"."))
    attended = has_terminal()
    try:
        print_json(port=port.address, protocol=protocol, seed=arguments.seed, speed=arguments.speed)
        server.serve(wake)
    except OSError:
        if not attended or has_terminal():
            raise
        # the terminal was closed
    finally:
        port.close()
    return 0


if __name__ == "__main__":
    end_process(main())
