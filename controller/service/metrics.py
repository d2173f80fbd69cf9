"""What the daemon tells Prometheus: read from its health and its tables when it is asked, and
counted nowhere for this alone. No card and no person's name is among it.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import get_args

import msgspec

from controller.contract.events import (
    AnyEvent,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from controller.contract.node import Health, PeopleHealth, ReloadHealth
from controller.contract.retained import Alert, Status
from controller.journal.journal import Journal
from controller.metrics.endpoint import HttpResponse
from controller.metrics.family import MetricFamily, Values
from controller.metrics.text import TEXT_CONTENT_TYPE, exposition
from controller.mqtt.tables_api import ServedTable, TablesApi
from controller.proof.journal_upkeep import JournalUpkeep
from controller.service.certificates import CertificateWatch
from controller.service.health import HealthReporter
from controller.tables.runner import TableRunner
from controller.tables.stages import Stages
from controller.tables.tally import EventCounters
from devices.health import DeviceHealth

TABLE = ("table", "simulated")
DEVICE = (*TABLE, "device")

ROUNDS: Mapping[str, type[AnyEvent]] = {
    "novamas_table_rounds_total": RoundOpened,
    "novamas_table_results_total": RoundResult,
    "novamas_table_voids_total": RoundVoid,
    "novamas_table_unresolved_total": RoundUnresolved,
    "novamas_table_corrections_total": ResultCorrected,
}

FAMILIES = (
    MetricFamily(
        "novamas_info", "gauge", "1; the labels say who tells.", ("site", "node", "version")
    ),
    MetricFamily("novamas_uptime_seconds", "gauge", "Since the start of the daemon."),
    MetricFamily(
        "novamas_standby_waiting",
        "gauge",
        "1: the daemon of a pair waits for the lease of its tables. 0: it serves.",
    ),
    MetricFamily(
        "novamas_standby_unable",
        "gauge",
        "1: the daemon of a pair waits, and could not serve; its log says why. 0: it could.",
    ),
    MetricFamily(
        "novamas_standby_term",
        "gauge",
        "Of a pair: how many times the lease was taken, this time included.",
    ),
    MetricFamily(
        "novamas_alerts",
        "gauge",
        "Alerts that stand and concern every table, by what is wrong: journal, clock, broker.",
        ("what",),
    ),
    MetricFamily(
        "novamas_certificate_end_timestamp_seconds",
        "gauge",
        "When a certificate ends, of a file of the configuration or of the broker or the pair.",
        ("certificate",),
    ),
    # tables
    MetricFamily(
        "novamas_table_online",
        "gauge",
        "1: the daemon has the table and is connected to the broker.",
        TABLE,
    ),
    MetricFamily("novamas_table_elsewhere", "gauge", "1: another daemon has the table.", TABLE),
    MetricFamily(
        "novamas_table_status",
        "gauge",
        "1 for the word that is the table's status now, 0 for the others.",
        (*TABLE, "status"),
    ),
    MetricFamily("novamas_table_rounds_total", "counter", "Rounds that were opened.", TABLE),
    MetricFamily("novamas_table_results_total", "counter", "Rounds that got a result.", TABLE),
    MetricFamily("novamas_table_voids_total", "counter", "Rounds that were void.", TABLE),
    MetricFamily(
        "novamas_table_unresolved_total", "counter", "Rounds that ended without one.", TABLE
    ),
    MetricFamily(
        "novamas_table_corrections_total", "counter", "Results that were corrected.", TABLE
    ),
    MetricFamily(
        "novamas_table_unresolved_rounds",
        "gauge",
        "Rounds that have no result and wait for a person.",
        TABLE,
    ),
    MetricFamily(
        "novamas_table_irregularities_total",
        "counter",
        "Irregularities by what happened.",
        (*TABLE, "what"),
    ),
    MetricFamily(
        "novamas_table_alerts",
        "gauge",
        "Alerts of the table that stand, by what is wrong.",
        (*TABLE, "what"),
    ),
    MetricFamily(
        "novamas_table_readings_lost_total",
        "counter",
        "Readings not taken, because too many waited for the disk.",
        TABLE,
    ),
    # devices
    MetricFamily("novamas_device_up", "gauge", "1: valid frames come from the device.", DEVICE),
    MetricFamily(
        "novamas_device_frame_age_seconds",
        "gauge",
        "Since the last valid frame, on the table's clock; none before the first.",
        DEVICE,
    ),
    MetricFamily("novamas_device_frames_total", "counter", "Valid frames.", DEVICE),
    MetricFamily(
        "novamas_device_damaged_frames_total",
        "counter",
        "Frames or lines that were not whole.",
        DEVICE,
    ),
    MetricFamily(
        "novamas_device_damaged_bytes_total",
        "counter",
        "Bytes that belong to no frame. Not told where cards lie face down.",
        DEVICE,
    ),
    MetricFamily(
        "novamas_device_unknown_frames_total", "counter", "Whole, of no known kind.", DEVICE
    ),
    MetricFamily("novamas_device_late_frames_total", "counter", "Came after a silence.", DEVICE),
    MetricFamily(
        "novamas_device_reconnects_total", "counter", "The link was opened again.", DEVICE
    ),
    MetricFamily("novamas_device_defects_total", "counter", "Exceptions in the codec.", DEVICE),
    # journal
    MetricFamily("novamas_journal_entries", "gauge", "Entries in the journal's chain."),
    MetricFamily("novamas_journal_writable", "gauge", "0: it cannot be written."),
    MetricFamily(
        "novamas_journal_waiting_records", "gauge", "Records that are not on the disk yet."
    ),
    MetricFamily("novamas_journal_commit_seconds", "histogram", "How long a commit took."),
    MetricFamily("novamas_journal_disk_free_bytes", "gauge", "Free on the journal's disk."),
    MetricFamily("novamas_journal_disk_size_bytes", "gauge", "The size of that disk."),
    MetricFamily(
        "novamas_journal_sealed_timestamp_seconds",
        "gauge",
        "When all days that were over were last found sealed; until then, the start.",
    ),
    MetricFamily(
        "novamas_journal_verified_timestamp_seconds",
        "gauge",
        "When the whole journal was last read back and found sound; none before.",
    ),
    # broker
    MetricFamily("novamas_broker_connected", "gauge", "Whether the broker is connected."),
    MetricFamily("novamas_broker_connects_total", "counter", "Connections that were made."),
    MetricFamily("novamas_broker_published_total", "counter", "Events that it acknowledged."),
    MetricFamily("novamas_broker_refused_total", "counter", "Messages that it refused."),
    MetricFamily(
        "novamas_broker_thrown_away_total", "counter", "Messages that could not be taken."
    ),
    MetricFamily("novamas_broker_foreign_total", "counter", "Messages of others on our topics."),
    MetricFamily(
        "novamas_broker_forbidden_topics",
        "gauge",
        "Topics whose messages the broker does not pass on: its rules forbid it.",
    ),
    MetricFamily("novamas_outbox_events", "gauge", "Events it has not acknowledged; 1000 at most."),
    MetricFamily(
        "novamas_outbox_oldest_seconds", "gauge", "Since the oldest of them; 0: none waits."
    ),
    # clock
    MetricFamily(
        "novamas_clock_synchronised", "gauge", "Whether a source keeps it; none: unknown."
    ),
    MetricFamily("novamas_clock_offset_seconds", "gauge", "Ahead of its source; none: unknown."),
    MetricFamily("novamas_clock_error_seconds", "gauge", "Wrong by at most; none: nobody knows."),
    MetricFamily("novamas_clock_bound_seconds", "gauge", "What the site allows; none: anything."),
    MetricFamily("novamas_clock_steps_total", "counter", "How often it was set."),
    MetricFamily("novamas_clock_believed", "gauge", "0: no day is sealed until it is believed."),
    # commands and people
    MetricFamily("novamas_commands_followed_total", "counter", "Commands that were followed."),
    MetricFamily(
        "novamas_commands_refused_total",
        "counter",
        "Commands that were refused, by the key of the refusal, `unreadable` or `failed`.",
        ("reason",),
    ),
    MetricFamily("novamas_commands_discarded_total", "counter", "Unanswered: too many waited."),
    MetricFamily("novamas_answers_withheld_total", "counter", "To topics that are not allowed."),
    MetricFamily("novamas_people_file_number", "gauge", "The number of the people file in force."),
    MetricFamily("novamas_people_enrolled", "gauge", "How many are in it and not revoked."),
    MetricFamily(
        "novamas_people_file_refused",
        "gauge",
        "1: a later file was refused, or names in the one in force look the same.",
    ),
    MetricFamily("novamas_people_file_timestamp_seconds", "gauge", "When it was taken over."),
    # configuration
    MetricFamily(
        "novamas_reload_refused", "gauge", "1: nothing was taken over; none before the first."
    ),
    MetricFamily("novamas_reload_waiting_tables", "gauge", "Tables that it left as they were."),
    MetricFamily("novamas_reload_timestamp_seconds", "gauge", "When the file was read again."),
    # speed and log
    MetricFamily(
        "novamas_stage_seconds",
        "histogram",
        "From the read of the bytes to the end of a stage: `decided`, `committed` to the disk, "
        "`acknowledged` by the broker.",
        ("stage",),
    ),
    MetricFamily("novamas_log_lines_lost_total", "counter", "Lines of the log that were lost."),
)


WAITING = (
    *("novamas_info", "novamas_standby_waiting", "novamas_standby_unable"),
    *("novamas_reload_refused", "novamas_reload_waiting_tables"),
    "novamas_reload_timestamp_seconds",
)
"""What a daemon tells that waits for the lease of its tables."""


def waiting_page(
    site: str,
    node: str,
    version: str,
    reloaded: Callable[[], ReloadHealth | None],
    unable: Callable[[], bool],
) -> Callable[[], Awaitable[HttpResponse]]:
    """The page of a daemon of a pair while the other one serves."""
    families = [family for family in FAMILIES if family.name in WAITING]

    async def page() -> HttpResponse:
        values: dict[str, Values] = {name: {} for name in WAITING}
        values["novamas_info"] = {(site, node, version): 1}
        for name, value in (
            ("novamas_standby_waiting", 1),
            ("novamas_standby_unable", int(unable())),
            *_of_reload(reloaded()),
        ):
            values[name] = {(): value}
        return HttpResponse(await exposition(families, values), TEXT_CONTENT_TYPE)

    return page


class DaemonMetrics:
    """The metrics of one daemon."""

    def __init__(
        self,
        site: str,
        node: str,
        reporter: HealthReporter,
        places: Mapping[str, ServedTable],
        api: TablesApi,
        journal: Journal,
        upkeep: JournalUpkeep,
        stages: Stages,
        *,
        certificates: CertificateWatch,
    ) -> None:
        self._who = (site, node)
        self._reporter = reporter
        self._places = places
        self._api = api
        self._journal = journal
        self._upkeep = upkeep
        self._stages = stages
        self._certificates = certificates

    async def page(self) -> HttpResponse:
        """The answer to ``/metrics``."""
        return HttpResponse(await exposition(FAMILIES, self.values()), TEXT_CONTENT_TYPE)

    def values(self) -> dict[str, Values]:
        """All numbers as they are now."""
        health = self._reporter.report()
        stages = self._stages
        return {
            **by_name(self._tables(health)),
            "novamas_info": {(*self._who, health.versions["novamas"]): 1},
            "novamas_alerts": _by_what(alert.what for alert in self._api.alerts.values()),
            "novamas_certificate_end_timestamp_seconds": {
                (name,): end for name, end in self._certificates.ends.items()
            },
            "novamas_commands_refused_total": {(key,): n for key, n in health.refusals.items()},
            "novamas_journal_commit_seconds": {(): self._journal.commits},
            "novamas_stage_seconds": {
                ("decided",): stages.decided.histogram,
                ("committed",): stages.committed.histogram,
                ("acknowledged",): stages.acknowledged.histogram,
            },
            **{
                name: {(): value}
                for name, value in (
                    *_of_node(health),
                    *self._disk(),
                    ("novamas_journal_sealed_timestamp_seconds", self._upkeep.sealed),
                    ("novamas_journal_verified_timestamp_seconds", self._upkeep.verified),
                )
                if value is not None
            },
        }

    def _tables(self, health: Health) -> Iterator[tuple[str, tuple[str, ...], float]]:
        for name, told in health.tables.items():
            runner = self._places[name].runner
            table = (name, _word(runner.table.simulated))
            here = told.elsewhere is None
            yield "novamas_table_online", table, here and health.broker.connected
            yield "novamas_table_elsewhere", table, not here
            yield "novamas_table_readings_lost_total", table, told.readings_lost
            yield from of_table(runner, table)
            for device, each in told.devices.items():
                yield from _of_device(each, (*table, device))
                if not runner.table.face_down:  # their number may depend on a card
                    damaged = runner.table.garbage.get(device, 0)
                    yield "novamas_device_damaged_bytes_total", (*table, device), damaged

    def _disk(self) -> Iterable[tuple[str, float]]:
        try:
            disk = shutil.disk_usage(self._journal.path.parent)
        except OSError:  # the journal reports a missing disk
            return ()
        return (
            ("novamas_journal_disk_free_bytes", disk.free),
            ("novamas_journal_disk_size_bytes", disk.total),
        )


def by_name(
    numbers: Iterable[tuple[str, tuple[str, ...], float]],
) -> dict[str, dict[tuple[str, ...], float]]:
    """All families, with those of these numbers that are theirs."""
    found: dict[str, dict[tuple[str, ...], float]] = {family.name: {} for family in FAMILIES}
    for name, labels, value in numbers:
        found[name][labels] = value
    return found


class _Told(msgspec.Struct):
    status: Status


_state, _alert = msgspec.json.Decoder(_Told), msgspec.json.Decoder(Alert)


def of_table(
    runner: TableRunner, table: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...], float]]:
    """What a table tells, which is in its retained topics and events too; ``table``: its labels."""
    now = _state.decode(runner.retained["state"] or b"{}").status
    for status in get_args(Status):
        yield "novamas_table_status", (*table, status), status == now
    yield from _of_rounds(runner.counters, table)
    alerts = [
        _alert.decode(body)
        for topic, body in runner.retained.items()
        if body is not None and topic.startswith("alert/")
    ]
    waiting = sum(len(each.rounds) for each in alerts if each.what == "round.unresolved")
    yield "novamas_table_unresolved_rounds", table, waiting
    for labels, count in _by_what(alert.what for alert in alerts).items():
        yield "novamas_table_alerts", (*table, *labels), count


def _of_rounds(
    tally: EventCounters, table: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...], float]]:
    for name, event in ROUNDS.items():
        yield name, table, tally.events[event]
    for what, count in tally.irregularities.items():
        yield "novamas_table_irregularities_total", (*table, what), count


def _of_device(
    health: DeviceHealth, device: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...], float]]:
    counters = health.counters
    yield "novamas_device_up", device, health.state == "up"
    if health.age is not None:
        yield "novamas_device_frame_age_seconds", device, health.age
    yield "novamas_device_frames_total", device, counters.frames
    yield "novamas_device_damaged_frames_total", device, counters.damaged
    yield "novamas_device_unknown_frames_total", device, counters.unknown
    yield "novamas_device_late_frames_total", device, counters.late
    yield "novamas_device_reconnects_total", device, health.reconnects
    yield "novamas_device_defects_total", device, health.defects


def _of_node(health: Health) -> Iterable[tuple[str, float | None]]:
    broker, clock = health.broker, health.clock
    return (
        ("novamas_uptime_seconds", health.uptime),
        ("novamas_standby_waiting", None if health.standby is None else 0),
        ("novamas_standby_term", None if health.standby is None else health.standby.term),
        ("novamas_journal_entries", health.journal.position),
        ("novamas_journal_writable", health.journal.state == "ok"),
        ("novamas_journal_waiting_records", health.journal.waiting),
        ("novamas_broker_connected", broker.connected),
        ("novamas_broker_connects_total", broker.connects),
        ("novamas_broker_published_total", broker.published),
        ("novamas_broker_refused_total", broker.refused),
        ("novamas_broker_thrown_away_total", broker.thrown_away),
        ("novamas_broker_foreign_total", broker.foreign),
        ("novamas_broker_forbidden_topics", sum(broker.forbidden.values())),
        ("novamas_outbox_events", health.outbox.depth),
        ("novamas_outbox_oldest_seconds", health.outbox.oldest or 0.0),
        ("novamas_clock_synchronised", clock.synchronised),
        ("novamas_clock_offset_seconds", clock.offset),
        ("novamas_clock_error_seconds", clock.error),
        ("novamas_clock_bound_seconds", clock.bound),
        ("novamas_clock_steps_total", clock.steps),
        ("novamas_clock_believed", clock.doubt is None),
        ("novamas_commands_followed_total", health.commands_followed),
        ("novamas_commands_discarded_total", health.commands_discarded),
        ("novamas_answers_withheld_total", health.answers_withheld),
        ("novamas_log_lines_lost_total", health.log.lost),
        *_of_people(health.people),
        *_of_reload(health.reload),
    )


def _of_people(people: PeopleHealth | None) -> Iterable[tuple[str, float]]:
    if people is None:
        return ()
    since = datetime.fromisoformat(people.since).timestamp()
    return (
        ("novamas_people_file_number", people.number),
        ("novamas_people_enrolled", people.persons),
        ("novamas_people_file_refused", people.trouble is not None),
        ("novamas_people_file_timestamp_seconds", since),
    )


def _of_reload(reload: ReloadHealth | None) -> Iterable[tuple[str, float]]:
    if reload is None:
        return ()
    return (
        ("novamas_reload_refused", reload.trouble is not None),
        ("novamas_reload_waiting_tables", len(reload.waiting)),
        ("novamas_reload_timestamp_seconds", datetime.fromisoformat(reload.time).timestamp()),
    )


def _by_what(words: Iterable[str]) -> dict[tuple[str, ...], float]:
    return {(word,): float(count) for word, count in Counter(words).items()}


def _word(true: bool) -> str:
    return "true" if true else "false"
