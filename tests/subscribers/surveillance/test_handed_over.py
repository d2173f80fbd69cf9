"""Two daemons of a pair hand a table over, there and back: the recorder stores the events of both,
and that is no finding.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import pytest

from common.chain.checkpoint import key_path, make_key, public
from tests.daemon.conftest import mosquitto as mosquitto
from tests.daemon.conftest import tell as tell
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.pair import (
    CALM_PERIOD_SECONDS,
    NAMES,
    Nats,
    NetworkWheel,
    daemons,
    in_pair,
)
from tests.support.daemon.play import command, spin, until_more, until_up
from tests.support.daemon.process import table
from tests.support.surveillance.recorder import Recorder
from tests.support.surveillance.room import RECORDER_TIMEOUT_SECONDS, told
from tests.support.waiting import until

pytestmark = pytest.mark.usefixtures("programs")


def test_both_journals_are_kept_and_neither_is_a_finding(
    tmp_path: Path, mosquitto: Mosquitto, ending: ExitStack
) -> None:
    nats, wheel = Nats(tmp_path / "nats"), NetworkWheel(period=CALM_PERIOD_SECONDS)
    ending.callback(nats.kill)
    ending.callback(wheel.close)
    nats.start()
    url = f"mqtt://127.0.0.1:{mosquitto.port}"
    files = [
        in_pair([nats.url], name, url, table("r1", wheel), replicas=1, lease=10) for name in NAMES
    ]
    north, south = daemons(tmp_path, ending, iter(files))
    journals = [one.folder / "journal.sqlite3" for one in (north, south)]
    keys = [public(make_key(key_path(each))) for each in journals]
    file = tmp_path / "novamas.toml"
    named = (
        f'[archive]\nkeys = {{ pit-1 = "{keys[0]}" }}\nstandby_keys = {{ pit-1 = "{keys[1]}" }}\n'
    )
    file.write_text(f"{files[0]}\n{named}")
    recorder = Recorder(file)
    ending.callback(recorder.kill)
    recorder.start()

    for one in (north, south):
        one.start()
    serving = until("one serves", lambda: next((e for e in (north, south) if e.boot()), None))
    subscriber = Subscriber(mosquitto.port)
    ending.callback(subscriber.close)
    for turn in range(3):
        other = south if serving is north else north
        until_up(subscriber, serving)
        other.until_logged("another daemon has the lease", turn // 2 + 1)
        assert command(subscriber, "session.open")["ok"]
        spin(wheel, subscriber, str(turn + 1), turn + 2, f"{turn:>2}" if turn else "  ")
        assert serving.stop() == 0
        until_more(subscriber, "journal.restored", turn)
        serving.start()
        serving = other
    until_up(subscriber, serving)

    def kept() -> bool:
        both = {**told(journals[0]), **told(journals[1])}
        return recorder.events().keys() == both.keys()

    def missing() -> str:
        both = {**told(journals[0]), **told(journals[1])}
        return f"{both.keys() ^ recorder.events().keys()}\n{recorder.log()}"

    until("the events of both are stored", kept, missing, RECORDER_TIMEOUT_SECONDS)
    until("both journals signed", lambda: _journals(recorder) == 2, recorder.log)
    assert recorder.findings() == []


def _journals(recorder: Recorder) -> int:
    points = recorder.found(kinds=("checkpoint",))
    return len({json.loads(point.body)["journal"] for point in points})
