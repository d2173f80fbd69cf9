"""The bodies of the API, from what the web server knows of tables and jackpots."""

from __future__ import annotations

import contextlib

from common.contract.http_bodies import (
    HistoryBody,
    JackpotBody,
    JackpotNotCurrent,
    NotCurrent,
    TableBody,
)
from common.contract.topics import Topics
from subscribers.feed.cloud_events import CloudEventNames, cloud_event_headers, event_id
from subscribers.feed.floor import Floor
from subscribers.feed.meter import silence
from subscribers.feed.table_snapshot import TableSnapshot


def not_current(floor: Floor, table: str) -> NotCurrent | None:
    """Return why a table is not current, by the rule of docs/integrator/liveness.md; None if it
    is.
    """
    outdated, state = floor.outdated[table], floor.known[table].state
    if outdated is not None:
        return NotCurrent(outdated.why, outdated.since)
    if state is not None and (state.status == "stale" or state.status == "fault"):
        return NotCurrent(state.status, state.time)
    return None


def table_body(floor: Floor, table: str) -> TableBody:
    """Return a table's retained topics."""
    known, why = floor.known[table], not_current(floor, table)
    return TableBody(
        table=table,
        simulated=known.simulated,
        current=why is None,
        not_current=why,
        info=known.info,
        state=known.state,
        result=known.result,
        shoe=known.shoe,
        alerts=tuple(known.alerts.values()),
    )


def history_body(floor: Floor, table: str) -> HistoryBody:
    """Return the latest rounds of a table."""
    known, why = floor.known[table], not_current(floor, table)
    return HistoryBody(
        table=table,
        current=why is None,
        not_current=why,
        session=known.history_session,
        results=known.history,
    )


def jackpot_body(floor: Floor, name: str) -> JackpotBody:
    """Return a jackpot. ``name``: its key in ``floor.meters``."""
    meter = floor.meters[name]
    silent = silence(meter, floor.no_broker(meter.simulated), floor.now())
    return JackpotBody(
        jackpot=meter.jackpot,
        simulated=meter.simulated,
        current=silent is None,
        not_current=None if silent is None else JackpotNotCurrent(silent.why, silent.since),
        state=meter.state,
        alerts=tuple(meter.alerts.values()),
    )


def state_headers(site: str, known: TableSnapshot) -> dict[str, str]:
    """Return the names of CloudEvents for a table's state; none if there is no state."""
    state = known.state
    if state is None:
        return {}
    names = CloudEventNames(
        event_id(site, known.table, state.boot, state.seq),
        f"{Topics(site, known.simulated).root}/{known.table}",
        "state",
        state.time,
    )
    with contextlib.suppress(ValueError):  # a name that the contract does not allow
        return cloud_event_headers(names)
    return {}
