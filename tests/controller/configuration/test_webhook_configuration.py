"""Webhooks and extensions in the configuration: every mistake about them, with its text."""

from __future__ import annotations

from pathlib import Path

from controller.configuration.file import load
from tests.controller.configuration.test_configuration import mistakes
from tests.controller.configuration.test_picture_configuration import HEAD
from tests.support.for_each import for_each

SOUND = (
    HEAD
    + """
[webhooks]
username = "shop"
[[webhook]]
id = "shop"
address = "https://shop.example/novamas?table=1"
secret_file = "shop.secret"
events = ["round.result"]
"""
)


def test_paths_are_beside_the_file_and_the_outbox_is_state(tmp_path: Path) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(SOUND)
    read = load(file)
    assert read.webhook[0].secret_file == str(tmp_path / "shop.secret")
    assert read.webhooks.path == str(tmp_path / "webhooks.sqlite3")


@for_each(
    ("before", "after", "told"),
    [
        ('"https://shop', '"ftp://shop', "webhook[0].address: write https://host/path"),
        ('"https://shop', '"https://user:pw@shop', "contains a user name or password"),
        ("?table=1", "#table", "has a fragment, blanks or other letters"),
        ("?table=1", "?table=\u00f1", "has a fragment, blanks or other letters"),
        ("shop.example", "shop.example:x", "webhook[0].address: is not an address"),
        (
            'address = "https://shop.example/novamas?table=1"\n',
            "",
            "one of `address`, `address_file`, `address_credential` is required",
        ),
        (
            'secret_file = "shop.secret"\n',
            "",
            "`novamas webhooks secret FILE` makes a key; name it as `secret_file`",
        ),
        (
            'secret_file = "shop.secret"',
            'secret_file = "a"\nsecret_credential = "b"',
            "webhook[0].secret_credential: `secret_file` is set too; remove one of them",
        ),
        ('"round.result"', '"round.results"', "did you mean `round.result`?"),
        (
            "[webhooks]\n",
            '[webhooks]\nnode = "node-1"\n',
            "webhooks.node: 'node-1' is the node of the daemon; choose another id",
        ),
        (
            "[webhooks]\n",
            '[webhooks]\nrecall_key = "key"\n',
            "webhooks.recall_key: `recall_passphrase_file` or `recall_passphrase_credential`",
        ),
        (
            'id = "shop"\naddress',
            'id = "shop"\nadapter = "acme"\naddress',
            "webhook[0].adapter: add 'acme' to `webhooks` of [extensions], which enables it",
        ),
        (
            "[webhooks]",
            '[extensions]\ndrivers = ["absent"]\n[webhooks]',
            "extensions.drivers[0]: extension absent: no installed package offers it",
        ),
        (
            "[webhooks]",
            '[extensions]\ndrivers = ["saturn"]\n[webhooks]',
            "a driver of novamas has this name, and no extension replaces it",
        ),
        ("[webhooks]", "[extensions]\ndrivers = 3\n[webhooks]", "extensions.drivers: "),
    ],
)
def test_a_mistake_is_named_with_its_place(
    tmp_path: Path, before: str, after: str, told: str
) -> None:
    assert before in SOUND
    found = mistakes(tmp_path, SOUND.replace(before, after, 1))
    assert [line for line in found if told in line], found


def test_two_webhooks_have_two_ids(tmp_path: Path) -> None:
    again = SOUND.partition("[[webhook]]")[2]
    [told] = mistakes(tmp_path, f"{SOUND}[[webhook]]{again}")
    assert "another webhook has the id shop too" in told
