"""Faults between the daemon and its broker, or its disk: nothing is lost, and each is reported."""

from __future__ import annotations

import resource
import signal
import subprocess
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec

from common.chain.schema import Record
from controller.journal.journal import Journal
from controller.journal.reader import JournalReader
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import TABLE, command, serve, spin, until_more, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import TIMEOUT_SECONDS, until

Make = Callable[[str], Daemon]
Subscribe = Callable[..., Subscriber]


def test_a_broker_that_was_killed_and_has_forgotten_everything(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe, tmp_path: Path
) -> None:
    subscriber = subscribe(mosquitto.port)
    made = daemon(
        configuration(mosquitto.port, table("r1", wheel, period=0.5, stale_after=60.0))
    )  # longer than it will be stopped
    made.start()
    until_up(subscriber, made)
    assert command(subscriber, "session.open")["ok"]
    live = spin(wheel, subscriber, "17", 2)
    until("the result is retained", lambda: subscriber.number() == 17)
    mosquitto.kill()
    made.until_logged("broker lost")
    subscriber.subscribed.clear()
    wheel.unplug()  # lost, and back: two events while no client can receive them
    made.until_logged("device down")
    wheel.PERIOD = 0.5  # its own pace, which distinguishes late from live
    wheel.plug()
    with closing(JournalReader(tmp_path / "journal.sqlite3")) as journal:
        until(
            "both are stored",
            lambda: changes(journal) == len(subscriber.events("device.state")) + 2,
            made.log,
        )
    made.signal(signal.SIGSTOP)  # the subscriber is to be there before the daemon
    mosquitto.start()
    assert subscriber.subscribed.wait(TIMEOUT_SECONDS)
    known = len(subscriber.messages)
    made.signal(signal.SIGCONT)
    made.until_logged("broker connected", 2)
    retained = {f"{TABLE}/{leaf}" for leaf in ("info", "state", "result", "history")}
    until(
        "all retained topics",
        lambda: retained <= {h.topic for h in subscriber.messages[known:]},
        made.log,
    )
    second = spin(wheel, subscriber, "32", 3, before="17")
    events = subscriber.events()
    assert [event["seq"] for event in events] == list(range(1, second["seq"] + 1))
    missed = [
        event
        for event in events
        if event["type"] == "device.state" and live["seq"] < event["seq"] < second["seq"]
    ]
    assert [event["state"] for event in missed] == ["lost", "up"]
    assert all(event["historical"] for event in missed)
    assert "historical" not in second
    assert made.stop() == 0
    assert "Traceback" not in made.log()


def changes(journal: JournalReader) -> int:
    """How many changes of a device's state are stored."""
    return sum(b"device.state" in event.body for event in journal.events_after(0, 100))


def test_a_frozen_broker_is_noticed(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel), keepalive=2))
    made.start()
    until_up(subscriber, made)
    made.until_logged("broker connected")  # published last: the broker has everything
    mosquitto.signal(signal.SIGSTOP)
    made.until_logged("broker lost")
    mosquitto.signal(signal.SIGCONT)
    made.until_logged("broker connected", 2)
    assert made.stop() == 0


def test_a_wrong_password_is_reported_and_works_once_it_is_right(
    tmp_path: Path, wheel: Wheel, daemon: Make, subscribe: Subscribe, ending: ExitStack
) -> None:
    users, secret = tmp_path / "users", tmp_path / "secret"
    subprocess.run(["mosquitto_passwd", "-c", "-b", users, "pit", "correct-horse"], check=True)
    broker = Mosquitto(tmp_path / "mosquitto", "allow_anonymous false", f"password_file {users}")
    ending.callback(broker.kill)
    broker.start()
    secret.write_text("wrong-battery\n")
    made = daemon(
        configuration(
            broker.port, table("r1", wheel), broker=f'username = "pit"\npassword_file = "{secret}"'
        )
    )
    made.start()
    line = made.until_logged("broker not reached")
    assert "'pit'" in line["reason"]
    assert line["level"] == "error"
    secret.write_text("correct-horse\n")
    made.until_logged("broker connected")
    subscriber = subscribe(broker.port, username="pit", password="correct-horse")
    until_up(subscriber, made)
    assert made.stop() == 0
    said = made.log() + "".join(h.payload.decode() for h in subscriber.messages)
    assert "wrong-battery" not in said
    assert "correct-horse" not in said


def test_the_password_of_the_service_manager(
    tmp_path: Path, wheel: Wheel, daemon: Make, ending: ExitStack
) -> None:
    users = tmp_path / "users"
    subprocess.run(["mosquitto_passwd", "-c", "-b", users, "pit", "correct-horse"], check=True)
    broker = Mosquitto(tmp_path / "mosquitto", "allow_anonymous false", f"password_file {users}")
    ending.callback(broker.kill)
    broker.start()
    (tmp_path / "mqtt.password").write_text("correct-horse")
    made = daemon(
        configuration(
            broker.port,
            table("r1", wheel),
            broker='username = "pit"\npassword_credential = "mqtt.password"',
        )
    )
    made.start(CREDENTIALS_DIRECTORY=str(tmp_path))
    made.until_logged("broker connected")
    assert made.stop() == 0


def openssl(*words: str | Path) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)


def test_tls_with_a_client_certificate(
    tmp_path: Path, wheel: Wheel, daemon: Make, ending: ExitStack
) -> None:
    ca, ca_key = tmp_path / "ca.pem", tmp_path / "ca.key"
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *key, "-keyout", ca_key, "-out", ca, "-subj", "/CN=ca", "-days", "2")
    for name in ("server", "client"):
        files = {ending: tmp_path / f"{name}.{ending}" for ending in ("key", "csr", "pem", "ext")}
        files["ext"].write_text("subjectAltName = IP:127.0.0.1\n")
        openssl("req", *key, "-keyout", files["key"], "-out", files["csr"], "-subj", f"/CN={name}")
        signed = (
            "-CA",
            ca,
            "-CAkey",
            ca_key,
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            files["ext"],
        )
        openssl("x509", "-req", "-in", files["csr"], "-out", files["pem"], *signed)
    broker = Mosquitto(
        tmp_path / "mosquitto",
        f"cafile {ca}",
        f"certfile {tmp_path / 'server.pem'}",
        f"keyfile {tmp_path / 'server.key'}",
        "require_certificate true",
        "use_identity_as_username true",
    )
    ending.callback(broker.kill)
    broker.start()
    files_ = f'ca_file = "{ca}"\n'
    without = daemon(configuration(broker.port, table("r1", wheel), broker=files_, scheme="mqtts"))
    without.start()
    without.until_logged("broker not reached")
    assert without.stop() == 0
    files_ += f'cert_file = "{tmp_path / "client.pem"}"\nkey_file = "{tmp_path / "client.key"}"\n'
    made = daemon(configuration(broker.port, table("r1", wheel), broker=files_, scheme="mqtts"))
    made.start()
    made.until_logged("broker connected")
    assert made.stop() == 0


REFUSED = "broker refused a message"


def test_a_message_that_the_broker_refuses_does_not_keep_back_the_rest(
    tmp_path: Path, wheel: Wheel, daemon: Make, subscribe: Subscribe, ending: ExitStack
) -> None:
    rules = tmp_path / "acl"
    rules.write_text(
        "topic read #\n"
        + "".join(
            f"topic write {topic}\n"
            for topic in (f"{TABLE}/event", f"{TABLE}/state", f"{TABLE}/command/#")
        )
    )
    broker = Mosquitto(tmp_path / "mosquitto", "allow_anonymous true", f"acl_file {rules}")
    ending.callback(broker.kill)
    broker.start()
    subscriber = subscribe(broker.port)
    made = daemon(configuration(broker.port, table("r1", wheel)))
    made.start()
    until_up(subscriber, made)
    until(
        "the refusal is reported",
        lambda: f"{TABLE}/info" in {line["topic"] for line in made.logged(REFUSED)},
        made.log,
    )
    assert {line["reason"] for line in made.logged(REFUSED)} == {"Not authorized"}
    until(
        "the event that is allowed",
        lambda: any(event["state"] == "up" for event in subscriber.events("device.state")),
        made.log,
    )
    assert made.stop() == 0


async def test_an_event_of_another_release_does_not_keep_back_the_rest(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe, tmp_path: Path
) -> None:
    with closing(Journal(tmp_path / "journal.sqlite3")) as journal:
        body = b'{"type":"moon.landed","table":"r1","boot":"b0","seq":1}'
        time = "2025-09-23T07:25:28.384000Z"
        old = Record(
            table="r1",
            boot="b0",
            seq=1,
            time=time,
            mono_ns=1,
            input=b"{}",
            events=(body,),
            saved=b"{}",
        )
        await journal.append(old)
    made, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    until(
        "the old and a new event",
        lambda: {"moon.landed", "device.state"} <= {e["type"] for e in subscriber.events()},
    )
    [events] = (event for event in subscriber.events() if event["type"] == "moon.landed")
    assert events == {**msgspec.json.decode(body), "historical": True}
    assert made.stop() == 0


def test_an_alert_that_was_cleared_while_the_broker_was_away(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    subscriber = subscribe(mosquitto.port)
    subscriber.publish(f"{TABLE}/alert/of-yesterday", {"alert": "of-yesterday"}, retain=True)
    made = daemon(configuration(mosquitto.port, table("r1", wheel)))
    made.start()
    until(
        "the left over alert is gone",
        lambda: subscriber.is_cleared("/alert/of-yesterday"),
        made.log,
    )
    assert made.stop() == 0


def test_a_full_disk_stops_the_table_and_nothing_is_lost(
    mosquitto: Mosquitto, wheel: Wheel, daemon: Make, subscribe: Subscribe
) -> None:
    made, subscriber = serve(mosquitto.port, wheel, daemon, subscribe)
    assert command(subscriber, "session.open")["ok"]
    until_more(subscriber, "session.opened", 0)  # the reply may come before it
    assert made.process is not None
    _, most = resource.prlimit(made.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(made.process.pid, resource.RLIMIT_FSIZE, (0, most))
    known = len(subscriber.events())
    wheel.show(2, 2, "  ")
    until("the alert", lambda: subscriber.latest(f"{TABLE}/alert/journal"), made.log)
    until(
        "the table is in fault",
        lambda: subscriber.latest(f"{TABLE}/state")["status"] == "fault",
        made.log,
    )
    until(
        "health says so",
        lambda: subscriber.latest("/health")["journal"]["state"] == "failed",
        made.log,
    )
    assert "in fault" in command(subscriber, "bets.close")["error"]
    assert len(subscriber.events()) == known
    resource.prlimit(made.process.pid, resource.RLIMIT_FSIZE, (most, most))
    until_more(subscriber, "round.opened", 0)
    until("the alert is gone", lambda: subscriber.is_cleared(f"{TABLE}/alert/journal"), made.log)
    until(
        "the table is open",
        lambda: subscriber.latest(f"{TABLE}/state")["status"] == "open",
        made.log,
    )
    assert command(subscriber, "round.void", role="inspector", reason="inspector")["ok"]
    until_more(subscriber, "round.void", 0)
    seqs = [event["seq"] for event in subscriber.events()]
    assert seqs == list(range(1, len(seqs) + 1))
    assert made.stop() == 0
