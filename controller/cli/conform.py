"""``novamas conform``: tries a program or a driver from outside against the requirements of the
contract, and reports by id what it got wrong.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from common import clock
from common.new_file import replace_file
from controller.cli import CommandLineError
from controller.cli.extensions import enable_extensions, extension_argument
from controller.cli.numbers import count, seconds

if TYPE_CHECKING:
    from nacl.signing import SigningKey

    from controller.conform.report import TrialFinding, TrialReport, TriedFile
    from controller.conform.requirements import Side
    from devices.codec import Codec, Driver
    from devices.recording import Recording

ACTIONS = {
    "subscriber": "-- COMMAND ...: try a program beside a simulated floor",
    "driver": "DRIVER RECORDING ...: try a driver on recordings of its device",
    "requirements": "print the page of all requirements",
    "verify": "FILE: check a signed report, and print it",
}
DEVICE = "device"
PATIENCE_SECONDS = 5.0
ROLES = ("recorder", "display")
BROKER = re.compile(r"mqtt://[^/:]+(:\d+)?")


def arguments(parser: argparse.ArgumentParser) -> None:
    """ACTION [WORDS] and its options."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "actions:\n"
        + "\n".join(f"  {name:14}{what}" for name, what in ACTIONS.items())
        + "\n\nexit status: 0 every requirement was tried and met, 1 one was not met, 3 not all "
        "were tried"
    )
    parser.add_argument("action", choices=tuple(ACTIONS), metavar="ACTION", help="see below")
    parser.add_argument("words", nargs="*", metavar="WORDS", help="see below")
    parser.add_argument(
        "--only", action="append", default=[], metavar="ID", help="try this requirement; repeatable"
    )
    parser.add_argument(
        "--seed", type=count, default=1, help="the same seed repeats a trial (default: 1)"
    )
    parser.add_argument(
        "--as",
        dest="role",
        choices=ROLES,
        default=ROLES[0],
        help="for subscriber: what the program is; a display needs only retained topics "
        "(default: recorder)",
    )
    parser.add_argument(
        "--broker",
        metavar="URL",
        help="for subscriber: mqtt://HOST:PORT of a broker that accepts every client, for programs "
        "that speak MQTT 5 (default: a broker of its own, which speaks 3.1.1)",
    )
    parser.add_argument(
        "--patience",
        type=seconds,
        default=PATIENCE_SECONDS,
        metavar="SECONDS",
        help="for subscriber: how long to wait for a line (default: 5)",
    )
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="for driver: an option of the driver; may be repeated",
    )
    extension_argument(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write the signed report; needs --key"
    )
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help="your secret key, as `novamas people key` makes it"
    )
    parser.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="FILE",
        help="the passphrase of the key; without it, you are prompted",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the action."""
    if arguments.action == "requirements":
        from controller.conform.requirements import page

        print(page(), end="")
        return 0
    if arguments.action == "verify":
        return _verify(arguments.words)
    key = _key(arguments)
    _check_ids(arguments.only, arguments.action)
    report = _try_driver(arguments) if arguments.action == "driver" else _try_program(arguments)
    return _finish(report, arguments, key)


def _try_program(arguments: argparse.Namespace) -> TrialReport:
    """Try a program beside a simulated floor."""
    import asyncio

    from controller.conform.stage import StoppedError
    from controller.conform.subscriber_trial import try_program

    if not arguments.words:
        raise CommandLineError("novamas conform subscriber -- COMMAND ...", status=2)
    if arguments.broker is not None and not BROKER.fullmatch(arguments.broker):
        raise CommandLineError(f"--broker {arguments.broker}: expected mqtt://HOST:PORT", status=2)
    is_display = arguments.role == "display"
    try:
        findings = asyncio.run(
            try_program(
                arguments.words,
                broker=arguments.broker,
                display=is_display,
                seed=arguments.seed,
                patience=arguments.patience,
                only=arguments.only,
            )
        )
    except (StoppedError, OSError) as error:
        raise CommandLineError(f"the trial could not begin: {error}") from None
    files = [_tried(path) for path in map(Path, arguments.words) if path.is_file()]
    subject = " ".join(arguments.words)
    return _report("subscriber", subject, arguments.role, files, findings, arguments)


def _try_driver(arguments: argparse.Namespace) -> TrialReport:
    """Try a driver on recordings."""
    from controller.cli.decode import parse_option, read_whole
    from controller.conform.codec_checks import try_codec
    from controller.conform.codecs import TriedCodec, received

    if len(arguments.words) < 2:
        raise CommandLineError("novamas conform driver DRIVER RECORDING ...", status=2)
    enable_extensions(arguments)
    name, *paths = arguments.words
    driver = _driver(name)
    options = dict(map(parse_option, arguments.option))
    subjects: list[TriedCodec] = []
    files: list[TriedFile] = []
    for path in map(Path, paths):
        golden = path.with_suffix(".readings.jsonl")
        try:
            recording = read_whole(path)
            readings = golden.read_bytes() if golden.exists() else None
        except OSError as error:
            raise CommandLineError(f"{golden}: {error.strerror}") from None
        if not received(recording):
            raise CommandLineError(f"{path}: has no bytes from the device")
        make = _maker(driver, recording, options)
        subjects.append(
            TriedCodec(
                partial(make, DEVICE),
                path.name,
                recording,
                None if readings is None else tuple(readings.splitlines()),
                driver.scheme == "serial",
            )
        )
        files += [_tried(path), *([] if readings is None else [_tried(golden)])]
    findings = try_codec(subjects, arguments.seed, arguments.only)
    return _report("driver", name, "driver", files, findings, arguments)


def _maker(driver: Driver, recording: Recording, options: dict[str, Any]) -> Callable[[str], Codec]:
    """Return what makes codecs with the options of the command line, else with those that the
    recording's header states.
    """
    import msgspec

    from controller.cli.decode import codec_maker

    stated = recording.header.get("options", "")
    if options or not stated or recording.header.get("driver") != driver.name:
        return codec_maker(driver, options)
    try:
        table = tomllib.loads(f"options = {{ {stated} }}")["options"]
        values = msgspec.convert(table, driver.options)
    except ValueError as error:
        raise CommandLineError(f"the recording's header has wrong options: {error}") from None
    return lambda device: driver.make(device, values)


def _driver(name: str) -> Driver:
    """Return the driver of a registered name, a profile, or ``module:ATTRIBUTE``."""
    from controller.cli.decode import driver_named
    from devices.codec import Driver as DriverType

    if name.endswith(".toml"):
        return driver_named(name if name.startswith("profile:") else f"profile:{name}")
    module, colon, attribute = name.partition(":")
    if not colon or module == "profile":
        return driver_named(name)
    sys.path.insert(0, "")  # a module in the working directory
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError as error:
        raise CommandLineError(f"{name}: the module cannot be imported: {error}") from None
    if not isinstance(found, DriverType):
        raise CommandLineError(
            f"{name}: not a driver; expected module:ATTRIBUTE of a devices.codec.Driver"
        )
    return found


def _tried(path: Path) -> TriedFile:
    from controller.conform.report import TriedFile

    return TriedFile(path.name, sha256(path.read_bytes()).hexdigest())


def _report(
    of: Side,
    subject: str,
    role: str,
    files: Sequence[TriedFile],
    findings: Sequence[TrialFinding],
    arguments: argparse.Namespace,
) -> TrialReport:
    from common.contract.times import format_utc
    from controller.conform.report import TrialReport, verdict

    chosen = bool(arguments.only)
    return TrialReport(
        of=of,
        subject=subject,
        role=role,
        seed=arguments.seed,
        chosen=chosen,
        files=tuple(files),
        ended=format_utc(clock.wall()),
        findings=tuple(findings),
        verdict=verdict(findings, chosen=chosen),
    )


def _check_ids(only: Sequence[str], side: str) -> None:
    """Raise :class:`CommandLineError` for an id that cannot be tried."""
    from common.suggestions import unknown_word
    from controller.conform.requirements import requirements

    for wanted in only:
        found = requirements().get(wanted)
        if found is None or found.of != side:
            known = [each.id for each in requirements().values() if each.of == side]
            raise CommandLineError(unknown_word("requirement", wanted, known), status=2)
        if found.untested is not None:
            raise CommandLineError(f"{wanted} is not tested: {found.untested}", status=2)


def _key(arguments: argparse.Namespace) -> SigningKey | None:
    """Open the key before the trial, so that a wrong passphrase does not cost it."""
    from common.people.private_key import PrivateKeyError, open_private_key
    from controller.cli.people import passphrase

    if (arguments.report is None) != (arguments.key is None):
        raise CommandLineError("a report is signed: --report FILE and --key FILE", status=2)
    if arguments.key is None:
        return None
    try:
        return open_private_key(arguments.key, passphrase(arguments.passphrase_file))
    except PrivateKeyError as error:
        raise CommandLineError(str(error)) from None


def _finish(report: TrialReport, arguments: argparse.Namespace, key: SigningKey | None) -> int:
    """Print the report, and write it."""
    import msgspec

    from controller.conform.report import lines, write_signed

    print(msgspec.json.encode(report).decode() if arguments.json else "\n".join(lines(report)))
    if key is not None:
        try:
            replace_file(arguments.report, write_signed(report, key))
        except OSError as error:
            raise CommandLineError(f"{arguments.report}: {error.strerror}") from None
        print(f"{arguments.report}: signed; check it with novamas conform verify", file=sys.stderr)
    return {"conforms": 0, "does not conform": 1, "incomplete": 3}[report.verdict]


def _verify(words: Sequence[str]) -> int:
    """Verify a report and print it."""
    from controller.conform.report import ReportError, lines, read_signed

    if len(words) != 1:
        raise CommandLineError("novamas conform verify FILE", status=2)
    path = Path(words[0])
    try:
        signed, report = read_signed(path.read_bytes())
    except OSError as error:
        raise CommandLineError(f"{path}: {error.strerror}") from None
    except ReportError as error:
        raise CommandLineError(f"{path} {error}") from None
    print("\n".join(lines(report)))
    for file in report.files:
        print(f"{file.sha256}  {file.name}")
    print(f"{path}: as it was signed on {report.ended}, with the key {signed.key}")
    return 0
