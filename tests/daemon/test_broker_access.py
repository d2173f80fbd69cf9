"""The rules that ``novamas acl`` writes, with a real Mosquitto: every kind of client tries every
kind of topic in both directions.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from controller.cli import main
from tests.support.brokers.mosquitto import Mosquitto, Subscriber
from tests.support.waiting import until

SITE = "novamas/v1/casino-mayor"
TABLE = f"{SITE}/ruleta-1"
SIMULATED = "novamas-sim/v1/casino-mayor/ensayo"
USERS = {
    "daemon": "novamas",
    "display": "display-4",
    "console": "console-1",
    "surveillance": "cctv",
    "carrousel": "carrousel",
    "webhooks": "shop",
    "integrator": "house",
}
PASSWORD = "of this test alone"
SALT = b"twelve bytes"

OUTCOMES = {f"{TABLE}/{leaf}" for leaf in ("event", "info", "state", "result")}
PUBLISHED_TOPICS = OUTCOMES | {
    f"{TABLE}/{leaf}" for leaf in ("history", "shoe", "alert/wheel-link")
}
SEALED = {f"{TABLE}/sealed"}
COMMANDS = {f"{TABLE}/command/round-void", f"{TABLE}/command/device-command"}
RECALL = {f"{TABLE}/command/recall"}
STATUS = {f"{SITE}/node/node-1/status"}
SHOWN = STATUS | {f"{SITE}/node/node-1/checkpoint"}  # it is on a permanency
NODE = STATUS | {f"{SITE}/node/node-1/{leaf}" for leaf in ("claim", "health", "checkpoint")}
TRIAL_CLAIM = {"novamas-sim/v1/casino-mayor/node/node-1/claim"}
FOREIGN_CLAIM = {f"{SITE}/node/node-2/claim"}
CLAIMS = TRIAL_CLAIM | FOREIGN_CLAIM
FOREIGN_TABLE = {f"{SITE}/ruleta-9/event"}  # of another daemon of the same site
FOREIGN_NODE = {f"{SITE}/node/node-2/status"}
TRIAL = {f"{SIMULATED}/event"}
TRIAL_COMMAND = {f"{SIMULATED}/command/round-void"}
POOL = "jackpot/carrousel-1"
POOLS = {f"{SITE}/{POOL}/{leaf}" for leaf in ("state", "alert/store")}
POOL_COMMAND = {f"{SITE}/{POOL}/command/award-pay"}
POOL_REPLY = {f"{SITE}/{POOL}/reply/{USERS['console']}"}
TRIAL_POOL = {f"novamas-sim/v1/casino-mayor/{POOL}/state"}  # a table is linked with it
FOREIGN_POOL = {"novamas-sim/v1/casino-mayor/jackpot/carrousel-9/state"}
RECORDER_STATUS = {f"{SITE}/node/surveillance/status"}
RECORDER = RECORDER_STATUS | {f"{SITE}/node/surveillance/alert/journal-cut-1"}
HOOKS_STATUS = {f"{SITE}/node/webhooks/status"}
HOOKS = HOOKS_STATUS | {f"{SITE}/node/webhooks/alert/webhooks-stalled"}
REPLIES = {f"{TABLE}/reply/{user}" for user in USERS.values()}
POOL_NODE = {f"{SITE}/node/carrousel/{leaf}" for leaf in ("status", "checkpoint")}
SEEN_POOLS = POOLS | TRIAL_POOL | FOREIGN_POOL
NOBODYS = {
    "novamas/v1/other-casino/ruleta-1/event",
    "novamas/v1/other-casino/ruleta-1/command/round-void",
    "novamas/v2/casino-mayor/ruleta-1/event",
    f"{TABLE}/event/more",
    f"{TABLE}/command",
    f"{TABLE}/command/round/void",
    f"{TABLE}/unheard-of",
    f"{TABLE}/alert",
    "elsewhere",
}
ANSWERS = {"site-answers", "site-answers/console-1"}
"""Of a response topic: with `#` goes the level above it."""


def reply(*kinds: str) -> set[str]:
    return {f"{TABLE}/reply/{USERS[kind]}" for kind in kinds}


READS = {
    "daemon": PUBLISHED_TOPICS  # all that it publishes, to see whether it arrives
    | SEALED
    | TRIAL
    | reply(*USERS)
    | COMMANDS
    | RECALL
    | NODE
    | TRIAL_COMMAND
    | CLAIMS
    | TRIAL_POOL,
    "display": PUBLISHED_TOPICS
    | SHOWN
    | FOREIGN_TABLE
    | FOREIGN_NODE
    | TRIAL
    | SEEN_POOLS
    | POOL_NODE
    | RECORDER_STATUS
    | HOOKS_STATUS,
    "console": PUBLISHED_TOPICS
    | SHOWN
    | FOREIGN_TABLE
    | FOREIGN_NODE
    | TRIAL
    | reply("console")
    | SEEN_POOLS
    | POOL_NODE
    | POOL_REPLY
    | RECORDER
    | HOOKS,
    "surveillance": PUBLISHED_TOPICS
    | SEEN_POOLS
    | POOL_NODE
    | SEALED
    | NODE
    | FOREIGN_TABLE
    | FOREIGN_NODE
    | CLAIMS
    | TRIAL
    | RECORDER
    | HOOKS
    | REPLIES
    | POOL_REPLY,
    "carrousel": OUTCOMES
    | STATUS
    | {f"{SITE}/node/node-1/health"}
    | FOREIGN_TABLE
    | FOREIGN_NODE
    | TRIAL
    | reply("carrousel")
    | SEEN_POOLS
    | {f"{SITE}/node/carrousel/status"}
    | RECORDER_STATUS
    | HOOKS_STATUS
    | POOL_COMMAND,
    "webhooks": {f"{TABLE}/event", f"{TABLE}/state"}
    | FOREIGN_TABLE
    | TRIAL
    | reply("webhooks")
    | STATUS
    | FOREIGN_NODE
    | {f"{SITE}/node/carrousel/status"}
    | RECORDER
    | HOOKS,
    "integrator": PUBLISHED_TOPICS
    | NODE
    | FOREIGN_TABLE
    | FOREIGN_NODE
    | CLAIMS
    | TRIAL
    | reply("integrator")
    | SEEN_POOLS
    | POOL_NODE
    | RECORDER
    | HOOKS,
}
WRITES = {
    "daemon": PUBLISHED_TOPICS | SEALED | reply(*USERS) | NODE | TRIAL | ANSWERS | TRIAL_CLAIM,
    "display": set(),
    "console": COMMANDS | RECALL | TRIAL_COMMAND | POOL_COMMAND,
    "surveillance": RECALL | RECORDER,
    "carrousel": RECALL | SEEN_POOLS | POOL_REPLY | POOL_NODE,
    "webhooks": RECALL | HOOKS,
    "integrator": RECALL,
}
TOPICS = sorted(
    PUBLISHED_TOPICS
    | HOOKS
    | SEALED
    | COMMANDS
    | RECALL
    | NODE
    | FOREIGN_TABLE
    | FOREIGN_NODE
    | CLAIMS
    | TRIAL
    | TRIAL_COMMAND
    | NOBODYS
    | SEEN_POOLS
    | POOL_COMMAND
    | POOL_REPLY
    | POOL_NODE
    | ANSWERS
    | RECORDER
    | reply(*USERS)
)


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    sample = Path(__file__).parents[2] / "docs" / "technician" / "novamas.toml"
    file = tmp_path / "novamas.toml"
    text = sample.read_text()
    text = text.replace("[broker]", '[broker]\nresponse_topics = ["site-answers"]', 1)
    extra = """
[[table]]
id = "ensayo"
game = "roulette-french"
decree = "BAL05"
simulated = true

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"

[[table]]
id = "poker-1"
game = "poker-no-draw"
decree = "ARA02"
simulated = true
jackpot = "carrousel-1"

[[table.device]]
id = "slots"
driver = "slot-board"
link = "serial:///dev/null?baud=115200"
"""
    file.write_text(text + extra)
    return file


def rules(configuration: Path, broker: str, capsys: pytest.CaptureFixture[str]) -> str:
    clients = [f"--client={kind}={user}" for kind, user in USERS.items() if kind != "daemon"]
    assert main(["acl", str(configuration), "--broker", broker, *clients]) == 0
    return capsys.readouterr().out


def by_file(folder: Path, text: str) -> tuple[str, ...]:
    """An ``acl_file`` with passwords."""
    (folder / "acl").write_text(text + "\nuser admin\ntopic readwrite #\n")
    (folder / "passwords").touch(mode=0o600)
    for user in (*USERS.values(), "admin"):
        subprocess.run(
            ["mosquitto_passwd", "-b", str(folder / "passwords"), user, PASSWORD],
            check=True,
            capture_output=True,
        )
    return (
        "allow_anonymous false",
        f"password_file {folder / 'passwords'}",
        f"acl_file {folder / 'acl'}",
    )


def by_plugin(folder: Path, text: str) -> tuple[str, ...]:
    """The file of the plugin, each client with the password that its administrator would set."""
    found: dict[str, Any] = json.loads(text)
    acls = [
        {"acltype": kind, "topic": "#", "priority": 0, "allow": True}
        for kind in ("subscribePattern", "publishClientReceive", "publishClientSend")
    ]
    found["roles"].append({"rolename": "admin", "acls": acls})
    found["clients"].append({"username": "admin", "roles": [{"rolename": "admin"}]})
    hashed = hashlib.pbkdf2_hmac("sha512", PASSWORD.encode(), SALT, 101)
    for each in found["clients"]:
        each["password"] = base64.b64encode(hashed).decode()
        each["salt"], each["iterations"] = base64.b64encode(SALT).decode(), 101
    (folder / "dynamic.json").write_text(json.dumps(found))
    plugin = next(Path("/usr/lib").glob("*/mosquitto_dynamic_security.so"))
    return (
        "allow_anonymous false",
        f"plugin {plugin}",
        f"plugin_opt_config_file {folder / 'dynamic.json'}",
    )


def ended(client: Subscriber) -> bool:
    return any(message.body == "end" for message in client.messages)


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(
    ("broker", "guard"), [("mosquitto", by_file), ("mosquitto-dynamic", by_plugin)]
)
def test_no_client_reads_or_writes_beyond_the_table(
    broker: str,
    guard: Callable[[Path, str], tuple[str, ...]],
    configuration: Path,
    tmp_path: Path,
    ending: ExitStack,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = guard(tmp_path, rules(configuration, broker, capsys))
    running = Mosquitto(tmp_path / "guarded", *settings)
    ending.callback(running.kill)
    running.start()

    def connect(user: str, *topics: str) -> Subscriber:
        made = Subscriber(running.port, *topics, username=user, password=PASSWORD)
        ending.callback(made.close)
        return made

    # Written: anything that arrives at a client that is subscribed to everything.
    admin = connect("admin", "#")
    for kind, user in USERS.items():
        client = connect(user, f"{SITE}/node/node-1/status")
        for topic in TOPICS:
            client.publish(topic, {"from": kind}, retain=topic.endswith("state"))
    admin.publish("end", {})
    until("the end", lambda: admin.on("end"))
    for kind in USERS:
        written = {
            message.topic for message in admin.messages if (message.body or {}).get("from") == kind
        }
        assert written == WRITES[kind], kind

    # Read: what is retained, and what comes.
    for topic in TOPICS:
        admin.publish(topic, "kept", retain=True)
    wide = ("#", "+/#", "novamas/#", f"{SITE}/#", f"{SITE}/+/+", f"{TABLE}/#", f"{SITE}/+/+/+")
    clients = {kind: connect(user, *TOPICS, *wide) for kind, user in USERS.items()}
    for topic in TOPICS:
        admin.publish(topic, "live")
    last = f"{SITE}/node/node-1/status"
    admin.publish(last, "end")
    for kind, client in clients.items():
        until("the end", partial(ended, client))
        for what in ("kept", "live"):
            read = {message.topic for message in client.messages if message.body == what}
            assert read == READS[kind], (kind, what)


@pytest.mark.usefixtures("programs")
def test_a_wrong_password_opens_nothing(
    configuration: Path,
    tmp_path: Path,
    ending: ExitStack,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings = by_file(tmp_path, rules(configuration, "mosquitto", capsys))
    running = Mosquitto(tmp_path / "guarded", *settings)
    ending.callback(running.kill)
    running.start()
    for user in USERS.values():
        refused = subprocess.run(
            [
                *("mosquitto_pub", "-p", str(running.port), "-u", user, "-P", "guess"),
                *("-t", f"{TABLE}/command/round-void", "-m", "{}"),
            ],
            capture_output=True,
            check=False,
        )
        assert refused.returncode != 0
        assert b"not authori" in refused.stderr.lower()


def test_the_patterns_of_rabbitmq_match_the_same_topics(
    configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """RabbitMQ itself is not among the tests: the patterns are held against the table, as it
    applies them to a routing key and to the key of a subscription.
    """
    found = json.loads(rules(configuration, "rabbitmq", capsys))["topic_permissions"]
    assert {each["user"] for each in found} == set(USERS.values())
    for each in found:
        kind = next(kind for kind, user in USERS.items() if user == each["user"])
        assert each["exchange"] == "amq.topic"
        for pattern, table in ((each["read"], READS), (each["write"], WRITES)):
            matched = {
                topic for topic in TOPICS if re.search(pattern, topic.replace("/", ".")) is not None
            }
            assert matched == table[kind] - {"site-answers"}, kind
        for wide in ("#", "novamas.#", "novamas.v1.casino-mayor.#", "novamas.v1.*.*.event"):
            assert re.search(each["read"], wide) is None
        for exact in ("novamas.v1.casino-mayor.*.sealed", "novamas.v1.casino-mayor.*.command.*"):
            assert bool(re.search(each["read"], exact)) == (
                kind == "surveillance" and exact.endswith("sealed")
            )


def test_nats_gets_subjects_and_no_empty_list(
    configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty list would allow everything. What NATS makes of the rest was tried by hand."""
    text = rules(configuration, "nats", capsys)
    subjects = re.findall(r'^ {10}"(.*)"$', text, re.MULTILINE)
    assert len(subjects) > 60
    assert [subject for subject in subjects if {"/", "+", "#"} & set(subject)] == []
    assert not re.search(r"allow: \[\s*\]", text)
    display = text.split("# display")[1].split("# console")[0]
    assert 'publish: { deny: [">"] }' in display
    assert "sealed" not in display
    assert "command" not in display
    assert "password: $NOVAMAS_DISPLAY_4" in display


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--client=screen=x"], "carrousel"),
        (["--client=display=a b"], "is not a user name"),
        (["--client=display"], "is not a user name"),
        (["--client=display=x", "--client=console=x"], "x is named twice"),
        (["--client=display=novamas"], "novamas is named twice"),
    ],
)
def test_wrong_clients_are_named(
    given: list[str], expected: str, configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        status = main(["acl", str(configuration), *given])
    except SystemExit as ended:
        status = int(str(ended.code))
    assert status == 2
    assert expected in capsys.readouterr().err


def test_without_clients_there_is_one_of_each_kind(
    configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["acl", str(configuration)]) == 0
    users = re.findall(r"^user (.*)$", capsys.readouterr().out, re.MULTILINE)
    assert users == [
        *("novamas", "display", "console", "surveillance", "carrousel", "webhooks", "integrator")
    ]


def test_a_configuration_with_mistakes_gives_no_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text("[site]\n")
    assert main(["acl", str(file)]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert "site" in output.err
