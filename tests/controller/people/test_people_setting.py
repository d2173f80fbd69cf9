"""``[people]`` of the configuration."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from common.people.register import to_base64url, write_people
from common.people.two_persons import MARKED_BY_DEFAULT, Mark
from controller.configuration.file import load
from controller.configuration.settings import ConfigurationError, PeopleConfig
from tests.support.for_each import for_each
from tests.support.people.staff import SIGNER, SITE_KEY, people, public

BEGIN = """\
[site]
id = "casino-mayor"
[broker]
url = "URL"
"""
TABLE = """
[[table]]
id = "ruleta-1"
game = "roulette-french"
decree = "ARA02"
simulated = SIMULATED
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "tcp://127.0.0.1:4001"
"""
FILE = f'file = "people.jsonl"\nkey = "{to_base64url(SIGNER)}"\n'
REAL, EMBEDDED = "mqtt://127.0.0.1:1883", "embedded://127.0.0.1:1883"


def mistakes(folder: Path, text: str, url: str = REAL, simulated: bool = False) -> list[str]:
    (folder / "people.jsonl").write_bytes(write_people(people(), SITE_KEY))
    file = folder / "novamas.toml"
    table = TABLE.replace("SIMULATED", str(simulated).lower())
    file.write_text(BEGIN.replace("URL", url) + text + table)
    try:
        load(file)
    except ConfigurationError as error:
        return [f"{m.place.partition(': ')[2] or m.place}: {m.what}" for m in error.mistakes]
    return []


def test_a_site_with_its_people(tmp_path: Path) -> None:
    assert mistakes(tmp_path, f"[people]\n{FILE}") == []


@pytest.mark.parametrize(
    ("url", "simulated", "refused"),
    [(REAL, False, True), (REAL, True, False), (EMBEDDED, False, False)],
)
def test_the_section_is_required_where_others_reach_the_broker(
    url: str, simulated: bool, refused: bool, tmp_path: Path
) -> None:
    found = mistakes(tmp_path, "", url, simulated)
    assert bool(found) == refused
    assert all("who may give commands?" in each for each in found)


@pytest.mark.parametrize(
    ("url", "simulated", "required", "refused"),
    [
        (REAL, False, "false", True),
        (REAL, True, "false", False),
        (EMBEDDED, False, "false", False),
        ("mqtts://127.0.0.1:8883", False, "false", True),
        (REAL, False, '"accept-the-risk"', False),
    ],
)
def test_configurations_that_need_no_signatures(
    url: str, simulated: bool, required: str, refused: bool, tmp_path: Path
) -> None:
    found = mistakes(tmp_path, f"[people]\nrequired = {required}\n", url, simulated)
    assert bool(found) == refused
    assert [each for each in found if "accept-the-risk" not in each] == []


@for_each(
    ("text", "message"),
    [
        ("", "people: the key `file` is missing"),
        (f'key = "{to_base64url(SIGNER)}"', "people: the key `file` is missing"),
        ('file = "people.jsonl"', "people: the key `key` is missing"),
        ('file = "people.jsonl"\nkey = "abc"', "people.key: is not a public key"),
        (
            f'file = "people.jsonl"\nkey = "{public("lasa").x}"',
            "not with the site's",
        ),
        (f'file = "nobody"\nkey = "{to_base64url(SIGNER)}"', "nobody: No such file"),
        (FILE + 'required = "no"', "people.required: "),
        (FILE + 'two_persons = ["round.viod"]', "people.two_persons[0]: "),
        (FILE + '[people.may]\n"round.viod" = ["inspector"]', "round.void"),
        (FILE + '[people.may]\n"round.void" = ["croupier"]', "croupier may not have it"),
        (FILE + '[people.may]\n"round.void" = ["croupier"]', "nobody could give it at ruleta-1"),
        (FILE + '[people.may]\n"round.void" = []', "nobody could give it at ruleta-1"),
        (FILE + '[people.may]\n"bets.open" = ["owner"]', "owner may not have it"),
    ],
)
def test_each_mistake_is_reported_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    assert message in "\n".join(mistakes(tmp_path, f"[people]\n{text}\n"))


def test_a_site_restricts_roles(tmp_path: Path) -> None:
    may = '[people.may]\n"round.void" = ["inspector"]\n"recall" = ["reader", "inspector"]\n'
    assert mistakes(tmp_path, f"[people]\n{FILE}two_persons = []\n{may}") == []


def test_commands_that_take_two_by_default() -> None:
    assert PeopleConfig().two_persons == MARKED_BY_DEFAULT == get_args(Mark)
