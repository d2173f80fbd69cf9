"""Every page and heading that a message names exists, and those of ``doctor`` have the answer."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from tests.support.for_each import for_each

ROOT = Path(__file__).resolve().parents[3]
PLACE = re.compile(r"docs/[a-z-]+(?:/[a-z-]+)*/[a-z0-9-]+\.md(?:#[a-z0-9-]+)?")
ANSWERS = {
    "docs/inspector/broker-access.md#mosquitto-from-nothing": (
        *("apt-get install mosquitto", "listener", "password_file", "acl_file"),
        *("systemctl enable --now mosquitto", "journalctl --unit mosquitto", "[broker]"),
    ),
    "docs/integrator/scale.md#set-up-nats": ("2.10.23", "2.12.3", "sync_interval"),
    "docs/technician/systemd.md#install": ("/etc/systemd/system", "systemctl enable"),
    "docs/integrator/commands.md": ("64 KiB",),
    "docs/technician/carrousel-standby.md#when-the-store-or-a-ledger-is-lost": (
        *("step 3", ".checkpoint", ".verified", "novamas carrousel promote"),
    ),
    "docs/engineer/extensions.md#enable-one": ("pip install", "[extensions]"),
}
"""Places that findings of ``doctor`` name, and what must be there."""


@cache
def named_places() -> dict[str, set[str]]:
    """Each place that a string of the program or the catalogue names, and the files that do."""
    found: dict[str, set[str]] = {}
    for package in ("common", "controller", "devices", "simulators", "subscribers"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text()
            for node in ast.walk(ast.parse(text)) if "docs/" in text else ():
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    for place in PLACE.findall(node.value):
                        found.setdefault(place, set()).add(str(path.relative_to(ROOT)))
    remedies = ROOT / "common" / "contract" / "remedies.toml"
    for place in PLACE.findall(remedies.read_text()):
        found.setdefault(place, set()).add(remedies.name)
    return found


def headings(text: str) -> dict[str, str]:
    """The anchors of a page, each with its section."""
    found: dict[str, str] = {}
    parts = re.split(r"^#{1,6} (.+)$", text, flags=re.MULTILINE)
    for heading, section in zip(parts[1::2], parts[2::2], strict=True):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        found[re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")] = section
    return found


def section(place: str) -> str | None:
    """The text at a place. None: there is no such page or heading."""
    page, _, anchor = place.partition("#")
    if not (ROOT / page).is_file():
        return None
    text = (ROOT / page).read_text()
    return headings(text).get(anchor) if anchor else text


def test_places_are_found() -> None:
    assert len(named_places()) > 50
    assert section("docs/technician/no-page.md") is None
    assert section("docs/technician/time.md#no-heading") is None


def test_every_page_and_heading_that_a_message_names_exists() -> None:
    assert {place: by for place, by in named_places().items() if section(place) is None} == {}


def of_the_doctor() -> list[str]:
    return [
        place
        for place, files in sorted(named_places().items())
        if any(file.startswith("controller/doctor/") for file in files)
    ]


def test_no_answer_is_left_of_a_place_that_is_not_named() -> None:
    assert set(of_the_doctor()) == ANSWERS.keys()


@for_each("place", sorted(ANSWERS))
def test_what_doctor_names_has_the_answer(place: str) -> None:
    text = section(place)
    assert text is not None
    assert [word for word in ANSWERS[place] if word not in text] == []
