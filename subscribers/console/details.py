"""What a table adds to an irregularity or an alert, in the person's language. On the wire it is
English: it is recognised by the forms of ``[detail]`` in ``words.toml``. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from common.contract.messages.messages import ENGLISH, catalogue
from subscribers.console.hands import hand_text
from subscribers.console.words import console_text, words

GROUP = "detail."
FIELD_PATTERNS: Mapping[str, str] = {
    "who": r"[a-z_]+(?::\d+)?",
    "decision": r"[a-z_]+",
    "rank": r"[2-9TJQKA]",
    "path": r"\S+",
    "error": r"[^()]+",
}
"""The form of a field by its name; any other field is a number."""
NUMBER_PATTERN = r"[\d.]+"


def detail_text(detail: str, language: str) -> str | None:
    """Return a detail in this language; None if its form is not known, and it remains English."""
    if _is_hand(detail):
        return hand_text(detail, language)
    for key, form in _forms().items():
        if (match := form.fullmatch(detail)) is None:
            continue
        fields = match.groupdict()
        if not _is_known(fields):
            continue
        return console_text(
            key, language, **{name: _value(name, text, language) for name, text in fields.items()}
        )
    return None


def device_name(device: str, language: str) -> str:
    """Return the name of a device with one of the usual ids; another id as it is."""
    key = f"device.{device}"
    return console_text(key, language) if key in words() else device


@cache
def _forms() -> Mapping[str, re.Pattern[str]]:
    return {
        key: re.compile(
            re.sub(
                r"\\\{(\w+)\\\}",
                lambda field: f"(?P<{field[1]}>{FIELD_PATTERNS.get(field[1], NUMBER_PATTERN)})",
                re.escape(texts[ENGLISH]),
            )
        )
        for key, texts in words().items()
        if key.startswith(GROUP)
    }


def _is_known(fields: Mapping[str, str]) -> bool:
    texts = catalogue(ENGLISH)
    return ("who" not in fields or _is_hand(fields["who"])) and (
        "decision" not in fields or f"decision.{fields['decision']}" in texts
    )


def _is_hand(name: str) -> bool:
    if re.fullmatch(FIELD_PATTERNS["who"], name) is None:
        return False
    kind, _, number = name.partition(":")
    key = f"who.{kind}_numbered" if number else f"who.{kind}"
    return key in catalogue(ENGLISH)


def _value(name: str, text: str, language: str) -> str:
    if name == "who":
        return hand_text(text, language)
    if name == "decision":
        return catalogue(language)[f"decision.{text}"]
    if name == "rank":
        return "10" if text == "T" else text
    if name in FIELD_PATTERNS or language == ENGLISH:
        return text
    return text.replace(".", ",")
