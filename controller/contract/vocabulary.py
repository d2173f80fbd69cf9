"""The vocabulary: pages of Markdown that give every name on the wire with its type and meaning.

They are written from the JSON Schemas, which take each meaning from the docstrings of the types.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

import msgspec

from controller.contract.command_fields import Command
from controller.contract.event_fields import Event
from controller.contract.events import EVENTS
from controller.contract.orders import DeviceOrder, Recall
from controller.contract.retained import Leaf
from controller.contract.schemas import FAMILIES, SENDER, Schema, markdown, schemas, structs
from controller.contract.word_lists import introductions, irregularity_lists, word_lists
from devices.readings import Reading

MARK = "<!-- Written by `novamas schemas docs/integrator` from the types: change those. -->"
HEAD = "| Field | Type | Default | Meaning |\n|---|---|---|---|"

BASES: Mapping[type[msgspec.Struct], str] = {
    Reading: "every reading",
    Command: "every command",
    Event: "every event",
    Leaf: "every retained topic",
}
"""Types whose fields all types below them have: they are described once."""

ENVELOPED = "Beside their own fields these have those of [every event](events.md#every-event)."

PAGES: Mapping[str, tuple[str, str]] = {
    "readings": (
        "Readings",
        """\
What a device reports. The journal holds readings, `novamas decode` prints them and `novamas play`
reads them; none is published.""",
    ),
    "commands": (
        "Commands",
        """\
What a person orders. Over MQTT the topic names the command and the table stamps it, so the body has
neither `type` nor `at`; [orders](orders.md) has what a body may have besides.
[forms.md](../forms.md#which-game-takes-which-command) says which game takes which command.""",
    ),
    "orders": (
        "Orders and replies",
        """\
What a command message has besides the command, the two commands that are to the daemon and not to
the game, and the reply.""",
    ),
    "events": (
        "Events",
        """\
What a table says on its topic `event`: the envelope, and parts of several events. The events
themselves are on the pages of [sessions and rounds](events-rounds.md), [cards](events-cards.md),
[dice](events-dice.md) and [alerts and devices](events-devices.md).""",
    ),
    "events-rounds": ("Events of sessions and rounds", ENVELOPED),
    "events-cards": ("Events of cards", ENVELOPED),
    "events-dice": ("Events of dice", ENVELOPED),
    "events-devices": ("Events of alerts and devices", ENVELOPED),
    "outcomes": (
        "Outcomes",
        """\
What a round came to: the `outcome` of `round.result`, of `result.corrected` and of a result in the
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
The retained topic `state` has below `shown` what the game shows of itself; its `view` names its
shape. All fields are always there. Cards are shown only where they are face up: a card that is face
down is `null`.""",
    ),
    "history": (
        "History",
        "The lines of the retained topic `history`. `kind` names what became of the round.",
    ),
    "node": ("Retained topics of a daemon", "The topics below `node/<node>/`."),
    "sealed": (
        "Sealed",
        """\
What is face down, for surveillance alone: see [sealed.md](../sealed.md).""",
    ),
}
"""Page -> title and introduction. A module that is not among them has a page of its own."""

ROOMS: Mapping[str, str] = {
    "devices.readings": "readings",
    "devices.health": "node",
    "devices.codec": "node",
    "controller.contract.command_fields": "commands",
    "controller.contract.commands": "commands",
    "controller.contract.orders": "orders",
    "controller.contract.refusals": "orders",
    "controller.contract.event_fields": "events",
    "controller.contract.events": "events-rounds",
    "controller.contract.card_events": "events-cards",
    "controller.contract.dice_events": "events-dice",
    "controller.contract.outcomes": "outcomes",
    "controller.contract.retained": "retained",
    "controller.contract.history": "history",
    "controller.contract.node": "node",
    "controller.contract.sealed": "sealed",
}
"""Module -> the page of its types."""

OF_DEVICES = ("journal", "alert", "clock", "device", "data")
"""Events of ``controller.contract.events`` that are not about sessions and rounds, by the first
part of their name.
"""

FEW = 3
"""So many types are named in one field; of more the page is named that has them."""

WORDS, IRREGULARITIES = "words", "irregularities"


class Section(NamedTuple):
    """One type on a page."""

    kind: type[msgspec.Struct]
    schema: Schema

    @property
    def heading(self) -> str:
        """The wire's name, or that of the type."""
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
    """Every type under its page, in the order of the families. The body of an order is described as
    the command that it is.
    """
    found: dict[str, dict[str, Section]] = {name: {} for name in PAGES}
    for family, (_, types) in FAMILIES.items():
        components = schemas()[family]["$defs"]
        for name, kind in structs(*types).items():
            if family != "orders" or not issubclass(kind, Command):
                found.setdefault(_room(kind), {}).setdefault(name, Section(kind, components[name]))
    return {page: list(of.values()) for page, of in found.items()}


@cache
def _kinds() -> Mapping[str, type[msgspec.Struct]]:
    """The types that fields refer to, and more, by their names in the schemas. Of the command and
    the event ``RoundVoid``, to which no field refers, one is here.
    """
    return {name: kind for _, types in FAMILIES.values() for name, kind in structs(*types).items()}


def _room(kind: type[msgspec.Struct]) -> str:
    """The page that a type is on."""
    if issubclass(kind, Event) and _name(kind).partition(".")[0] in OF_DEVICES:
        return "events-devices"
    return ROOMS.get(kind.__module__, kind.__module__.rpartition(".")[2].replace("_", "-"))


def _name(kind: type[msgspec.Struct]) -> str:
    """The wire's name of a reading, command or event; of other types the name in the schemas."""
    tag = kind.__struct_config__.tag
    named = issubclass(kind, Reading | Command | Event) and tag is not None
    return str(tag) if named else kind.__name__


def _title(page: str, of: list[Section]) -> tuple[str, str]:
    if page in PAGES:
        return PAGES[page]
    said = sys.modules[of[0].kind.__module__].__doc__ or ""
    return page.replace("-", " ").capitalize(), " ".join(markdown(said).split())


def _page(page: str, of: list[Section]) -> str:
    title, about = _title(page, of)
    parts = {
        **dict(_shared(page)),
        **{section.heading: _section(section) for section in of},
    }
    return _written(title, about, parts)


def _shared(page: str) -> Iterator[tuple[str, str]]:
    """The fields that all types of a page have."""
    for base, heading in BASES.items():
        if _room(base) == page:
            schema = next(
                section.schema
                for of in _sections().values()
                for section in of
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
    said = " ".join(section.schema["description"].split())
    return f"{_linked(said)}\n\n{_table(section.schema, own) if own else 'No fields of its own.'}"


def _table(schema: Schema, names: list[str]) -> str:
    required = schema.get("required", [])
    return "\n".join([HEAD, *(_row(schema["properties"][name], name, required) for name in names)])


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
    """A JSON type in words. A list of words leads to their meanings."""
    if "anyOf" in field:
        options = field["anyOf"]
        named = {option["$ref"].rpartition("/")[2] for option in options if "$ref" in option}
        if named == {event.__name__ for event in EVENTS}:
            return "[event](events.md)"
        rooms = {_room(_kinds()[name]) for name in named}
        if len(named) > FEW and len(rooms) == 1:
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
    """A link to a type by its name in the schemas."""
    kind = _kinds()[name]
    return f"[{name}]({_room(kind)}.md#{anchor(_name(kind))})"


def _linked(text: str) -> str:
    """Links in place of the names of pages, and no bar that would end a cell."""
    text = re.sub(r"docs/integrator/vocabulary/([a-z-]+)\.md", r"[\1](\1.md)", text)
    return re.sub(r"docs/([a-z-]+/)([a-z-]+\.md)", r"[\2](../../\1\2)", text).replace("|", "\\|")


def anchor(heading: str) -> str:
    """What a heading is called in an address."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _words() -> str:
    about = (
        "Text out of a list, and what each word means. What people read instead is in the "
        "catalogue of messages: [words.md](../words.md)."
    )
    return _written("Words", about, {name: _list(of) for name, of in word_lists().items()})


def _irregularities() -> str:
    about = (
        "The values of `what` in `irregularity` events, game by game, and in alerts. Events and "
        "alerts carry more in `detail`."
    )
    said = introductions()
    return _written(
        "Irregularities and alerts",
        about,
        {
            name: (f"{said[name]}\n\n" if name in said else "") + _list(of)
            for name, of in irregularity_lists().items()
        },
    )


def _list(words: Mapping[str, str]) -> str:
    rows = [f"| `{word}` | {meaning} |" for word, meaning in words.items()]
    return "\n".join(["| Word | Meaning |\n|---|---|", *rows])


def _written(title: str, about: str, parts: Mapping[str, str]) -> str:
    contents = "\n".join(f"- [{heading}](#{anchor(heading)})" for heading in parts)
    body = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in parts.items())
    return f"# {title}\n\n{MARK}\n\n{about}\n\n{contents}\n\n{body}\n"


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
    """The contents of all pages."""
    parts = {}
    for name, text in written.items():
        title = text.partition("\n")[0].removeprefix("# ")
        headings = re.findall(r"^## (.*)$", text, re.MULTILINE)
        links = ", ".join(f"[{heading}]({name}.md#{anchor(heading)})" for heading in headings)
        parts[title] = f"[{name}.md]({name}.md): {links}."
    return _written("Vocabulary", INDEX, parts)
