"""The configuration: how it is read, and every mistake with its line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from common import places, sections
from controller.configuration import settings
from controller.configuration.codec_options import codec_options
from controller.configuration.file import load
from controller.configuration.settings import Configuration, ConfigurationError, Mistake
from devices.drivers import DRIVERS, driver
from tests.support.for_each import for_each

DOCS = Path(__file__).parents[3] / "docs"

GOOD = """\
[site]
id = "casino"
[broker]
url = "embedded://127.0.0.1:1883"
[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "BAL05"
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
"""


def mistakes(folder: Path, text: str) -> list[str]:
    """Return the mistakes in a text, as ``place: what``."""
    file = folder / "novamas.toml"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        load(file)
    return [f"{mistake.place}: {mistake.what}" for mistake in caught.value.mistakes]


def test_a_sound_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STATE_DIRECTORY", raising=False)
    file = tmp_path / "novamas.toml"
    file.write_text(GOOD)
    read = load(file)
    assert read.table[0].device[0].stale_after == 5.0
    assert read.journal.path == str(tmp_path / "journal.sqlite3")
    monkeypatch.setenv("STATE_DIRECTORY", "/var/lib/novamas:/other")
    assert load(file).journal.path == "/var/lib/novamas/journal.sqlite3"
    assert load(file).recordings.path == "/var/lib/novamas/recordings"


def test_the_sample_is_sound() -> None:
    assert len(load(DOCS / "technician" / "novamas.toml").table) == 2


def test_the_tables_of_the_document_on_boards_are_sound(tmp_path: Path) -> None:
    (text,) = re.findall(
        r"```toml\n(.*?)```",
        (DOCS / "engineer" / "board.md").read_text(encoding="utf-8"),
        re.DOTALL,
    )
    (tmp_path / "novamas.toml").write_text(text, encoding="utf-8")
    tables = load(tmp_path / "novamas.toml").table
    assert [(table.game, table.device[0].driver) for table in tables] == [
        ("boule", "boule-board"),
        ("fortune-wheel", "fortune-board"),
        ("craps", "dice-board"),
    ]


@for_each(
    ("before", "after", "message"),
    [
        ('id = "casino"\n', "", "line 1: site: the key `id` is missing"),
        (
            'id = "casino"',
            'id = "casino"\nnod = "a"',
            "line 3: site.nod: unknown key; did you mean `node`?",
        ),
        ('id = "casino"', "id = 7", "line 2: site.id: expected 1 to 48 characters"),
        ('id = "ruleta-1"', 'id = "Ruleta 1"', "line 6: table[0].id: expected 1 to 48 characters"),
        ('id = "ruleta-1"', 'id = "a/b"', "line 6: table[0].id: expected 1 to 48 characters"),
        (
            'id = "ruleta-1"',
            'id = "node"',
            "line 6: table[0].id: 'node' is reserved",
        ),
        (
            'id = "ruleta-1"',
            'id = "jackpot"',
            "line 6: table[0].id: 'jackpot' is reserved",
        ),
        (
            'decree = "BAL05"',
            'decree = "BAL05"\njackpot = "carrousel-1"',
            "line 9: table[0].jackpot: this table has no bet on a jackpot: remove the key",
        ),
        (
            'decree = "BAL05"',
            'decree = "BAL05"\njackpot = "Carrousel 1"',
            "line 9: table[0].jackpot: expected 1 to 48 characters",
        ),
        (
            'id = "wheel"',
            'id = "wheel\\n"',
            "line 10: table[0].device[0].id: expected 1 to 48 characters",
        ),
        (
            "roulette-french",
            "roulete-french",
            "line 7: table[0].game: no game 'roulete-french'; did you mean `roulette-french`?",
        ),
        ('"BAL05"', '"BAL99"', "line 8: table[0].decree: no decree 'BAL99'; did you mean BAL0"),
        ('"BAL05"', '"BAL09"', "line 8: table[0].decree: "),
        ("cammegh-ss2", "camegh", "line 11: table[0].device[0].driver: no driver 'camegh'"),
        ("tcp://127.0.0.1:4001", "127.0.0.1", "line 12: table[0].device[0].link"),
        (
            '"BAL05"',
            '"BAL05"\nspeed = 2.0',
            "line 9: table[0].speed: only a table with `simulated = true`",
        ),
        (
            '"BAL05"',
            '"BAL05"\nsimulated = true\nspeed = 0',
            "line 10: table[0].speed: expected a factor",
        ),
        (
            '"BAL05"',
            '"BAL05"\nsettings = {phase = 1}',
            "line 9: table[0].settings.phase: unknown key; did you mean `phases`?",
        ),
        (
            '"BAL05"',
            '"BAL05"\nsettings.phases = "nobody"',
            "line 9: table[0].settings.phases: expected one of device, person",
        ),
        ('"BAL05"', '"BAL05"\nsettings.pocket_order = [0, 1]', "line 9: table[0].settings: "),
        (
            'id = "wheel"',
            'id = "wheel"\noptions.pocket = 38',
            "line 11: table[0].device[0].options.pocket: unknown key; did you mean `pockets`",
        ),
        (
            'id = "wheel"',
            'id = "wheel"\noptions.pockets = 36',
            "line 11: table[0].device[0].options.pockets",
        ),
        (
            'id = "wheel"',
            'id = "wheel"\noptions.poll = 0.05',
            "line 11: table[0].device[0].options: poll: expected 0 or at least",
        ),
        (
            "tcp://127.0.0.1:4001",
            "usb://0c2e:0b61",
            "line 12: table[0].device[0].link: the driver cammegh-ss2 needs a serial://",
        ),
        *[
            (
                'id = "wheel"',
                f'id = "wheel"\n{key} = "{padded}"',
                (
                    f"line 11: table[0].device[0].{key}: expected 1 to 64 characters on one line, "
                    "without blanks at its ends"
                ),
            )
            for key in ("maker", "model", "serial", "usb_serial")
            for padded in ("A7 ", " A7", "A7\u00a0", " ")
        ],
        (
            'id = "wheel"',
            'id = "wheel"\nstale_after = nan',
            "line 11: table[0].device[0].stale_after: expected seconds",
        ),
        (
            "127.0.0.1:1883",
            "0.0.0.0:1883",
            "line 4: broker.url: the embedded broker listens on 127.0.0.1 only",
        ),
        ("embedded://127.0.0.1:1883", "http://broker", "line 4: broker.url: expected mqtt://"),
        (
            "embedded://127.0.0.1:1883",
            "mqtts://a:b@broker",
            "line 4: broker.url: contains a user name or password",
        ),
        (
            "embedded://127.0.0.1:1883",
            "mqtt://broker:99999",
            "line 4: broker.url: is not an address",
        ),
        (
            "[[table]]",
            'cert_file = "novamas.toml"\n[[table]]',
            "line 5: broker.cert_file: `key_file` is required too",
        ),
        (
            "[[table]]",
            'password_file = "lost"\n[[table]]',
            "line 5: broker.password_file: cannot be read",
        ),
        (
            "[[table]]",
            'password_file = "novamas.toml"\n[[table]]',
            "line 3: broker: a password is set without `username`",
        ),
        (
            "[[table]]",
            '[log]\nformat = "xml"\n[[table]]',
            "line 6: log.format: expected one of json, console, got 'xml'",
        ),
        (
            "[[table]]",
            "[log]\nlevel = 3\n[[table]]",
            "line 6: log.level: expected one of debug, info, warning, error, got 3",
        ),
        ("[[table]]", "log = 3\n[[table]]", "line 5: broker.log: unknown key"),
        (
            "[[table]]",
            "[recordings]\nenabled = 1\n[[table]]",
            "line 6: recordings.enabled: expected true or false, got a whole number",
        ),
        ("[[table]]", "[[table", "line 5, column 8"),
        (
            "[[table]]",
            "[table]",
            (
                "line 5: table: there may be several of these; begin each with double brackets: "
                "[[table]]"
            ),
        ),
        (
            "[[table.device]]",
            "[table.device]",
            (
                "line 9: table[0].device: there may be several of these; begin each with double "
                "brackets"
            ),
        ),
        ('"BAL05"', "BAL05", "line 8, column 10: the value is no text in quotes, number, true"),
        (
            'id = "casino"',
            'id = "casino"\nid = "mayor"',
            "line 3, column 13: this key is already defined: remove one of them",
        ),
        (
            'id = "casino"',
            'id = "casino',
            "line 2, column 13: a quote is not closed",
        ),
        (
            "[[table]]",
            "protocol = 5\n[[table]]",
            "line 5: broker.protocol: expected one of 5, 3.1.1, got 5; put it in quotes",
        ),
        (
            "[[table]]",
            "keepalive = 65536\n[[table]]",
            "line 5: broker.keepalive: expected whole seconds, 1 to 65535, got",
        ),
        (
            'id = "wheel"',
            'id = "wheel"\ncommands = 1',
            "line 11: table[0].device[0].commands: expected true or false, got a whole number",
        ),
        (
            'id = "wheel"',
            'id = "wheel"\noptions.pockets = 38',
            (
                "line 11: table[0].device[0].options.pockets: must be 37: roulette-french has 37 "
                "pockets un"
            ),
        ),
        (
            "cammegh-ss2",
            "angel-eye",
            "line 11: table[0].device[0].driver: the driver angel-eye is for a shoe; roulette-fre",
        ),
        (
            "roulette-french",
            "texas-holdem",
            "line 8: table[0].decree: BAL05 has no game 'texas-holdem'; it has: roulette-french, ",
        ),
    ],
)
def test_a_mistake_is_reported_with_its_place(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    found = mistakes(tmp_path, GOOD.replace(before, after, 1))
    assert any(mistake.startswith(message) for mistake in found), found


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            "keep_days = { info = 30, event = 30 }",
            ["archive.keep_days.info: unknown key; there are: event, sealed, alert, reply,"],
        ),
        ("keep_days = { events = 30 }", ["archive.keep_days.events: unknown key; did you mean"]),
        (
            "keep_days = { event = 29, alert = 'x', sealed = 40 }",
            [
                "archive.keep_days.event: expected whole days, 30 to 36500, got 29",
                "archive.keep_days.alert: expected whole days, 30 to 36500, got 'x'",
            ],
        ),
        ("keep_days = 30", ["archive.keep_days: expected "]),
        ("keys = { pit-1 = 'x' }", ["archive.keys.pit-1: expected "]),
        ("keys = { 'pit 1' = 'x' }", ["archive.keys.pit 1: expected "]),
    ],
)
def test_a_wrong_key_of_a_map_is_named(tmp_path: Path, lines: str, told: list[str]) -> None:
    """And the value, if that is wrong; not the whole map."""
    found = mistakes(tmp_path, f"{GOOD}[archive]\n{lines}\n")
    assert len(found) == len(told), found
    for mistake, expected in zip(found, told, strict=True):
        assert expected in mistake


def test_a_decree_without_poker_says_so(tmp_path: Path) -> None:
    found = mistakes(
        tmp_path, GOOD.replace("roulette-french", "texas-holdem").replace("BAL05", "GAL07")
    )
    assert found[0].startswith(
        "line 8: table[0].decree: GAL07 has no game 'texas-holdem', nor any other of poker; it "
        "has: roulette-"
    )


@for_each(
    "web, message",
    [
        ('tls = "proxy"', "web.tls: `proxies` is required too"),
        ('base = "/novamas"', "web.base: `proxies` is required too"),
        ('base = "/novamas/"\nproxies = ["10.0.0.1"]', "web.base: "),
        ('base = "novamas"\nproxies = ["10.0.0.1"]', "web.base: "),
        ('base = "/../novamas"\nproxies = ["10.0.0.1"]', "web.base: "),
        ('base = "//evil.example"\nproxies = ["10.0.0.1"]', "web.base: "),
        (
            'proxies = ["proxy.example"]',
            "web.proxies[0]: 'proxy.example' is not an address or network",
        ),
        (
            'proxies = ["10.20.0.1/24"]',
            "web.proxies[0]: '10.20.0.1/24' is not an address or network",
        ),
        (
            'tls = "proxy"\nproxies = ["10.0.0.1"]\ncert_file = "c"\nkey_file = "k"',
            "web.tls: `cert_file` is set too",
        ),
    ],
)
def test_a_proxy_is_named_by_its_addresses(tmp_path: Path, web: str, message: str) -> None:
    [found] = mistakes(tmp_path, f"{GOOD}[web]\n{web}\n")
    assert message in found


def test_one_mistake_is_reported_once(tmp_path: Path) -> None:
    for before, after in (
        ("roulette-french", "roulete"),
        ("cammegh-ss2", "camegh"),
        ('id = "wheel"', 'id = "wheel"\noptions.pockets = 36'),
    ):
        assert len(mistakes(tmp_path, GOOD.replace(before, after))) == 1


def test_a_table_has_one_wheel(tmp_path: Path) -> None:
    second = '[[table.device]]\nid = "wheel-2"\ndriver = "saturn"\nlink = "tcp://127.0.0.1:4002"\n'
    [mistake] = mistakes(tmp_path, GOOD + second)
    assert mistake == (
        "line 13: table[0].device[1]: is a second wheel; a table can have only one, and others "
        "with `witness = true`"
    )
    file = tmp_path / "novamas.toml"
    file.write_text(f"{GOOD}{second}witness = true\n")
    assert [device.witness_seconds for device in load(file).table[0].device] == [None, 10.0]


@for_each(
    ("before", "after", "mistake"),
    [
        (
            'id = "wheel"',
            'id = "wheel"\nwitness = true',
            (
                "line 5: table[0]: has only witnesses, which give no result; remove `witness` from "
                "the device that does"
            ),
        ),
        (
            'id = "wheel"',
            'id = "wheel"\nanswers_within = 5.0',
            (
                "line 11: table[0].device[0].answers_within: applies only with `witness = true`; "
                "remove it"
            ),
        ),
    ],
)
def test_a_witness_is_beside_the_device_that_gives_results(
    tmp_path: Path, before: str, after: str, mistake: str
) -> None:
    assert mistakes(tmp_path, GOOD.replace(before, after)) == [mistake]


def test_no_witness_of_cards(tmp_path: Path) -> None:
    shoe = '[[table.device]]\nid = "{}"\ndriver = "bee-tek"\nlink = "tcp://127.0.0.1:{}"\n'
    table = (
        '[[table]]\nid = "pb"\ngame = "punto-banca"\ndecree = "ARA02"\n'
        f"{shoe.format('shoe', 5001)}{shoe.format('camera', 5002)}witness = true\n"
    )
    found = mistakes(tmp_path, f"{GOOD}{table}")
    assert [each for each in found if "second witness" in each] == [
        (
            "line 25: table[1].device[1].witness: punto-banca cannot have a second witness: a "
            "witness of cards could reveal one that is face down; only wheels and craps can; "
            "remove the key"
        )
    ]


def test_the_people_at_a_table_as_a_witness(tmp_path: Path) -> None:
    keypad = GOOD.replace("[[table.device]]", "[table.witness_keypad]\n\n[[table.device]]")
    file = tmp_path / "novamas.toml"
    file.write_text(keypad)
    read = load(file).table[0].witness_keypad
    assert read is not None
    assert read.answers_within == 10.0
    [taken] = mistakes(tmp_path, keypad.replace('id = "wheel"', 'id = "keypad"'))
    assert taken.endswith(
        "with [table.witness_keypad] the id is that of the people at the table; rename it"
    )
    [wrong] = mistakes(tmp_path, keypad.replace("keypad]", "keypad]\nanswers_within = -1.0"))
    assert "answers_within" in wrong
    shoe = (
        '[[table]]\nid = "pb"\ngame = "punto-banca"\ndecree = "ARA02"\n[table.witness_keypad]\n'
        '[[table.device]]\nid = "shoe"\ndriver = "bee-tek"\nlink = "tcp://127.0.0.1:5001"\n'
    )
    found = mistakes(tmp_path, f"{GOOD}{shoe}")
    assert any("witness_keypad: punto-banca cannot have a second witness" in each for each in found)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "novamas.toml").write_text(GOOD, encoding="utf-8-sig")
    assert load(tmp_path / "novamas.toml").site.id == "casino"


def test_all_mistakes_are_reported_at_once(tmp_path: Path) -> None:
    table = GOOD[GOOD.index("[[table]]") :]
    device = GOOD[GOOD.index("[[table.device]]") :]
    assert mistakes(
        tmp_path, f"colour = 1\n{GOOD}{table.replace('cammegh', 'camegh')}{device}speed = 3\n"
    ) == [
        (
            "line 1: colour: unknown key; there are: site, table, journal, clock, surveillance, "
            "recordings, broker, people, web, api, carrousel, jackpot, sign, output, light, "
            "bookmark, video, webhooks, webhook, archive, standby, extensions, metrics, log"
        ),
        "line 15: table[1].id: another table has the id ruleta-1 too",
        "line 20: table[1].device[0].driver: no driver 'camegh-ss2'; did you mean `cammegh-ss2`?",
        "line 21: table[1].device[0].link: another device is on 127.0.0.1:4001 too",
        "line 23: table[1].device[1].id: another device has the id wheel too",
        "line 25: table[1].device[1].link: another device is on 127.0.0.1:4001 too",
        (
            "line 26: table[1].device[1].speed: unknown key; there are: id, driver, link, "
            "commands, tap, witness, answers_within, stale_after, maker, model, serial, "
            "usb_serial, options"
        ),
    ]


def test_all_mistakes_of_one_table_are_reported_at_once(tmp_path: Path) -> None:
    """Also those below a misspelt game or driver, and in one address."""
    text = """\
[site]
id = "casino"
[people]
required = "accept-risk"
may = { "round.viod" = ["inspektor"], "session.open" = ["inspektor"] }
[[table]]
id = "ruleta 1"
game = "roulete-french"
decree = "BAL5"
speed = 3
settings = { phase = "device", phases = "devise" }
[[table.device]]
id = "wheel"
driver = "camegh-ss2"
link = "serial:///dev/x?bad=12&parity=X"
options = { pocket = 37 }
"""
    people = (
        "line 3: people: the key `file` is missing; docs/inspector/people.md says how to make it",
        "line 3: people: the key `key` is missing; docs/inspector/people.md says how to make it",
    )
    assert mistakes(tmp_path, text) == [
        *people,
        (
            "line 4: people.required: expected one of true, false, accept-the-risk, got "
            "'accept-risk'; did you mean `accept-the-risk`?"
        ),
        "line 5: people.may.round.viod: no command 'round.viod'; did you mean `round.void`?",
        (
            "line 5: people.may.round.viod: inspektor may not have it at any table: no role "
            "'inspektor'; did you mean `inspector`?"
        ),
        (
            "line 5: people.may.session.open: inspektor may not have it at any table: no role "
            "'inspektor'; did you mean `inspector`?"
        ),
        (
            "line 7: table[0].id: expected 1 to 48 characters a-z, 0-9 and single hyphens between "
            "them, got 'ruleta 1'"
        ),
        "line 8: table[0].game: no game 'roulete-french'; did you mean `roulette-french`?",
        "line 9: table[0].decree: no decree 'BAL5'; did you mean BAL05 or BAL09?",
        (
            "line 10: table[0].speed: only a table with `simulated = true` may have a speed other "
            "than 1"
        ),
        "line 11: table[0].settings.phase: unknown key; did you mean `phases`?",
        (
            "line 11: table[0].settings.phases: expected one of device, person, got 'devise'; did "
            "you mean `device`?"
        ),
        "line 14: table[0].device[0].driver: no driver 'camegh-ss2'; did you mean `cammegh-ss2`?",
        "line 15: table[0].device[0].link: unknown option 'bad'; did you mean `baud`?",
        "line 15: table[0].device[0].link: parity=X: expected one of N, E, O, M, S",
        "line 16: table[0].device[0].options.pocket: unknown key; did you mean `pockets`?",
    ]


def test_two_names_of_one_port_are_one_link(tmp_path: Path) -> None:
    (tmp_path / "port").symlink_to("/dev/null")
    first = GOOD.replace("tcp://127.0.0.1:4001", "serial:///dev/null")
    other = (
        GOOD[GOOD.index("[[table]]") :]
        .replace("ruleta-1", "ruleta-2")
        .replace("tcp://127.0.0.1:4001", f"serial://{tmp_path}/port?baud=19200")
    )
    assert mistakes(tmp_path, first + other) == [
        "line 20: table[1].device[0].link: another device is on /dev/null too"
    ]


def test_a_wheel_is_asked_where_commands_are_allowed(tmp_path: Path) -> None:
    """The option `ask` follows `commands`, unless it is given; it cannot be without them."""
    asked = {
        "": {},
        "commands = true\n": {"ask": True},
        "commands = true\noptions = { ask = false }\n": {"ask": False},
        "commands = true\noptions = { pockets = 37 }\n": {"ask": True, "pockets": 37},
    }
    for index, (more, options) in enumerate(asked.items()):
        file = tmp_path / f"{index}.toml"
        file.write_text(GOOD + more)
        assert codec_options(load(file).table[0].device[0]) == options
    (mistake,) = mistakes(tmp_path, GOOD + "options = { ask = true }\n")
    assert mistake.endswith("options.ask: needs `commands = true` for this device, or remove it")


def test_commands_need_a_driver_that_has_some(tmp_path: Path) -> None:
    silent = [name for name in DRIVERS if not driver(name).commands and not driver(name).described]
    for name in silent:
        text = GOOD.replace("cammegh-ss2", name) + "commands = true\n"
        assert (
            f"line 13: table[0].device[0].commands: the driver {name} can send no commands; "
            "remove the key" in mistakes(tmp_path, text)
        )


def test_nothing_can_be_sent_to_a_tapped_device(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(GOOD + "tap = true\n")
    assert load(file).table[0].device[0].tap
    assert (
        "line 14: table[0].device[0].tap: nothing is written to a tapped device; remove `commands`"
    ) in mistakes(tmp_path, GOOD + "commands = true\ntap = true\n")
    acceptor = GOOD.replace("cammegh-ss2", "cctalk-acceptor") + "tap = true\n"
    assert any(
        "cctalk-acceptor reads only the answers to its own requests" in mistake
        for mistake in mistakes(tmp_path, acceptor)
    )


@for_each("text", ["", "table = 3", "table = [3]", "site = 1", "[[site]]", "table = []"])
def test_a_wrong_shape_is_reported_without_a_traceback(tmp_path: Path, text: str) -> None:
    assert mistakes(tmp_path, text)


CARDS = (
    GOOD.replace("roulette-french", "trente-et-quarante")
    + f'[surveillance]\npublic_key = "{"ab" * 32}"\n'
)


def on(driver: str, link: str) -> str:
    return CARDS.replace("cammegh-ss2", driver).replace("tcp://127.0.0.1:4001", link)


@pytest.mark.parametrize(
    ("driver", "link", "message"),
    [
        ("barcode-hid", "tcp://127.0.0.1:4001", "barcode-hid needs a usb:// link"),
        ("barcode-serial", "usb://0c2e:0b61", "barcode-serial needs a serial:// link"),
    ],
)
def test_a_link_that_the_driver_cannot_read_is_reported(
    tmp_path: Path, driver: str, link: str, message: str
) -> None:
    assert mistakes(tmp_path, on(driver, link)) == [
        f"line 12: table[0].device[0].link: the driver {message}"
    ]


@pytest.mark.parametrize(
    ("driver", "link"),
    [
        ("barcode-hid", "usb://0c2e:0b61/17"),
        ("barcode-hid", "replay:///a/scanner.rec"),
        ("barcode-serial", "tcp://127.0.0.1:4001"),
    ],
)
def test_a_link_that_the_driver_can_read_is_accepted(
    tmp_path: Path, driver: str, link: str
) -> None:
    (tmp_path / "novamas.toml").write_text(on(driver, link))
    assert load(tmp_path / "novamas.toml").table[0].device[0].link == link


def test_a_table_of_codes_is_checked(tmp_path: Path) -> None:
    text = CARDS.replace('"cammegh-ss2"', '"barcode-serial"\noptions.cards = { H7 = "7h" }')
    [mistake] = mistakes(tmp_path, text)
    assert mistake.startswith("line 12: table[0].device[0].options: cards: add codes for Ac, 2c, ")


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"lost\.toml: file: cannot be read: No such file"):
        load(tmp_path / "lost.toml")
    with pytest.raises(ConfigurationError, match="file: cannot be read: Is a directory"):
        load(tmp_path)
    (tmp_path / "latin").write_bytes(b"# caf\xe9\n")
    with pytest.raises(ConfigurationError, match="byte 6: is not UTF-8"):
        load(tmp_path / "latin")


values = st.recursive(
    st.integers() | st.floats() | st.booleans() | st.text(max_size=5) | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "table", "device", "url", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["site", "table", "broker", "journal", "log", "x"]), values))
def test_reading_never_breaks(given_: dict[str, Any]) -> None:
    notes: sections.Notes = []
    read = sections.read_section(Configuration, given_, (), notes)
    assert isinstance(read.table, tuple)
    try:
        msgspec.convert(given_, Configuration)
    except msgspec.ValidationError:
        assert notes
    else:
        assert not notes


@given(st.data())
def test_a_damaged_file_is_reported_or_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    start, end = (data.draw(st.integers(0, len(GOOD))) for _ in range(2))
    file = tmp_path_factory.getbasetemp() / "damaged.toml"
    file.write_text(
        GOOD[:start] + data.draw(st.text('[]{}=.,"\n\r\\#1ae\u2028\0', max_size=4)) + GOOD[end:]
    )
    told: tuple[Mistake, ...] = ()
    try:
        read = load(file)
    except ConfigurationError as mistaken:
        told = mistaken.mistakes
    else:
        assert read.table
    assert all(mistake.place and mistake.what for mistake in told)


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "[" * 9999,
        "x = " + "9" * 9999,
        "x" + ".x" * 3000 + " = 1",
        "[site]\nid" + ".x" * 900 + " = 1",
        "x = 2025-02-30",
        "\0",
        f"[broker]\nkeepalive = {10**40}",
    ],
)
def test_an_oversized_file_is_reported(tmp_path: Path, text: str) -> None:
    assert mistakes(tmp_path, text)


def test_lines_end_where_toml_says_so(tmp_path: Path) -> None:
    text = (
        GOOD.replace("[[table]]", '[log]\nlevel = "\u2028"\n[[table]]')
        .replace('"wheel"', "7")
        .replace("\n", "\r\n")
    )
    file = tmp_path / "novamas.toml"
    file.write_bytes(text.encode())
    with pytest.raises(ConfigurationError) as caught:
        load(file)
    assert [mistake.place for mistake in caught.value.mistakes] == [
        "line 6: log.level",
        "line 12: table[0].device[0].id",
    ]


def test_lines_of_keys() -> None:
    text = """\
a.b = 1

[x]
list = [
  1,
]
"quoted key" = '''
[no] = header
'''
[[t]]
[[t.u]]
[[t]]
[[t.u]]
[t.u.v]
k = {z = 1}
"""
    found = places.line_numbers(text)
    assert {places.format_path(path): line for path, line in found.items()} == {
        "a": 1, "a.b": 1, "x": 3, "x.list": 4, "x.list[0]": 4, "x.quoted key": 7, "t[0]": 10,
        "t[0].u[0]": 11, "t[1]": 12, "t[1].u[0]": 13, "t[1].u[0].v": 14, "t[1].u[0].v.k": 15,
        "t[1].u[0].v.k.z": 15,
    }  # fmt: skip


def _documented(section: str) -> dict[str, str]:
    """Key and default of the table under a heading of the two pages of the configuration."""
    pages = sorted((DOCS / "technician").glob("configuration*.md"))
    text = "\n".join(page.read_text() for page in pages)
    body = re.split(r"\n#+ ", text.split(f"# {section}\n", 1)[1])[0]
    return dict(re.findall(r"^\| `(\w+)` \| `?(.*?)`? \|", body, re.MULTILINE))


def _documentation_of(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    default = (
        field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
    )
    return "none" if default is None else msgspec.json.encode(default).decode()


@for_each(
    ("section", "kind"),
    [
        ("[site]", settings.SiteConfig),
        ("[journal]", settings.JournalConfig),
        ("[surveillance]", settings.SurveillanceConfig),
        ("[recordings]", settings.RecordingsConfig),
        ("[broker]", settings.BrokerConfig),
        ("[people]", settings.PeopleConfig),
        ("[web]", settings.WebConfig),
        ("[carrousel]", settings.CarrouselConfig),
        ("[[jackpot]]", settings.JackpotConfig),
        ("[[sign]]", settings.SignConfig),
        ("[[output]]", settings.OutputConfig),
        ("[[light]]", settings.LightConfig),
        ("[[light.scene]]", settings.LightScene),
        ("[archive]", settings.ArchiveConfig),
        ("[[archive.site]]", settings.ArchiveSite),
        ("[[bookmark]]", settings.BookmarkConfig),
        ("[video]", settings.VideoConfig),
        ("[log]", settings.LogConfig),
        ("[[table]]", settings.TableConfig),
        ("[[table.device]]", settings.DeviceConfig),
        ("[table.witness_keypad]", settings.WitnessKeypadConfig),
    ],
)
def test_the_document_has_every_key_and_default(section: str, kind: type[msgspec.Struct]) -> None:
    assert _documented(section) == {
        field.encode_name: _documentation_of(field) for field in msgspec.structs.fields(kind)
    }


def test_the_document_has_every_section() -> None:
    sections = {
        get_args(field.type)[0] if get_args(field.type) else field.type
        for field in msgspec.structs.fields(Configuration)
    }
    assert sections == {
        settings.SiteConfig,
        settings.TableConfig,
        settings.JournalConfig,
        settings.ClockConfig,
        settings.SurveillanceConfig,
        settings.RecordingsConfig,
        settings.BrokerConfig,
        settings.PeopleConfig,
        settings.WebConfig,
        settings.ApiConfig,
        settings.CarrouselConfig,
        settings.ArchiveConfig,
        settings.StandbyConfig,
        settings.ExtensionsConfig,
        settings.MetricsConfig,
        settings.JackpotConfig,
        settings.SignConfig,
        settings.OutputConfig,
        settings.LightConfig,
        settings.BookmarkConfig,
        settings.VideoConfig,
        settings.WebhooksConfig,
        settings.WebhookConfig,
        settings.LogConfig,
    }


POKER = """\
[site]
id = "casino"
[broker]
url = "embedded://127.0.0.1:1883"
[[table]]
id = "poker-1"
game = "poker-no-draw"
decree = "EUS96"
simulated = true
{more}
[[table.device]]
id = "slots"
driver = "slot-board"
link = "serial:///dev/null?baud=115200"
"""


def test_a_table_with_a_jackpot_may_be_linked_with_it(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    settings = 'settings = { jackpot_stake = 5.00, out_of_play = "mark" }'
    file.write_text(POKER.format(more=f'jackpot = "carrousel-1"\n{settings}'))
    assert load(file).table[0].jackpot == "carrousel-1"
    assert mistakes(tmp_path, POKER.format(more='jackpot = "carrousel-1"')) == [
        (
            "line 10: table[0].jackpot: this table has no bet on a jackpot: set jackpot_stake in "
            "its settings, or remove the key"
        )
    ]
    assert mistakes(tmp_path, POKER.format(more=f'jackpot = "command"\n{settings}')) == [
        ("line 10: table[0].jackpot: 'command' is reserved for topics of tables; choose another id")
    ]
    assert mistakes(tmp_path, POKER.format(more=settings)) == [
        (
            "line 10: table[0].settings.out_of_play: the table is not linked to a jackpot; set "
            "`jackpot`, or remove this key"
        )
    ]
