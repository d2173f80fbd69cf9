"""Drivers based on profiles: those shipped with Novamás, and ``profile`` for one written by the
site.
"""

from __future__ import annotations

import msgspec

from common.places import format_path
from devices.codec import Codec, Driver, RoundRequest
from devices.profiles.codec import ProfileCodec
from devices.profiles.language import Profile
from devices.profiles.losses import unsafe_gap
from devices.profiles.profile import parse_profile, shipped_profile
from devices.profiles.witness import unreached

RESULT_READING = "wheel.number"
"""Reading without which a wheel gives no result."""


class NoOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """No options: everything is set in the profile."""


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """``file``: path of the profile. ``text``: its content, filled in when the configuration is
    read, so that the journal contains it and readings can be reproduced even if the file has
    changed.
    """

    file: str = ""
    text: str = ""


def driver_of(profile: Profile) -> Driver:
    """Return the driver that a profile describes."""
    return Driver(
        name=profile.name,
        kind=profile.kind,
        title=profile.title,
        evidence=profile.evidence,
        line=profile.line,
        scheme=profile.scheme,
        options=NoOptions,
        commands=tuple(profile.command),
        requests=tuple(
            RoundRequest(name, command.after, command.every, command.times)
            for name, command in profile.command.items()
            if command.when
        ),
        make=lambda device, _: ProfileCodec(device, profile),
        blind=lambda _: _blind(profile),
        unsafe=lambda _: _unsafe(profile),
    )


def _blind(profile: Profile) -> str | None:
    """Why a device with this profile can never give a result: it reports no number, or a part of it
    can never match.
    """
    readings = [*profile.say, *(spec for message in profile.message for spec in message.say)]
    if profile.kind == "wheel" and RESULT_READING not in {spec.reading for spec in readings}:
        return (
            f"no number can be decoded: the profile {profile.name} has no {RESULT_READING}; "
            "write one from the maker's document (docs/technician/profiles.md)"
        )
    for at, problem in unreached(profile):
        return (
            f"the profile {profile.name}: {format_path(at)}: {problem}; "
            "`novamas profile check` lists all such places"
        )
    return None


def _unsafe(profile: Profile) -> str | None:
    problem = unsafe_gap(profile)
    return None if problem is None else f"the profile {profile.name}: {problem}"


def described(options: msgspec.Struct) -> Driver:
    """Return the driver of a profile written by the site. Raises
    :class:`devices.profiles.profile.ProfileError`.
    """
    assert isinstance(options, Options)
    return driver_of(parse_profile(options.text))


def _make(device: str, options: msgspec.Struct) -> Codec:
    return described(options).make(device, NoOptions())


PROFILE = Driver(
    name="profile",
    kind="any",
    title="A device described by a profile of the site",
    evidence="profile",
    line="",
    options=Options,
    framings=(),
    commands=(),
    make=_make,
    described=described,
)

ZVONIMIR_KING = driver_of(shipped_profile("zvonimir-king"))
