"""Strangers at the sign-in: they neither lock out nor crowd out who may sign in, have few guesses,
and learn nothing of who exists.
"""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import SigningKey

from common.people.pin_key import PinKey, open_pin_key, read_pepper, seal_key, write_pin_key
from subscribers.console.admission import (
    MAX_WRONG_PINS_ALL_ADDRESSES,
    Admission,
    Caller,
    Denied,
)
from subscribers.console.attempts import LOCK_SECONDS, MAX_WRONG_PINS, Attempts
from subscribers.console.browsers import MAX_PERSONS, Browsers
from tests.subscribers.console.test_sign_in import Clock, settings
from tests.support.for_each import for_each
from tests.support.people.staff import LASA, SITE, secret
from tests.support.web.pit import LEAST_MEMORY_KIB, PINS

STRANGER = Caller("10.0.0.66")
HERE = Caller("10.0.0.1")
NAMES = ("m-lasa", "M. Lasa", "4711")
PIN = PINS["m-lasa"]


class Door:
    """A door that remembers whose keys were tried, in order."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("subscribers.console.attempts.FIRST_DELAY_SECONDS", 0.0)
        monkeypatch.setattr("subscribers.console.admission.open_pin_key", self._unseal)
        monkeypatch.setattr("common.people.pin_key.ARGON2_MEMORY_KIB", LEAST_MEMORY_KIB)
        self.tried: list[str] = []
        self.open = threading.Event()
        """While it is not set, the PIN whose turn it is is not judged."""
        self.open.set()
        self.settings, self.clock = settings(folder), Clock()
        self.admission = Admission(self.settings, SITE, folder, self.clock)

    def _unseal(self, sealed: PinKey, pin: str, pepper: bytes) -> SigningKey:
        self.open.wait()
        self.tried.append(sealed.person)
        return open_pin_key(sealed, pin, pepper)

    async def guess(self, times: int, caller: Caller = STRANGER, typed: str = "m-lasa") -> None:
        for _ in range(times):
            await self.admission.admit(typed, "000000", caller)

    async def remembers(self, caller: Caller = HERE) -> str:
        """The cookie of a browser with which M. Lasa has signed in."""
        assert await self.opens(caller)
        return self.admission.browser_cookie(LASA, caller)

    async def opens(self, caller: Caller, typed: str = "m-lasa", pin: str = PIN) -> bool:
        return not isinstance(await self.admission.admit(typed, pin, caller), Denied)


@pytest.fixture
def door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Door:
    return Door(tmp_path, monkeypatch)


async def test_a_name_that_strangers_locked_opens_where_they_did_not_guess(door: Door) -> None:
    """At an address without guesses, and in a known browser, also at the strangers' address."""
    known = Caller(STRANGER.address, await door.remembers())
    await door.guess(MAX_WRONG_PINS)
    assert not await door.opens(STRANGER)
    assert await door.opens(HERE)
    assert await door.opens(known)
    await door.guess(MAX_WRONG_PINS, known)
    assert not await door.opens(known)
    assert await door.opens(HERE)


@for_each("first", [0, 1, 2, 3, 4])
@for_each("second", [0, 1, 2])
def test_a_stranger_has_five_guesses_at_a_person_by_any_of_the_names(
    door: Door, first: int, second: int
) -> None:
    asyncio.run(_five_guesses(door, first, second))


async def _five_guesses(door: Door, first: int, second: int) -> None:
    at = Caller(f"10.1.{first}.{second}")
    door.tried.clear()
    for typed, times in zip(NAMES, (first, second, 3 * MAX_WRONG_PINS), strict=True):
        await door.guess(times, at, typed)
    assert door.tried.count("m-lasa") == MAX_WRONG_PINS
    for typed in NAMES:
        assert not await door.opens(at, typed)
    door.clock.now += LOCK_SECONDS + 1
    assert await door.opens(at)


async def test_no_answer_reveals_which_names_exist(door: Door) -> None:
    """Three names of a person and three unknown names get identical answers."""
    nobody = ("x-nobody", "X. Nobody", "9999")
    order = [*[0] * (MAX_WRONG_PINS + 1), 1, 2, 1, 1, 0, 1, 1, 2, 2]
    answers, judged = [], []
    for names in (NAMES, nobody):
        door.tried.clear()
        answers.append(
            [await door.admission.admit(names[each], "000000", STRANGER) for each in order]
        )
        judged.append(len(door.tried))
    assert answers[0] == answers[1]
    assert judged[0] == judged[1]  # what costs time, too


async def test_many_addresses_together_have_a_bound_and_a_known_browser_has_its_own(
    door: Door,
) -> None:
    known = Caller("", await door.remembers())
    for number in range(MAX_WRONG_PINS_ALL_ADDRESSES // MAX_WRONG_PINS):
        await door.guess(MAX_WRONG_PINS, Caller(f"10.2.0.{number}"))
    door.tried.clear()
    await door.guess(MAX_WRONG_PINS, Caller("10.3.0.1"))
    assert not await door.opens(HERE)
    assert "m-lasa" not in door.tried
    assert await door.opens(known)
    assert await door.opens(HERE, "a-riera", PINS["a-riera"])
    door.clock.now += LOCK_SECONDS + 1
    assert await door.opens(HERE)


async def test_right_pins_are_no_guesses(door: Door) -> None:
    for number in range(MAX_WRONG_PINS_ALL_ADDRESSES + 1):
        assert await door.opens(Caller(f"10.4.0.{number}"))


async def test_a_first_sign_in_comes_before_a_flood(door: Door) -> None:
    """Of 99 guesses at one address, and one each at a few others: it waits for these at most."""
    door.open.clear()
    flood = [Caller("10.0.0.66")] * 99 + [Caller(f"10.0.1.{each}") for each in range(9)]
    guesses = [
        asyncio.create_task(door.admission.admit(f"x-{number}", "000000", caller))
        for number, caller in enumerate(flood)
    ]
    await asyncio.sleep(0.1)  # whether they wait by then or not, what is asserted holds
    honest = asyncio.create_task(door.admission.admit("m-lasa", PIN, HERE))
    await asyncio.sleep(0.1)
    door.open.set()
    assert not isinstance(await honest, Denied)
    assert door.tried.index("m-lasa") <= 10
    answers = [each for each in await asyncio.gather(*guesses) if isinstance(each, Denied)]
    assert {answer.why for answer in answers} == {"wrong", "busy"}
    # and one who guessed before comes after one who did not
    door.open.clear()
    door.tried.clear()
    again = [asyncio.create_task(door.guess(1, STRANGER, f"y-{each}")) for each in range(9)]
    await asyncio.sleep(0.1)
    honest = asyncio.create_task(door.admission.admit("m-lasa", PIN, HERE))
    await asyncio.sleep(0.1)
    door.open.set()
    assert not isinstance(await honest, Denied)
    assert door.tried.index("m-lasa") <= 1
    await asyncio.gather(*again)


async def test_an_abandoned_sign_in_blocks_no_other(door: Door) -> None:
    door.open.clear()
    waiting = [
        asyncio.create_task(door.admission.admit("m-lasa", PIN, Caller(f"10.5.0.{each}")))
        for each in range(9)
    ]
    await asyncio.sleep(0.1)
    for each in waiting[1::2]:
        each.cancel()
    door.open.set()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert sum(isinstance(each, tuple) for each in results) == 5
    assert await door.opens(HERE)


async def test_a_new_pin_forgets_the_browsers(door: Door) -> None:
    known = Caller(STRANGER.address, await door.remembers())
    pepper = read_pepper(Path(door.settings.pepper))
    sealed = seal_key(
        SigningKey(secret("lasa")), "m-lasa", "4711", "314159", pepper, LEAST_MEMORY_KIB
    )
    write_pin_key(Path(door.settings.keys), sealed)
    await door.guess(MAX_WRONG_PINS)
    assert not await door.opens(known, pin="314159")
    assert await door.opens(HERE, pin="314159")


def test_a_browser_is_known_for_the_persons_who_signed_in_there() -> None:
    browsers = Browsers(b"secret")
    cookie: str | None = None
    for number in range(MAX_PERSONS + 1):
        cookie = browsers.cookie_after_sign_in(cookie, f"p-{number}", "salt")
    assert cookie is not None
    known = browsers.browser_of(cookie, f"p-{MAX_PERSONS}", "salt")
    assert known is not None
    assert [browsers.browser_of(cookie, f"p-{each}", "salt") for each in (0, 1, 2)] == [
        None,
        known,
        known,
    ]
    assert browsers.browser_of(cookie, "p-1", "other") is None
    assert Browsers(b"other").browser_of(cookie, "p-1", "salt") is None
    assert browsers.cookie_after_sign_in(cookie, "p-5", "salt").startswith(f"{known}.")
    assert (
        browsers.browser_of(browsers.cookie_after_sign_in(None, "p-1", "salt"), "p-1", "salt")
        != known
    )
    # a tag is worth nothing beside another number
    assert browsers.browser_of(f"{'0' * 32}{cookie[32:]}", "p-1", "salt") is None


@for_each(
    "cookie", ["", ".", "0" * 32, f"{'0' * 32}.", "ü" * 65, f"{'0' * 32}.{'٠' * 32}", "a" * 9999]
)
def test_a_foreign_cookie_is_harmless(cookie: Any) -> None:
    browsers = Browsers(b"secret")
    assert browsers.browser_of(cookie, "p-1", "salt") is None
    assert (
        browsers.browser_of(browsers.cookie_after_sign_in(cookie, "p-1", "salt"), "p-1", "salt")
        is not None
    )


def test_a_lock_is_not_pushed_out_of_the_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subscribers.console.attempts.MAX_COUNTS", 100)
    attempts = Attempts(tmp_path / "wrong", b"salt")
    for _ in range(MAX_WRONG_PINS):
        attempts.count_wrong("locked", 0.0)
    for number in range(200):
        attempts.count_wrong(f"name {number}", 1.0)
    assert attempts.seconds_locked("locked", 1.0) > 0
