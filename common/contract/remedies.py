"""Explanations of alerts, refusals and common messages: meaning, texts, and what to do.

``novamas explain`` prints them, and the pages of ``docs/technician/troubleshooting`` are made of
them.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
from pathlib import Path

import msgspec

from common.contract.messages.messages import ENGLISH, LANGUAGES, catalogue
from common.contract.word_lists import irregularity_lists, word_lists

WIDTH = 100
"""Columns of the pages."""
FOLDER = "docs/technician/troubleshooting"
PAGES: Mapping[str, tuple[str, str]] = {
    "lines": ("Lines", "Alerts of any device and its line."),
    "wheels": ("Wheels and dice", "Alerts of what a wheel or a reader of dice reports."),
    "cards": ("Shoes, shufflers and decks", "Alerts of what deals and shuffles cards."),
    "daemon": ("The daemon", "Alerts of the tables, the broker, people, time and the pair."),
    "journal": ("The journal", "Alerts of the daemon's journal."),
    "jackpots": ("Jackpots", "Alerts of the controller of the jackpots."),
    "surveillance": ("Surveillance", "Alerts of the recorder of surveillance."),
    "webhooks": ("Webhooks", "Alerts of the service that sends events to web addresses."),
    "messages": (
        "Messages",
        (
            "Messages of the command line, the log and `detail` of an alert. A heading is the part "
            "of the message that is always the same."
        ),
    ),
}
"""Page -> title and introduction."""
MARK = f"<!-- Written by `novamas explain --pages {FOLDER}` from common/contract. -->"
FAULT_LISTS = {"shoe": "shoe fault", "shuffler": "shuffler state", "dice": "dice fault"}
"""First word of an alert -> the list of words that the rest of it is from."""


class Remedy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What to do about an alert or a message."""

    do: tuple[str, ...]
    """Steps, the likeliest first."""
    page: str = "messages"
    """The page of the entry."""
    id: str | None = None
    """The alert's id, where it does not follow from the word."""
    see: str | None = None
    """The page with more about it."""
    text: str | None = None
    """Of a message: the part that is always the same."""


@cache
def remedies() -> Mapping[str, Remedy]:
    """Return the remedies by key, such as ``alert.link.lost`` or ``message.no-such-port``."""
    data = Path(__file__).with_name("remedies.toml").read_bytes()
    groups = msgspec.toml.decode(data, type=dict[str, dict[str, Remedy]])
    return {
        f"{group}.{word}": remedy
        for group, words in groups.items()
        for word, remedy in words.items()
    }


def alert_ids(key: str) -> tuple[str, ...]:
    """The ids that an alert can have, by the key of its text; ``<device>`` stands for any name."""
    if own := remedies()[key].id:
        return (own,)
    group, _, word = key.removeprefix("alert.").partition(".")
    hyphened = re.sub(r"[._]", "-", word)
    if not word:
        return (group,)
    if group == "jackpot":
        return hyphened, f"<table>-{hyphened}"
    if group == "surveillance":
        return hyphened, f"{hyphened}-<digest>"
    if group == "webhooks":
        return f"webhooks-{hyphened}", f"webhooks-{hyphened}-<name>"
    return (f"{group}-{hyphened}",)


def find(name: str) -> list[str]:
    """Return the keys that ``name`` may mean: it is a key, the last part of one, an alert's id, or
    part of a message.
    """
    keys = [*remedies(), *(key for key in catalogue(ENGLISH) if key not in remedies())]
    message = f"message.{message_in(name)}"
    ways: tuple[Callable[[str], bool], ...] = (
        lambda key: key in (f"alert.{name}", f"message.{name}"),
        lambda key: key.startswith("alert.") and _has_id(key, name),
        lambda key: key == name,
        lambda key: key.partition(".")[2] == name,
        lambda key: len(name) > 3 and name.casefold() in heading(key).casefold(),
        lambda key: key == message,
    )
    for meant in ways:
        if found := [key for key in keys if meant(key)]:
            return found
    return []


def message_in(text: str) -> str:
    """The name of the message that a text contains, for ``novamas explain``; empty if there is no
    entry for it.
    """
    found = (
        key.removeprefix("message.")
        for key, remedy in remedies().items()
        if remedy.text is not None and heading(key).casefold() in text.casefold()
    )
    return next(found, "")


def _has_id(key: str, name: str) -> bool:
    patterns = (re.sub(r"<\w+>", ".+", re.escape(each)) for each in alert_ids(key))
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def names() -> dict[str, str]:
    """Map the name of each entry, as a person types it, to its key."""
    return {key.removeprefix("alert.").removeprefix("message."): key for key in remedies()}


def heading(key: str) -> str:
    """The heading of an entry: the alert's word and text, or the message."""
    remedy = remedies().get(key)
    if remedy is not None and remedy.text is not None:
        return remedy.text.strip(" :;,(")
    return f"{key.removeprefix('alert.')}: {catalogue(ENGLISH)[key]}"


def entry(key: str, linked: Callable[[str], str] = str) -> str:
    """Return the text below the heading. ``linked`` replaces the names of pages by links."""
    remedy = remedies().get(key)
    about = " ".join(meanings(key))
    if key.startswith("alert."):
        ids = " or ".join(f"`{each}`" for each in alert_ids(key))
        about = f"{about} Alert id: {ids}.".strip()
    parts = [_fill(about)] if about else []
    if remedy is not None:
        parts.append(
            "\n".join(
                _fill(linked(step), f"{number}. ") for number, step in enumerate(remedy.do, 1)
            )
        )
        if remedy.see is not None:
            parts.append(_fill(linked(f"More: {remedy.see}")))
    if key in catalogue(ENGLISH):
        parts.append(
            _fill(
                " · ".join(
                    f"{language} *{catalogue(language)[key]}*"
                    for language in LANGUAGES
                    if language != ENGLISH
                )
            )
        )
    return "\n\n".join(parts)


def meanings(key: str) -> list[str]:
    """Return the meanings of a word in the vocabulary; several, if they differ between games."""
    group, _, word = key.partition(".")
    lists = irregularity_lists()
    if group == "alert":
        first, _, rest = word.partition("_")
        sources = [lists["alert"], word_lists().get(FAULT_LISTS.get(first, ""), {})]
        found = (source.get(each) for source in sources for each in (word, rest))
        everywhere = chain(
            found, (each.get(word) for each in [*lists.values(), *word_lists().values()])
        )
        return [next(meaning for meaning in [*everywhere, ""] if meaning is not None)]
    if group == "irregularity":
        return list(dict.fromkeys(each[word] for each in lists.values() if word in each))
    return []


def _fill(text: str, first: str = "") -> str:
    return textwrap.fill(
        first + text,
        WIDTH,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )


def pages() -> Mapping[str, str]:
    """The pages: file name -> Markdown."""
    keys_by_page: dict[str, list[str]] = {page: [] for page in PAGES}
    for key, remedy in remedies().items():
        keys_by_page[remedy.page].append(key)
    return {f"{page}.md": _page(*PAGES[page], keys) for page, keys in keys_by_page.items()}


def _page(title: str, about: str, keys: list[str]) -> str:
    entries = (f"## {heading(key)}\n\n{entry(key, _linked)}\n" for key in keys)
    return "\n".join([f"# {title}\n", MARK, "", _fill(about), "", *entries])


def _linked(text: str) -> str:
    """Replace the names of pages by links that are relative to :data:`FOLDER`."""
    return re.sub(
        r"docs/([a-z-]+/)((?:[\w-]+/)*[\w-]+\.md)(#[\w-]+)?",
        lambda found: f"[{found[2]}](../../{found[1]}{found[2]}{found[3] or ''})",
        text,
    )
