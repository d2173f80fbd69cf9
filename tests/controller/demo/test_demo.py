"""``novamas demo`` as a person starts it: all programs are real, and none is left behind."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from common.contract.messages.messages import text
from common.contract.times import format_utc
from controller.cli import demo as program
from controller.cli import main
from controller.demo.floor import DemoFloor
from controller.demo.places import FLOOR_TABLES
from controller.journal.reader import JournalReader
from tests.support.programs import running
from tests.support.terminal import Terminal
from tests.support.waiting import TIMEOUT_SECONDS, until
from tests.support.web.pit import Client

pytestmark = pytest.mark.usefixtures("programs")

RECEIPT = text("book.receipt_title", "eu", number=1)
LONG_TIMEOUT_SECONDS = 5 * TIMEOUT_SECONDS
"""Seconds: several programs start, and play some rounds."""
DEMO = [sys.executable, "-m", "controller.cli", "demo"]


@pytest.fixture
def demo(programs: None, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A demo whose table is running; it is ended with the test."""
    command = [*DEMO, "--speed", "50", "--state-dir", str(tmp_path)]
    with running(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as demo:
        assert demo.stdout is not None
        while line := demo.stdout.readline():
            if b"session.opened" in line:
                break
        yield demo
        demo.terminate()
        demo.communicate(timeout=LONG_TIMEOUT_SECONDS)


def left_behind(room: Path) -> list[str]:
    """The programs of the demo that still run: each has its folder in its command line."""
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_bytes()
        except OSError:  # it has just ended
            continue
        if str(room).encode() in words:
            found.append(words.replace(b"\0", b" ").decode())
    return found


def ended_well(code: int | None, errors: bytes, room: Path) -> None:
    """It ended by itself or on a signal, without output; if not, the failure shows its output and
    its daemon's.
    """
    log = room / "daemon.log"
    assert (code, errors) == (0, b""), (
        f"{code}\n{errors.decode()}\n{log.read_text() if log.exists() else ''}"
    )


@pytest.mark.essential
def test_two_rounds_as_json_lines_and_the_session_continues_in_another_demo(tmp_path: Path) -> None:
    words = [
        "--rounds",
        "2",
        "--speed",
        "50",
        "--state-dir",
        str(tmp_path),
        "--screenshot",
        str(tmp_path / "demo.svg"),
    ]
    done = subprocess.run(
        [*DEMO, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=LONG_TIMEOUT_SECONDS,
    )
    ended_well(done.returncode, done.stderr, tmp_path)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(event["simulated"] for event in events)
    assert (events[-1]["table"], events[-1]["type"]) == ("ruleta-1", "round.result")
    for table in ("ruleta-1", "punto-1"):
        own = [event for event in events if event["table"] == table]
        assert own[0]["type"] in ("session.opened", "device.state", "alert.raised")
        assert sum(event["type"] == "session.opened" for event in own) == 1
        assert [event["seq"] for event in own] == list(range(own[0]["seq"], own[-1]["seq"] + 1))
    assert (
        sum(event["type"] == "round.result" for event in events if event["table"] == "ruleta-1")
        == 2
    )
    cards = {event["type"] for event in events if event["table"] == "punto-1"}
    assert {"shoe.started", "card.dealt"} <= cards
    assert cards & {
        "cards.burned",
        "data.late",
    }  # if this machine keeps up with the shoe, burned cards are counted
    picture = (tmp_path / "demo.svg").read_text()
    assert "<svg" in picture
    assert "PUNTO" in picture  # the display is in the language of the decree
    assert left_behind(tmp_path) == []

    words = [*DEMO, "--rounds", "1", "--speed", "100", "--state-dir", str(tmp_path), "--no-faults"]
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=LONG_TIMEOUT_SECONDS,
    )
    ended_well(done.returncode, done.stderr, tmp_path)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert not [event for event in events if event["type"] == "session.opened"]
    assert "shoe.started" in [event["type"] for event in events if event["table"] == "punto-1"]
    assert events[-1]["round"] > 1


def until_each_table_has_a_result(room: Path, *, paid: bool) -> list[dict[str, Any]]:
    """The events of a whole floor until each of its tables has a result, and perhaps the jackpot
    was hit and ``paid``; then it is stopped. Its croupiers can keep up with this speed.
    """
    command = [*DEMO, "--floor", "--speed", "10", "--state-dir", str(room)]
    events: list[dict[str, Any]] = []
    results: Counter[str] = Counter()
    with running(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as demo:
        assert demo.stdout is not None
        while (
            (
                results.keys() != {place.table for place in FLOOR_TABLES}
                or (paid and RECEIPT not in (room / "note.txt").read_text())
            )
            and results["punto-1"] < 100
            and (line := demo.stdout.readline())
        ):
            events.append(json.loads(line))
            if events[-1]["type"] == "round.result":
                results[events[-1]["table"]] += 1
        demo.terminate()
        _, errors = demo.communicate(timeout=LONG_TIMEOUT_SECONDS)
    ended_well(demo.returncode, errors, room)
    assert sorted(results) == sorted(place.table for place in FLOOR_TABLES)
    assert not paid or RECEIPT in (room / "note.txt").read_text()
    return events


def test_the_whole_floor_and_the_same_floor_again(tmp_path: Path) -> None:
    for sessions in (len(FLOOR_TABLES), 0):
        events = until_each_table_has_a_result(tmp_path, paid=sessions > 0)
        assert sum(event["type"] == "session.opened" for event in events) == sessions
        assert not [
            event
            for event in events
            if event["type"] == "alert.raised" and event["what"].startswith("table.")
        ]
        for place in FLOOR_TABLES:
            own = [event["seq"] for event in events if event["table"] == place.table]
            assert own == list(range(own[0], own[-1] + 1))
        for name in ("daemon", "carrousel"):
            assert "Traceback" not in (tmp_path / f"{name}.log").read_text()
        assert left_behind(tmp_path) == []
    ledger = tmp_path / "carrousel.sqlite3"
    assert command("carrousel", "verify", str(ledger)).startswith("HOLDS: ")
    postings = list(csv.DictReader(command("carrousel", "export", str(ledger)).splitlines()))
    assert {"stakes", "meter", "paid"} <= {posting["account"] for posting in postings}


def command(*words: str) -> str:
    """The output of ``novamas``."""
    program = [sys.executable, "-m", "controller.cli", *words]
    return subprocess.run(program, capture_output=True, check=True, text=True).stdout


def test_a_floor_of_a_decree_with_one_of_the_games(tmp_path: Path) -> None:
    words = [
        *DEMO,
        "--floor",
        "--decree",
        "BAL09",
        "--rounds",
        "1",
        "--speed",
        "50",
        "--state-dir",
        str(tmp_path),
    ]
    done = subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=LONG_TIMEOUT_SECONDS,
    )
    ended_well(done.returncode, done.stderr, tmp_path)
    last = json.loads(done.stdout.splitlines()[-1])
    assert (last["type"], last["game"], last["decree"]) == (
        "round.result",
        "three-card-poker",
        "BAL09",
    )


def test_ctrl_c_on_a_terminal_ends_it_and_it_prints_what_to_try_next(tmp_path: Path) -> None:
    words = ["--surveillance", "--speed", "50", "--language", "en", "--state-dir", str(tmp_path)]
    with Terminal([*DEMO, *words]) as terminal:
        terminal.wait_for("RESULT")
        terminal.wait_for("/floor?lang=en  http://127.0.0.1:")  # on the last of the 24 lines
        assert "mosquitto_sub -p " in (tmp_path / "note.txt").read_text(), "below the picture too"
        is_recorded_and_shown(terminal.text, tmp_path)
        is_published(terminal.text)
        terminal.press_ctrl_c()
        assert terminal.end() == 0
    assert "/floor?lang=en  console: http://127.0.0.1:" in terminal.text
    assert "Try next" in terminal.text
    assert "novamas rules --decree ARA02" in terminal.text
    assert "Traceback" not in terminal.text
    assert left_behind(tmp_path) == []


def is_published(message: str) -> None:
    """The command that the demo prints shows the results."""
    printed = re.search(r"over MQTT: (mosquitto_sub -p \d+ -v -t '[^']+')", message)
    assert printed, message
    found = subprocess.run(
        [*shlex.split(printed[1]), "-C", "1"],
        capture_output=True,
        text=True,
        check=True,
        timeout=LONG_TIMEOUT_SECONDS,
    )
    topic, _, body = found.stdout.partition(" ")
    assert topic.startswith("novamas-sim/v1/demo/")
    assert json.loads(body) is None or json.loads(body)["type"] == "round.result"


def is_recorded_and_shown(message: str, room: Path) -> None:
    """The recorder may fetch earlier events; the person that the demo names sees results."""
    printed = re.search(
        r"surveillance: (\S+)/surveillance\s+sign in .* badge (\S+), PIN (\d+)", message
    )
    assert printed, message
    visitor = Client(printed[1])
    assert visitor.sign_in(printed[2], printed[3])[0] == 200

    said = f"/surveillance/records?table=ruleta-1&from={format_utc(0)}"
    until(
        "a result and what was before the recorder",
        lambda: (
            {1, "round.result"}
            <= {
                each.get(name)
                for each in visitor.ask("GET", said)[1]["items"]
                for name in ("seq", "type")
            }
        ),
        lambda: (room / "surveillance.log").read_text(),
    )
    assert "refused" not in (room / "surveillance.log").read_text()
    assert visitor.ask("GET", "/surveillance")[0] == 200
    search = re.search(r"surveillance (search \S+ --table \S+ --round 1)\s", message)
    assert search, message
    found = [json.loads(line) for line in command("surveillance", *search[1].split()).splitlines()]
    assert {each["round"] for each in found} == {1}


def test_a_closed_terminal_that_only_another_program_is_signalled_of(tmp_path: Path) -> None:
    demo = " ".join([*DEMO, "--speed", "50", "--state-dir", str(tmp_path)])
    with Terminal(["/bin/sh", "-c", f"trap '' HUP; {demo}; true"]) as terminal:
        terminal.wait_for("RESULT")
        terminal.hang_up()
        until(
            "all have ended",
            lambda: (
                [line for line in left_behind(tmp_path) if not line.startswith("/bin/sh")] == []
            ),
        )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_sigterm_and_sighup_end_it(
    demo: subprocess.Popen[bytes], tmp_path: Path, number: signal.Signals
) -> None:
    demo.send_signal(number)
    _, errors = demo.communicate(timeout=LONG_TIMEOUT_SECONDS)
    ended_well(demo.returncode, errors, tmp_path)
    assert left_behind(tmp_path) == []


def test_a_killed_demo_leaves_no_program_running(
    demo: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    demo.kill()
    until("all have ended", lambda: left_behind(tmp_path) == [])


async def test_errors_while_terminating_are_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def part(*_: object, unseen: bool) -> None:
        assert not unseen
        os.kill(os.getpid(), signal.SIGTERM)
        try:
            await asyncio.sleep(LONG_TIMEOUT_SECONDS)
        except asyncio.CancelledError:
            raise ExceptionGroup("parting", [OSError("the broker is gone")]) from None

    monkeypatch.setattr(program, "_open_and_watch", part)
    assert await program._play(DemoFloor(tmp_path), Namespace()) is False


@pytest.mark.parametrize("wrong", ["99999", "0", "web"])
def test_a_wrong_port_is_reported_before_anything_starts(
    wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["demo", "--web-port", wrong])
    assert f"{wrong} is not a port, 1 to 65535" in capsys.readouterr().err


def test_a_port_that_another_program_has_is_reported_before_anything_starts(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        assert main(["demo", "--web-port", port]) == 1
    assert f"--web-port {port}: " in capsys.readouterr().err


def test_the_error_of_a_program_that_cannot_start_is_shown() -> None:
    done = subprocess.run(
        [*DEMO, "--decree", "ROMA1"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=LONG_TIMEOUT_SECONDS,
    )
    assert done.returncode == 1
    assert b"novamas: the daemon has ended with 78" in done.stderr
    assert b"no decree 'ROMA1'" in done.stderr
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("name", ["daemon", "wheel", "shoe"])
def test_a_program_that_dies_ends_the_demo_with_an_error(
    demo: subprocess.Popen[bytes], tmp_path: Path, name: str
) -> None:
    module = b"controller.cli\0run" if name == "daemon" else b"simulators\0" + name.encode()
    pid = until(f"the {name}", lambda: _pid(tmp_path, module))
    os.kill(pid, signal.SIGKILL)
    _, errors = demo.communicate(timeout=LONG_TIMEOUT_SECONDS)
    assert demo.returncode == 1
    assert f"novamas: the {name} has ended with -9".encode() in errors
    assert b"Traceback" not in errors
    assert left_behind(tmp_path) == []


def _pid(room: Path, module: bytes) -> int | None:
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_bytes()
        except OSError:
            continue
        if str(room).encode() in words and b"\0-m\0" + module in words:
            return int(line.parent.name)
    return None


def test_bad_calls_are_reported(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.touch()
    for words, told in (
        (["--speed", "0"], b"not a number above 0 and at most 1000"),
        (["--rounds", "0"], b"not a whole number from 1"),
        (["--state-dir", str(taken)], b"--state-dir"),
    ):
        done = subprocess.run(
            [*DEMO, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=LONG_TIMEOUT_SECONDS,
        )
        assert done.returncode != 0
        assert told in done.stderr


def test_a_history_is_played_before_the_picture(tmp_path: Path) -> None:
    words = ["--history", "3", "--rounds", "1", "--no-faults", "--speed", "5"]
    words += ["--state-dir", str(tmp_path)]
    done = subprocess.run(
        [*DEMO, *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=LONG_TIMEOUT_SECONDS,
    )
    ended_well(done.returncode, done.stderr, tmp_path)
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert not [event for event in events if event["type"] == "session.opened"]
    *_, last = events
    assert (last["table"], last["type"]) == ("ruleta-1", "round.result")
    assert last["round"] > 3
    assert last["simulated"]
    with closing(JournalReader(tmp_path / "journal.sqlite3")) as reader:
        entries = [entry for entry in reader.events_after(0, 10_000) if entry.table == "ruleta-1"]
    before = [json.loads(entry.body) for entry in entries if entry.boot != last["boot"]]
    assert len([event for event in before if event["type"] == "round.result"]) >= 3
