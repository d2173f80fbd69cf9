"""The pages of profiles have every key with its default, and the example is the one of the tests."""

from __future__ import annotations

import re

import msgspec

from devices.profiles import language
from devices.profiles.checksums import NAMED_CRCS
from tests.support import contract
from tests.support.devices.described import FOLDER
from tests.support.for_each import for_each

TEXT = "\n".join(
    (contract.DOCS / "technician" / page).read_text()
    for page in ("profiles.md", "profiles-reference.md")
)
SECTIONS = {
    "The file": language.Profile,
    "[framing]": language.FramingSpec,
    "[checksum]": language.ChecksumSpec,
    "[checksum.crc]": language.CrcSpec,
    "[sequence]": language.SequenceSpec,
    "[pace]": language.PaceSpec,
    "Fields": language.FieldSpec,
    "[[message]]": language.MessageSpec,
    "[[say]] and [[message.say]]": language.ReadingSpec,
    "[[poll]]": language.PollSpec,
    "[command.NAME]": language.CommandSpec,
}


def told(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "required"
    default = (
        field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    )
    if isinstance(default, msgspec.Struct):
        return ""
    return "none" if default is None else msgspec.json.encode(default).decode().replace(",", ", ")


@for_each(("section", "kind"), SECTIONS.items())
def test_every_key_is_reported_with_its_default(section: str, kind: type[msgspec.Struct]) -> None:
    [body] = re.findall(
        rf"^### {re.escape(section)}\n(.*?)(?=^##|\Z)", TEXT, re.MULTILINE | re.DOTALL
    )
    rows = [re.split(r" ?\| ?", line)[1:3] for line in body.splitlines() if line.startswith("| `")]
    assert {key.strip("`"): default.strip("`") for key, default in rows} == {
        field.encode_name: told(field) for field in msgspec.structs.fields(kind)
    }


def test_the_checks_that_are_named_exist() -> None:
    [body] = re.findall(r"^### \[checksum\]\n(.*?)^###", TEXT, re.MULTILINE | re.DOTALL)
    named = re.findall(r"`(crc\d[^`]*)`", body)
    assert len(named) > 8
    assert [name for name in named if name not in NAMED_CRCS] == []


def test_the_example_is_the_one_of_the_tests() -> None:
    profile, configuration = re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert profile == (FOLDER / "acme-rota.toml").read_text()
    assert 'driver = "profile"' in configuration


def test_the_camera_of_the_page_of_witnesses_is_the_one_of_the_tests() -> None:
    page = (contract.DOCS / "technician" / "witness.md").read_text()
    assert f"```toml\n{(FOLDER / 'idp-roulette.toml').read_text()}```" in page


def test_the_camera_of_the_page_of_devices_that_post_is_the_one_of_the_tests() -> None:
    page = (contract.DOCS / "technician" / "http-device.md").read_text()
    assert f"```toml\n{(FOLDER / 'idp-roulette-http.toml').read_text()}```" in page


def test_the_readings_of_the_example_are_those_of_the_recording() -> None:
    golden = (
        (FOLDER.parent / "recordings" / "acme-rota-spins.readings.jsonl").read_text().splitlines()
    )
    shown = re.findall(r'^\{"type".*', TEXT, re.MULTILINE)
    assert len(shown) == 2
    assert [line for line in shown if line not in golden] == []
