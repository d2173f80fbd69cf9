"""Profiles for tests: those of the repository by name, and small ones written in place."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from devices.profiles.codec import ProfileCodec
from devices.profiles.language import Profile
from devices.profiles.profile import ProfileError, parse_profile

FOLDER = Path(__file__).parents[2] / "profiles"

HEAD = """\
name = "acme"
kind = "wheel"
title = "Acme"
source = "a test"
"""


def profile(text: str) -> Profile:
    """A profile with this text after the head."""
    return parse_profile(HEAD + text)


def codec(text: str) -> ProfileCodec:
    return ProfileCodec("wheel", profile(text))


@cache
def of_the_tests(name: str) -> Profile:
    """``tests/profiles/NAME.toml``."""
    return parse_profile((FOLDER / f"{name}.toml").read_text())


def proof(name: str, device: str = "device") -> ProfileCodec:
    """A fresh codec of it."""
    return ProfileCodec(device, of_the_tests(name))


def mistakes(text: str) -> list[str]:
    """The mistakes in a profile of that text; lines are counted without the head."""
    try:
        profile(text)
    except ProfileError as mistaken:
        lines = len(HEAD.splitlines())
        return [
            f"{max(mistake.line - lines, 0)}: {mistake.place}: {mistake.what}"
            for mistake in mistaken.mistakes
        ]
    return []
