"""Several sites in one archive, whose tables, nodes and runs have the same names: what is missing,
asked for, found and exported is of one site and never of another. One of them is unreachable for a
while.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.daemon.conftest import subscribe as subscribe
from tests.daemon.conftest import tell as tell
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.surveillance.recorder import Recorder
from tests.support.surveillance.room import surveilled, told
from tests.support.waiting import TIMEOUT_SECONDS, until


class Site:
    """A roulette ``r1``, its daemon and its broker."""

    def __init__(self, name: str, folder: Path, ending: ExitStack) -> None:
        folder.mkdir()
        self.name, self.table = name, f"novamas/v1/{name}/r1"
        self.broker = Mosquitto(folder / "mosquitto")
        ending.callback(self.broker.kill)
        self.broker.start()
        self.wheel = Wheel(folder / "wheel")
        ending.callback(self.wheel.close)
        text = configuration(self.broker.port, table("r1", self.wheel))
        self.daemon = Daemon(folder, text.replace('id = "palma"', f'id = "{name}"'))
        ending.callback(self.daemon.kill)
        self.subscriber = Subscriber(self.broker.port)
        ending.callback(self.subscriber.close)
        self.daemon.start()
        until_up(self.subscriber, self.daemon, self.table)
        command(self.subscriber, "session.open", self.table)
        self.count = 1

    def spin(self, number: str) -> None:
        self.count += 1
        spin(self.wheel, self.subscriber, number, self.count)

    def told(self) -> dict[tuple[str, str, int], bytes]:
        return told(self.daemon.folder / "journal.sqlite3")

    def recalls(self) -> list[dict[str, Any]]:
        """The recorder's recalls here."""
        return [message.body for message in self.subscriber.on("/command/recall")]

    def alerts(self) -> dict[str, Any]:
        """The recorder's active alerts here."""
        found = [
            message
            for message in self.subscriber.messages
            if "/node/surveillance/alert/" in message.topic
        ]
        stands = {
            message.topic.removeprefix(f"novamas/v1/{self.name}/"): message.body
            for message in found
        }
        return {topic: body for topic, body in stands.items() if body}


@pytest.fixture
def sites(programs: None, tmp_path: Path, ending: ExitStack) -> tuple[Site, Site]:
    return Site("palma", tmp_path / "one", ending), Site("palma-2", tmp_path / "two", ending)


@pytest.fixture
def recorder(
    sites: tuple[Site, Site],
    tmp_path: Path,
    ending: ExitStack,
    tell: Callable[[str, Callable[[], str]], None],
) -> Recorder:
    one, two = sites
    folder = tmp_path / "archive"
    folder.mkdir()
    (folder / "novamas.toml").write_text(
        f'[site]\nid = "palma"\n[broker]\nurl = "mqtt://127.0.0.1:{one.broker.port}"\n'
        f'[archive]\nsite = [{{ id = "palma-2", url = "mqtt://127.0.0.1:{two.broker.port}" }}]\n'
    )
    made = Recorder(folder / "novamas.toml")
    ending.callback(tell, "log of the recorder", made.log)
    ending.callback(made.kill)
    return made


def asked_for(site: Site, boot: str) -> bool:
    """Whether the recorder asked here for events of that run."""
    return any(recall["boot"] == boot for recall in site.recalls())


def kept(recorder: Recorder, site: str) -> dict[tuple[str, str, int], bytes]:
    found = recorder.found(sites=(site,), kinds=("event",))
    return {
        (each.table, each.boot, each.seq): each.body.replace(b',"historical":true', b"")
        for each in found
    }


def exported(recorder: Recorder, file: Path, *options: str) -> tuple[list[dict[str, Any]], str]:
    """The records of an export, and the command's output."""
    ended = surveilled(
        recorder, "export", "--form", "jsonl", "--kind", "event", *options, "--replace", str(file)
    )
    assert ended.returncode == 0, ended.stderr
    return [json.loads(line) for line in file.read_bytes().splitlines()], ended.stderr


def test_what_is_of_one_site_is_of_no_other(
    sites: tuple[Site, Site], recorder: Recorder, tmp_path: Path
) -> None:
    one, two = sites
    two.spin("32")
    two.broker.kill()  # it is unreachable, and its messages are gone
    recorder.start()
    one.spin("17")
    until("all of one", lambda: kept(recorder, "palma") == one.told(), recorder.log)
    assert recorder.found(sites=("palma-2",)) == []
    assert recorder.findings() == []
    assert {each["site"] for each in exported(recorder, tmp_path / "a")[0]} == {"palma"}

    two.subscriber.subscribed.clear()
    recorder.signal(signal.SIGSTOP)  # the broker has forgotten who listens: we are back first
    two.broker.start()
    assert two.subscriber.subscribed.wait(TIMEOUT_SECONDS)
    recorder.signal(signal.SIGCONT)
    until("all of the other", lambda: kept(recorder, "palma-2") == two.told(), recorder.log)
    until("it was asked", two.recalls)
    assert {recall["boot"] for recall in one.recalls()} == {one.daemon.boot()}
    assert recorder.findings() == []

    # a client at the other site repeats messages of this table and run, and fewer of them
    [result] = recorder.found(sites=("palma",), types=("round.result",))
    stolen = {**json.loads(result.body), "site": "palma-2", "round": 9}
    two.subscriber.publish(f"{two.table}/event", stolen)
    until("the missing events there", lambda: recorder.findings(), recorder.log)
    [missing] = recorder.found(kinds=("finding",))
    assert (missing.site, missing.table, missing.boot) == ("palma-2", "r1", result.boot)
    assert (missing.type, missing.seq) == ("events_missing", 1)

    until("it was asked for there", partial(asked_for, two, result.boot), recorder.log)
    assert not [recall for recall in one.recalls() if recall["boot"] == two.daemon.boot()]
    assert not {recall["boot"] for recall in one.recalls()} - {result.boot}
    until("its alert", two.alerts, recorder.log)
    assert one.alerts() == {}
    assert kept(recorder, "palma") == one.told()

    here, said = exported(recorder, tmp_path / "b", "--site", "palma")
    assert {each["body"]["site"] for each in here} == {"palma"}
    assert len(here) == len(one.told())
    assert "missing" not in said
    both, said = exported(recorder, tmp_path / "c", "--table", "r1")
    assert len(both) == len(one.told()) + len(two.told()) + 1
    assert f"of table r1 at palma-2, boot {result.boot}, the events 1 to {result.seq - 1}" in said
    assert "r1 at palma," not in said
    listed = surveilled(recorder, "findings").stdout
    assert "palma-2  events_missing" in listed
    settled = surveilled(
        recorder, "settle", "--finding", listed.split()[0], "--by", "J. Serra", "--note", "a test"
    )
    assert settled.returncode == 0, settled.stderr
    until("no alert", lambda: two.alerts() == {}, recorder.log)

    two.broker.kill()
    one.spin("5")
    until("one goes on", lambda: kept(recorder, "palma") == one.told(), recorder.log)
    assert [each.site for each in recorder.found(kinds=("finding",))] == ["palma-2"] * 2
