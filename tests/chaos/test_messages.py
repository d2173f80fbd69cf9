"""Messages that mean no good, by the thousand: the daemon neither ends nor loses its broker, and
the tables play on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from tests.chaos.hostility import Hostility, last
from tests.support.brokers.mosquitto import Subscriber
from tests.support.chaos.floor import Floor
from tests.support.chaos.proof import proved
from tests.support.chaos.report import tell
from tests.support.waiting import until

CLIENTS = ("c1", "c2", "c3", "c4", "c5", "c6")
BATCH = 48
"""Messages to one table before all are waited for: few enough that hardly any is discarded."""
SHORT, LONG, BEFORE = 1_000, 100_000, 2


def answered(speaker: Subscriber, floor: Floor, number: int) -> bool:
    """Whether every client of every table got a refusal of its last command."""
    wanted = {
        f"{floor.root}/{table}/reply/{client}" for table in floor.tables for client in CLIENTS
    }
    told = {
        message.topic for message in speaker.messages if (message.body or {}).get("id") == number
    }
    return wanted <= told


def test_hostile_messages(floor: Callable[..., Floor], long: bool, seed: int) -> None:
    made = floor(tables=8 if long else 3, heard=("+/+", "+/alert/+", "+/reply/archive", "node/#"))
    file = made.daemon.file  # a busy machine may need more than 2 s for an acknowledgement
    file.write_text(file.read_text().replace("keepalive = 2", "keepalive = 60"))
    made.start()
    made.until_results(BEFORE)
    speaker = Subscriber(made.broker.port, *(f"{made.root}/+/reply/{client}" for client in CLIENTS))
    hostility = Hostility(Random(seed), made.root, "pit-1", CLIENTS)
    said, number = 0, 0
    try:
        while said < (LONG if long else SHORT):
            number += 1
            speaker.messages.clear()
            for table in made.tables:
                for _ in range(BATCH):
                    each = hostility.draw(table)
                    speaker.publish_nowait(
                        each.topic, each.body, retain=each.retain, properties=each.properties
                    )
                for client in CLIENTS:
                    speaker.publish_nowait(
                        f"{made.root}/{table}/command/nothing", last(client, 10**9 + number)
                    )
            said += BATCH * len(made.tables)
            until(
                f"answers to batch {number}",
                partial(answered, speaker, made, 10**9 + number),
                made.daemon.log,
            )
    finally:
        speaker.close()
    assert made.archive is not None
    assert made.logged("daemon up") == 1
    assert made.logged("broker connected") == 1
    assert made.logged("defect: the daemon failed on a command") == 0
    for table in made.tables:
        made.archive.command(table, "session.open")  # a hostile one may have closed it
    made.until_results(BEFORE)
    verdict = made.settle()
    assert verdict.flawless, verdict
    assert made.daemon.stop() == 0
    proved(made)
    standing = made.archive.latest("node/pit-1/status")
    assert standing == {"status": "offline", "boot": made.boot()}
    counted = made.archive.latest("node/pit-1/health")
    assert counted["commands_refused"] > said // 2, "most were answered"
    tell(
        f"{said} messages: {counted['commands_refused']} refused, {counted['commands_followed']} "
        "followed, "
        f"{counted['commands_discarded']} discarded, {counted['broker']['foreign']} on our topics "
        "put right"
    )
