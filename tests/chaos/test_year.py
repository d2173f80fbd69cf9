"""A year of one table: memory and disk use at its end equal those after the first weeks, and a
witness in JavaScript that received everything agrees with the journal.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

from common.mono import MONO_WRAP
from tests.chaos.month import PARTS
from tests.chaos.test_memory import GROWTH, PASSING
from tests.support.chaos.floor import Floor
from tests.support.chaos.report import tell
from tests.support.programs import running

KEPT_DAYS = 30
"""The daemon's default retention in days."""
WITNESS = """
const lines = require('readline').createInterface({ input: process.stdin })
lines.on('line', line => console.log(JSON.stringify(JSON.parse(line))))
"""


def test_a_year_ends_as_it_began(floor: Callable[..., Floor], long: bool) -> None:
    days, rounds = (368, 12) if long else (120, 2)
    made = floor(clock='chrony = ""')
    made.broker.start()
    archive = made.folder / "witness.jsonl"
    topics = [f"{made.root}/+/event", f"{made.root}/node/+/checkpoint"]
    hear = ["mosquitto_sub", "-h", "127.0.0.1", "-p", str(made.broker.port), "-q", "1"]
    hear += [word for topic in topics for word in ("-t", topic)]
    with (
        archive.open("wb") as kept,
        running(hear, stdout=subprocess.PIPE) as feed_reader,
        running(["node", "-e", WITNESS], stdin=feed_reader.stdout, stdout=kept) as witness,
    ):
        try:
            words = [sys.executable, "-m", "tests.chaos.year", str(made.daemon.file)]
            done = subprocess.run(
                [*words, str(days), str(rounds)], capture_output=True, text=True, check=False
            )
        finally:
            feed_reader.terminate()
            witness.wait()
    tell(done.stdout)
    assert done.returncode == 0, done.stderr
    told = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(told) == PARTS
    settled = [part for part in told if part["day"] > KEPT_DAYS]
    second = told[PARTS // 2 :]  # the allocator settles before, as in test_memory
    assert max(part["memory"] for part in second) - second[0]["memory"] < GROWTH
    assert max(part["files"] for part in told) - min(part["files"] for part in told) <= PASSING
    for what, passing in (("sealed", 1.1), ("sealed_bytes", 1.5), ("journal_bytes", 1.5)):
        assert max(part[what] for part in settled) < passing * settled[0][what], what

    events = [json.loads(line) for line in archive.read_text().splitlines()]
    counted = [event["mono_ns"] for event in events if "mono_ns" in event]
    assert max(counted) < MONO_WRAP
    assert counted != sorted(counted)  # it began at 0 again
    (key,) = {event["key"] for event in events if "signature" in event}
    verify = [sys.executable, "-m", "controller.cli", "verify", "--text", str(made.journal)]
    judged = subprocess.run(
        [*verify, "--signer", key, "--witness", str(archive)],
        capture_output=True,
        text=True,
        check=False,
    )
    tell(judged.stdout)
    assert judged.returncode == 0, judged.stdout
