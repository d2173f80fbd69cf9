"""``novamas identify``: listens to a device and names its driver and its speed. Nothing is sent."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from common import clock
from common.command_line import stop_signals
from common.contract.messages.messages import ENGLISH, LANGUAGES, text
from common.own_language import add_language
from controller.cli import CommandLineError
from controller.cli.decode import driver_named
from controller.cli.numbers import seconds
from controller.cli.speeds import SCHEMES, USUAL_SPEEDS, at_speed, listen_to
from devices.codec import Driver, RequestingCodec
from devices.drivers import driver, driver_names
from devices.identification import Identification, Match
from devices.links import LinkFailedError, check_link, driver_scheme
from devices.watch import UNINTELLIGIBLE_BYTES

LISTEN_SECONDS = 60.0
"""Default limit: long enough for a person to draw some cards or to spin a wheel."""
SILENCE_SECONDS = 1.5
"""Seconds after the first byte by which bytes that are no frame are at the wrong speed. Longer than
the pause between two lines of a device that sends steadily.
"""


class ListeningResult(msgspec.Struct, frozen=True):
    """The result of listening at one address. ``link``: the address with its speed; ``match``: the
    device, if it is known.
    """

    link: str
    bytes: int
    match: Match | None


def arguments(parser: argparse.ArgumentParser) -> None:
    """URL."""
    parser.add_argument(
        "url",
        metavar="URL",
        help=(
            "address of the device: serial:///dev/serial/by-id/..., tcp://host:port ...; without "
            "?baud= the usual speeds are tried"
        ),
    )
    parser.add_argument(
        "--profile", type=Path, action="append", default=[], help="a profile of the site"
    )
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=LISTEN_SECONDS,
        help=f"listen at most this long (default: {LISTEN_SECONDS:.0f}); Ctrl-C ends it",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, for machines")
    add_language(parser, LANGUAGES)


def run(arguments: argparse.Namespace) -> int:
    """Listen, and print the device, or what to do."""
    if wrong := check_link(arguments.url):
        raise CommandLineError(f"{arguments.url}: {wrong}")
    drivers = [driver_named(f"profile:{file}") for file in arguments.profile]
    print(text("terminal.listening", arguments.language), file=sys.stderr)
    with ending_by_signal() as signals:
        try:
            results = listen(arguments.url, arguments.seconds, signals, drivers)
        except LinkFailedError as error:
            raise CommandLineError(str(error)) from error
    found = _identified(results)
    if arguments.json:
        print(msgspec.json.encode(_as_json(found, results)).decode())
        return 0 if found else 1
    if found is None:
        raise CommandLineError("\n".join(_advice(arguments.url, results, arguments.language)))
    print("\n".join(_as_text(found, drivers, arguments.language)))
    return 0


def listen(
    url: str, limit: float, signals: Sequence[int], profiles: Sequence[Driver] = ()
) -> list[ListeningResult]:
    """Listen until the device is known, for at most ``limit`` seconds or until ``signals`` is not
    empty. Returns what was received, one item for each speed at which bytes came. Raises
    ``LinkFailedError``.
    """
    until = clock.monotonic() + limit
    results: dict[str, ListeningResult] = {}
    for address in cycle(_addresses(url)):
        result = _listen_at(address, until, signals, candidates(url, profiles))
        if result.bytes:
            results[address] = result
        if result.match is not None or signals or clock.monotonic() >= until:
            return list(results.values())
    raise AssertionError("a cycle of addresses does not end")


def candidates(url: str, profiles: Sequence[Driver] = ()) -> list[Driver]:
    """Return the drivers of devices that are connected by such a link."""
    kind = driver_scheme(url)
    return [*(each for name in driver_names() if (each := driver(name)).scheme == kind), *profiles]


def describe(match: Match, language: str = ENGLISH) -> str:
    """Describe a device in a few words."""
    options = "".join(f", {key} = {value!r}" for key, value in match.options.items())
    return text(
        "terminal.device",
        language,
        driver=f"{match.driver}{options}",
        count=match.frames,
        total=match.of,
    )


@contextmanager
def ending_by_signal() -> Iterator[list[int]]:
    """Collect Ctrl-C, SIGTERM and a closed terminal, so that work ends between two reads."""
    signals: list[int] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        signals.append(number)

    previous_handlers = {number: signal.signal(number, on_signal) for number in stop_signals()}
    try:
        yield signals
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


def _addresses(url: str) -> list[str]:
    """Return the address at each speed to try, those that drivers use most often first."""
    if url.partition("://")[0] not in SCHEMES or "baud=" in url:
        return [url]
    return [at_speed(url, baud) for baud in USUAL_SPEEDS]


def _listen_at(
    address: str, until: float, signals: Sequence[int], drivers: Sequence[Driver]
) -> ListeningResult:
    """Listen until the device is known, or what comes is no frame of any driver."""
    identification = Identification(drivers)
    first: float | None = None

    def on_data(data: bytes, now: float) -> bool:
        nonlocal first
        identification.feed(data, now)
        if data and first is None:
            first = now
        matches = identification.matches
        if matches and matches[0].is_likely:
            return matches[0].is_certain
        return first is not None and (
            identification.bytes >= UNINTELLIGIBLE_BYTES or now - first >= SILENCE_SECONDS
        )

    listen_to(address, until, signals, on_data)
    return ListeningResult(address, identification.bytes, identification.match)


def _speed(address: str) -> str:
    _, _, speed = address.partition("baud=")
    return f"{speed.partition('&')[0]} baud" if speed else ""


def _as_text(found: ListeningResult, profiles: Sequence[Driver], language: str) -> list[str]:
    assert found.match is not None
    known = {each.name: each for each in profiles}
    title = (known.get(found.match.driver) or driver(found.match.driver)).title
    name = "profile" if found.match.driver in known else found.match.driver
    return [
        summary([found], language),
        "",
        f"# {title}",
        f'driver = "{name}"',
        f'link = "{found.link}"',
        *([f"options = {_toml(found.match)}"] if found.match.options else []),
    ]


def summary(results: Sequence[ListeningResult], language: str = ENGLISH) -> str:
    """Describe in one line what was received at a port."""
    found = _identified(results)
    if found is not None and found.match is not None:
        return ", ".join(filter(None, (_speed(found.link), describe(found.match, language))))
    return "bytes that no driver understands" if results else "nothing"


def _identified(results: Sequence[ListeningResult]) -> ListeningResult | None:
    return next((result for result in results if result.match is not None), None)


def _toml(match: Match) -> str:
    pairs = ", ".join(f'{key} = "{value}"' for key, value in match.options.items())
    return f"{{ {pairs} }}"


def _as_json(found: ListeningResult | None, results: Sequence[ListeningResult]) -> dict[str, Any]:
    received = {result.link: result.bytes for result in results}
    if found is None:
        return {"driver": None, "received": received}
    return {"link": found.link, **msgspec.to_builtins(found.match), "received": received}


def _advice(url: str, results: Sequence[ListeningResult], language: str) -> list[str]:
    """Say why no device is named, and what to do."""
    if not results:
        asked = ", ".join(each.name for each in candidates(url) if _needs_requests(each))
        requests = (
            f" These answer only when they are asked, and nothing was sent: {asked}. For one of "
            f"them use `novamas record {url} FILE --driver NAME`."
        )
        silent = text("terminal.silent", language, link=url)
        return [f"{silent}{requests if asked else ''}"]
    return [
        text("terminal.unknown_device", language, link=url),
        *(
            "  "
            + text(
                "terminal.received",
                language,
                speed=_speed(result.link) or result.link,
                count=result.bytes,
            )
            for result in results
        ),
        text("terminal.try_longer", language),
    ]


def _needs_requests(driver: Driver) -> bool:
    if not driver.framings:
        return False
    codec = driver.make("device", driver.options())
    return isinstance(codec, RequestingCodec) or any(every > 0 for every, _ in codec.polls())
