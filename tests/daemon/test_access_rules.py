"""Access rules in docs/integrator/commands.md, with a real Mosquitto: who may write what,
and the daemon works with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

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
    found = re.search(
        r"```acl\n(.*?)```", (contract.INTEGRATOR / "commands.md").read_text(), re.DOTALL
    )
    assert found is not None
    rules = tmp_path / "acl"
    rules.write_text(found[1].replace("casino-mayor", "palma"))
    broker = Mosquitto(tmp_path / "guarded", "allow_anonymous true", f"acl_file {rules}")
    ending.callback(broker.kill)
    broker.start()
    running = daemon(configuration(broker.port, table("r1", wheel), broker='username = "novamas"'))
    running.start()
    console = subscribe(broker.port, f"{TABLE}/reply/#", username="console-1", password="")
    display = subscribe(
        broker.port, f"{TABLE}/+", f"{TABLE}/#", f"{NODE}/status", username="display-4", password=""
    )
    until_up(display, running)
    display.publish(f"{TABLE}/command/session-open", {**HEAD, "client": "display-4", "id": 1})
    display.publish(f"{NODE}/status", {"status": "offline"}, retain=True)
    display.publish(
        f"{TABLE}/command/recall",
        {"boot": running.boot(), "from": 1, "client": "display-4", "id": 2},
    )
    until("an answer", lambda: display.on("/reply/display-4"), running.log)
    assert [message.body["id"] for message in display.on("/reply/display-4")] == [2]
    console.publish(f"{TABLE}/command/session-open", {**HEAD, "client": "console-1", "id": 3})
    answer = until("an answer", lambda: console.on("/reply/console-1"), running.log)[0].body
    assert answer == {"id": 3, "ok": True}
    display.publish(
        f"{TABLE}/command/recall",
        {"boot": running.boot(), "from": 1, "client": "display-4", "id": 4},
    )
    until("the next answer", lambda: display.on("/reply/display-4")[1:], running.log)
    assert display.on("/reply/console-1") == [], "it was published before"
    assert display.latest("/status")["status"] == "online"
    until("the display receives it", lambda: display.events("session.opened"), running.log)
