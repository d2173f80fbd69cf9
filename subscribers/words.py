"""The wire's words for hands, marks and decisions, as text for people."""

from __future__ import annotations

from controller.contract.messages.messages import catalogue, text, word


def who(name: str, language: str) -> str:
    """A hand, box, seat or bank: ``player``, ``box:3.2``."""
    kind, _, number = name.partition(":")
    if not number:
        return word("who", kind, language)
    key = f"who.{kind}_numbered"
    return text(key, language, number=number) if key in catalogue(language) else f"{kind} {number}"


def mark(name: str, language: str) -> str:
    """What else wins or loses in a round; at black jack with the number of the play, or with the
    box: ``box:3 pair_mixed``.
    """
    first, _, second = name.partition(" ")
    if not second:
        return word("mark", name, language)
    return (
        text("mark.play", language, number=second)
        if first == "play"
        else f"{who(first, language)}: {word('mark', second, language)}"
    )


def decision(name: str, count: int | None, language: str) -> str:
    """What a hand decides, and with how many cards."""
    found = word("decision", name, language)
    return found if count is None else f"{found} {count}"
