"""Text for people, from the wire's words for hands, marks and decisions."""

from __future__ import annotations

from common.contract.messages.messages import catalogue, text, word


def who(name: str, language: str) -> str:
    """Name a hand, box, seat or bank: ``player``, ``box:3.2``."""
    kind, _, number = name.partition(":")
    if not number:
        return word("who", kind, language)
    key = f"who.{kind}_numbered"
    return text(key, language, number=number) if key in catalogue(language) else f"{kind} {number}"


def mark(name: str, language: str) -> str:
    """Name a side result of a round; at black jack with the number of the play, or with the box:
    ``box:3 pair_mixed``.
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
    """Name a hand's decision; ``count``: number of cards it concerns."""
    verb = word("decision", name, language)
    return verb if count is None else f"{verb} {count}"
