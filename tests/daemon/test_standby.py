"""Two daemons with the same tables: one serves, and the other takes over when it must."""

from __future__ import annotations

import asyncio
import json
import math
import re
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import nats as nats_client
import pytest

from common.chain.checkpoint import load_key
from common.contract.times import parse_utc
from common.standby.fence import FENCED_EXIT_STATUS
from common.standby.record import read_record
from common.standby.seal import StructSigner
from controller.cli import main
from controller.cli.reload import WAITING_NOTE
from controller.configuration.file import load
from controller.doctor.standby import check
from controller.journal.reader import JournalReader
from controller.journal.setup import Boot
from controller.tables.after_restore import MIN_SESSION_JUMP
from tests.daemon.conftest import Tell
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port, once
from tests.support.daemon.pair import (
    CALM_PERIOD_SECONDS,
    NAMES,
    Manager,
    Nats,
    NetworkWheel,
    daemons,
    in_pair,
    spins,
)
from tests.support.daemon.play import (
    NODE,
    TABLE,
    command,
    spin,
    until_more,
    until_said,
    until_up,
)
from tests.support.daemon.process import UNSIGNED, Daemon, table
from tests.support.people.signing import LASA, SIGNED, VIDAL, enrol, give
from tests.support.waiting import TIMEOUT_SECONDS, until

LEASE = 6.0
"""The wait of each take-over; the one that serves must be given a processor within it."""

LONG = 60.0
"""A lease within which any process is back, however busy the machine."""


class Floor(NamedTuple):
    """Two daemons of which the first serves, their shared parts, and a subscriber."""

    north: Daemon
    south: Daemon
    wheel: NetworkWheel
    subscriber: Subscriber
    store: Nats
    metrics: int


@pytest.fixture(scope="module")
def nats(programs: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nats]:
    store = Nats(tmp_path_factory.mktemp("store") / "nats")
    store.start()
    yield store
    store.kill()


@pytest.fixture
def lease() -> float:
    """That of the one that waits; it waits for the longer one of both."""
    return LEASE


@pytest.fixture
def floor(
    tmp_path: Path, nats: Nats, mosquitto: Mosquitto, ending: ExitStack, lease: float, tell: Tell
) -> Floor:
    wheel = NetworkWheel(period=CALM_PERIOD_SECONDS)
    ending.callback(wheel.close)
    metrics = free_port()
    files = (
        in_pair(
            *([nats.url], name, f"mqtt://127.0.0.1:{mosquitto.port}", table("r1", wheel)),
            lease=lease if name == NAMES[1] else LEASE,
            replicas=1,
            bucket=f'"b{mosquitto.port}"',
        )
        + (f'\n[metrics]\nlisten = "127.0.0.1:{metrics}"\n' if name == "south" else "")
        for name in NAMES
    )
    north, south = daemons(tmp_path, ending, files)
    north.start()
    north.until_logged("broker connected")
    south.start()
    south.until_logged("another daemon has the lease")
    subscriber = Subscriber(mosquitto.port)
    ending.callback(subscriber.close)
    for each in (north, south):
        ending.callback(tell, f"log of {each.folder.name}", each.log)
    until_up(subscriber, north)
    return Floor(north, south, wheel, subscriber, nats, metrics)


def opened(subscriber: Subscriber) -> int:
    count = len(subscriber.events("session.opened"))
    assert command(subscriber, "session.open")["ok"]
    return int(until_more(subscriber, "session.opened", count)[0]["session"])


def taken_over(floor: Floor, by: Daemon, count: int = 0) -> dict[str, Any]:
    """The first event of the daemon that has taken over."""
    event: dict[str, Any] = until_more(floor.subscriber, "journal.restored", count)[0]
    until_up(floor.subscriber, by)
    assert event["boot"] == by.boot()
    assert event["seq"] == 1
    assert event["source"] == "other_daemon"
    return event


def test_spins_that_a_device_server_kept_until_a_takeover_are_no_results(floor: Floor) -> None:
    """See also ``test_kept.py``."""
    subscriber, wheel = floor.subscriber, floor.wheel
    opened(subscriber)
    spin(wheel, subscriber, "17", 2)
    known = len(subscriber.events("round.opened"))
    wheel.show(2, 3, "17")
    until_more(subscriber, "round.opened", known)
    wheel.kept, wheel.line = spins(3, "17", (" 7", "23")), b"*X;2;005;23;0;200;0"
    floor.north.kill()
    taken_over(floor, floor.south)
    until("late lines are reported", lambda: subscriber.events("data.late"), floor.south.log)
    opened(subscriber)
    until_more(subscriber, "round.opened", known + 1)
    assert [event["outcome"]["number"] for event in subscriber.events("round.result")] == [17]


def is_live(page: bytes) -> bool:
    """Whether a frame of the wheel has come that was not late: those that come directly after a
    link is opened are, since they may have waited in a device server, and on a busy machine that
    lasts longer. A round that begins with one of them is another one than the next live round.
    """
    frames, late = (
        sum(
            float(each)
            for each in re.findall(rb"^novamas_device_%s\{.*\} (\S+)$" % name, page, re.MULTILINE)
        )
        for name in (b"frames_total", b"late_frames_total")
    )
    return frames > late


def setups(one: Daemon) -> list[Boot]:
    """The ``boot`` entries of its journal."""
    with closing(JournalReader(one.folder / "journal.sqlite3")) as reader:
        return [
            msgspec.json.decode(entry.body, type=Boot)
            for entry in reader.entries()
            if entry.kind == "boot"
        ]


def holds(one: Daemon, capsys: pytest.CaptureFixture[str]) -> str:
    """Its journal is as it was written, and its events follow from it. Gives the page."""
    journal = str(one.folder / "journal.sqlite3")
    assert main(["audit", journal]) == 0, capsys.readouterr().out
    capsys.readouterr()
    assert main(["verify", journal, "--text"]) == 0
    return capsys.readouterr().out


@pytest.mark.essential
def test_the_waiting_daemon_touches_nothing_and_takes_over_from_a_dead_one(
    floor: Floor, capsys: pytest.CaptureFixture[str]
) -> None:
    north, south, wheel, subscriber = floor[:4]
    assert wheel.readers == 1
    south.until_logged("metrics")
    page = _page(floor.metrics)
    assert b"novamas_standby_waiting 1.0" in page
    assert b"\nnovamas_reload_refused " not in page
    good = south.file.read_text()
    south.file.write_text(good.replace("cammegh-ss2", "camegh-ss2"))
    south.signal(signal.SIGHUP)
    until("1", lambda: b"novamas_reload_refused 1.0" in _page(floor.metrics), south.log)
    south.file.write_text(good)
    south.signal(signal.SIGHUP)
    until("0", lambda: b"novamas_reload_refused 0.0" in _page(floor.metrics), south.log)
    assert setups(south) == []
    said, *_ = check(load(south.file))
    assert (said.level, "north has the tables" in said.what) == ("ok", True)
    assert opened(subscriber) == 1
    spin(wheel, subscriber, "17", 2)
    point = until("a checkpoint", lambda: subscriber.latest(f"{NODE}/checkpoint"))
    before = north.boot()

    north.kill()
    event = taken_over(floor, south)
    assert (event["instance"], event["term"], event["journal"]) == ("north", 1, point["journal"])
    gap = parse_utc(event["restored"]) - parse_utc(event["since"])
    known = event["next_session"] - 1 - MIN_SESSION_JUMP - math.ceil(gap)
    assert known in {0, 1}  # the store may know of session 1 already
    state = subscriber.latest(f"{TABLE}/state")
    assert (state["status"], state["shown"]["session"]) == ("closed", event["next_session"] - 1)
    alert = until("the alert", lambda: subscriber.latest(f"{TABLE}/alert/taken-over"))
    assert "north had the tables" in alert["detail"]
    health = until("health", lambda: subscriber.latest(f"{NODE}/health"))
    assert (health["standby"]["instance"], health["standby"]["term"]) == ("south", 2)
    until("the wheel is live", lambda: is_live(_page(floor.metrics)), south.log)
    assert opened(subscriber) == event["next_session"]
    spin(wheel, subscriber, "32", 3, "17")

    north.start()
    north.until_logged("another daemon has the lease")
    assert south.stop() == 0
    again = taken_over(floor, north, 1)
    assert (again["instance"], again["term"], again["was_open"]) == ("south", 2, 1)
    assert again["next_session"] > event["next_session"] + 1000
    assert north.boot() != before
    rounds = [(e["session"], e["round"]) for e in once(subscriber.events("round.result"))]
    assert rounds == [(1, 1), (event["next_session"], 1)]
    assert north.stop() == 0

    assert "took the tables over" in holds(south, capsys)
    holds(north, capsys)
    tenures = [each.standby for each in setups(south) if each.standby is not None]
    handed = tenures[0].before
    assert handed is not None
    assert (handed.instance, handed.journal) == ("north", event["journal"])
    assert handed.sessions == {"r1": known}
    other = ["--other", str(north.folder / "journal.sqlite3")]
    assert main(["verify", str(south.folder / "journal.sqlite3"), *other, "--text"]) == 0
    assert "which was handed over, is in" in capsys.readouterr().out
    other = ["--other", str(south.folder / "journal.sqlite3")]
    assert main(["verify", str(south.folder / "journal.sqlite3"), *other, "--text"]) == 3
    assert "the journal records no hand-over" in capsys.readouterr().out


@pytest.mark.parametrize("lease", [LONG])
def test_one_that_is_back_within_its_lease_continues(floor: Floor) -> None:
    """Killed, or without the store for too long: while that is away, neither serves."""
    north, south, wheel, subscriber = floor[:4]
    assert opened(subscriber) == 1
    spin(wheel, subscriber, "17", 2)
    north.kill()
    north.start()
    until_up(subscriber, north)
    state = subscriber.latest(f"{TABLE}/state")
    assert state["shown"]["session"] == 1
    assert state["status"] != "closed"
    floor.store.kill()
    assert north.wait() == FENCED_EXIT_STATUS
    north.start()
    for each in (north, south):
        each.until_logged("the store of the lease does not answer")
    floor.store.start()
    until_up(subscriber, north)
    assert subscriber.latest(f"{TABLE}/state")["shown"]["session"] == 1
    assert subscriber.events("journal.restored") == []
    assert [each.standby.term for each in setups(north) if each.standby] == [1, 2, 3]
    assert setups(south) == []


def test_the_waiting_daemon_copies_the_configuration(
    floor: Floor, ending: ExitStack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last good file is served, also where a table is left with an open session of another
    game.
    """
    north, south, _, subscriber = floor[:4]
    second = NetworkWheel(period=CALM_PERIOD_SECONDS)
    ending.callback(second.close)
    assert opened(subscriber) == 1
    north.kill()
    first = taken_over(floor, south)
    told = ending.enter_context(Manager(tmp_path / "notify"))
    north.start(NOTIFY_SOCKET=str(told.place))
    north.until_logged("another daemon has the lease")
    waits = f"{WAITING_NOTE}\n"

    for each in (south, north):
        text = each.file.read_text().replace("roulette-french", "roulette-american")
        each.file.write_text(text + table("r2", second))
        assert main(["reload", str(each.file)]) == 0
    changed = "r2: added\nr1: changed (game)\n"
    assert capsys.readouterr().out == changed + changed + waits
    assert "RELOADING=1" in told.until("STATUS=waits: south has the tables, term 2")
    assert main(["reload", str(north.file)]) == 0
    assert capsys.readouterr().out == f"ok: the daemon already uses this file\n{waits}"
    good = north.file.read_text()
    north.file.write_text(good.replace("keepalive = 2", "keepalive = 3"))
    assert main(["reload", str(north.file)]) == 1
    assert capsys.readouterr().out == f"restart the daemon for: broker.keepalive\n{waits}"
    alone = good.partition("\n[[table]]")[0]
    north.file.write_text(f'{alone}\n[archive]\npath = "archive.sqlite3"\n')
    assert main(["reload", str(north.file)]) == 1
    assert "no table would be left" in capsys.readouterr().err

    north.file.write_text(good.replace("cammegh-ss2", "camegh-ss2"))
    north.signal(signal.SIGHUP)
    told.until("configuration not taken over: ", "did you mean `cammegh-ss2`?")
    assert "did you mean" in north.until_logged("configuration not taken over", 2)["reason"]
    assert setups(north)[1:] == []

    before = len(subscriber.events("journal.restored"))
    assert south.stop() == 0
    again = taken_over(floor, north, before)
    assert again["next_session"] > first["next_session"]
    until_up(subscriber, north, "novamas/v1/palma/r2")
    assert subscriber.latest(f"{TABLE}/state")["game"] == "roulette-american"
    alert = until("the alert", lambda: subscriber.latest(f"{TABLE}/alert/table-anew"), north.log)
    assert "before this it was a table of roulette-french" in alert["detail"]
    health = until("health", lambda: subscriber.latest(f"{NODE}/health"), north.log)
    assert "did you mean `cammegh-ss2`?" in health["reload"]["trouble"]
    assert opened(subscriber) == again["next_session"]
    north.file.write_text(good)
    assert main(["reload", str(north.file)]) == 0
    assert capsys.readouterr().out == "ok: the daemon already uses this file\n"
    assert north.stop() == 0
    holds(north, capsys)
    holds(south, capsys)


def _page(port: int) -> bytes:
    import urllib.request

    with urllib.request.urlopen(
        f"http://127.0.0.1:{port}/metrics", timeout=TIMEOUT_SECONDS
    ) as answer:
        return bytes(answer.read())


def test_a_configuration_that_one_machine_alone_can_serve_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "novamas.toml"
    text = in_pair(["nats://127.0.0.1:4222"], "north", "embedded://127.0.0.1:1883", "")
    device = (
        '\n[[table]]\nid = "r1"\ngame = "roulette-french"\ndecree = "ARA02"\n'
        '[[table.device]]\nid = "wheel"\ndriver = "cammegh-ss2"\nlink = "serial:///dev/ttyS0"\n'
    )
    file.write_text(text + device)
    assert main(["check", str(file)]) == 1
    output = capsys.readouterr().err
    assert "wheel is plugged into one machine" in output
    assert "the other one of the pair cannot reach it" in output


@pytest.mark.parametrize("meanwhile", [False, True])
def test_a_restore_on_one_machine_is_reported_as_a_restore(
    floor: Floor, tmp_path: Path, capsys: pytest.CaptureFixture[str], meanwhile: bool
) -> None:
    """Also where the other daemon had the tables ``meanwhile``, which is reported too."""
    north, south, wheel, subscriber = floor[:4]
    key = tmp_path / "surveillance.key"
    assert main(["keygen", str(key)]) == 0
    words = ["--passphrase-file", str(key), "--json"]
    capsys.readouterr()
    assert opened(subscriber) == 1
    assert main(["backup", str(north.file), str(tmp_path / "backups"), *words]) == 0
    backup = json.loads(capsys.readouterr().out)["folder"]
    spin(wheel, subscriber, "17", 2)
    assert command(subscriber, "session.close")["ok"]
    assert opened(subscriber) == 2
    numbers = north.logged("lease taken")[0]["term"]
    if not meanwhile:
        assert south.stop() == 0
    north.kill()
    sessions = {2}
    if meanwhile:
        taken_over(floor, south)
        sessions.add(opened(subscriber))
    count = len(subscriber.events("journal.restored"))
    assert (
        main(["restore", str(north.file), backup, "--passphrase-file", str(key), "--set-aside"])
        == 0
    )
    if meanwhile:
        assert south.stop() == 0
    north.start()
    events = until_said(subscriber, "journal.restored", count + 1 + meanwhile)[count:]
    boot = until("its boot is logged", north.boot, north.log)
    assert {event["boot"] for event in events} == {boot}
    assert [event.get("source", "backup") for event in events] == ["backup", "other_daemon"][
        : 1 + meanwhile
    ]
    assert events[0]["since"] < subscriber.events("round.result")[0]["time"], (
        "what was lost lies after"
    )
    assert events[-1]["next_session"] > max(sessions) + 1000
    alert = until(
        "the alert", lambda: subscriber.latest(f"{TABLE}/alert/journal-restored"), north.log
    )
    assert "a backup of" in alert["detail"]
    until_up(subscriber, north)
    assert subscriber.latest(f"{TABLE}/alert/taken-over") is None or meanwhile
    assert opened(subscriber) == events[-1]["next_session"]
    assert north.logged("lease taken")[-1]["term"] > numbers
    assert north.stop() == 0
    north.start()
    until_up(subscriber, north)
    assert len(subscriber.events("journal.restored")) == count + 1 + meanwhile
    assert north.stop() == 0
    holds(north, capsys)


def refuses(daemon: Daemon, known: int) -> bool:
    """Whether a daemon has logged that it refuses the record. A slow store may not have answered
    before. ``known``: the lines of earlier runs.
    """
    words = "is not a lease of this release, or was not signed by a daemon of this pair"
    lines = daemon.logged("the store of the lease does not answer")[known:]
    return any(words in line["reason"] for line in lines)


def test_foreign_entries_in_the_store_enter_no_journal(
    floor: Floor, mosquitto: Mosquitto, capsys: pytest.CaptureFixture[str]
) -> None:
    """Numbers that no journal holds, an unsigned record, or an altered one: no daemon accepts it,
    and once it is deleted play continues.
    """
    north, south, _, subscriber = floor[:4]
    assert opened(subscriber) == 1
    bucket = f"b{mosquitto.port}"
    record = msgspec.json.decode(asyncio.run(stored(floor.store.url, bucket)))
    runs = (north, south)
    for forged in (
        {"term": 2**63 - 1, "released": True},
        {"term": 2**63 - 1, "released": True, "signature": None},
        {"sessions": {"r1": 2**64}},
        {"instance": "ghost", "journal": "0" * 32},
        {"lease": 300.0},
    ):
        known = [len(run.logged("lease taken")) for run in runs]
        asyncio.run(stored(floor.store.url, bucket, msgspec.json.encode(record | forged)))
        serving = next(run for run in runs if run.boot() is not None)
        assert serving.wait() == FENCED_EXIT_STATUS
        silent = len(serving.logged("the store of the lease does not answer"))
        serving.start()
        until("it is refused", partial(refuses, serving, silent), serving.log)
        asyncio.run(deleted(floor.store.url, bucket))
        until(
            "one of them serves",
            lambda: [len(run.logged("lease taken")) for run in runs] != known,  # noqa: B023
            serving.log,
        )
        serving = until("it is up", lambda: next((e for e in runs if e.boot() is not None), None))
        until_up(subscriber, serving)
        opened(subscriber)
    asyncio.run(deleted(floor.store.url, bucket))
    assert serving.wait() == FENCED_EXIT_STATUS
    assert "was deleted from the store: nobody has the lease" in serving.log()
    for run in runs:
        run.kill()
    terms = [each.standby.term for one in runs for each in setups(one) if each.standby]
    assert max(terms) <= len(terms)
    for one in runs:
        if setups(one):
            holds(one, capsys)


def test_a_clock_that_was_ahead_is_reported(floor: Floor, mosquitto: Mosquitto) -> None:
    """The record of the one that died, as its clock would have stamped it."""
    north, south, _, subscriber = floor[:4]
    assert opened(subscriber) == 1
    north.kill()
    bucket, key = f"b{mosquitto.port}", load_key(north.folder / "journal.sqlite3.key")
    seal = StructSigner("palma/pit-1", lambda: key)
    record = read_record(asyncio.run(stored(floor.store.url, bucket)), seal)
    assert record is not None
    ahead = msgspec.structs.replace(record, renewed="2099-12-31T23:59:59.000000Z")
    asyncio.run(stored(floor.store.url, bucket, msgspec.json.encode(seal.sign(ahead))))
    told = taken_over(floor, south)
    assert told["since"] > told["restored"]
    alert = until("the alert", lambda: subscriber.latest(f"{TABLE}/alert/taken-over"), south.log)
    assert "the length of the gap is unknown" in alert["detail"]
    assert opened(subscriber) == told["next_session"]


async def stored(url: str, bucket: str, body: bytes | None = None) -> bytes:
    """The lease in the store; ``body``: put in its place."""
    client = await nats_client.connect(url)
    try:
        values = await client.jetstream().key_value(bucket)
        if body is not None:
            await values.put("pit-1", body)
        return (await values.get("pit-1")).value or b""
    finally:
        await client.close()


async def deleted(url: str, bucket: str) -> None:
    client = await nats_client.connect(url)
    try:
        await (await client.jetstream().key_value(bucket)).delete("pit-1")
    finally:
        await client.close()


def test_the_machines_are_compared_and_a_revocation_on_one_holds_on_both(
    tmp_path: Path, nats: Nats, mosquitto: Mosquitto, ending: ExitStack, tell: Tell
) -> None:
    """A table that one alone has is taken back when the other one takes over."""
    wheels = [NetworkWheel(period=CALM_PERIOD_SECONDS) for _ in range(2)]
    for wheel in wheels:
        ending.callback(wheel.close)
    file = in_pair(
        *([nats.url], "NAME", f"mqtt://127.0.0.1:{mosquitto.port}", table("r1", wheels[0])),
        lease=LEASE,
        replicas=1,
        bucket=f'"b{mosquitto.port}"',
    ).replace(UNSIGNED, SIGNED)
    texts = (file.replace("NAME", "north") + table("r2", wheels[1]), file.replace("NAME", "south"))
    north, south = runs = daemons(tmp_path, ending, iter(texts))
    for run in runs:
        ending.callback(tell, f"log of {run.folder.name}", run.log)
        enrol(run.folder)
    subscriber = Subscriber(mosquitto.port)
    ending.callback(subscriber.close)
    north.start()
    until_up(subscriber, north)
    until("r2", lambda: subscriber.latest("novamas/v1/palma/r2/state"), north.log)
    south.start()
    differ = south.until_logged("the two machines differ")
    assert "only at north: r2" in differ["what"]
    alert = until(
        "the alert", lambda: subscriber.latest(f"{TABLE}/alert/standby-different"), north.log
    )
    assert "only here: r2" in alert["detail"]
    assert answered(subscriber, LASA, "session.open", minimum=500)["ok"]
    enrol(north.folder, 8, revoked="2026-11-22T12:00:00Z")  # on one machine alone
    until("it is in force", lambda: north.logged("people taken over"), north.log)
    assert south.until_logged("people file of the other daemon")["number"] == 8
    north.kill()
    until_up(subscriber, south)
    until("r2 is taken back", lambda: subscriber.is_cleared("novamas/v1/palma/r2/state"), south.log)
    alert = until(
        "the alert", lambda: subscriber.latest(f"{TABLE}/alert/standby-different"), south.log
    )
    assert "nobody serves r2" in alert["detail"]
    refused = answered(subscriber, LASA, "session.open", minimum=500)
    assert refused["refusal"]["key"] == "person_revoked"
    assert answered(subscriber, VIDAL, "session.open", "director", minimum=500)["ok"]
    assert south.stop() == 0
    assert setups(south)[-1].people is not None
    south.start()  # without the store's word too: its journal has it
    until_up(subscriber, south)
    refused = answered(subscriber, LASA, "session.close")
    assert refused["refusal"]["key"] == "person_revoked"


def answered(
    subscriber: Subscriber, who: str, name: str, role: str = "table_head", **what: Any
) -> Any:
    """The answer to a command, signed again while the daemon has just started."""

    def said() -> Any:
        reply = give(subscriber, who, name, role, **what)
        early = not reply["ok"] and reply["refusal"]["key"] == "signed_before_start"
        return None if early else reply

    return until("an answer", said, subscriber.transcript)
