"""The daemon's metrics for Prometheus. They are read from its health and its tables on request, and
counted nowhere else. They contain no card and no person's name.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import get_args

import msgspec

from common.contract.node import Health, PeopleHealth, ReloadHealth
from common.contract.retained import Alert, Status
from common.device_health import DeviceHealth
from common.metrics.endpoint import HttpResponse
from common.metrics.family import Values
from common.metrics.text import TEXT_CONTENT_TYPE, exposition
from controller.journal.journal import Journal
from controller.mqtt.served_table import ServedTable
from controller.mqtt.tables_api import TablesApi
from controller.proof.journal_upkeep import JournalUpkeep
from controller.service.certificates import CertificateWatch
from controller.service.health import HealthReporter
from controller.service.metric_families import EVENT_BY_METRIC, FAMILIES, WAITING_METRICS
from controller.tables.runner import TableRunner
from controller.tables.stages import EventCounters, Stages


def waiting_page(
    site: str,
    node: str,
    version: str,
    reloaded: Callable[[], ReloadHealth | None],
    unable: Callable[[], bool],
) -> Callable[[], Awaitable[HttpResponse]]:
    """Return the page handler of a daemon that waits in a pair."""
    families = [family for family in FAMILIES if family.name in WAITING_METRICS]

    async def page() -> HttpResponse:
        values: dict[str, Values] = {name: {} for name in WAITING_METRICS}
        values["novamas_info"] = {(site, node, version): 1}
        for name, value in (
            ("novamas_standby_waiting", 1),
            ("novamas_standby_unable", int(unable())),
            *_reload_metrics(reloaded()),
        ):
            values[name] = {(): value}
        return HttpResponse(await exposition(families, values), TEXT_CONTENT_TYPE)

    return page


class DaemonMetrics:
    """Metrics of one daemon."""

    def __init__(
        self,
        *,
        site: str,
        node: str,
        reporter: HealthReporter,
        places: Mapping[str, ServedTable],
        api: TablesApi,
        journal: Journal,
        upkeep: JournalUpkeep,
        stages: Stages,
        certificates: CertificateWatch,
    ) -> None:
        self._identity_labels = (site, node)
        self._reporter = reporter
        self._places = places
        self._api = api
        self._journal = journal
        self._upkeep = upkeep
        self._stages = stages
        self._certificates = certificates

    async def page(self) -> HttpResponse:
        """Return the response to ``/metrics``."""
        return HttpResponse(await exposition(FAMILIES, await self.values()), TEXT_CONTENT_TYPE)

    async def values(self) -> dict[str, Values]:
        """Return all present values."""
        health = self._reporter.report(await self._api.health())
        stages = self._stages
        return {
            **by_name(self._table_metrics(health)),
            "novamas_info": {(*self._identity_labels, health.versions["novamas"]): 1},
            "novamas_alerts": _count_words(alert.what for alert in self._api.alerts.values()),
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
                    *_node_metrics(health),
                    *self._disk_metrics(),
                    ("novamas_journal_sealed_timestamp_seconds", self._upkeep.sealed),
                    ("novamas_journal_verified_timestamp_seconds", self._upkeep.verified),
                )
                if value is not None
            },
        }

    def _table_metrics(self, health: Health) -> Iterator[tuple[str, tuple[str, ...], float]]:
        for name, table_health in health.tables.items():
            runner = self._places[name].runner
            table = (name, _boolean_label(runner.table.simulated))
            here = table_health.elsewhere is None
            yield "novamas_table_online", table, here and health.broker.connected
            yield "novamas_table_elsewhere", table, not here
            yield "novamas_table_readings_lost_total", table, table_health.readings_lost
            yield from table_metrics(runner, table)
            for device, device_health in table_health.devices.items():
                yield from _device_metrics(device_health, (*table, device))
                if not runner.table.face_down:  # the count may depend on a card
                    damaged = runner.table.garbage.get(device, 0)
                    yield "novamas_device_damaged_bytes_total", (*table, device), damaged

    def _disk_metrics(self) -> Iterable[tuple[str, float]]:
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
    """Group numbers by metric, with an empty entry for each metric without numbers."""
    metrics: dict[str, dict[tuple[str, ...], float]] = {family.name: {} for family in FAMILIES}
    for name, labels, value in numbers:
        metrics[name][labels] = value
    return metrics


class _TableStatus(msgspec.Struct):
    status: Status


_status_decoder, _alert_decoder = msgspec.json.Decoder(_TableStatus), msgspec.json.Decoder(Alert)


def table_metrics(
    runner: TableRunner, table: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...], float]]:
    """Yield the metrics that derive from a table's retained topics and events. ``table``: its
    labels.
    """
    status_now = _status_decoder.decode(runner.retained["state"] or b"{}").status
    for status in get_args(Status):
        yield "novamas_table_status", (*table, status), status == status_now
    yield from _round_metrics(runner.counters, table)
    alerts = [
        _alert_decoder.decode(body)
        for topic, body in runner.retained.items()
        if body is not None and topic.startswith("alert/")
    ]
    waiting = sum(len(alert.rounds) for alert in alerts if alert.what == "round.unresolved")
    yield "novamas_table_unresolved_rounds", table, waiting
    for labels, count in _count_words(alert.what for alert in alerts).items():
        yield "novamas_table_alerts", (*table, *labels), count


def _round_metrics(
    counters: EventCounters, table: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...], float]]:
    for name, event in EVENT_BY_METRIC.items():
        yield name, table, counters.events[event]
    for what, count in counters.irregularities.items():
        yield "novamas_table_irregularities_total", (*table, what), count
    for (witness, verdict), count in counters.witnessed.items():
        yield "novamas_table_witness_rounds_total", (*table, witness, verdict), count


def _device_metrics(
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


def _node_metrics(health: Health) -> Iterable[tuple[str, float | None]]:
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
        *_people_metrics(health.people),
        *_reload_metrics(health.reload),
    )


def _people_metrics(people: PeopleHealth | None) -> Iterable[tuple[str, float]]:
    if people is None:
        return ()
    since = datetime.fromisoformat(people.since).timestamp()
    return (
        ("novamas_people_file_number", people.number),
        ("novamas_people_enrolled", people.persons),
        ("novamas_people_file_refused", people.trouble is not None),
        ("novamas_people_file_timestamp_seconds", since),
    )


def _reload_metrics(reload: ReloadHealth | None) -> Iterable[tuple[str, float]]:
    if reload is None:
        return ()
    return (
        ("novamas_reload_refused", reload.trouble is not None),
        ("novamas_reload_waiting_tables", len(reload.waiting)),
        ("novamas_reload_timestamp_seconds", datetime.fromisoformat(reload.time).timestamp()),
    )


def _count_words(words: Iterable[str]) -> dict[tuple[str, ...], float]:
    return {(word,): float(count) for word, count in Counter(words).items()}


def _boolean_label(true: bool) -> str:
    return "true" if true else "false"
