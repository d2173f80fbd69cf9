"""The metrics of the daemon: the name, the kind and the meaning of each."""

from __future__ import annotations

from collections.abc import Mapping

from common.contract.events import (
    AnyEvent,
    ResultCorrected,
    RoundOpened,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.metrics.family import MetricFamily

TABLE_LABELS = ("table", "simulated")
DEVICE_LABELS = (*TABLE_LABELS, "device")
EVENT_BY_METRIC: Mapping[str, type[AnyEvent]] = {
    "novamas_table_rounds_total": RoundOpened,
    "novamas_table_results_total": RoundResult,
    "novamas_table_voids_total": RoundVoid,
    "novamas_table_unresolved_total": RoundUnresolved,
    "novamas_table_corrections_total": ResultCorrected,
}
FAMILIES = (
    MetricFamily(
        "novamas_info", "gauge", "1; the labels identify the daemon.", ("site", "node", "version")
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
        "Of a pair: number of times the lease was taken, including this time.",
    ),
    MetricFamily(
        "novamas_alerts",
        "gauge",
        "Active alerts that concern every table, by what is wrong: journal, clock, broker.",
        ("what",),
    ),
    MetricFamily(
        "novamas_certificate_end_timestamp_seconds",
        "gauge",
        "When a certificate expires, of a file of the configuration, the broker or the pair.",
        ("certificate",),
    ),
    # tables
    MetricFamily(
        "novamas_table_online",
        "gauge",
        "1: the daemon has the table and is connected to the broker.",
        TABLE_LABELS,
    ),
    MetricFamily(
        "novamas_table_elsewhere", "gauge", "1: another daemon has the table.", TABLE_LABELS
    ),
    MetricFamily(
        "novamas_table_status",
        "gauge",
        "1 for the table's present status, 0 for the others.",
        (*TABLE_LABELS, "status"),
    ),
    MetricFamily("novamas_table_rounds_total", "counter", "Rounds that were opened.", TABLE_LABELS),
    MetricFamily(
        "novamas_table_results_total", "counter", "Rounds that got a result.", TABLE_LABELS
    ),
    MetricFamily("novamas_table_voids_total", "counter", "Rounds that were void.", TABLE_LABELS),
    MetricFamily(
        "novamas_table_unresolved_total",
        "counter",
        "Rounds that ended without a result.",
        TABLE_LABELS,
    ),
    MetricFamily(
        "novamas_table_corrections_total", "counter", "Results that were corrected.", TABLE_LABELS
    ),
    MetricFamily(
        "novamas_table_unresolved_rounds",
        "gauge",
        "Rounds without a result that wait for a person's decision.",
        TABLE_LABELS,
    ),
    MetricFamily(
        "novamas_table_irregularities_total",
        "counter",
        "Irregularities by what happened.",
        (*TABLE_LABELS, "what"),
    ),
    MetricFamily(
        "novamas_table_witness_rounds_total",
        "counter",
        "Results by what a second witness had reported when they were published: silent, agrees or "
        "disagrees; and reports after a result: agrees_later or disagrees_later.",
        (*TABLE_LABELS, "witness", "verdict"),
    ),
    MetricFamily(
        "novamas_table_alerts",
        "gauge",
        "Active alerts of the table, by what is wrong.",
        (*TABLE_LABELS, "what"),
    ),
    MetricFamily(
        "novamas_table_readings_lost_total",
        "counter",
        "Readings dropped because too many waited for the disk.",
        TABLE_LABELS,
    ),
    # devices
    MetricFamily("novamas_device_up", "gauge", "1: the device sends valid frames.", DEVICE_LABELS),
    MetricFamily(
        "novamas_device_frame_age_seconds",
        "gauge",
        "Since the last valid frame, on the table's clock; absent before the first.",
        DEVICE_LABELS,
    ),
    MetricFamily("novamas_device_frames_total", "counter", "Valid frames.", DEVICE_LABELS),
    MetricFamily(
        "novamas_device_damaged_frames_total",
        "counter",
        "Incomplete frames or lines.",
        DEVICE_LABELS,
    ),
    MetricFamily(
        "novamas_device_damaged_bytes_total",
        "counter",
        "Bytes outside of frames. Not counted where cards are face down.",
        DEVICE_LABELS,
    ),
    MetricFamily(
        "novamas_device_unknown_frames_total",
        "counter",
        "Complete frames of unknown type.",
        DEVICE_LABELS,
    ),
    MetricFamily(
        "novamas_device_late_frames_total",
        "counter",
        "Frames received after a silence.",
        DEVICE_LABELS,
    ),
    MetricFamily(
        "novamas_device_reconnects_total", "counter", "Times the link was reopened.", DEVICE_LABELS
    ),
    MetricFamily(
        "novamas_device_defects_total", "counter", "Exceptions in the codec.", DEVICE_LABELS
    ),
    # journal
    MetricFamily("novamas_journal_entries", "gauge", "Entries in the journal's chain."),
    MetricFamily("novamas_journal_writable", "gauge", "0: it cannot be written."),
    MetricFamily("novamas_journal_waiting_records", "gauge", "Records not yet on the disk."),
    MetricFamily("novamas_journal_commit_seconds", "histogram", "Duration of a commit."),
    MetricFamily("novamas_journal_disk_free_bytes", "gauge", "Free bytes on the journal's disk."),
    MetricFamily("novamas_journal_disk_size_bytes", "gauge", "Size of the journal's disk."),
    MetricFamily(
        "novamas_journal_sealed_timestamp_seconds",
        "gauge",
        "When all finished days were last found to be sealed; until then, the start.",
    ),
    MetricFamily(
        "novamas_journal_verified_timestamp_seconds",
        "gauge",
        "When the whole journal was last read back and verified; absent before.",
    ),
    # broker
    MetricFamily("novamas_broker_connected", "gauge", "1: the broker is connected."),
    MetricFamily("novamas_broker_connects_total", "counter", "Connections made."),
    MetricFamily("novamas_broker_published_total", "counter", "Events acknowledged by the broker."),
    MetricFamily("novamas_broker_refused_total", "counter", "Messages refused by the broker."),
    MetricFamily(
        "novamas_broker_thrown_away_total", "counter", "Received messages that were dropped."
    ),
    MetricFamily(
        "novamas_broker_foreign_total", "counter", "Messages of other clients on own topics."
    ),
    MetricFamily(
        "novamas_broker_forbidden_topics",
        "gauge",
        "Topics whose messages the broker's access rules do not pass on.",
    ),
    MetricFamily("novamas_outbox_events", "gauge", "Unacknowledged events, counted up to 1000."),
    MetricFamily(
        "novamas_outbox_oldest_seconds", "gauge", "Age of the oldest of them; 0: none waits."
    ),
    # clock
    MetricFamily(
        "novamas_clock_synchronised", "gauge", "1: the clock is synchronised; absent: unknown."
    ),
    MetricFamily("novamas_clock_offset_seconds", "gauge", "Ahead of its source; absent: unknown."),
    MetricFamily("novamas_clock_error_seconds", "gauge", "Maximum error; absent: unknown."),
    MetricFamily(
        "novamas_clock_bound_seconds", "gauge", "Error that the site allows; absent: any."
    ),
    MetricFamily("novamas_clock_steps_total", "counter", "Times the clock was set."),
    MetricFamily("novamas_clock_believed", "gauge", "0: the time is doubted; no day is sealed."),
    # commands and people
    MetricFamily("novamas_commands_followed_total", "counter", "Commands executed."),
    MetricFamily(
        "novamas_commands_refused_total",
        "counter",
        "Commands refused, by the key of the refusal, `unreadable` or `failed`.",
        ("reason",),
    ),
    MetricFamily(
        "novamas_commands_discarded_total", "counter", "Commands dropped because too many waited."
    ),
    MetricFamily(
        "novamas_answers_withheld_total", "counter", "Replies to topics that are not allowed."
    ),
    MetricFamily("novamas_people_file_number", "gauge", "Number of the people file in force."),
    MetricFamily("novamas_people_enrolled", "gauge", "People in it who are not revoked."),
    MetricFamily(
        "novamas_people_file_refused",
        "gauge",
        "1: a newer file was refused, or names in the one in force look the same.",
    ),
    MetricFamily("novamas_people_file_timestamp_seconds", "gauge", "When it was put in force."),
    # configuration
    MetricFamily(
        "novamas_reload_refused", "gauge", "1: the reload was refused; absent before the first."
    ),
    MetricFamily("novamas_reload_waiting_tables", "gauge", "Tables that it left unchanged."),
    MetricFamily("novamas_reload_timestamp_seconds", "gauge", "When the file was last reloaded."),
    # speed and log
    MetricFamily(
        "novamas_stage_seconds",
        "histogram",
        "From reading the bytes to the end of a stage: `decided`, `committed` to the disk, "
        "`acknowledged` by the broker.",
        ("stage",),
    ),
    MetricFamily("novamas_log_lines_lost_total", "counter", "Log lines that could not be written."),
)
WAITING_METRICS = (
    *("novamas_info", "novamas_standby_waiting", "novamas_standby_unable"),
    *("novamas_reload_refused", "novamas_reload_waiting_tables"),
    "novamas_reload_timestamp_seconds",
)
"""Metrics of a daemon that waits for the lease of its tables."""
