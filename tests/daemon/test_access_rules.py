"""The daemon works under the access rules that docs/integrator/commands.md has `novamas acl` write,
with a real Mosquitto: a console commands, and a recorder has what it may.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from pathlib import Path

from controller.cli import main
from tests.support import contract
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.daemon.play import HEAD, NODE, TABLE, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.waiting import until


def test_the_rules_of_the_document(
    tmp_path: Path,
    ending: ExitStack,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
) -> None:
    page = (contract.INTEGRATOR / "commands.md").read_text()
    command = re.search(r"^novamas (acl) novamas.toml (.+) > acl$", page, re.MULTILINE)
    assert command is not None
    config = tmp_path / "novamas.toml"
    config.write_text(configuration(1883, table("r1", wheel), broker='username = "novamas"'))
    rules = tmp_path / "acl"
    with rules.open("w") as output, redirect_stdout(output):
        assert main([command[1], str(config), *command[2].split()]) == 0
    broker = Mosquitto(tmp_path / "guarded", "allow_anonymous true", f"acl_file {rules}")
    ending.callback(broker.kill)
    broker.start()
    running = daemon(configuration(broker.port, table("r1", wheel), broker='username = "novamas"'))
    running.start()
    console = subscribe(broker.port, f"{TABLE}/reply/#", username="console-1", password="")
    recorder = subscribe(
        broker.port,
        f"{TABLE}/+",
        f"{TABLE}/#",
        f"{NODE}/status",
        username="recorder-4",
        password="",
    )
    until_up(recorder, running)
    recorder.publish(f"{TABLE}/command/session-open", {**HEAD, "client": "recorder-4", "id": 1})
    recorder.publish(f"{NODE}/status", {"status": "offline"}, retain=True)
    recorder.publish(
        f"{TABLE}/command/recall",
        {"boot": running.boot(), "from": 1, "client": "recorder-4", "id": 2},
    )
    until("an answer", lambda: recorder.on("/reply/recorder-4"), running.log)
    assert [message.body["id"] for message in recorder.on("/reply/recorder-4")] == [2]
    console.publish(f"{TABLE}/command/session-open", {**HEAD, "client": "console-1", "id": 3})
    answer = until("an answer", lambda: console.on("/reply/console-1"), running.log)[0].body
    assert answer == {"id": 3, "ok": True}
    recorder.publish(
        f"{TABLE}/command/recall",
        {"boot": running.boot(), "from": 1, "client": "recorder-4", "id": 4},
    )
    until("the next answer", lambda: recorder.on("/reply/recorder-4")[1:], running.log)
    assert recorder.on("/reply/console-1") == [], "it was published before"
    assert recorder.latest("/status")["status"] == "online"
    until("the recorder receives it", lambda: recorder.events("session.opened"), running.log)
