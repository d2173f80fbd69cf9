"""Generates the vocabulary: Markdown pages with the type and meaning of every name on the wire.

The source is the JSON Schemas, which take each meaning from the docstrings of the types.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import msgspec

from common.contract.command_fields import Command
from common.contract.event_fields import Event
from common.contract.events import EVENTS
from common.contract.orders import DeviceOrder, Recall
from common.contract.retained import Leaf
from common.contract.schemas import FAMILIES, SENDER, Schema, markdown, schemas, structs
from common.contract.word_lists import introductions, irregularity_lists, word_lists
from common.readings import Reading

GENERATED_NOTE = (
    "<!-- Written by `novamas schemas docs/integrator` from the types: change those. -->"
)
TABLE_HEAD = "| Field | Type | Default | Meaning |\n|---|---|---|---|"

BASES: Mapping[type[msgspec.Struct], str] = {
    Reading: "every reading",
    Command: "every command",
    Event: "every event",
    Leaf: "every retained topic",
}
"""Base types whose fields are described once, not again for each subtype."""

ENVELOPE_NOTE = "Beside their own fields these have those of [every event](events.md#every-event)."

PAGES: Mapping[str, tuple[str, str]] = {
    "readings": (
        "Readings",
        """\
Reports of devices. The journal stores readings, `novamas decode` prints them and `novamas play`
reads them; they are not published.""",
    ),
    "commands": (
        "Commands",
        """\
Commands of persons. Over MQTT the topic names the command and the table stamps it, so the body has
neither `type` nor `at`; [orders](orders.md) has the further fields of a body.
[forms.md](../forms.md#which-game-takes-which-command) lists which game accepts which command.""",
    ),
    "orders": (
        "Orders and replies",
        """\
The fields of a command message besides those of the command, the two commands that are handled by
the daemon and not by the game, and the reply.""",
    ),
    "events": (
        "Events",
        """\
The events on a table's topic `event`: the envelope, and parts of several events. The events
themselves are on the pages of [sessions and rounds](events-rounds.md), [cards](events-cards.md),
[dice](events-dice.md) and [alerts and devices](events-devices.md).""",
    ),
    "events-rounds": ("Events of sessions and rounds", ENVELOPE_NOTE),
    "events-cards": ("Events of cards", ENVELOPE_NOTE),
    "events-dice": ("Events of dice", ENVELOPE_NOTE),
    "events-devices": ("Events of alerts and devices", ENVELOPE_NOTE),
    "outcomes": (
        "Outcomes",
        """\
The outcome of a round: `outcome` in `round.result`, in `result.corrected` and in a result in the
topic `history`. Its `family` names its shape; games with the same outcome are one family: all
baccarat, all poker between players, all poker against the house.""",
    ),
    "retained": (
        "Retained topics of a table",
        """\
`result` holds the last `round.result`, the `result.corrected` that replaces it, or `null`.
[What each game shows](shown.md) is below `shown` in `state`.""",
    ),
    "shown": (
        "What each game shows",
        """\
The retained topic `state` has the state of the game below `shown`; its `view` names its shape. All
fields are always there. Only face-up cards are shown: a face-down card is `null`.""",
    ),
    "history": (
        "History",
        "The lines of the retained topic `history`. `kind` names how the round ended.",
    ),
    "node": ("Retained topics of a daemon", "The topics below `node/<node>/`."),
    "motion": (
        "Motion",
        """\
The topic `motion`, for pictures that move with the wheel: see
[topics.md](../topics.md#what-moves).""",
    ),
    "sealed": (
        "Sealed",
        """\
Face-down cards, for surveillance only: see [sealed.md](../sealed.md).""",
    ),
}
"""Page -> title and introduction. A module without an entry here has its own page."""

PAGE_BY_MODULE: Mapping[str, str] = {
    "common.readings": "readings",
    "common.device_health": "node",
    "devices.codec": "node",
    "common.contract.command_fields": "commands",
    "common.contract.commands": "commands",
    "common.contract.orders": "orders",
    "common.contract.refusals": "orders",
    "common.contract.event_fields": "events",
    "common.contract.events": "events-rounds",
    "common.contract.card_events": "events-cards",
    "common.contract.dice_events": "events-dice",
    "common.contract.outcomes": "outcomes",
    "common.contract.retained": "retained",
    "common.contract.history": "history",
    "common.contract.motion": "motion",
    "common.contract.node": "node",
    "common.contract.sealed": "sealed",
}
"""Module -> the page of its types."""

DEVICE_EVENT_PREFIXES = ("journal", "alert", "clock", "device", "data")
"""Events of ``common.contract.events`` that are not about sessions and rounds, by the first
part of their name.
"""

MAX_NAMED_TYPES = 3
"""Maximum number of types that are named in one field; for more, the field links to their page."""

WORDS, IRREGULARITIES = "words", "irregularities"


class Section(NamedTuple):
    """One type on a page."""

    kind: type[msgspec.Struct]
    schema: Schema

    @property
    def heading(self) -> str:
        """The name on the wire, or that of the type."""
        return f"`{_name(self.kind)}`"


def pages() -> dict[str, bytes]:
    """The generated pages: path below ``docs/integrator/`` -> content."""
    sections = _sections()
    written = {name: _page(name, found) for name, found in sections.items()}
    written[WORDS] = _words()
    written[IRREGULARITIES] = _irregularities()
    written["README"] = _index(written)
    return {f"vocabulary/{name}.md": text.encode() for name, text in written.items()}


@cache
def _sections() -> Mapping[str, list[Section]]:
    """Return the types of each page, in the order of the families. The body of an order is
    described once, as the command.
    """
    found: dict[str, dict[str, Section]] = {name: {} for name in PAGES}
    for family, (_, types) in FAMILIES.items():
        components = schemas()[family]["$defs"]
        for name, kind in structs(*types).items():
            if family != "orders" or not issubclass(kind, Command):
                found.setdefault(_page_of(kind), {}).setdefault(
                    name, Section(kind, components[name])
                )
    return {page: list(by_name.values()) for page, by_name in found.items()}


@cache
def _kinds() -> Mapping[str, type[msgspec.Struct]]:
    """Return all types by their names in the schemas. Two types are named ``RoundVoid``, a command
    and an event, and no field refers to them: only one of them is here.
    """
    return {name: kind for _, types in FAMILIES.values() for name, kind in structs(*types).items()}


def _page_of(kind: type[msgspec.Struct]) -> str:
    """Return the name of the page that describes a type."""
    if issubclass(kind, Event) and _name(kind).partition(".")[0] in DEVICE_EVENT_PREFIXES:
        return "events-devices"
    return PAGE_BY_MODULE.get(kind.__module__, kind.__module__.rpartition(".")[2].replace("_", "-"))


def _name(kind: type[msgspec.Struct]) -> str:
    """Return the name of a reading, command or event on the wire; else the name in the schemas."""
    tag = kind.__struct_config__.tag
    named = issubclass(kind, Reading | Command | Event) and tag is not None
    return str(tag) if named else kind.__name__


def _title(page: str, sections: list[Section]) -> tuple[str, str]:
    if page in PAGES:
        return PAGES[page]
    introduction = sys.modules[sections[0].kind.__module__].__doc__ or ""
    return page.replace("-", " ").capitalize(), " ".join(markdown(introduction).split())


def _page(page: str, sections: list[Section]) -> str:
    title, about = _title(page, sections)
    parts = {
        **dict(_shared(page)),
        **{section.heading: _section(section) for section in sections},
    }
    return _written(title, about, parts)


def _shared(page: str) -> Iterator[tuple[str, str]]:
    """Yield the sections of a page about fields that all its types have."""
    for base, heading in BASES.items():
        if _page_of(base) == page:
            schema = next(
                section.schema
                for sections in _sections().values()
                for section in sections
                if issubclass(section.kind, base)
            )
            own = {field.encode_name for field in msgspec.structs.fields(base)}
            yield heading, _table(schema, [name for name in schema["properties"] if name in own])
    if page == "orders":
        yield "every order", _table({"properties": SENDER}, list(SENDER))


def _section(section: Section) -> str:
    shared = {
        field.encode_name
        for base in BASES
        if issubclass(section.kind, base)
        for field in msgspec.structs.fields(base)
    }
    if issubclass(section.kind, Reading | Command | Event):
        shared.add("type")
    if section.kind in (DeviceOrder, Recall):
        shared |= SENDER.keys()
    own = [name for name in section.schema["properties"] if name not in shared]
    meaning = " ".join(section.schema["description"].split())
    fields = _table(section.schema, own) if own else "No fields of its own."
    return f"{_linked(meaning)}\n\n{fields}"


def _table(schema: Schema, names: list[str]) -> str:
    required = schema.get("required", [])
    return "\n".join(
        [TABLE_HEAD, *(_row(schema["properties"][name], name, required) for name in names)]
    )


def _row(field: Schema, name: str, required: list[str]) -> str:
    if name in required:
        default = "required"
    elif "default" in field:
        default = f"`{json.dumps(field['default'], ensure_ascii=False)}`"
    else:
        default = "none"
    meaning = _linked(field.get("description", ""))
    return f"| `{name}` | {_kind(field)} | {default} | {meaning} |"


def _kind(field: Schema) -> str:
    """Describe a JSON type in words. An enumeration links to the meanings of its words."""
    if "anyOf" in field:
        options = field["anyOf"]
        named = {option["$ref"].rpartition("/")[2] for option in options if "$ref" in option}
        if named == {event.__name__ for event in EVENTS}:
            return "[event](events.md)"
        rooms = {_page_of(_kinds()[name]) for name in named}
        if len(named) > MAX_NAMED_TYPES and len(rooms) == 1:
            return f"one of {' '.join(f'[{room}]({room}.md)' for room in rooms)}"
        return " or ".join(_kind(option) for option in options)
    if "$ref" in field:
        return _link(field["$ref"].rpartition("/")[2])
    if "enum" in field:
        return _word(field["enum"])
    match field.get("type"):
        case "array" if "prefixItems" in field:
            return f"pair of {_kind(field['prefixItems'][0])}"
        case "array":
            return f"list of {_kind(field['items'])}"
        case "object" if field.get("additionalProperties"):
            return f"map to {_kind(field['additionalProperties'])}"
        case None:
            return "any"
        case plain:
            return str(plain)


def _word(words: list[Any]) -> str:
    null = " or null" if None in words else ""
    listed = {word for word in words if word is not None}
    for name, meanings in word_lists().items():
        if meanings.keys() == listed:
            return f"[{name}]({WORDS}.md#{anchor(name)}){null}"
    return " or ".join(f"`{word}`" for word in words if word is not None) + null


def _link(name: str) -> str:
    """Return a link to a type by its name in the schemas."""
    kind = _kinds()[name]
    return f"[{name}]({_page_of(kind)}.md#{anchor(_name(kind))})"


def _linked(text: str) -> str:
    """Replace the names of pages by links, and escape bars, which would end a cell."""
    text = re.sub(r"docs/integrator/vocabulary/([a-z-]+)\.md", r"[\1](\1.md)", text)
    return re.sub(r"docs/([a-z-]+/)([a-z-]+\.md)", r"[\2](../../\1\2)", text).replace("|", "\\|")


def anchor(heading: str) -> str:
    """Return the fragment of a heading in a URL."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _words() -> str:
    about = (
        "Text out of a list, and what each word means. What people read instead is in the "
        "catalogue of messages: [words.md](../words.md)."
    )
    return _written("Words", about, {name: _list(words) for name, words in word_lists().items()})


def _irregularities() -> str:
    about = (
        "The values of `what` in `irregularity` events, game by game, and in alerts. Events and "
        "alerts carry more in `detail`."
    )
    intros = introductions()
    return _written(
        "Irregularities and alerts",
        about,
        {
            name: (f"{intros[name]}\n\n" if name in intros else "") + _list(words)
            for name, words in irregularity_lists().items()
        },
    )


def _list(words: Mapping[str, str]) -> str:
    rows = [f"| `{word}` | {meaning} |" for word, meaning in words.items()]
    return "\n".join(["| Word | Meaning |\n|---|---|", *rows])


def _written(title: str, about: str, parts: Mapping[str, str]) -> str:
    contents = "\n".join(f"- [{heading}](#{anchor(heading)})" for heading in parts)
    body = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts.items())
    return f"# {title}\n\n{GENERATED_NOTE}\n\n{about}\n\n{contents}\n\n{body}\n"


INDEX = """\
Every name on the wire: a name that is not here is not sent.

Messages are JSON objects. *Default* is what a missing field means: `required` stands for a field
that is never missing, `none` for one that is missing where it does not apply to the game or the
sender. Ignore fields and events that you do not know: new ones may come within this version.

Times are UTC. Money is an integer of minor units: 500 is 5.00 EUR. A pocket of a wheel is an
integer, or a string where the wheel has more than one zero. A card is two characters, rank `A 2 3
4 5 6 7 8 9 T J Q K` and suit `c d h s`; the joker is `X`. A hand is named `player`, `banker`,
`dealer`, `cloth:1`, `box:3`, `seat:2` or, after a split, `box:3.2`.

All pages are written from the types by `novamas schemas docs/integrator`."""


def _index(written: Mapping[str, str]) -> str:
    parts = {}
    for name, text in written.items():
        title = text.partition("\n")[0].removeprefix("# ")
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        links = ", ".join(f"[{heading}]({name}.md#{anchor(heading)})" for heading in headings)
        parts[title] = f"[{name}.md]({name}.md): {links}."
    return _written("Vocabulary", INDEX, parts)
