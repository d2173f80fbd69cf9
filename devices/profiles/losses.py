"""What a profile makes of bytes and frames that may have been a card or a number."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from common.readings import AnyReading, CardDrawn, LinkGap, LinkGarbage, escape
from devices.losses import LossReporter
from devices.profiles.language import MessageSpec, Profile, ReadingSpec
from devices.profiles.messages import FittingMessage

CARD_READING = "card.drawn"
RESULT_READINGS = frozenset({CARD_READING, "wheel.number", "wheel.cell", "dice.read"})
"""Readings of which the next one may be taken for a lost one."""


def deals_cards(profile: Profile) -> bool:
    """Return whether a device with this profile reports cards."""
    return any(_reports_cards(profile.say) or _reports_cards(each.say) for each in profile.message)


def reports_gaps(profile: Profile) -> bool:
    """Return whether bytes that may have been a report are a gap: by default those of cards, where
    the next card would take the place of the lost one.
    """
    return deals_cards(profile) if profile.framing.gap is None else profile.framing.gap


def numbers_cards(profile: Profile) -> bool:
    """Return whether every card has a sequence number, so that the next report shows which are
    missing.
    """
    return profile.sequence is not None and all(
        _has_number(profile, message, profile.sequence.field)
        for message in profile.message
        if _reports_cards(profile.say) or _reports_cards(message.say)
    )


def unsafe_gap(profile: Profile) -> str | None:
    """Return the warning of a profile by which a damaged card is lost without a question."""
    if profile.framing.gap is not False or not deals_cards(profile) or numbers_cards(profile):
        return None
    return (
        "`gap = false`: a card that is damaged on the line is lost without a question, and the "
        "next card takes its place; remove the key, and describe what else the device sends as "
        "messages of its own"
    )


def _reports_cards(specs: tuple[ReadingSpec, ...]) -> bool:
    return any(spec.reading == CARD_READING for spec in specs)


def _has_number(profile: Profile, message: MessageSpec, name: str) -> bool:
    field = message.fields.get(name) or profile.fields.get(name)
    return field is not None and not field.optional


Made = tuple[ReadingSpec, AnyReading | None]


class LossTracker:
    """Reports what may have been a card or a number. ``any_text``: the messages that accept any
    text.
    """

    def __init__(self, device: str, profile: Profile, any_text: AbstractSet[str]) -> None:
        self._device = device
        self._any_text = any_text
        self._reporter = LossReporter(device)
        self._gaps = reports_gaps(profile)
        self._garbage = profile.framing.gap is None and not self._gaps
        # the next report shows whether damaged bytes were one
        self._numbered = profile.framing.gap is None and numbers_cards(profile)
        # by message: what must be received twice and was received once
        self._unconfirmed: dict[str, list[Made]] = {}

    def may_be(self, fitting: FittingMessage | None) -> bool:
        """Return whether a frame may have been a report of another kind: an unknown one, or with
        cards one of a message that accepts any text; unless it gives a result.
        """
        if fitting is None:
            return True
        message = fitting.message
        if message.gap is not None:
            return message.gap
        vague = message.unknown or (self._gaps and message.name in self._any_text)
        return vague and not any(spec.reading in RESULT_READINGS for spec, _ in fitting.readings)

    def on_report(self, now: float) -> list[LinkGap]:
        """Handle a complete frame; return the gap to report before it."""
        return self._reporter.on_report(now)

    def on_loss(self, now: float) -> list[LinkGap]:
        """Handle what may have been a card."""
        return self._reporter.on_loss(now) if self._gaps else []

    def on_stated_gap(self, now: float) -> list[LinkGap]:
        """Handle a gap that the profile itself reports."""
        return self._reporter.on_loss(now)

    def on_unreadable(self, now: float, *, is_numbered: bool) -> list[LinkGap]:
        """Handle bytes that may have been a card, unless the number of the next one shows it.
        ``is_numbered``: the number of the last one is known.
        """
        return [] if self._numbered and is_numbered else self.on_loss(now)

    def on_unknown(self, frame: bytes, now: float, shown: bool) -> list[LinkGarbage]:
        """Handle a frame that may have been a number: report it as garbage, after which the games
        of wheels and dice ask a person. Cards have gaps for it.
        """
        if not self._garbage:
            return []
        text = escape(frame[:64]) if shown else None
        return [LinkGarbage(at=now, device=self._device, frame=text, bytes=len(frame))]

    def check_confirmed(
        self, name: str, present: Sequence[Made], before: Sequence[Made], now: float
    ) -> list[LinkGap]:
        """Handle what a message must give twice; report a card that was received only once."""
        is_lost = any(
            isinstance(each[1], CardDrawn) and each not in present
            for each in self._unconfirmed.get(name, ())
        )
        self._unconfirmed[name] = [each for each in present if each not in before]
        return self.on_loss(now) if is_lost else []
