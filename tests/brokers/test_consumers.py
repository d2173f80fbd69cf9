"""Our own consumers at each engine: what they show is up to date, and what they keep is whole."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec
import pytest

from common.contract.topics import Topics
from subscribers.feed.table_snapshot import TableSnapshot, daemon_of, fold
from subscribers.feed.tables import BrokerLogin, ConnectionChange, table_feed
from tests.support.brokers.engines import FOR_OUR_OWN, Engine
from tests.support.brokers.mosquitto import Subscriber
from tests.support.carrousel.floor import SITE, TOPICS, Controller, Dealer, terms
from tests.support.chaos.floor import Floor
from tests.support.programs import running
from tests.support.surveillance.recorder import Recorder
from tests.support.surveillance.room import until_kept
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.support.web.server import WebServer

KINDS = FOR_OUR_OWN


async def test_a_display_that_comes_later(floor: Floor, engine: Engine) -> None:
    """It knows each table, its last rounds and its daemon; where the broker keeps retained
    messages from wildcards, when the daemon has message them again.
    """
    floor.until_results(1)
    known = {table: TableSnapshot(table=table, simulated=True) for table in floor.tables}
    nodes: dict[tuple[bool, str], bytes] = {}
    login = BrokerLogin(url=engine.url)
    async with (
        asyncio.timeout(TIMEOUT_SECONDS),
        contextlib.aclosing(table_feed(login, Topics("palma", True), floor.tables)) as feed,
    ):
        async for message in feed:
            if isinstance(message, ConnectionChange):
                assert message.up, message
            elif message.table is not None:
                known[message.table] = fold(known[message.table], message.path, message.body, "now")
            elif message.path.endswith("/status"):
                nodes[True, message.path.split("/")[1]] = message.body
            if all(map(_is_known, known.values())) and nodes:
                break
    for each in known.values():
        assert each.unreadable == {}
        assert daemon_of(each, nodes) == "pit-1"


def _is_known(known: TableSnapshot) -> bool:
    return None not in (known.info, known.state, known.result) and bool(known.history)


def test_novamas_watch(floor: Floor) -> None:
    """Each event as a line, from the moment in which it is there."""
    words = [sys.executable, "-m", "controller.cli", "watch", str(floor.daemon.file), "--json"]
    with running(words, stdout=subprocess.PIPE) as watching:
        assert watching.stdout is not None
        wanted = dict.fromkeys(floor.tables, 0)
        for line in watching.stdout:
            event = json.loads(line)
            if event.get("type") == "round.result":
                wanted[event["table"]] += 1
            if all(wanted.values()):
                break


def test_the_web_server(floor: Floor, engine: Engine, tmp_path: Path) -> None:
    """Its pages have the state of each table."""
    with ExitStack() as stack:
        server = WebServer(
            tmp_path / "web",
            0,
            [(table, True) for table in floor.tables],
            site="palma",
            broker={"url": engine.url},
        )
        stack.callback(server.kill)
        for table in floor.tables:
            floor.until_results(1, table)
        until("all is current", lambda: server.metric("tables_deaf") == 0, server.log)


def test_the_recorder_keeps_everything(floor: Floor) -> None:
    """Including messages published while it was away and before its first connection."""
    with ExitStack() as stack:
        recorder = Recorder(floor.daemon.file)
        stack.callback(recorder.kill)
        recorder.start()
        until("it keeps", recorder.events, recorder.log)
        recorder.kill()
        floor.until_results(2)
        recorder.start()
        for wheel in floor.wheels.values():
            wheel.close()
        until("the wheels are gone", lambda: all(map(lost, states(floor))), floor.daemon.log)
        until_kept(floor.daemon, recorder)
        assert recorder.findings() == []


@pytest.mark.usefixtures("programs")
def test_retained_messages_reach_later_subscribers(
    engine: Engine, listen: Callable[..., Subscriber], tmp_path: Path
) -> None:
    """The recorder and the jackpot controller: alerts and status by wildcards; where the broker
    stores their retained messages, when they are republished.
    """
    wanted = [f"{TOPICS.root}/node/+/status", f"{TOPICS.root}/+/+/alert/+"]
    subscriber = listen(*wanted, f"{TOPICS.root}/jackpot/+/state")
    login = {"url": engine.url, "wildcards_retained": engine.wildcards_retained}
    with ExitStack() as stack:
        controller = Controller(tmp_path / "carrousel", engine.port, terms("poker-1"), broker=login)
        stack.callback(controller.kill)
        controller.start()
        file = tmp_path / "novamas.toml"
        site = f'[site]\nid = "{SITE}"\n[broker]\nurl = "{engine.url}"\n{engine.settings}\n'
        file.write_text(f'{site}[archive]\npath = "{tmp_path / "archive.sqlite3"}"\n')
        recorder = Recorder(file)
        stack.callback(recorder.kill)
        recorder.start()
        until("both are there", lambda: _online(subscriber), subscriber.transcript)
        until(
            "the ledger is open",
            lambda: (subscriber.latest("linked/state") or {}).get("in_play"),
            subscriber.transcript,
        )
        dealer = Dealer(engine.port)
        stack.callback(dealer.close)
        dealer.serve("poker-1")
        until(
            "the table is in play",
            lambda: _tables(subscriber)["poker-1"]["in_play"],
            subscriber.transcript,
        )
        body = msgspec.json.decode(dealer.coin("poker-1"))
        until("the event is kept", recorder.events, recorder.log)
        dealer.tell("poker-1", msgspec.json.encode({**body, "amount": body["amount"] + 1}))
        until(
            "alerts of both",
            lambda: _alerts(subscriber) >= {"node", "jackpot"},
            subscriber.transcript,
        )
        late = listen(*wanted)
        until("they are online", lambda: _online(late), late.transcript)
        until("their alerts", lambda: _alerts(late) >= {"node", "jackpot"}, late.transcript)


def _online(subscriber: Subscriber) -> bool:
    names = [TOPICS.node(node, "status") for node in ("carrousel", "surveillance")]
    return all((subscriber.latest(name) or {}).get("status") == "online" for name in names)


def _tables(subscriber: Subscriber) -> dict[str, Any]:
    found: dict[str, Any] = subscriber.latest("linked/state")["tables"]
    return found


def _alerts(subscriber: Subscriber) -> set[str]:
    """Of what there are alerts."""
    topics = [
        message.topic
        for message in subscriber.on("")
        if "/alert/" in message.topic and message.payload
    ]
    return {topic.removeprefix(f"{TOPICS.root}/").partition("/")[0] for topic in topics}


def states(floor: Floor) -> list[str | None]:
    return [floor.status(table) for table in floor.tables]


def lost(status: str | None) -> bool:
    return status == "stale" or status == "fault"
