"""A real daemon, at a real broker, that takes over its configuration while wheels are spun."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from common.contract.node import ReloadHealth
from controller.cli import main
from controller.journal.file import serving_process
from controller.journal.reader import JournalReader
from controller.journal.setup import Boot, TableStart
from controller.proof.audit import Auditor, audit
from controller.proof.evidence import Evidence
from controller.proof.pieces import cut
from controller.service.reload_answer import read_reply
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import HEAD, NODE, command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.programs import running
from tests.support.waiting import until

PALMA = "novamas/v1/palma"
TABLES = ("r1", "r2", "r3", "r4", "r5")
LEAVES = ("info", "state", "result", "history")

Make = Callable[[str], Daemon]
Subscribe = Callable[..., Subscriber]


class Floor:
    """A daemon with tables of one wheel each. ``wheels``: by table."""

    def __init__(
        self,
        wheels: dict[str, Wheel],
        port: int,
        daemon: Make,
        subscriber: Subscriber,
        broker: str = "",
    ) -> None:
        self.wheels, self.port, self.subscriber = wheels, port, subscriber
        self.broker = broker
        self.daemon = daemon(self.text("r1", "r2", "r3", "r4"))
        self.journal = self.daemon.folder / "journal.sqlite3"
        self.daemon.start()
        self.daemon.until_logged("broker connected")
        for each in ("r1", "r2", "r3", "r4"):
            until_up(subscriber, self.daemon, f"{PALMA}/{each}")

    def text(self, *tables: str, **changed: Any) -> str:
        """The configuration with these tables; ``changed``: by table, a line of it."""
        return configuration(
            self.port,
            *(changed.get(each) or table(each, self.wheels[each]) for each in tables),
            broker=self.broker,
        )

    def reload(self, *tables: str, **changed: Any) -> int:
        """Write the configuration, and have it taken over as a person does."""
        self.daemon.file.write_text(self.text(*tables, **changed))
        return main(["reload", str(self.daemon.file)])

    def answer(self) -> ReloadHealth:
        found = read_reply(self.journal)
        assert found is not None
        return found.reload

    def state(self, table: str) -> Any:
        return self.subscriber.latest(f"{PALMA}/{table}/state")

    def entries(self, kind: str, table: str = "") -> list[Any]:
        with closing(JournalReader(self.journal)) as reader:
            return [e for e in reader.entries() if (e.kind, e.table) == (kind, table)]

    def log(self) -> str:
        return self.daemon.log()


@pytest.fixture(params=["5", "3.1.1"])
def protocol(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def wheels(tmp_path: Path) -> Iterator[dict[str, Wheel]]:
    made = {each: Wheel(tmp_path / f"wheel-{each}") for each in (*TABLES, "other")}
    yield made
    for wheel in made.values():
        wheel.close()


@pytest.fixture
def floor(
    wheels: dict[str, Wheel],
    mosquitto: Mosquitto,
    daemon: Make,
    subscribe: Subscribe,
) -> Floor:
    return Floor(wheels, mosquitto.port, daemon, subscribe(mosquitto.port))


def assert_contiguous(subscriber: Subscriber, table: str) -> None:
    """Each event of each run came once, in order: a number that two have is two events."""
    events = [message.body for message in subscriber.on(f"/{table}/event")]
    for boot in {event["boot"] for event in events}:
        numbers = [event["seq"] for event in events if event["boot"] == boot]
        assert numbers == [*range(1, len(numbers) + 1)], (table, boot)


class Player(threading.Thread):
    """Spins the wheel of one table until it is stopped."""

    def __init__(self, floor: Floor, table: str, subscriber: Subscriber) -> None:
        super().__init__()
        self.table = table
        self.spun: list[int] = []
        self.results: list[dict[str, Any]] = []
        self.subscriber = subscriber
        self._wheel = floor.wheels[table]
        self._end = threading.Event()

    def run(self) -> None:
        while not self._end.is_set():
            number = (7 * len(self.spun) + 3) % 37
            count = len(self.spun) % 250 + 1
            before = f"{self.spun[-1]:2}" if self.spun else "  "
            result = spin(self._wheel, self.subscriber, f"{number:2}", count, before)
            self.spun.append(number)
            self.results.append(result)

    def more(self, spins: int = 1) -> None:
        """Wait until it has spun once more, from now on."""
        known = len(self.spun)
        until("more spins", lambda: len(self.spun) >= known + spins or not self.is_alive())
        assert self.is_alive()

    def end(self) -> None:
        self._end.set()
        self.join()


@pytest.mark.essential
def test_tables_are_added_changed_and_removed_while_the_others_play(
    wheels: dict[str, Wheel],
    mosquitto: Mosquitto,
    daemon: Make,
    subscribe: Subscribe,
    protocol: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    subscriber = subscribe(mosquitto.port)
    floor = Floor(wheels, mosquitto.port, daemon, subscriber, f'protocol = "{protocol}"')
    players = [
        Player(floor, each, subscribe(mosquitto.port, f"{PALMA}/{each}/#"))
        for each in ("r1", "r2", "r3")
    ]
    for player in players:
        assert command(player.subscriber, "session.open", f"{PALMA}/{player.table}")["ok"]
        player.start()
    try:
        for player in players:
            player.more()
        assert floor.reload(*TABLES) == 0
        assert capsys.readouterr().out == "r5: added\n"
        until_up(subscriber, floor.daemon, f"{PALMA}/r5")
        assert command(subscriber, "session.open", f"{PALMA}/r5")["ok"]
        assert command(subscriber, "session.close", f"{PALMA}/r5")["ok"]
        for player in players:
            player.more()

        other = table("r4", wheels["other"], stale_after=50.0)
        assert floor.reload(*TABLES, r4=other) == 0
        told = "r4: changed (device wheel: link, device wheel: stale_after)\n"
        assert capsys.readouterr().out == told
        until_up(subscriber, floor.daemon, f"{PALMA}/r4")
        assert command(subscriber, "session.open", f"{PALMA}/r4")["ok"]
        alone = subscribe(mosquitto.port, f"{PALMA}/r4/#")
        assert spin(wheels["other"], alone, "17", 1)["outcome"]["number"] == 17
        assert command(subscriber, "session.close", f"{PALMA}/r4")["ok"]
        for player in players:
            player.more()

        assert floor.reload("r1", "r2", "r3", "r5") == 0
        assert capsys.readouterr().out == "r4: removed\n"
        for leaf in LEAVES:
            until(
                f"{leaf} is cleared",
                partial(subscriber.is_cleared, f"{PALMA}/r4/{leaf}"),
                floor.log,
            )
        for player in players:
            player.more()
    finally:
        for player in players:
            player.end()
    health = until(
        "health of four tables",
        lambda: (
            (h := subscriber.latest(f"{NODE}/health"))["reload"] and h["reload"]["removed"] and h
        ),
        floor.log,
    )
    assert list(health["tables"]) == ["r1", "r2", "r3", "r5"]
    assert subscriber.latest(f"{NODE}/claim")["tables"].keys() == health["tables"].keys()
    for player in players:
        assert [each["outcome"]["number"] for each in player.results] == player.spun
        device = health["tables"][player.table]["devices"]["wheel"]
        assert (device["state"], device.get("reconnects", 0)) == ("up", 0)
        assert len(floor.entries("state", player.table)) == 1, "it was never taken up again"
        assert command(player.subscriber, "session.close", f"{PALMA}/{player.table}")["ok"]
    assert floor.daemon.stop() == 0
    assert subscriber.events("round.unresolved") == []
    for each in TABLES:
        assert_contiguous(subscriber, each)
    assert {event["boot"] for event in subscriber.events()} == {floor.daemon.boot()}
    boots = [msgspec.json.decode(entry.body, type=Boot) for entry in floor.entries("boot")]
    assert [(boot.continues, boot.reloaded) for boot in boots] == [
        (False, False),
        *3 * [(True,) * 2],
    ]
    assert [len(boot.tables) for boot in boots] == [4, 5, 5, 4]
    assert len(cut(Evidence(floor.journal))) == 1, "a reload is no day that begins"
    found = audit(floor.journal)
    assert (found.differences, found.notes, found.unproved) == ([], [], {})
    assert found.proves
    assert floor.daemon.logged("another client publishes on this daemon's topics") == []


def test_a_mistake_changes_nothing(floor: Floor, capsys: pytest.CaptureFixture[str]) -> None:
    before = floor.journal.with_name("journal.sqlite3.reload")
    wrong = floor.text("r1").replace("cammegh-ss2", "camegh-ss2")
    floor.daemon.file.write_text(wrong)
    assert main(["reload", str(floor.daemon.file)]) == 1
    assert "did you mean `cammegh-ss2`?" in capsys.readouterr().err
    assert not before.exists(), "the daemon was not even asked"
    floor.daemon.signal(signal.SIGHUP)
    line = floor.daemon.until_logged("configuration not taken over")["reason"]
    assert "did you mean `cammegh-ss2`?" in line
    health = until(
        "health says it", lambda: (h := floor.subscriber.latest("/health")).get("reload") and h
    )
    assert health["reload"]["trouble"] == line
    assert len(health["tables"]) == 4
    assert len(floor.entries("boot")) == 1


def test_a_table_with_an_open_session_waits(
    floor: Floor, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = floor.subscriber
    assert command(alone, "session.open", f"{PALMA}/r1")["ok"]
    american = table("r2", floor.wheels["r2"], game="roulette-american")
    slower = table("r1", floor.wheels["r1"], stale_after=50.0)
    assert floor.reload("r1", "r2", "r3", "r4", r1=slower, r2=american) == 1
    output = capsys.readouterr().out.splitlines()
    assert output == [
        "r2: changed (game)",
        "r1: unchanged: its session is open: close the session, then reload again",
    ]
    assert floor.state("r1")["status"] == "open"
    until("another game", lambda: floor.state("r2")["game"] == "roulette-american", floor.log)
    until("and it says so", lambda: floor.subscriber.latest("r2/alert/table-anew"), floor.log)
    assert command(alone, "session.close", f"{PALMA}/r1")["ok"]
    assert main(["reload", str(floor.daemon.file)]) == 0
    assert capsys.readouterr().out == "r1: changed (device wheel: stale_after)\n"
    assert main(["reload", str(floor.daemon.file)]) == 0
    assert capsys.readouterr().out == "ok: the daemon already uses this file\n"
    assert floor.daemon.stop() == 0
    for each in ("r1", "r2"):
        assert_contiguous(floor.subscriber, each)
    assert audit(floor.journal).proves


def test_changes_that_need_a_restart_are_reported_and_a_device_is_removed(
    floor: Floor, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = table("r4", floor.wheels["r4"], period=None)
    second = bare.replace('id = "wheel"', 'id = "board"').partition("[[table.device]]")[2]
    second = second.replace("cammegh-ss2", "angel-eye").replace("wheel-r4", "wheel-other")
    other = second.replace('"board"', '"other"').replace("wheel-other", "wheel-r5")
    game = 'game = "punto-banca"'
    hidden = f'\n[[table]]\nid = "r6"\n{game}\ndecree = "ARA02"\n'
    hidden += f"\n[[table.device]]{second}"
    text = floor.text("r1", "r2", "r3", "r4").replace("keepalive = 60", "keepalive = 59") + hidden
    floor.daemon.file.write_text(text)
    assert main(["reload", str(floor.daemon.file)]) == 1
    assert "surveillance.public_key" in capsys.readouterr().err, "there is no key"
    key = f'[surveillance]\npublic_key = "{"9" * 64}"\n'
    floor.daemon.file.write_text(text.replace("[people]", f"{key}\n[people]"))
    assert main(["reload", str(floor.daemon.file)]) == 1
    output = capsys.readouterr().err
    assert output.startswith("novamas: nothing was changed\nthe tables cannot be changed with all")
    assert "table[4].game: punto-banca deals cards face down" in output
    floor.daemon.file.write_text(text.partition(hidden)[0])
    assert main(["reload", str(floor.daemon.file)]) == 1
    assert capsys.readouterr().out == "restart the daemon for: broker.keepalive\n"
    health = until(
        "health says it",
        lambda: (
            (h := floor.subscriber.latest("/health"))["reload"] and h["reload"]["restart"] and h
        ),
        floor.log,
    )
    assert health["reload"]["restart"] == ["broker.keepalive"]
    assert len(floor.entries("boot")) == 1, "no table was touched"
    simulated = hidden.replace(game, f"{game}\nsimulated = true")
    floor.daemon.file.write_text(floor.text("r1", "r2", "r3", "r4") + simulated)
    assert main(["reload", str(floor.daemon.file)]) == 0, "a separate key is made"
    assert capsys.readouterr().out == "r6: added\n"
    shown = "novamas-sim/v1/palma/r6/state"
    until("r6 is there", lambda: floor.subscriber.latest(shown), floor.log)
    assert command(floor.subscriber, "session.open", "novamas-sim/v1/palma/r6")["ok"]
    assert command(floor.subscriber, "session.close", "novamas-sim/v1/palma/r6")["ok"]
    floor.daemon.file.write_text(
        floor.text("r1", "r2", "r3", "r4") + simulated + f"\n[[table.device]]{other}"
    )
    assert main(["reload", str(floor.daemon.file)]) == 0
    assert capsys.readouterr().out == "r6: changed (device other: added)\n"
    until("two devices", lambda: len(floor.subscriber.latest(shown)["devices"]) == 2, floor.log)
    floor.daemon.file.write_text(floor.text("r1", "r2", "r3", "r4") + simulated)
    assert main(["reload", str(floor.daemon.file)]) == 0
    assert capsys.readouterr().out == "r6: changed (device other: removed)\n"
    until("one device", lambda: len(floor.subscriber.latest(shown)["devices"]) == 1, floor.log)
    assert floor.daemon.stop() == 0
    assert_contiguous(floor.subscriber, "r6")
    assert main(["audit", str(floor.journal)]) != 0, "what lies face down is sealed"
    private = floor.journal.with_name("journal.sqlite3.simulated-surveillance")
    assert main(["audit", str(floor.journal), "--unseal", str(private)]) == 0


def test_commands_are_answered_once_while_their_table_changes(
    floor: Floor, subscribe: Subscribe
) -> None:
    """A session opens and closes without pause: each reload meets it open, closed or in between."""
    head, asked = subscribe(floor.port, f"{PALMA}/r4/#"), [0]
    answers, end = "r4/reply/stress", threading.Event()

    def go_on() -> None:
        while not end.wait(0.005):
            if asked[0] - len(head.on(answers)) >= 8:  # more would be discarded
                continue
            name = "session-close" if asked[0] % 2 else "session-open"
            body = {**HEAD, "client": "stress", "id": asked[0]}
            head.publish(f"{PALMA}/r4/command/{name}", body)
            asked[0] += 1

    person = threading.Thread(target=go_on)
    person.start()
    changed = 0
    try:
        while changed < 4:
            other = floor.wheels[("other", "r4")[changed % 2]]
            changed += floor.reload("r1", "r2", "r3", "r4", r4=table("r4", other)) == 0
    finally:
        end.set()
        person.join()
    until("all answers", lambda: len(head.on(answers)) >= asked[0], floor.log)
    told = [message.body for message in head.on(answers)]
    assert [each["id"] for each in told] == [*range(asked[0])]
    assert [each for each in told if not each["ok"]] == []
    assert floor.daemon.stop() == 0
    assert_contiguous(floor.subscriber, "r4")
    entries = floor.entries("state", "r4")
    starts = [msgspec.json.decode(entry.body, type=TableStart).why for entry in entries]
    assert starts == ["boot", *changed * ["reload"]]
    assert audit(floor.journal).proves
    assert proved_after_each_reload(floor.journal, "r4")


def proved_after_each_reload(journal: Path, table: str) -> bool:
    """Whether a device's bytes can be derived again from a reload on, if they could not before."""
    auditor = Auditor(journal)
    with closing(JournalReader(journal)) as reader:
        for entry in reader.entries():
            auditor.on_entry(entry)
            if entry.table == table and entry.kind == "bytes":
                auditor._tables.replays[table].stop_deriving("wheel", "lost")
            if entry.table == table and entry.kind == "state" and auditor.audit.unproved:
                assert auditor._tables.replays[table].watches["wheel"] is not None
    return "lost" in auditor.audit.unproved and auditor.audit.differences == []


def test_hangups_at_any_time(floor: Floor, capsys: pytest.CaptureFixture[str]) -> None:
    """At the start, ten at once, and at the stop: the last file holds, and nothing is doubled."""
    floor.daemon.file.write_text(floor.text("r1", "r2", "r3"))
    for _ in range(10):
        floor.daemon.signal(signal.SIGHUP)
    until("r4 is gone", lambda: floor.subscriber.is_cleared("r4/state"), floor.log)
    floor.daemon.file.write_text(floor.text(*TABLES))
    floor.daemon.signal(signal.SIGHUP)
    floor.daemon.signal(signal.SIGHUP)
    until_up(floor.subscriber, floor.daemon, f"{PALMA}/r4")
    until_up(floor.subscriber, floor.daemon, f"{PALMA}/r5")
    boots = [msgspec.json.decode(entry.body, type=Boot) for entry in floor.entries("boot")]
    assert [len(boot.tables) for boot in boots] == [4, 3, 5]
    floor.daemon.file.write_text(floor.text("r1", "r2"))
    floor.daemon.signal(signal.SIGHUP)
    floor.daemon.signal(signal.SIGTERM)
    floor.daemon.signal(signal.SIGHUP)
    assert floor.daemon.wait() == 0
    assert serving_process(floor.journal) is None
    assert main(["reload", str(floor.daemon.file)]) == 1
    assert "no daemon runs with the journal" in capsys.readouterr().err
    floor.daemon.file.write_text(floor.text("r1", "r2"))
    floor.daemon.start()
    until("it has the journal", lambda: serving_process(floor.journal), floor.log)
    floor.daemon.signal(signal.SIGHUP)
    floor.daemon.until_logged("daemon up", 2)
    assert main(["reload", str(floor.daemon.file)]) == 0
    assert floor.daemon.stop() == 0
    for each in TABLES:
        assert_contiguous(floor.subscriber, each)
    assert audit(floor.journal).proves


@pytest.mark.usefixtures("programs")
def test_a_mere_lock_on_the_journal_is_not_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A restore does: a hangup would end it."""
    file, journal = tmp_path / "novamas.toml", tmp_path / "journal.sqlite3"
    wheel = Wheel(tmp_path / "wheel")
    try:
        file.write_text(configuration(1883, table("r1", wheel)))
    finally:
        wheel.close()
    told = "from controller.journal.file import lock; from pathlib import Path; import sys\n"
    told += f"held = lock(Path({str(journal)!r})); print(held, flush=True); sys.stdin.read()"
    with running(
        [sys.executable, "-c", told], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline()
        assert main(["reload", str(file)]) == 1
        assert "no daemon runs with the journal" in capsys.readouterr().err
        assert other.poll() is None
        other.communicate()
    assert other.returncode == 0


def test_a_table_moves_from_one_daemon_to_another(
    wheels: dict[str, Wheel],
    mosquitto: Mosquitto,
    subscribe: Subscribe,
    tmp_path: Path,
    daemon: Make,
) -> None:
    """The second has it in its file first, and waits until the first lets it go."""
    subscriber = subscribe(mosquitto.port)
    floor = Floor(wheels, mosquitto.port, daemon, subscriber)
    (folder := tmp_path / "second").mkdir()
    text = floor.text("r5").replace("pit-1", "pit-2")
    second = Daemon(folder, text)
    second.start()
    try:
        until_up(subscriber, second, f"{PALMA}/r5")
        second.file.write_text(
            configuration(
                floor.port, table("r5", wheels["r5"]), table("r4", wheels["other"])
            ).replace("pit-1", "pit-2")
        )
        since = len(subscriber.messages)
        assert main(["reload", str(second.file)]) == 0
        claim = f"{PALMA}/node/pit-2/claim"
        until(
            "it waits", lambda: subscriber.latest(claim)["tables"].get("r4", "") is None, second.log
        )
        assert floor.reload("r1", "r2", "r3") == 0
        until("it has it", lambda: subscriber.latest(claim)["tables"]["r4"], second.log)
        until_up(subscriber, second, f"{PALMA}/r4")
        assert command(subscriber, "session.open", f"{PALMA}/r4")["ok"]
        is_open = partial(subscriber.latest, f"{PALMA}/r4/state")
        until("it is open", lambda: is_open()["status"] == "open", second.log)
        own = [
            h.body
            for h in subscriber.messages[since:]
            if h.topic == f"{PALMA}/r4/state" and h.payload
        ]
        others = [body["boot"] for body in own]
        assert others == sorted(others, key=[floor.daemon.boot(), second.boot()].index)
    finally:
        second.kill()


def test_the_broker_is_away_while_tables_change(
    floor: Floor, mosquitto: Mosquitto, subscribe: Subscribe
) -> None:
    mosquitto.kill()
    floor.daemon.until_logged("broker lost")
    assert floor.reload("r1", "r2", "r3", "r5") == 0
    mosquitto.start()
    floor.daemon.until_logged("broker connected", 2)
    subscriber = subscribe(mosquitto.port)
    until_up(subscriber, floor.daemon, f"{PALMA}/r5")
    assert command(subscriber, "session.open", f"{PALMA}/r5")["ok"]
    assert subscriber.on("r4/state") == []
    assert subscriber.latest(f"{NODE}/claim")["tables"].keys() == {"r1", "r2", "r3", "r5"}
    numbers = [message.body["seq"] for message in subscriber.on("/r5/event")]
    assert numbers == [*range(numbers[0], numbers[-1] + 1)]
