"""A profile in the configuration: found beside it, checked with it, and stored in it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from controller.configuration.file import load
from controller.configuration.settings import ConfigurationError
from controller.journal.setup import Boot, boot
from devices.drivers import driver
from tests.support.devices.described import FOLDER
from tests.support.for_each import for_each

ROTA = (FOLDER / "acme-rota.toml").read_text()
PEOPLE = """[people]
required = "accept-the-risk"
"""
DEVICE = 'driver = "profile"\noptions.file = "rota.toml"\nlink = "tcp://127.0.0.1:4001"\n'
GOOD = f"""\
[site]
id = "casino"
[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "ARA02"
[[table.device]]
id = "wheel"
{DEVICE}"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "rota.toml").write_text(ROTA)
    made = tmp_path / "novamas.toml"
    made.write_text(GOOD + PEOPLE)
    return made


def mistakes(file: Path) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load(file)
    return [f"{mistake.place}: {mistake.what}" for mistake in caught.value.mistakes]


def test_a_profile_is_found_beside_the_configuration_and_its_text_is_stored(file: Path) -> None:
    options = load(file).table[0].device[0].options
    assert options == {"file": str(file.parent / "rota.toml"), "text": ROTA}


def test_the_journal_stores_the_profile_that_decoded_its_readings(file: Path) -> None:
    [device] = msgspec.json.decode(boot(load(file), None), type=Boot).tables[0].devices
    (file.parent / "rota.toml").unlink()
    known = driver(device.driver)
    codec = known.make("wheel", msgspec.convert(device.options, known.options))
    assert codec.feed(b"\x0220N17004\x037D", 1.0)


@for_each(
    ("before", "after", "message"),
    [
        (
            'options.file = "rota.toml"\n',
            "",
            (
                "line 7: table[0].device[0].options: the key `file` is missing; name the profile's "
                "file"
            ),
        ),
        ('"rota.toml"', '"lost.toml"', "lost.toml: cannot be read: No such file or directory"),
        (
            '"rota.toml"',
            '"/dev/zero"',
            "/dev/zero: too large for a profile, which has at most 65536 bytes",
        ),
        ('"rota.toml"', "3", "line 10: table[0].device[0].options: the key `file` is missing"),
        (
            '"rota.toml"',
            '"rota.toml"\noptions.fil = 3',
            "line 11: table[0].device[0].options.fil: unknown key; did you mean `file`?",
        ),
        (
            '"rota.toml"',
            '"rota.toml"\noptions.text = "x"',
            (
                "line 11: table[0].device[0].options.text: is not a key; name the profile's file "
                "in `file`"
            ),
        ),
        (
            "tcp://127.0.0.1:4001",
            "usb://0c2e:0b61",
            "line 11: table[0].device[0].link: the driver acme-rota needs a serial:// link",
        ),
    ],
)
def test_a_mistake_in_the_configuration_is_reported(
    file: Path, before: str, after: str, message: str
) -> None:
    file.write_text(GOOD.replace(before, after) + PEOPLE)
    assert any(message in mistake for mistake in mistakes(file)), mistakes(file)


def test_a_mistake_in_the_profile_is_reported_at_its_line_there(file: Path) -> None:
    profile = file.parent / "rota.toml"
    profile.write_text(ROTA.replace('changed = ["phase", "late"]', 'changed = ["fase", "late"]'))
    line = ROTA[: ROTA.index('changed = ["phase", "late"]')].count("\n") + 1
    [mistake] = mistakes(file)
    assert mistake.startswith(
        f"line 10: table[0].device[0].options.file: {profile}:{line}: message[0].say[0].changed: "
        "no field 'fase'"
    )


def test_commands_need_a_profile_that_lists_some(file: Path) -> None:
    file.write_text(GOOD + "commands = true\n" + PEOPLE)
    load(file)
    (file.parent / "rota.toml").write_text(ROTA[: ROTA.index("[command.start]")])
    assert mistakes(file) == [
        (
            "line 12: table[0].device[0].commands: the driver acme-rota can send no commands; "
            "remove the key"
        )
    ]


def test_a_profile_of_a_usb_device_needs_such_a_link(file: Path) -> None:
    usb = ROTA.replace('line = "baud=19200&parity=E"', 'scheme = "usb"\nline = "read=82&write=02"')
    (file.parent / "rota.toml").write_text(usb)
    assert mistakes(file) == [
        "line 11: table[0].device[0].link: the driver acme-rota needs a usb:// link"
    ]
    file.write_text(
        GOOD.replace("tcp://127.0.0.1:4001", "usb://0c2e:0b61/17?read=82&write=02") + PEOPLE
    )
    load(file)
