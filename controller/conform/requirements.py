"""What a program from outside must meet, as data; ``docs/integrator/requirements.md`` shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

Side = Literal["driver", "subscriber"]

_TITLES: Mapping[Side, str] = {"subscriber": "Subscribers", "driver": "Drivers"}
_HEAD = """\
# Requirements

For integrators who read a report of `novamas conform`, and for those who write a program that must
pass: every requirement of the contract by its id, and the page that states it.
[conformance.md](conformance.md) says how to run the test.
"""


class Requirement(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One requirement. ``page``: the page of ``docs/`` that states it; ``display``: it holds for a
    program that needs only retained topics, too; ``untested``: why it cannot be tried from outside.
    """

    id: str
    of: Side
    text: str
    page: str
    display: bool = False
    untested: str | None = None


class _Requirements(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    requirement: tuple[Requirement, ...]


@cache
def requirements() -> Mapping[str, Requirement]:
    """Return every requirement by its id, in the order of the file."""
    data = files(__package__).joinpath("requirements.toml").read_bytes()
    listed = msgspec.toml.decode(data, type=_Requirements).requirement
    return {requirement.id: requirement for requirement in listed}


def to_try(side: Side, *, display: bool = False) -> list[str]:
    """Return the ids that can be tried, in order. ``display``: only those that hold for one."""
    return [
        requirement.id
        for requirement in requirements().values()
        if requirement.of == side
        and requirement.untested is None
        and (requirement.display or not display)
    ]


def page() -> str:
    """Return ``docs/integrator/requirements.md``."""
    return "\n".join([_HEAD, *(line for side in _TITLES for line in _section(side))]) + "\n"


def _section(side: Side) -> Iterator[str]:
    found = [each for each in requirements().values() if each.of == side]
    if not found:
        return
    yield f"## {_TITLES[side]}\n"
    yield from _table([each for each in found if each.untested is None], side)
    untested = [each for each in found if each.untested is not None]
    if untested:
        yield "\nStated, but not testable from outside:\n"
        yield "| Id | Requirement | Stated in | Why it is not tested |\n|---|---|---|---|"
        for each in untested:
            yield f"| `{each.id}` | {each.text} | {_link(each.page)} | {each.untested} |"
    yield ""


def _table(found: list[Requirement], side: Side) -> Iterator[str]:
    if side == "driver":
        yield "| Id | Requirement | Stated in |\n|---|---|---|"
        yield from (f"| `{each.id}` | {each.text} | {_link(each.page)} |" for each in found)
        return
    yield "| Id | Requirement | A display too | Stated in |\n|---|---|---|---|"
    for each in found:
        display = "yes" if each.display else "no"
        yield f"| `{each.id}` | {each.text} | {display} | {_link(each.page)} |"


def _link(page: str) -> str:
    folder, _, name = page.rpartition("/")
    target = name if folder == "integrator" else f"../{page}"
    return f"[{name.partition('#')[0]}]({target})"
