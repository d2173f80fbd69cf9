"""A backup of a daemon in play, restored after more was played: every subscriber is notified, and
no number is used twice.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from common.contract.times import parse_utc
from controller.cli import main
from controller.journal.reader import JournalReader
from tests.support.brokers.mosquitto import Mosquitto, Subscriber, once
from tests.support.daemon.play import NODE, TABLE, command, spin, until_more, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until


class Floor(NamedTuple):
    """A daemon, a subscriber, its wheel, and a key file."""

    running: Daemon
    subscriber: Subscriber
    wheel: Wheel
    key_file: Path

    @property
    def journal(self) -> Path:
        return self.running.folder / "journal.sqlite3"

    def backup(self, capsys: pytest.CaptureFixture[str]) -> Path:
        folder = self.running.folder.parent / "backups"
        words = ["--passphrase-file", str(self.key_file), "--json"]
        assert main(["backup", str(self.running.file), str(folder), *words]) == 0
        return Path(json.loads(capsys.readouterr().out)["folder"])

    def restore(self, backup: Path, *words: str) -> int:
        key_file = ["--passphrase-file", str(self.key_file)]
        return main(["restore", str(self.running.file), str(backup), *key_file, *words])

    def open(self) -> int:
        """Open a session, and give its number."""
        count = len(self.subscriber.events("session.opened"))
        assert command(self.subscriber, "session.open")["ok"]
        return int(until_more(self.subscriber, "session.opened", count)[0]["session"])


@pytest.fixture
def floor(
    tmp_path: Path,
    daemon: Callable[[str], Daemon],
    mosquitto: Mosquitto,
    wheel: Wheel,
    subscribe: Callable[..., Subscriber],
    monkeypatch: pytest.MonkeyPatch,
) -> Floor:
    monkeypatch.setenv("STATE_DIRECTORY", str(tmp_path))
    key_file = tmp_path / "recovery"
    key_file.write_text("a secret passphrase of six words\n")
    key_file.chmod(0o600)
    running = daemon(configuration(mosquitto.port, table("r1", wheel)))
    running.start()
    running.until_logged("broker connected")
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, running)
    return Floor(running, subscriber, wheel, key_file)


def results(subscriber: Subscriber) -> list[tuple[str, int, int]]:
    return [
        (event["table"], event["session"], event["round"])
        for event in once(subscriber.events("round.result"))
    ]


@pytest.mark.essential
def test_rounds_after_the_backup_are_reported_as_a_gap_and_never_renumbered(
    floor: Floor, capsys: pytest.CaptureFixture[str]
) -> None:
    running, subscriber, wheel = floor.running, floor.subscriber, floor.wheel
    assert floor.open() == 1
    spin(wheel, subscriber, "17", 2)
    backup = floor.backup(capsys)
    manifest = json.loads((backup / "manifest.json").read_text())
    spin(wheel, subscriber, "32", 3, "17")
    assert command(subscriber, "session.close")["ok"]
    assert floor.open() == 2
    spin(wheel, subscriber, " 4", 4, "32")
    count = len(subscriber.events())

    assert floor.restore(backup, "--set-aside") == 1
    assert "another daemon uses this journal" in capsys.readouterr().err
    running.kill()
    assert floor.restore(backup) == 1
    assert "a journal is never replaced" in capsys.readouterr().err
    assert floor.restore(backup, "--set-aside") == 0
    assert list(running.folder.glob("journal.sqlite3.replaced-*Z"))

    before = running.boot()
    running.start()
    event: dict[str, Any] = until_more(subscriber, "journal.restored", 0)[0]
    until_up(subscriber, running)
    assert event["boot"] != before
    assert event["seq"] == 1
    assert (event["journal"], event["position"]) == (manifest["journal"], manifest["position"])
    assert (event["hash"], event["since"]) == (manifest["hash"], manifest["time"])
    assert event["was_open"] == 1
    after = 1 + _jump(event) + 1
    assert event["next_session"] in {after - 1, after}, "the event may be of the next second"
    again = [each for each in subscriber.events()[count:] if each["boot"] == running.boot()]
    assert again[0] == event
    state = subscriber.latest(f"{TABLE}/state")
    assert (state["status"], state["shown"]["session"]) == ("closed", event["next_session"] - 1)
    alert = until("the alert", lambda: subscriber.latest(f"{TABLE}/alert/journal-restored"))
    assert manifest["time"] in alert["detail"]
    checkpoint = until("a checkpoint", lambda: subscriber.latest(f"{NODE}/checkpoint"))
    assert checkpoint["journal"] != manifest["journal"]

    assert floor.open() == event["next_session"]
    spin(wheel, subscriber, "36", 5, " 4")
    assert running.stop() == 0
    rounds = results(subscriber)  # the wheel that still shows the last number may take up a round
    assert rounds[:3] == [("r1", 1, 1), ("r1", 1, 2), ("r1", 2, 1)]
    assert [session for _, session, _ in rounds[3:]] == [event["next_session"]]

    running.start()
    until("the next start", lambda: running.boot() and subscriber.latest(f"{TABLE}/state")["boot"])
    until_up(subscriber, running)
    assert subscriber.events("journal.restored") == [event]
    until("no alert", lambda: not subscriber.latest(f"{TABLE}/alert/journal-restored"))
    assert running.stop() == 0
    _holds(running.folder, capsys)


def _jump(event: dict[str, Any]) -> int:
    """1000 and the seconds of the gap, each that has begun."""
    return 1000 + math.ceil(parse_utc(event["time"]) - parse_utc(event["since"]))


def _holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both journals hold, and the one in use names the gap."""
    journal = folder / "journal.sqlite3"
    copy = next(folder.glob("journal.sqlite3.restored-*Z"))
    capsys.readouterr()
    for path in (journal, copy):
        for word in ("verify", "audit"):
            assert main([word, str(path), "--text"]) == 0, capsys.readouterr().out
    assert "the journal continues a backup" in capsys.readouterr().out
    assert main(["export", str(journal), "--table", "r1", "--format", "csv"]) == 0
    assert "journal.restored" in capsys.readouterr().out
    with closing(JournalReader(journal)) as new, closing(JournalReader(copy)) as old:
        assert new.id() != old.id()
        assert new.base() == old.head().position
