"""``novamas commission``: leads a person through the acceptance of a wheel or a shoe, and writes a
signed protocol.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from controller.cli import CommandLineError
from controller.cli.configured import config_argument, configuration_at
from controller.contract.version import SOFTWARE
from devices.new_file import replace_file

if TYPE_CHECKING:
    import msgspec
    from nacl.signing import SigningKey

    from controller.commissioning.listening import Listening
    from controller.commissioning.protocol import AnyNote, Expected, Protocol, Recorded
    from controller.configuration.settings import Configuration, DeviceConfig, TableConfig
    from devices.codec import Codec, Driver


PROGRESS, PROTOCOL, PAPER = "progress.jsonl", "protocol.json", "protocol.pdf"
FIRST_WORD = 30.0
"""Seconds in which a device that repeats itself must be heard."""
RESULT, PHASE, FAULT, END = 15.0, 120.0, 120.0, 60.0
"""Seconds to wait: for a result after the person's word, for a phase, a fault and its end."""
SKIP = "skip"


class LeftError(Exception):
    """The person left: what was noted is kept."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """TABLE [CONFIG] ... or --verify FILE [CONFIG]."""
    parser.epilog = (
        "The daemon must not have the device open. Stop at any time with Ctrl-C; the same command "
        "goes on. Exit status: 0 accepted, or the file is as it was signed; 1 not accepted, not as "
        "signed, or an error; 3 incomplete."
    )
    parser.add_argument("table", nargs="?", metavar="TABLE", help="the table's id")
    config_argument(parser)
    parser.add_argument("--device", help="the device's id, if the table has several")
    parser.add_argument("--by", help="your name (default: as enrolled, if the site has people)")
    parser.add_argument(
        "--key", type=Path, metavar="FILE", help="your secret key, as `novamas people key` makes it"
    )
    parser.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="FILE",
        help="the passphrase of the key; without it, it is asked for",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FOLDER",
        help="where notes, recordings and protocol go (default: commission-TABLE-DEVICE)",
    )
    parser.add_argument(
        "--wait",
        type=float,
        metavar="SECONDS",
        help="wait at most so long for the device instead of up to 120 s",
    )
    parser.add_argument("--verify", type=Path, metavar="FILE", help="check a protocol, and end")


def run(arguments: argparse.Namespace) -> int:
    """Lead through it, or verify a protocol."""
    if arguments.verify is not None:
        return _verify(arguments)
    if arguments.table is None:
        raise CommandLineError("name the table: novamas commission TABLE [CONFIG]", status=2)
    if arguments.key is None:
        raise CommandLineError(
            "the protocol is signed by whoever leads the acceptance: give --key FILE (`novamas "
            "people key` makes one)",
            status=2,
        )
    configuration = configuration_at(arguments.config)
    table, device = _chosen(configuration, arguments.table, arguments.device)
    folder = arguments.out or Path(f"commission-{table.id}-{device.id}")
    if (folder / PROTOCOL).exists():
        raise CommandLineError(
            f"{folder / PROTOCOL} is there already: this acceptance is closed; begin another with "
            "--out FOLDER"
        )
    os.umask(0o077)
    acceptance = _Acceptance(arguments, configuration, table, device, folder)
    try:
        acceptance.lead()
    except (LeftError, KeyboardInterrupt):
        print(f"\ninterrupted; the notes are in {folder}: the same command goes on from here")
        return 130
    finally:
        acceptance.close()
    return acceptance.finish()


class _Acceptance:
    """One run of an acceptance at the terminal."""

    def __init__(
        self,
        given: argparse.Namespace,
        configuration: Configuration,
        table: TableConfig,
        device: DeviceConfig,
        folder: Path,
    ) -> None:
        from controller.cli.people import passphrase
        from controller.commissioning.plan import NotCommissionedError, expected
        from controller.games.games import make_game
        from controller.people.private_key import PrivateKeyError, open_private_key

        self._configuration, self._table, self._device = configuration, table, device
        self._folder, self._longest = folder, given.wait
        self._driver, self._options, self._codec = _driver(device)
        try:
            book = getattr(make_game(table.game, table.decree, table.settings), "book", None)
            pockets = getattr(book, "pockets", None)
            self._expected: Expected = expected(self._driver, self._options, table.game, pockets)
            self._key: SigningKey = open_private_key(given.key, passphrase(given.passphrase_file))
        except (NotCommissionedError, PrivateKeyError) as error:
            raise CommandLineError(str(error)) from None
        self._person, self._by = _person(configuration, self._key, given.by, given.config)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._notes = _notes(folder / PROGRESS)
        self._listening: Listening | None = None
        self._usb: dict[str, str] = {}

    def lead(self) -> None:
        """The whole way, as far as it was not gone before."""
        from controller.commissioning.listening import Listening
        from controller.commissioning.protocol import Began
        from devices.links import LinkFailedError
        from devices.recording import RecordingWriter

        device, number = self._device, 1 + sum(isinstance(each, Began) for each in self._notes)
        name = f"run-{number}.rec"
        header = {
            "device": self._driver.title,
            "driver": self._driver.name,
            "link": device.link,
            "table": self._table.id,
            "host": socket.gethostname(),
            "writer": SOFTWARE,
        }
        self._listening = Listening(
            device.link,
            self._codec,
            device.id,
            device.stale_after,
            RecordingWriter(self._folder / name, header, "raw"),
        )
        try:
            self._listening.start()
        except LinkFailedError as failure:
            raise CommandLineError(
                f"{failure}\nA daemon that runs has its devices to itself: stop it first"
            ) from None
        self._usb = self._listening.facts
        self._note(Began(at=_now(), by=self._by, recording=name))
        count = len(self._expected.values)
        what = "numbers" if self._expected.kind == "wheel" else "cards"
        print(
            f"Acceptance of {device.id} ({self._driver.title}) at table {self._table.id}, led by "
            f"{self._by}.\nPlate, line, {count} {what}, "
            f"{len(self._expected.phases)} phases, {len(self._expected.faults)} faults. Answer "
            f"`{SKIP}` to what you do not do now; it stands in the protocol as not done."
        )
        self._plate()
        self._line()
        self._values()
        self._phases()
        self._faults()

    def finish(self) -> int:
        """Write the signed protocol and its paper."""
        from controller.commissioning.judgement import judge, verdict
        from controller.commissioning.paper import as_pdf
        from controller.commissioning.protocol import Protocol, write_signed
        from controller.contract.retained import Identity
        from controller.people.register import spelled
        from controller.service.identities import plate

        configured = plate(self._device) or Identity()
        recordings = tuple(self._recorded())
        checks = judge(self._expected, self._notes, configured, recordings)
        protocol = Protocol(
            site=self._configuration.site.id,
            table=self._table.id,
            game=self._table.game,
            decree=self._table.decree,
            device=self._device.id,
            driver=self._driver.name,
            evidence=self._driver.evidence,
            link=self._device.link,
            configured=configured,
            usb=self._usb,
            software=SOFTWARE,
            by=self._by,
            person=self._person,
            ended=_now(),
            expected=self._expected,
            notes=tuple(self._notes),
            recordings=recordings,
            checks=checks,
            verdict=verdict(checks),
        )
        body = write_signed(protocol, self._key)
        key = spelled(self._key.verify_key.encode())
        _new(self._folder / PAPER, as_pdf(protocol, key, sha256(body).hexdigest()))
        _new(self._folder / PROTOCOL, body)
        _tell(protocol)
        print(f"{self._folder / PROTOCOL}, {self._folder / PAPER}")
        return {"accepted": 0, "not accepted": 1, "incomplete": 3}[protocol.verdict]

    def close(self) -> None:
        """Release the device."""
        if self._listening is not None:
            self._listening.close()

    # What is asked

    def _plate(self) -> None:
        from controller.commissioning.protocol import Plate

        if any(isinstance(each, Plate) for each in self._notes):
            return
        print("\nPlate. Read it from the device, not from a list; empty if it is not there.")
        found = []
        for what in ("maker", "model", "serial number"):
            said = self._ask(f"{what}: ")
            if said == SKIP:
                return
            found.append(said)
        maker, model, serial = found
        self._note(Plate(at=_now(), maker=maker, model=model, serial=serial))

    def _line(self) -> None:
        print("\nLine. ", end="", flush=True)
        until = time.monotonic() + self._seconds(FIRST_WORD)
        while self._codec.steady and not self._codec.counters.frames and time.monotonic() < until:
            time.sleep(0.02)
        if self._codec.counters.frames:
            print("The device is understood.")
        elif self._codec.steady:
            print("Nothing is understood yet: check power, cable, speed and driver.")
        else:
            print("The device speaks only when something happens.")

    def _values(self) -> None:
        from controller.commissioning.judgement import missing
        from controller.commissioning.plan import read
        from controller.commissioning.protocol import Answer

        wheel = self._expected.kind == "wheel"
        left = missing(self._expected, self._notes)
        if not left:
            return
        print(
            "\nNumbers. Spin, or lay the ball into each pocket while the wheel turns; say where it "
            "lies before you look at any display."
            if wheel
            else "\nCards. Draw each card of one deck; say which it is, rank then suit (7h, 10c or "
            "Tc, Kd, As), before you look at any display."
        )
        assert self._listening is not None
        total = len(self._expected.values)
        self._listening.results(0)
        while left := missing(self._expected, self._notes):
            typed = self._ask(f"[{total - len(left)} of {total}] {'number' if wheel else 'card'}: ")
            if typed == SKIP:
                return
            said = read(typed, self._expected)
            if said is None:
                some = ", ".join(left[:8])
                print(f"  {typed!r} is none of this device; left are {some} ...")
                continue
            found = self._listening.results(self._seconds(RESULT))
            told, ms = found[-1] if found else (None, None)
            first = None
            if found and told != said:
                again = None
                while again is None:
                    word = self._ask("  Not the same. Look once more, and say it again: ")
                    again = read(word, self._expected)
                    if again is None:
                        print(f"  {word!r} is none of this device.")
                first, said = (said, again) if again != said else (None, said)
                found += self._listening.results(0)  # the person may have been the quicker one
                told, ms = found[-1]
            self._note(
                Answer(
                    at=_now(),
                    said=said,
                    told=told,
                    first=first,
                    ms=ms,
                    unasked=max(0, len(found) - 1),
                )
            )
            if told == said:
                print(f"  The device: {told}. The same.")
            elif told is None:
                print("  The device said nothing.")
            else:
                unread = "it could not read it" if told == "?" else told
                print(f"  NOT THE SAME. You: {said}; the device: {unread}.")

    def _phases(self) -> None:
        from controller.commissioning.protocol import Phase
        from devices.readings import WheelPhase

        done = {each.phase for each in self._notes if isinstance(each, Phase)}
        left = [phase for phase in self._expected.phases if phase not in done]
        if not left:
            return
        print("\nPhases. Play one round and watch the wheel.")
        assert self._listening is not None
        for phase in left:
            if self._ask(f"Enter, then wait for the device to say {_plain(phase)}: ") == SKIP:
                continue
            self._listening.forget()
            print("  From now on the device is heard.")
            told = self._until(
                lambda reading, phase=phase: (
                    isinstance(reading, WheelPhase)  # type: ignore[misc]
                    and reading.phase == phase
                ),
                PHASE,
            )
            if not told:
                print(f"  The device did not say {_plain(phase)}.")
                self._note(Phase(at=_now(), phase=phase, told=False))
                continue
            said = self._yes(f"  The device says {_plain(phase)} now. Is it so?")
            self._note(Phase(at=_now(), phase=phase, told=True, right=said))

    def _faults(self) -> None:
        from controller.commissioning.plan import FAULTS, ends, tells
        from controller.commissioning.protocol import Provoked

        done = {each.fault for each in self._notes if isinstance(each, Provoked)}
        left = [fault for fault in self._expected.faults if fault not in done]
        if not left:
            return
        print("\nFaults. Each one must be told by the device, and none by you.")
        assert self._listening is not None
        for fault in left:
            steps = FAULTS[fault]
            self._listening.forget()
            if self._ask(f"{steps.make} Enter when it is done: ") == SKIP:
                continue
            told: list[str] = []

            def began(reading: object, fault: str = fault, told: list[str] = told) -> bool:
                how = tells(fault, reading)  # type: ignore[arg-type]
                if how is not None:
                    told.append(how)
                return how is not None

            self._until(began, FAULT)
            print(f"  The device: {told[0] if told else 'nothing'}.")
            self._ask(f"{steps.mend} Enter when it is done: ")
            over = (
                not told
                or not steps.ends
                or self._until(lambda reading, fault=fault: ends(fault, reading), END)  # type: ignore[misc]
            )
            if not over:
                print("  The device does not tell that it is over.")
            self._note(Provoked(at=_now(), fault=fault, told=tuple(told), over=bool(over)))

    # How

    def _until(self, wanted: Callable[[object], bool], seconds: float) -> bool:
        """Wait for a reading; whether it came."""
        assert self._listening is not None
        until = time.monotonic() + self._seconds(seconds)
        while (left := until - time.monotonic()) > 0:
            heard = self._listening.next(left)
            if heard is not None and wanted(heard.reading):
                return True
        return False

    def _seconds(self, usual: float) -> float:
        return usual if self._longest is None else min(usual, self._longest)

    def _ask(self, question: str) -> str:
        if self._listening is not None and self._listening.trouble:
            raise CommandLineError(self._listening.trouble)
        try:
            return input(question).strip()
        except EOFError:
            raise LeftError from None

    def _yes(self, question: str) -> bool:
        while True:
            said = self._ask(f"{question} (y/n) ").casefold()
            if said in ("y", "yes", "n", "no"):
                return said.startswith("y")

    def _note(self, note: AnyNote) -> None:
        """Keep it before anything else is asked."""
        import msgspec

        self._notes.append(note)
        with (self._folder / PROGRESS).open("ab") as file:
            file.write(msgspec.json.encode(note) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _recorded(self) -> list[Recorded]:
        """Each recording, read again from its file."""
        from controller.commissioning.protocol import Began

        files = [each.recording for each in self._notes if isinstance(each, Began)]
        return [
            _recording(self._folder / file, _driver(self._device)[2])
            for file in files
            if (self._folder / file).exists()
        ]


def _verify(given: argparse.Namespace) -> int:
    """Whether a protocol is as it was signed, follows from its notes, and has its recordings."""
    from controller.commissioning.judgement import judge, verdict
    from controller.commissioning.protocol import ProtocolError, read_signed

    path: Path = given.verify
    try:
        signed, protocol = read_signed(path.read_bytes())
    except OSError as error:
        raise CommandLineError(f"{path}: {error.strerror}") from None
    except ProtocolError as error:
        raise CommandLineError(f"{path} {error}") from None
    wrong = []
    checks = judge(protocol.expected, protocol.notes, protocol.configured, protocol.recordings)
    if checks != protocol.checks or verdict(checks) != protocol.verdict:
        wrong.append("its checks do not follow from its notes")
    for each in protocol.recordings:
        there = path.parent / each.file
        if not there.exists():
            print(f"{there}: not there, so not compared")
        elif sha256(there.read_bytes()).hexdigest() != each.sha256:
            wrong.append(f"{there} is not the recording of this acceptance")
    _tell(protocol)
    print(f"led by {protocol.by}, signed with the key {signed.key}")
    config = Path(given.table) if given.table is not None else given.config
    if config.exists():
        owner = _owner(configuration_at(config), signed.key)
        if owner is None:
            print(f"{config}: no people file has this key: compare it with the person's own")
        else:
            print(f"{config}: the key is of {owner[1]} ({owner[0]})")
    else:
        print("name a configuration behind it to learn whose key this is")
    for what in wrong:
        print(f"{path}: {what}", file=sys.stderr)
    if not wrong:
        print(f"{path}: as it was signed")
    return 1 if wrong else 0


def _tell(protocol: Protocol) -> None:
    print(f"\n{protocol.device}, table {protocol.table}, site {protocol.site}:")
    for check in protocol.checks:
        print(f"  {check.outcome:9} {check.name}: {check.what}")
    print(protocol.verdict.upper())


def _chosen(
    configuration: Configuration, table: str, device: str | None
) -> tuple[TableConfig, DeviceConfig]:
    from devices.suggestions import unknown_word

    found = next((each for each in configuration.table if each.id == table), None)
    if found is None:
        raise CommandLineError(
            unknown_word("table", table, [each.id for each in configuration.table])
        )
    names = [each.id for each in found.device]
    if device is None and len(names) != 1:
        raise CommandLineError(f"table {table} has several devices; choose --device {names}")
    wanted = device or names[0]
    if wanted not in names:
        raise CommandLineError(unknown_word("device", wanted, names))
    return found, next(each for each in found.device if each.id == wanted)


def _driver(device: DeviceConfig) -> tuple[Driver, msgspec.Struct, Codec]:
    """The driver of a device, its options, and a new codec."""
    import msgspec

    from devices.drivers import driver

    found = driver(device.driver)
    options = msgspec.convert(device.options, found.options)
    described = found.described(options) if found.described is not None else found
    return described, options, found.make(device.id, options)


def _owner(configuration: Configuration, key: str) -> tuple[str, str] | None:
    """Id and name of the person whose key this is."""
    from controller.people.register import read_people, thumbprint, unspelled

    people = configuration.people
    if people is None or people.file is None or people.key is None:
        return None
    data, signer = Path(people.file).read_bytes(), unspelled(people.key)
    known = read_people(data, configuration.site.id, signer)
    owner = known.owners.get(thumbprint(key))
    return None if owner is None else (owner[0].id, owner[0].name)


def _person(
    configuration: Configuration, key: SigningKey, by: str | None, path: Path
) -> tuple[str | None, str]:
    """Id and name of who leads the acceptance."""
    from controller.people.register import spelled

    people = configuration.people
    if people is not None and people.file is not None:
        owner = _owner(configuration, spelled(key.verify_key.encode()))
        if owner is None:
            raise CommandLineError(f"{path}: nobody among the people has this key; enrol it first")
        return owner
    if not by:
        raise CommandLineError("say who you are: --by NAME", status=2)
    return None, by


def _notes(path: Path) -> list[AnyNote]:
    """The notes so far. A last line that was cut off by a power failure is dropped."""
    import msgspec

    from controller.commissioning.protocol import AnyNote

    if not path.exists():
        return []
    found: list[AnyNote] = []
    data = path.read_bytes()
    whole, _, cut = data.rpartition(b"\n")
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            found.append(msgspec.json.decode(line, type=AnyNote))
        except ValueError as error:
            raise CommandLineError(
                f"{path}:{number}: {error}; begin another with --out FOLDER"
            ) from None
    if cut:
        replace_file(path, whole + b"\n")
    return found


def _recording(path: Path, codec: Codec) -> Recorded:
    from controller.commissioning.protocol import Recorded
    from devices.codec import feed
    from devices.recording import RecordingError, read_recording

    data = path.read_bytes()
    count = 0
    try:
        recording = read_recording(path)
    except RecordingError as error:
        raise CommandLineError(str(error)) from error
    for chunk in recording:
        if chunk.gap:
            codec.reconnected(chunk.at)
        if not chunk.sent:
            count += len(chunk.data)
            feed(codec, chunk.data, chunk.at)
    return Recorded(
        file=path.name,
        sha256=sha256(data).hexdigest(),
        bytes=count,
        frames=codec.counters.frames,
        damaged=codec.counters.damaged,
    )


def _new(path: Path, data: bytes) -> None:
    replace_file(path, data)


def _now() -> str:
    from controller.contract.times import utc

    return utc(time.time())


def _plain(phase: str) -> str:
    return phase.replace("_", " ")
