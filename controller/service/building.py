"""Builds the tables of a configuration, each with its runner and its devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import msgspec
from nacl.signing import SigningKey

from common import clock
from common.chain.hand_over import HandOver
from common.confidential.boxes import CardCipher
from common.contract.retained import About
from common.contract.topics import Topics
from common.contract.version import SOFTWARE
from common.log import structlog
from common.people.people_file import PeopleFile
from common.people.seen import SeenCommands
from common.people.two_persons import MARKED_BY_DEFAULT
from common.readings import (
    AnyReading,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
)
from controller.configuration.codec_options import codec_options
from controller.configuration.round_requests import round_requests
from controller.configuration.settings import Configuration, DeviceConfig, TableConfig
from controller.configuration.table_checks import deals_face_down
from controller.games.games import make_game
from controller.journal.journal import Journal
from controller.journal.setup import StartReason
from controller.mqtt.served_table import ServedTable
from controller.people.authority import allowed_commands, command_rights, narrow_at_table
from controller.people.gate import CommandGate
from controller.rulebooks.chapters import chapter, head
from controller.service.identities import configured_identity, plate, usb_identity
from controller.service.keys import card_cipher
from controller.service.watchdog import STUCK_SECONDS
from controller.tables.after_restore import unreported
from controller.tables.round_requests import RoundRequests
from controller.tables.runner import TableRunner, last_state
from controller.tables.stages import Stages
from controller.tables.table import Table
from controller.tables.witnesses import witness_seconds
from devices.calls import AnyCall, BytesReceived, clock_time
from devices.codec import Codec
from devices.device import DeviceSupervisor
from devices.drivers import driver
from devices.recording_writer import RecordingWriter

LINK_READINGS = (LinkOpen, LinkUp, LinkLost, LinkStale, LinkUnintelligible)
"""Readings that change the health of a device."""


class TableBuilder:
    """Builds tables from the configuration and the journal.

    ``signer`` returns the key that signs checkpoints; ``changed`` is called with a table whose
    retained topics may have changed, ``moved`` with the readings of a table's device,
    ``health_due`` when the health of a device has changed; ``hold`` returns only if this daemon may
    write now.
    """

    def __init__(
        self,
        *,
        configuration: Configuration,
        boot: str,
        journal: Journal,
        stages: Stages,
        seen: SeenCommands,
        people: PeopleFile | None,
        signer: Callable[[], SigningKey | None],
        changed: Callable[[str], None],
        moved: Callable[[str, list[AnyReading]], None],
        health_due: Callable[[], None],
        hold: Callable[[], None],
    ) -> None:
        self._configuration = configuration
        self._boot = boot
        self._journal = journal
        self._stages = stages
        self._seen = seen
        self._people = people
        self._signer = signer
        self._changed = changed
        self._moved = moved
        self._health_due = health_due
        self._hold = hold
        self._cipher: CardCipher | None = None
        self._log = structlog.get_logger()

    def prepare(self, configuration: Configuration) -> None:
        """Create the key for face-down cards if a table of this configuration needs it. Raises
        ``KeyFileError``.
        """
        if self._cipher is None and any(map(deals_face_down, configuration.table)):
            self._cipher = card_cipher(configuration, self._signer)

    def attempt(self, table: TableConfig) -> None:
        """Build a table and the codecs of its devices, without side effects. Raises
        ``JournalUnusableError``, ``UnrestorableStateError``, and any exception of a bug.
        """
        self.build_table(table)
        for device in table.device:
            _codec(device)

    def build_table(self, table: TableConfig) -> Table:
        """Build a table from the journal. Raises ``JournalUnusableError`` and
        ``UnrestorableStateError``.
        """
        people = self._configuration.people
        about = About(
            title=_title(table),
            languages=table.languages or head(table.decree).languages,
            devices={device.id: device.driver for device in table.device},
            identities={
                device.id: identity for device in table.device if (identity := plate(device))
            },
            software=SOFTWARE,
            settings=table.settings,
            jackpot=table.jackpot,
            commands=allowed_commands(
                table.game,
                table.decree,
                table.settings,
                narrow_at_table(
                    command_rights(table.game, table.decree), people.may if people else {}
                ),
                people.two_persons if people else (),
                tuple(device.id for device in table.device),
            ),
        )

        return Table(
            site=self._configuration.site.id,
            id=table.id,
            game_id=table.game,
            decree=table.decree,
            game=make_game(table.game, table.decree, table.settings),
            boot=self._boot,
            simulated=table.simulated,
            saved=last_state(self._journal, table.id, self._cipher),
            about=about,
            unsigned=people is not None and people.required == "accept-the-risk",
            over=any(
                isinstance(identity, HandOver) for identity in unreported(self._journal, table.id)
            ),
            node=self._configuration.site.node,
            witnesses=witness_seconds(
                {device.id: device.witness_seconds for device in table.device},
                None if table.witness_keypad is None else table.witness_keypad.answers_within,
            ),
            requested=frozenset(
                device.id for device in table.device if device.witness and round_requests(device)
            ),
        )

    def build_place(self, table: TableConfig, why: StartReason = "boot") -> ServedTable:
        """Build a table with its runner and devices, and journal that it starts. Raises as
        :meth:`build_table`.
        """
        speed = table.speed if table.simulated else 1.0

        def table_clock() -> float:
            return clock_time(clock.monotonic() * speed)

        people = self._configuration.people
        runner = TableRunner(
            partial(self.build_table, table),
            self._journal,
            table_clock,
            partial(self._changed, table.id),
            self._cipher,
            self._stages,
            why,
        )
        identities = [configured_identity(device, table_clock()) for device in table.device]
        if unknown := [identity for identity in identities if not runner.table.is_known(identity)]:
            runner.on_readings(unknown)
        if runner.table.face_down and self._configuration.recordings.enabled:
            self._log.warning(
                "cards are face down: no recordings are written; the journal has the bytes, sealed",
                table=table.id,
            )
        devices = {device.id: self._build_device(table, device, runner) for device in table.device}
        requests = {
            device.id: found for device in table.device if (found := round_requests(device))
        }
        if requests:
            runner.after_stored = RoundRequests(devices, requests, speed).on_events
        silence = (
            max((device.stale_after for device in table.device), default=0.0)
            + STUCK_SECONDS * table.speed
        )
        topics = Topics(self._configuration.site.id, table.simulated)
        gate = None
        if people is not None and self._people is not None:
            gate = CommandGate(
                f"{topics.root}/{table.id}",
                table.id,
                self._people.in_force.people,
                narrow_at_table(command_rights(table.game, table.decree), people.may),
                self._seen,
                tuple(mark for mark in MARKED_BY_DEFAULT if mark in people.two_persons),
            )
        required = people is not None and people.required is True
        return ServedTable(runner, topics, devices, silence, gate, required)

    def rebuild_place(self, table: TableConfig) -> ServedTable:
        """Build a table that a reload adds or replaces."""
        return self.build_place(table, "reload")

    def _build_device(
        self, table: TableConfig, device: DeviceConfig, runner: TableRunner
    ) -> DeviceSupervisor:
        def on_bytes(call: AnyCall) -> None:
            self._hold()  # bytes read after a suspension belong to the daemon that has taken over
            runner.on_bytes(device.id, call)
            if not isinstance(call, BytesReceived):
                # an opened or closed link does not concern the table, but health reports it
                self._health_due()

        def on_readings(readings: list[AnyReading]) -> None:
            runner.on_readings(readings, noted=True)
            self._moved(table.id, readings)
            if any(isinstance(reading, LINK_READINGS) for reading in readings):
                self._health_due()

        def on_identity(facts: Mapping[str, str]) -> None:
            identity = usb_identity(device.id, facts, runner.clock())
            if identity is not None and not runner.table.is_known(identity):
                runner.on_readings([identity])

        return DeviceSupervisor(
            id=device.id,
            url=device.link,
            codec=_codec(device),
            on_readings=on_readings,
            stale_after=device.stale_after,
            clock=runner.clock,
            speed=table.speed if table.simulated else 1.0,
            recorder=None if runner.table.face_down else self._build_recorder(table.id, device),
            confidential=runner.table.face_down,
            commands_enabled=device.commands,
            tap=device.tap,
            on_call=on_bytes,
            on_connected=on_identity,
            before_write=self._hold,
            log=self._log.bind(table=table.id),
        )

    def _build_recorder(self, table: str, device: DeviceConfig) -> RecordingWriter | None:
        settings = self._configuration.recordings
        if not settings.enabled:
            return None
        return RecordingWriter(
            Path(settings.path, table, f"{device.id}.rec"),
            {"device": device.id, "driver": device.driver, "link": device.link, "table": table},
            max_bytes=settings.max_bytes,
            max_files=settings.max_files,
            max_days=settings.max_days,
        )


def _codec(device: DeviceConfig) -> Codec:
    driver_of = driver(device.driver)
    return driver_of.make(device.id, msgspec.convert(codec_options(device), driver_of.options))


def _title(table: TableConfig) -> dict[str, str]:
    """Return the decree's name of the game, by language."""
    book = chapter(table.decree, table.game)
    return {} if book is None else book.title
