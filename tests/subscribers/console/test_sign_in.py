"""Who is let in: PINs, the pepper, counts of wrong ones, sessions."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import msgspec
import pytest
from nacl.signing import SigningKey

from common.people.pin_key import (
    ARGON2_LANES,
    ARGON2_MEMORY_KIB,
    ARGON2_PASSES,
    PinKeyError,
    WrongPinError,
    check_pin,
    make_pepper,
    open_pin_key,
    read_pepper,
    read_pin_keys,
    seal_key,
    unopenable_key,
    write_pin_key,
)
from subscribers.console.admission import Admission, Denied, SignInUnavailableError
from subscribers.console.attempts import LOCK_SECONDS, MAX_WRONG_PINS, Attempts
from subscribers.console.sessions import SessionLimits, Sessions, same_secret
from subscribers.console.settings import PitSettings
from tests.support.for_each import for_each
from tests.support.people.staff import LASA, MORA, RIERA, SITE, secret
from tests.support.web.pit import LEAST_MEMORY_KIB, PINS, console

KEY = SigningKey(secret("lasa"))
PEPPER = b"p" * 32


def settings(folder: Path) -> PitSettings:
    return msgspec.convert(console(folder, SITE), PitSettings)


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """An unknown name costs as little as the sealed keys of these tests."""
    monkeypatch.setattr("common.people.pin_key.ARGON2_MEMORY_KIB", LEAST_MEMORY_KIB)


def test_a_sealed_key_opens_with_its_pin_and_its_pepper_alone() -> None:
    sealed = seal_key(KEY, "m-lasa", "4711", "271828", PEPPER)
    assert (
        (sealed.passes, sealed.memory, sealed.lanes)
        == (ARGON2_PASSES, ARGON2_MEMORY_KIB, ARGON2_LANES)
        == (3, 65536, 4)
    )
    assert open_pin_key(sealed, "271828", PEPPER) == KEY
    for pin, pepper in (("271829", PEPPER), ("271828", b"q" * 32), ("", PEPPER)):
        with pytest.raises(WrongPinError):
            open_pin_key(sealed, pin, pepper)
    other = msgspec.structs.replace(sealed, person="a-riera")
    with pytest.raises(WrongPinError):
        open_pin_key(other, "271828", PEPPER)
    assert KEY.encode() not in msgspec.json.encode(sealed)


def test_an_unknown_name_costs_as_much_as_a_key() -> None:
    sealed, unknown = seal_key(KEY, "m-lasa", "", "271828", PEPPER), unopenable_key()
    for name in ("passes", "memory", "lanes"):
        assert getattr(sealed, name) == getattr(unknown, name)
    assert (len(sealed.box), len(sealed.salt)) == (len(unknown.box), len(unknown.salt))


@for_each(
    "pin", ["12345", "1234567890123", "123456", "987654", "111111", "121212", "27182a", "٢٧١٨٢٨"]
)
def test_a_common_pin_is_rejected(pin: str) -> None:
    with pytest.raises(PinKeyError):
        check_pin(pin)


def test_files_that_others_may_read_are_refused(tmp_path: Path) -> None:
    pepper = make_pepper(tmp_path / "pepper")
    path = write_pin_key(
        tmp_path / "keys", seal_key(KEY, "m-lasa", "", "271828", pepper, memory=64)
    )
    assert read_pin_keys(tmp_path / "keys")[0].person == "m-lasa"
    assert read_pepper(tmp_path / "pepper") == pepper
    for file in (path, tmp_path / "pepper"):
        assert file.stat().st_mode & 0o777 == 0o600
        file.chmod(0o644)
    with pytest.raises(PinKeyError, match="can be read by others"):
        read_pin_keys(tmp_path / "keys")
    with pytest.raises(PinKeyError, match="can be read by others"):
        read_pepper(tmp_path / "pepper")


async def test_badge_id_and_name_open_the_same_person(tmp_path: Path) -> None:
    door = Admission(settings(tmp_path), SITE, tmp_path, Clock())
    for typed in ("4711", "m-lasa", "M-Lasa", "M. Lasa", " m. lasa "):
        found = await door.admit(typed, PINS["m-lasa"])
        assert not isinstance(found, Denied)
        assert (found[0].id, found[1]) == ("m-lasa", secret("lasa"))


@pytest.mark.parametrize("badge", ["Ab-12", "AB-12 ", " ab-12"])
async def test_a_badge_with_letters_or_blanks_opens_its_person(tmp_path: Path, badge: str) -> None:
    pit = settings(tmp_path)
    door = Admission(pit, SITE, tmp_path, Clock())
    pepper = read_pepper(Path(pit.pepper))
    write_pin_key(
        Path(pit.keys),
        seal_key(KEY, "m-lasa", badge, PINS["m-lasa"], pepper, memory=64),
    )
    for typed in ("ab-12", "AB-12", " Ab-12 "):
        found = await door.admit(typed, PINS["m-lasa"])
        assert not isinstance(found, Denied)
        assert found[0].id == "m-lasa"


async def test_a_revoked_person_is_not_let_in(tmp_path: Path) -> None:
    door = Admission(settings(tmp_path), SITE, tmp_path, Clock())
    assert await door.admit("j-gone", PINS["j-gone"]) == Denied("not_enrolled")
    assert await door.admit("j-gone", "000000") == Denied("wrong")


@pytest.mark.usefixtures("quick")
async def test_a_wrong_pin_and_an_unknown_name_have_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subscribers.console.attempts.FIRST_DELAY_SECONDS", 0.0)
    door = Admission(settings(tmp_path), SITE, tmp_path, Clock())
    answers = [
        [await door.admit(typed, "000000") for _ in range(MAX_WRONG_PINS + 1)]
        for typed in ("m-lasa", "x-nobody")
    ]
    assert answers[0] == answers[1]
    assert [answer.why for answer in answers[0] if isinstance(answer, Denied)] == [
        *["wrong"] * (MAX_WRONG_PINS - 1),
        "locked",
        "locked",
    ]


async def test_a_lock_holds_against_the_right_pin_and_a_restart_and_then_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subscribers.console.attempts.FIRST_DELAY_SECONDS", 0.0)
    given, clock = settings(tmp_path), Clock()
    door = Admission(given, SITE, tmp_path, clock)
    for _ in range(MAX_WRONG_PINS):
        await door.admit("4711", "000000")
    again = Admission(given, SITE, tmp_path, clock)
    locked = await again.admit("4711", PINS["m-lasa"])
    assert isinstance(locked, Denied)
    assert (locked.why, locked.seconds) == ("locked", int(LOCK_SECONDS) + 1)
    assert not isinstance(await again.admit("a-riera", PINS["a-riera"]), Denied)
    clock.now += LOCK_SECONDS
    assert not isinstance(await again.admit("m-lasa", PINS["m-lasa"]), Denied)


def test_each_wrong_pin_doubles_the_wait_and_a_right_one_ends_it(tmp_path: Path) -> None:
    attempts = Attempts(tmp_path / "wrong", b"salt")
    delays = []
    for _ in range(MAX_WRONG_PINS - 1):
        delays.append(attempts.delay("m-lasa"))
        attempts.count_wrong("m-lasa", 0.0)
    assert delays == [0.0, 0.5, 1.0, 2.0]
    attempts.reset("m-lasa")
    assert attempts.delay("m-lasa") == 0.0


def test_names_are_counted_in_a_bounded_number_of_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subscribers.console.attempts.MAX_COUNTS", 100)
    attempts = Attempts(tmp_path / "wrong", b"salt")
    counts = [attempts.counter_name(f"name {number}") for number in range(150)]
    for count in counts:
        attempts.count_wrong(count, 0.0)
    assert len(msgspec.json.decode((tmp_path / "wrong").read_bytes())) == 100
    assert [attempts.delay(count) > 0 for count in counts] == [False] * 50 + [True] * 100
    assert counts[1] != Attempts(tmp_path / "other", b"other").counter_name("name 1")
    assert attempts.counter_name("Name 1") == attempts.counter_name("name 1")


@pytest.mark.usefixtures("quick")
async def test_guesses_of_strangers_do_not_affect_an_open_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subscribers.console.attempts.FIRST_DELAY_SECONDS", 0.0)
    door = Admission(settings(tmp_path), SITE, tmp_path, Clock())
    found = await door.admit("m-lasa", PINS["m-lasa"])
    assert not isinstance(found, Denied)
    for _ in range(MAX_WRONG_PINS):
        await door.admit("m-lasa", "000000")
    assert isinstance(await door.admit("m-lasa", PINS["m-lasa"]), Denied)
    guesses = [asyncio.create_task(door.admit(f"x-{each}", "000000")) for each in range(99)]
    await asyncio.sleep(0)
    assert await door.verify_pin(found[0], PINS["m-lasa"]) is None
    assert "busy" in {
        each.why for each in await asyncio.gather(*guesses) if isinstance(each, Denied)
    }
    for _ in range(MAX_WRONG_PINS):
        denied = await door.verify_pin(found[0], "000000")
    assert denied is not None
    assert denied.why == "locked"


@pytest.mark.usefixtures("quick")
async def test_no_name_is_locked_by_guesses_at_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who sees that would know that both are one person."""
    monkeypatch.setattr("subscribers.console.attempts.FIRST_DELAY_SECONDS", 0.0)
    door = Admission(settings(tmp_path), SITE, tmp_path, Clock())
    for typed in ("m-lasa", "x-nobody"):
        for _ in range(MAX_WRONG_PINS):
            await door.admit(typed, "000000")
    for typed in ("M. Lasa", "4711", "X. Nobody"):
        assert await door.admit(typed, "000000") == Denied("wrong")


async def test_a_new_pin_unlocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subscribers.console.attempts.FIRST_DELAY_SECONDS", 0.0)
    pit = settings(tmp_path)
    door = Admission(pit, SITE, tmp_path, Clock())
    for _ in range(MAX_WRONG_PINS):
        await door.admit("m-lasa", "000000")
    assert isinstance(await door.admit("m-lasa", PINS["m-lasa"]), Denied)
    pepper = read_pepper(Path(pit.pepper))
    sealed = seal_key(SigningKey(secret("lasa")), "m-lasa", "4711", "314159", pepper, memory=64)
    write_pin_key(Path(pit.keys), sealed)
    assert not isinstance(await door.admit("m-lasa", "314159"), Denied)


@pytest.mark.parametrize("off", [-86_400.0 * 365, 86_400.0 * 365, 0.0])
@pytest.mark.parametrize("restarted", [False, True])
async def test_a_clock_that_is_set_neither_opens_nor_keeps_a_lock(
    off: float, restarted: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subscribers.console.attempts.FIRST_DELAY_SECONDS", 0.0)
    given, wall, elapsed = settings(tmp_path), Clock(), Clock()
    door = Admission(given, SITE, tmp_path, wall, elapsed)
    for _ in range(MAX_WRONG_PINS):
        await door.admit("m-lasa", "000000")
    wall.now += off
    if restarted:
        door = Admission(given, SITE, tmp_path, wall, elapsed)
    opened = restarted and off > 0  # a machine that was off for a year
    assert isinstance(await door.admit("m-lasa", PINS["m-lasa"]), Denied) is not opened
    elapsed.now += LOCK_SECONDS + 1
    wall.now = Clock().now
    assert isinstance(await door.admit("m-lasa", PINS["m-lasa"]), tuple)


def test_unreadable_counts_let_no_one_in(tmp_path: Path) -> None:
    (tmp_path / "wrong-pins.json").write_text("{cut off")
    with pytest.raises(SignInUnavailableError):
        Admission(settings(tmp_path / "pit"), SITE, tmp_path, time.time)


def test_a_session_ends_untouched_or_at_last_and_its_key_with_it() -> None:
    clock = Clock()
    sessions = Sessions(SessionLimits(idle=300, longest=1800), clock)
    cookie, session = sessions.begin(LASA, b"k" * 32, "es")
    other, _ = sessions.begin(RIERA, b"r" * 32, "es")
    assert len(cookie) >= 43  # 256 bits
    assert len({cookie, other, session.token, session.tag}) == 4
    for _ in range(7):
        clock.now += 250
        assert sessions.find(cookie) is session
        sessions.touch(session)
    assert sessions.find(other) is None  # without a touch
    clock.now += 50  # 1800 in all
    assert sessions.find(cookie) is None
    assert (session.alive, session.key) == (False, b"")


def test_signing_out_forgets_the_key_and_another_cookie_has_no_session() -> None:
    sessions = Sessions(SessionLimits(), Clock())
    cookie, session = sessions.begin(LASA, b"k" * 32, "es")
    assert sessions.find(cookie[:-1]) is sessions.find(None) is None
    sessions.end(cookie)
    assert sessions.find(cookie) is None
    assert (session.alive, session.key) == (False, b"")
    assert same_secret("a", "a")
    assert not same_secret("a", "b")
    assert not same_secret(None, "b")


async def test_only_the_own_badge_is_worth_something_and_wrong_ones_lock(
    tmp_path: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("subscribers.console.attempts.FIRST_DELAY_SECONDS", 0.0)
    door = Admission(settings(tmp_path), SITE, tmp_path, Clock())
    assert await door.verify_badge(LASA, " 4711 ") is None
    assert await door.verify_badge(LASA, "4712") == Denied("wrong_badge")
    assert await door.verify_badge(LASA, "") == Denied("wrong_badge")
    assert await door.verify_badge(MORA, "") == Denied("wrong_badge")  # has no badge
    assert await door.verify_badge(LASA, "4711") is None  # and forgets the wrong ones
    for _ in range(MAX_WRONG_PINS):
        denied = await door.verify_badge(LASA, "4712")
    assert denied is not None
    assert denied.why == "locked"
    assert (await door.verify_pin(LASA, PINS["m-lasa"])) == denied


@pytest.mark.parametrize("damaged", [b"", b'{"a":{"count":1,', b"[]"])
def test_damaged_counts_of_wrong_pins_are_named(damaged: bytes, tmp_path: Path) -> None:
    (tmp_path / "wrong").write_bytes(damaged)
    with pytest.raises(ValueError, match=r"wrong, which counts wrong PINs, is damaged. Move it"):
        Attempts(tmp_path / "wrong", b"salt")
