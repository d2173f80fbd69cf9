"""Signed commands, and attacks on them: ten thousand of each kind, in the short form a thousand,
and none is accepted.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from common.contract.commands import RoundVoid
from common.contract.orders import MAX_BODY_BYTES, DeviceOrder, Recall, UnreadableCommandError
from common.contract.refusals import RejectedError
from common.people.register import checked_people
from common.people.roles import ENROLLABLE_ROLES
from common.people.seen import SeenCommands
from common.people.signed_command import (
    CLOCK_TOLERANCE_SECONDS,
    MAX_LIFETIME_SECONDS,
    Claims,
    VerifiedCommand,
    claims_of,
    command_of,
    sign,
    verify,
)
from controller.people.authority import authorise, command_rights
from tests.conftest import LONG as LONG_FORM
from tests.conftest import cases
from tests.support.for_each import for_each
from tests.support.people.staff import (
    AUDIENCE,
    HEAD,
    KEY_OF,
    LASA,
    NOW,
    PERSONS,
    SITE,
    TABLE,
    claims,
    people,
    public,
    secret,
    signed,
)

PEOPLE = people()
TIMES = 10_000 if LONG_FORM in os.environ else 400
RULES = command_rights("roulette-french", "ARA02")


def accept(token: bytes, now: float = NOW, seen: SeenCommands | None = None) -> VerifiedCommand:
    return verify(token, now, AUDIENCE, TABLE, PEOPLE, SeenCommands() if seen is None else seen)


def refusal(token: bytes, now: float = NOW, seen: SeenCommands | None = None) -> str:
    try:
        accept(token, now, seen)
    except RejectedError as refused:
        return refused.refusal.key
    pytest.fail(f"accepted: {token!r}")


def encoded(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def by_hand(header: bytes, body: bytes, key: str = "lasa") -> bytes:
    """A token that no library would write, correctly signed."""
    text = encoded(header) + b"." + encoded(body)
    return text + b"." + encoded(Ed25519PrivateKey.from_private_bytes(secret(key)).sign(text))


def header(**changed: Any) -> bytes:
    return json.dumps({"alg": "EdDSA", "kid": public("lasa").id} | changed).encode()


def body(**changed: Any) -> bytes:
    return json.dumps(msgspec.to_builtins(claims()) | changed).encode()


# Valid commands


def test_the_signer_and_the_content() -> None:
    found = accept(signed())
    assert (found.person, found.key.id) == (LASA, public("lasa").id)
    assert command_of(found, "round-void", 12.5) == RoundVoid(
        at=12.5, by="M. Lasa", role="table_head", reason="ball_out"
    )
    assert authorise(RULES, command_of(found, "round-void", 12.5), found.claims.role).law


def test_any_of_the_persons_keys() -> None:
    assert accept(signed("lasa-tablet")).key == public("lasa-tablet")


def test_another_library_reads_the_token() -> None:
    """The whole of PyJWT, as an independent user would use it."""
    token = signed(jti="0123456789abcdef")
    public_key = Ed25519PrivateKey.from_private_bytes(secret("lasa")).public_key()
    found = jwt.decode(
        token,
        public_key,
        ["EdDSA"],
        audience=AUDIENCE,
        options={"verify_exp": False, "verify_iat": False},
    )
    assert found == msgspec.to_builtins(claims(jti="0123456789abcdef"))


def test_a_token_made_by_another_library_is_accepted() -> None:
    token = jwt.encode(
        msgspec.to_builtins(claims()),
        Ed25519PrivateKey.from_private_bytes(secret("lasa")),
        "EdDSA",
        headers={"kid": public("lasa").id},
    )
    assert accept(token.encode()).person == LASA


def test_commands_to_devices_and_recalls() -> None:
    fields = {"device": "wheel", "command": "stop"}
    told = accept(signed(command="device.command", fields=fields))
    assert command_of(told, "device-command", 0.0) == DeviceOrder(
        device="wheel", command="stop", by="M. Lasa", role="table_head"
    )
    recall = claims(
        iss="carrousel-1", role="reader", command="recall", fields={"boot": "b", "from": 1}
    )
    told = accept(sign(secret("screen"), recall).encode())
    assert command_of(told, "recall", 0.0) == Recall(boot="b", first=1)
    assert authorise(RULES, command_of(told, "recall", 0.0), told.claims.role).law is None


def test_the_sender_is_known_before_anything_is_proved() -> None:
    assert claims_of(signed("nobody")).client == "console-1"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"command": "session.close"}, "command_other"),
        ({"fields": {"reason": "ball_out", "by": "A. Riera"}}, "signed_claims"),
        ({"fields": {"reason": "ball_out", "role": "director"}}, "signed_claims"),
        ({"fields": {"reason": "ball_out", "client": "x"}}, "signed_claims"),
    ],
)
def test_fields_that_contradict_the_claims_are_refused(
    changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(RejectedError) as refused:
        command_of(accept(signed(**changed)), "round-void", 0.0)
    assert refused.value.refusal is not None
    assert refused.value.refusal.key == message


def test_wrong_fields_are_reported_as_of_any_command() -> None:
    for fields in ({"reason": "weather"}, {}, {"reason": "ball_out", "at": 3}):
        with pytest.raises(UnreadableCommandError):
            command_of(accept(signed(fields=fields)), "round-void", 0.0)


def test_a_reader_may_send_no_command() -> None:
    given = claims(iss="carrousel-1", role="reader")
    with pytest.raises(RejectedError, match="may only read"):
        command_of(accept(sign(secret("screen"), given).encode()), "round-void", 0.0)


# The limits of time


@for_each(
    ("iat", "exp", "told"),
    [
        (0, 30, None),
        (CLOCK_TOLERANCE_SECONDS, CLOCK_TOLERANCE_SECONDS + 30, None),
        (CLOCK_TOLERANCE_SECONDS + 1, 60, "signed_in_future"),
        (-60, -CLOCK_TOLERANCE_SECONDS + 1, None),
        (-60, -CLOCK_TOLERANCE_SECONDS, "signed_expired"),
        (0, MAX_LIFETIME_SECONDS, None),
        (0, MAX_LIFETIME_SECONDS + 1, "signed_life"),
        (5, 5, "signed_life"),
        (5, 4, "signed_life"),
    ],
)
def test_the_time_is_right_within_the_tolerance(iat: int, exp: int, told: str | None) -> None:
    token = signed(iat=int(NOW + iat), exp=int(NOW + exp))
    if told is None:
        assert accept(token).person == LASA
    else:
        assert refusal(token) == told


# Attacks: each gives the attempt and the refusals it may get


def altered(chance: random.Random) -> bytes:
    """One or more characters of a good token replaced, removed or added."""
    token = bytearray(GOOD[chance.randrange(len(GOOD))])
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        at = chance.randrange(len(token))
        match chance.randrange(3):
            case 0:
                token[at : at + 1] = bytes([chance.choice(ALPHABET)])
            case 1:
                del token[at]
            case _:
                token[at:at] = bytes([chance.choice(ALPHABET)])
    return bytes(token) if bytes(token) not in GOOD else b"." + bytes(token)


def altered_payload(chance: random.Random) -> bytes:
    """The claims of one token with the signature of another."""
    first, second = chance.sample(GOOD, 2)
    head, _, signature = first.split(b".")
    if chance.random() < 0.5:
        return b".".join((head, second.split(b".")[1], signature))
    said = msgspec.to_builtins(claims()) | chance.choice(
        (
            {"role": "inspector"},
            {"fields": {"reason": "ball_on_rim"}},
            {"exp": int(NOW) + chance.randrange(31, 120)},
            {"jti": f"another-{chance.random()}".replace(".", "-")},
            {"command": "session.close"},
        )
    )
    return b".".join((head, encoded(json.dumps(said).encode()), signature))


def other_table(chance: random.Random) -> bytes:
    return signed(
        aud=chance.choice(
            (
                f"novamas/v1/{SITE}/ruleta-2",
                f"novamas-sim/v1/{SITE}/{TABLE}",
                f"novamas/v1/palma/{TABLE}",
                f"novamas/v2/{SITE}/{TABLE}",
                f"{AUDIENCE}/",
                f"{AUDIENCE}/command",
                AUDIENCE[: chance.randrange(len(AUDIENCE))],
                AUDIENCE.upper(),
                f" {AUDIENCE}",
                f"{AUDIENCE}{chance.randrange(1000)}",
            )
        )
    )


def many_audiences(chance: random.Random) -> bytes:
    return by_hand(
        header(), body(aud=chance.choice(([AUDIENCE], [AUDIENCE, "x"], None, {}, 7, "")))
    )


def expired(chance: random.Random) -> bytes:
    exp = int(
        NOW
        - CLOCK_TOLERANCE_SECONDS
        - chance.choice((0, 1, 2, 60, 3600, 10**6, NOW - CLOCK_TOLERANCE_SECONDS - 1))
    )
    return signed(iat=max(0, exp - chance.randrange(1, MAX_LIFETIME_SECONDS)), exp=exp)


def in_future(chance: random.Random) -> bytes:
    iat = int(NOW + CLOCK_TOLERANCE_SECONDS) + chance.choice((1, 2, 60, 3600, 10**9))
    return signed(iat=iat, exp=iat + chance.randrange(1, MAX_LIFETIME_SECONDS))


def for_ever(chance: random.Random) -> bytes:
    return signed(
        iat=int(NOW) - chance.randrange(1000), exp=int(NOW) + chance.randrange(121, 10**9)
    )


def wrong_role(chance: random.Random) -> bytes:
    """A role in which the person is not enrolled."""
    person = chance.choice([person for person in PERSONS if person.revoked is None])
    role = chance.choice([role for role in ENROLLABLE_ROLES if role not in person.roles])
    return sign(secret(KEY_OF[person.id]), claims(iss=person.id, role=role)).encode()


def revoked(chance: random.Random) -> bytes:
    iss, key = chance.choice(
        (
            ("j-gone", "gone"),
            ("m-lasa", "lasa-lost"),
            ("m-lasa", "lasa-next"),
            ("l-later", "later"),
        )
    )
    role = chance.choice(("director",) if iss != "m-lasa" else LASA.roles)
    return sign(secret(key), claims(iss=iss, role=role)).encode()


def unknown(chance: random.Random) -> bytes:
    return signed(f"nobody {chance.random()}")


def other_algorithm(chance: random.Random) -> bytes:
    """``none``, and all other known ones; also a MAC with the public key as its secret."""
    alg = chance.choice(ALGORITHMS)
    head, text = header(alg=alg), body()
    public_key = chance.choice((public("lasa").raw, public("lasa").x.encode()))
    mac = hmac.new(public_key, encoded(head) + b"." + encoded(text), hashlib.sha512).digest()
    token = by_hand(head, text)
    tails = (token.rsplit(b".", 1)[1], b"", encoded(mac), encoded(mac[:32]))
    return encoded(head) + b"." + encoded(text) + b"." + chance.choice(tails)


def confused_keys(chance: random.Random) -> bytes:
    """One person's key with another's name or another's ``kid``; a key in the header itself."""
    mine, theirs = chance.sample(("lasa", "riera", "vidal", "lasa-tablet", "stranger"), 2)
    ids = {"lasa": "m-lasa", "riera": "a-riera", "vidal": "t-vidal", "lasa-tablet": "m-lasa"}
    match chance.randrange(4):
        case 0:  # signed with one, claimed to be of the other
            return by_hand(header(kid=public(theirs).id), body(iss=ids.get(theirs, "x")), mine)
        case 1:  # the right signature and kid, another person's name
            others = [each for each in ids.values() if each != ids.get(mine)]
            said = body(iss=chance.choice(others))
            return by_hand(header(kid=public(mine).id), said, mine)
        case 2:  # a key brought along
            jwk = {"kty": "OKP", "crv": "Ed25519", "x": public("stranger").x}
            more: dict[str, Any] = chance.choice(
                ({"jwk": jwk}, {"x5c": []}, {"jku": "http://127.0.0.1/"})
            )
            return by_hand(header(**more), body(), chance.choice(("stranger", "lasa")))
        case _:  # a kid that is no thumbprint
            kid = chance.choice(("", "../lasa", public("lasa").x, None, 7, f"{public('lasa').id}="))
            return by_hand(header(kid=kid), body())


def unheard_of_header(chance: random.Random) -> bytes:
    more: dict[str, Any] = chance.choice(
        (
            {"crit": ["exp"]},
            {"crit": []},
            {"b64": False, "crit": ["b64"]},
            {"b64": True},
            {"typ": "JWE"},
            {"cty": "JWT"},
            {"zip": "DEF"},
            {"enc": "A128GCM"},
            {f"x{chance.randrange(1000)}": 1},
        )
    )
    return by_hand(header(**more), body())


def twice(chance: random.Random) -> bytes:
    """A name twice in the header, the claims or the fields, also in another spelling."""
    said = json.loads(body())
    name = chance.choice(sorted(said))
    again = f'"{name}"' if chance.random() < 0.5 else f'"\\u{ord(name[0]):04x}{name[1:]}"'
    value = chance.choice((json.dumps(said[name]), '"director"', "1", "{}"))
    match chance.randrange(3):
        case 0:
            return by_hand(header(), body()[:-1] + f",{again}:{value}}}".encode())
        case 1:
            return by_hand(header()[:-1] + b',"alg":"EdDSA"}', body())
        case _:
            fields = b'{"reason":"ball_out","reason":"%s"}' % chance.choice((b"ball_out", b"x"))
            text = body(fields={}).replace(b'"fields": {}', b'"fields": ' + fields)
            assert fields in text
            return by_hand(header(), text)


def malformed(chance: random.Random) -> bytes:
    """Claims that lack something, have too much, or are of another type."""
    said = json.loads(body())
    name = chance.choice([name for name in said if name not in ("client", "fields")])
    match chance.randrange(4):
        case 0:
            del said[name]
        case 1:
            said[name] = chance.choice((None, [], {}, 1.5, True, -1, "", "x" * 300, "\ud800"))
        case 2:
            said[chance.choice(("nbf", "sub", "admin", "by", "at"))] = 1
        case _:
            said["fields"] = chance.choice((None, [], "x", 7, {"a": "\udfff"}))
    text = json.dumps(said).encode()
    wrecked = (text, text[:-1], b"[" * 3000, b"\xff\xfe" + text, text + b"x", b"null", b"NaN", b"")
    return by_hand(header(), chance.choice((text, text, text, *wrecked)))


def too_long(chance: random.Random) -> bytes:
    more = "x" * chance.randrange(MAX_BODY_BYTES, 3 * MAX_BODY_BYTES)
    return by_hand(header(), body(fields={"note": more})) if chance.random() < 0.1 else LONG


def garbage(chance: random.Random) -> bytes:
    return chance.choice(
        (
            chance.randbytes(chance.randrange(300)),
            b"." * chance.randrange(300),
            b"{}" * chance.randrange(99),
            b'{"by":"A. Riera","role":"inspector"}',
            b".".join(encoded(chance.randbytes(64)) for _ in range(chance.randrange(6))),
        )
    )


ALGORITHMS: tuple[Any, ...] = (
    *("none", "None", "NONE", "nOnE", "", "HS256", "HS384", "HS512", "ES256", "RS256", "PS512"),
    *("Ed25519", "Ed448", "eddsa", "EDDSA", "EdDSA ", "ES256K", None, 7, ["EdDSA"], "A128KW"),
)
ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\0\xff"
GOOD = [signed() for _ in range(50)]
LONG = bytes(256 << 20)

ATTACKS: dict[Callable[[random.Random], bytes], set[str]] = {
    altered: {
        "signed_form",
        "signed_header",
        "signed_claims",
        "key_unknown",
        "signature_wrong",
    },
    altered_payload: {"signature_wrong"},
    other_table: {"audience_other"},
    many_audiences: {"audience_other", "signed_claims"},
    expired: {"signed_expired"},
    in_future: {"signed_in_future"},
    for_ever: {"signed_life"},
    wrong_role: {"role_not_held", "person_out_of_term"},
    revoked: {"person_revoked", "key_revoked", "person_out_of_term", "key_out_of_term"},
    unknown: {"key_unknown"},
    other_algorithm: {"signed_header", "signed_form"},
    confused_keys: {"signature_wrong", "signer_other", "key_unknown", "signed_header"},
    unheard_of_header: {"signed_header"},
    twice: {"signed_claims", "signed_header"},
    malformed: {"signed_claims", "signed_form", "audience_other"},
    too_long: {"signed_too_long"},
    garbage: {"signed_form", "signed_header", "signed_claims"},
}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_no_attack_is_accepted(
    attack: Callable[[random.Random], bytes],
) -> None:
    chance, seen, met = random.Random(15), SeenCommands(), Counter[str]()
    for _ in range(TIMES):
        met[refusal(attack(chance), seen=seen)] += 1
    assert met.total() == TIMES
    assert met.keys() <= ATTACKS[attack]
    assert len(seen) == 0  # and no command was used up


def test_each_command_is_followed_once_whenever_it_is_replayed() -> None:
    """Thousands of replays of fifty commands, at any time after, with the clock set back too."""
    chance, seen = random.Random(15), SeenCommands()
    for token in GOOD:
        accept(token, seen=seen)
    for _ in range(TIMES):
        now = NOW + chance.uniform(-20, 60)
        told = refusal(chance.choice(GOOD), now, seen)
        assert told in ("signed_already", "signed_expired", "signed_in_future")


def test_no_command_from_before_the_start_is_followed() -> None:
    """Whatever the journal or its backup contains: ``since`` is the start and the tolerance."""
    chance = random.Random(15)
    for _ in range(TIMES // 10):
        start = NOW + chance.uniform(0, 30)
        seen = SeenCommands(since=start + CLOCK_TOLERANCE_SECONDS)
        for token in chance.sample(GOOD, 10):
            now = start + chance.uniform(0, 50)
            assert refusal(token, now, seen) in ("signed_before_start", "signed_expired")


def test_a_croupier_may_not_send_commands_of_the_head() -> None:
    """The wrong role by law: enrolled, in order, and refused by the table of roles."""
    for _ in range(TIMES // 10):
        given = claims(iss="a-riera", role="croupier", fields={"reason": "ball_out"})
        found = accept(sign(secret("riera"), given).encode())
        with pytest.raises(RejectedError) as refused:
            authorise(RULES, command_of(found, "round-void", 0.0), found.claims.role)
        assert refused.value.refusal is not None
        assert refused.value.refusal.key == "role_not_allowed"


def test_the_owner_of_a_key_may_not_be_at_every_table() -> None:
    given = claims(iss="a-riera", role="croupier", aud=f"novamas/v1/{SITE}/bacara-1")
    token = sign(secret("riera"), given).encode()
    with pytest.raises(RejectedError, match=r"A. Riera is not enrolled for the table bacara-1"):
        verify(token, NOW, f"novamas/v1/{SITE}/bacara-1", "bacara-1", PEOPLE, SeenCommands())


def test_a_revocation_counts_from_the_next_command_on() -> None:
    token, seen = signed(), SeenCommands()
    accept(token, seen=seen)
    without = checked_people(HEAD, [replace(LASA, revoked="2026-11-22T12:00:00Z"), *PERSONS[1:]])
    with pytest.raises(RejectedError, match=r"M. Lasa may not act since 2026-11-22"):
        verify(signed(), NOW, AUDIENCE, TABLE, without, seen)


TOKENS = st.builds(
    by_hand,
    st.one_of(st.just(header()), st.binary(max_size=80)),
    st.one_of(
        st.binary(max_size=200),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
            lambda inner: (
                st.lists(inner, max_size=4)
                | st.dictionaries(st.sampled_from(Claims.__struct_fields__), inner, max_size=9)
            ),
        ).map(lambda value: json.dumps(value).encode()),
    ),
)


@settings(max_examples=cases(25, 100))
@given(TOKENS)
def test_random_signed_data_is_neither_a_crash_nor_a_command(token: bytes) -> None:
    assert refusal(token).startswith("signed_")


@settings(max_examples=cases(50, 200))
@given(st.data())
def test_a_randomly_changed_claim(data: st.DataObject) -> None:
    """Correctly signed by its person: accepted only if its content is unchanged."""
    name = data.draw(st.sampled_from(["iss", "aud", "iat", "exp", "role"]))
    value = data.draw(
        st.integers(-(2**70), 2**70)
        | st.text(max_size=40)
        | st.sampled_from([AUDIENCE, *ENROLLABLE_ROLES])
    )
    token = by_hand(header(), body(**{name: value}))
    try:
        found = accept(token).claims
    except RejectedError:
        return
    assert (found.iss, found.aud) == ("m-lasa", AUDIENCE)
    assert (
        NOW - MAX_LIFETIME_SECONDS - CLOCK_TOLERANCE_SECONDS
        < found.iat
        <= NOW + CLOCK_TOLERANCE_SECONDS
    )
    assert 0 < found.exp - found.iat <= MAX_LIFETIME_SECONDS
    assert found.role in LASA.roles
