"""Leads a technician through the acceptance of a wheel or a shoe, question by question."""

from __future__ import annotations

import argparse
import os
import socket
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from common import clock
from common.contract.version import SOFTWARE
from common.new_file import replace_file
from common.typed_line import typed_line
from controller.cli import CommandLineError
from controller.cli.acceptance_parameters import read_parameters
from controller.cli.signer import open_signer

if TYPE_CHECKING:
    import msgspec

    from common.readings import AnyReading
    from controller.commissioning.listening import DeviceListener
    from controller.commissioning.protocol import AnyNote, Expected, Protocol, RecordingSummary
    from controller.configuration.settings import Configuration, DeviceConfig, TableConfig
    from devices.codec import Codec, Driver

PROGRESS, PROTOCOL, PAPER = "progress.jsonl", "protocol.json", "protocol.pdf"
FIRST_FRAME_SECONDS = 30.0
"""Seconds to wait for the first frame of a device that sends periodically."""
RESULT_SECONDS, PHASE_SECONDS, FAULT_SECONDS, FAULT_END_SECONDS = 15.0, 120.0, 120.0, 60.0
"""Seconds to wait: for a result after the person's entry, for a phase, a fault, and its end."""
SKIP = "skip"


class LeftError(Exception):
    """The person left. The notes are stored."""


class Acceptance:
    """One run of an acceptance at the terminal."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        configuration: Configuration,
        table: TableConfig,
        device: DeviceConfig,
        folder: Path,
    ) -> None:
        from controller.commissioning.plan import NotCommissionedError, expected
        from controller.games.games import make_game

        self._configuration, self._table, self._device = configuration, table, device
        self._folder, self._longest = folder, arguments.wait
        self._language: str | None = arguments.language
        self._driver, self._options, self._codec = _driver(device)
        try:
            book = getattr(make_game(table.game, table.decree, table.settings), "book", None)
            pockets = getattr(book, "pockets", None)
            self._expected: Expected = expected(self._driver, self._options, table.game, pockets)
        except NotCommissionedError as error:
            raise CommandLineError(str(error)) from None
        self._key, self._person, self._by = open_signer(arguments, configuration)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._notes = _notes(folder / PROGRESS)
        self._listening: DeviceListener | None = None
        self._usb: dict[str, str] = {}

    def lead(self) -> None:
        """Run all steps that were not done before."""
        from controller.commissioning.listening import DeviceListener
        from controller.commissioning.protocol import Began
        from devices.links import LinkFailedError
        from devices.recording_writer import RecordingWriter

        device, number = self._device, 1 + sum(isinstance(note, Began) for note in self._notes)
        name = f"run-{number}.rec"
        header = {
            "device": self._driver.title,
            "driver": self._driver.name,
            "link": device.link,
            "table": self._table.id,
            "host": socket.gethostname(),
            "writer": SOFTWARE,
        }
        self._listening = DeviceListener(
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
                f"{failure}\nA running daemon keeps its devices open: stop it first"
            ) from None
        self._usb = self._listening.facts
        self._note(Began(at=_now(), by=self._by, recording=name))
        count = len(self._expected.values)
        kind = "numbers" if self._expected.kind == "wheel" else "cards"
        print(
            f"Acceptance of {device.id} ({self._driver.title}) at table {self._table.id}, led by "
            f"{self._by}.\nPlate, line, {count} {kind}, "
            f"{len(self._expected.phases)} phases, {len(self._expected.faults)} faults. Type "
            f"`{SKIP}` to skip a step; the protocol lists it as not done."
        )
        self._plate()
        self._line()
        read_parameters(self._expected, self._notes, self._note, self._until, _now)
        self._values()
        self._phases()
        self._faults()

    def finish(self) -> int:
        """Write the signed protocol and its printable copy."""
        from common.contract.retained import Identity
        from common.people.register import to_base64url
        from controller.commissioning.judgement import judge, verdict
        from controller.commissioning.paper import as_pdf
        from controller.commissioning.protocol import Protocol, write_signed
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
        key = to_base64url(self._key.verify_key.encode())
        language = self._language or paper_language(self._table.languages, self._table.decree)
        house = self._configuration.site.letterhead
        paper = as_pdf(protocol, key, sha256(body).hexdigest(), language, house)
        _put(self._folder / PAPER, paper)
        _put(self._folder / PROTOCOL, body)
        print_verdict(protocol)
        print(f"{self._folder / PROTOCOL}, {self._folder / PAPER}")
        return {"accepted": 0, "not accepted": 1, "incomplete": 3}[protocol.verdict]

    def close(self) -> None:
        """Close the device."""
        if self._listening is not None:
            self._listening.close()

    # Steps

    def _plate(self) -> None:
        from controller.commissioning.protocol import Plate

        if any(isinstance(note, Plate) for note in self._notes):
            return
        print("\nPlate. Read it from the device, not from a list; leave empty if it is missing.")
        answers = []
        for label in ("maker", "model", "serial number"):
            entered = self._ask(f"{label}: ")
            if entered == SKIP:
                return
            answers.append(entered)
        maker, model, serial = answers
        self._note(Plate(at=_now(), maker=maker, model=model, serial=serial))

    def _line(self) -> None:
        print("\nLine. ", end="", flush=True)
        until = clock.monotonic() + self._seconds(FIRST_FRAME_SECONDS)
        while self._codec.steady and not self._codec.counters.frames and clock.monotonic() < until:
            clock.block(0.02)
        if self._codec.counters.frames:
            print("The device is understood.")
        elif self._codec.steady:
            print("Nothing is understood yet: check power, cable, speed and driver.")
        else:
            print("The device sends only when something happens.")

    def _values(self) -> None:
        from controller.commissioning.judgement import missing
        from controller.commissioning.plan import parse_value
        from controller.commissioning.protocol import AnswerNote

        wheel = self._expected.kind == "wheel"
        left = missing(self._expected, self._notes)
        if not left:
            return
        print(
            "\nNumbers. Spin, or lay the ball into each pocket while the wheel turns; enter where "
            "it lies before you look at any display."
            if wheel
            else "\nCards. Draw each card of one deck; enter it, rank then suit (7h, 10c or "
            "Tc, Kd, As), before you look at any display."
        )
        assert self._listening is not None
        total = len(self._expected.values)
        self._listening.results(0)
        while left := missing(self._expected, self._notes):
            text = self._ask(f"[{total - len(left)} of {total}] {'number' if wheel else 'card'}: ")
            if text == SKIP:
                return
            entered = parse_value(text, self._expected)
            if entered is None:
                listed = ", ".join(left[:8])
                print(f"  {text!r} is not a value of this device; left are {listed} ...")
                continue
            found = self._listening.results(self._seconds(RESULT_SECONDS))
            reported, ms = found[-1] if found else (None, None)
            first = None
            if found and reported != entered:
                second = None
                while second is None:
                    word = self._ask("  Not the same. Look again, and enter it again: ")
                    second = parse_value(word, self._expected)
                    if second is None:
                        print(f"  {word!r} is not a value of this device.")
                first, entered = (entered, second) if second != entered else (None, entered)
                found += self._listening.results(0)  # the person may have been faster
                reported, ms = found[-1]
            self._note(
                AnswerNote(
                    at=_now(),
                    seen=entered,
                    reported=reported,
                    first=first,
                    ms=ms,
                    unasked=max(0, len(found) - 1),
                )
            )
            if reported == entered:
                print(f"  The device: {reported}. The same.")
            elif reported is None:
                print("  The device sent nothing.")
            else:
                unread = "it could not read it" if reported == "?" else reported
                print(f"  NOT THE SAME. You: {entered}; the device: {unread}.")

    def _phases(self) -> None:
        from common.readings import WheelPhase
        from controller.commissioning.protocol import PhaseNote

        done = {note.phase for note in self._notes if isinstance(note, PhaseNote)}
        remaining = [phase for phase in self._expected.phases if phase not in done]
        if not remaining:
            return
        print("\nPhases. Play one round and watch the wheel.")
        assert self._listening is not None
        for phase in remaining:
            if self._ask(f"Enter, then wait for the device to report {_words(phase)}: ") == SKIP:
                continue
            self._listening.forget()
            print("  Listening to the device.")

            def is_shown(reading: AnyReading, phase: str = phase) -> bool:
                return isinstance(reading, WheelPhase) and reading.phase == phase

            if not self._until(is_shown, PHASE_SECONDS):
                print(f"  The device did not report {_words(phase)}.")
                self._note(PhaseNote(at=_now(), phase=phase, reported=False))
                continue
            is_right = self._yes(f"  The device reports {_words(phase)} now. Is that right?")
            self._note(PhaseNote(at=_now(), phase=phase, reported=True, right=is_right))

    def _faults(self) -> None:
        from controller.commissioning.plan import FAULTS, fault_ended, fault_report
        from controller.commissioning.protocol import Provoked

        done = {note.fault for note in self._notes if isinstance(note, Provoked)}
        remaining = [fault for fault in self._expected.faults if fault not in done]
        if not remaining:
            return
        print("\nFaults: provoke each one; the device itself must report it.")
        assert self._listening is not None
        for fault in remaining:
            steps = FAULTS[fault]
            self._listening.forget()
            if self._ask(f"{steps.make} Press Enter when it is done: ") == SKIP:
                continue
            reports: list[str] = []

            def is_reported(
                reading: AnyReading, fault: str = fault, reports: list[str] = reports
            ) -> bool:
                how = fault_report(fault, reading)
                if how is not None:
                    reports.append(how)
                return how is not None

            self._until(is_reported, FAULT_SECONDS)
            print(f"  The device: {reports[0] if reports else 'nothing'}.")
            self._ask(f"{steps.mend} Press Enter when it is done: ")
            has_ended = (
                not reports
                or not steps.ends
                or self._until(partial(fault_ended, fault), FAULT_END_SECONDS)
            )
            if not has_ended:
                print("  The device does not report its end.")
            self._note(
                Provoked(at=_now(), fault=fault, reported=tuple(reports), over=bool(has_ended))
            )

    # Helpers

    def _until(self, matches: Callable[[AnyReading], bool], seconds: float) -> bool:
        """Wait for a reading; return False if it did not come."""
        assert self._listening is not None
        until = clock.monotonic() + self._seconds(seconds)
        while (left := until - clock.monotonic()) > 0:
            received = self._listening.next(left)
            if received is not None and matches(received.reading):
                return True
        return False

    def _seconds(self, default: float) -> float:
        return default if self._longest is None else min(default, self._longest)

    def _ask(self, question: str) -> str:
        if self._listening is not None and self._listening.trouble:
            raise CommandLineError(self._listening.trouble)
        try:
            return typed_line(question).strip()
        except EOFError:
            raise LeftError from None

    def _yes(self, question: str) -> bool:
        while True:
            answer = self._ask(f"{question} (y/n) ").casefold()
            if answer in ("y", "yes", "n", "no"):
                return answer.startswith("y")

    def _note(self, note: AnyNote) -> None:
        """Store the note before the next prompt."""
        import msgspec

        self._notes.append(note)
        with (self._folder / PROGRESS).open("ab") as file:
            file.write(msgspec.json.encode(note) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _recorded(self) -> list[RecordingSummary]:
        """Return each recording, as read again from its file."""
        from controller.commissioning.protocol import Began

        files = [note.recording for note in self._notes if isinstance(note, Began)]
        return [
            _recording(self._folder / file, _driver(self._device)[2])
            for file in files
            if (self._folder / file).exists()
        ]


def print_verdict(protocol: Protocol) -> None:
    print(f"\n{protocol.device}, table {protocol.table}, site {protocol.site}:")
    for check in protocol.checks:
        print(f"  {check.outcome:9} {check.name}: {check.what}")
    print(protocol.verdict.upper())


def _driver(device: DeviceConfig) -> tuple[Driver, msgspec.Struct, Codec]:
    """Return the driver of a device, its options, and a new codec."""
    import msgspec

    from controller.configuration.codec_options import codec_options
    from devices.drivers import driver

    registered = driver(device.driver)
    options = msgspec.convert(codec_options(device), registered.options)
    described = registered.described(options) if registered.described is not None else registered
    return described, options, registered.make(device.id, options)


def paper_language(languages: Sequence[str], decree: str) -> str:
    """Return the language of a paper: the first of the table's people, or of the decree."""
    from common.contract.messages.messages import first_of
    from controller.rulebooks.chapters import head

    return first_of(languages or head(decree).languages)


def _notes(path: Path) -> list[AnyNote]:
    """Read the notes so far. A last line that was cut off by a power failure is dropped."""
    import msgspec

    from common.plain_errors import describe
    from controller.commissioning.protocol import AnyNote

    if not path.exists():
        return []
    notes: list[AnyNote] = []
    data = path.read_bytes()
    complete, _, cut = data.rpartition(b"\n")
    for number, line in enumerate(complete.splitlines(), 1):
        try:
            notes.append(msgspec.json.decode(line, type=AnyNote))
        except ValueError as error:
            raise CommandLineError(
                f"{path}:{number}: {describe(error)}; start another with --out FOLDER"
            ) from None
    if cut:
        replace_file(path, complete + b"\n")
    return notes


def _recording(path: Path, codec: Codec) -> RecordingSummary:
    from controller.commissioning.protocol import RecordingSummary
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
    return RecordingSummary(
        file=path.name,
        sha256=sha256(data).hexdigest(),
        bytes=count,
        frames=codec.counters.frames,
        damaged=codec.counters.damaged,
    )


def _put(path: Path, data: bytes) -> None:
    replace_file(path, data)


def _now() -> str:
    from common.contract.times import format_utc

    return format_utc(clock.wall())


def _words(phase: str) -> str:
    return phase.replace("_", " ")
