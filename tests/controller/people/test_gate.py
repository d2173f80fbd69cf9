"""All checks before a table, together."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from msgspec.structs import replace

from common.contract.commands import ResultCorrect
from common.contract.orders import DeviceOrder, Recall
from common.contract.refusals import RejectedError
from common.people.register import Person, checked_people
from common.people.seen import SeenCommands
from common.people.signed_command import sign
from common.people.two_persons import SECOND_PERSON_SECONDS, CommandSubject
from controller.people.authority import command_rights, narrow
from controller.people.gate import CommandGate, PermittedCommand
from tests.conftest import cases
from tests.support.people.staff import (
    AUDIENCE,
    HEAD,
    KEY_OF,
    LASA,
    NOW,
    PERSONS,
    TABLE,
    claims,
    people,
    secret,
)

HAS_RESULT = CommandSubject(has_result=True)
RIGHTS = command_rights("roulette-french", "ARA02")
CORRECT: dict[str, Any] = {
    "command": "result.correct",
    "fields": {"round": 5, "number": 12},
}


def gate() -> CommandGate:
    return CommandGate(AUDIENCE, TABLE, people(), RIGHTS, SeenCommands())


def give(
    to: CommandGate,
    person: str,
    role: Any,
    now: float = NOW,
    key: str | None = None,
    standing: CommandSubject = HAS_RESULT,
    **what: Any,
) -> PermittedCommand:
    given = claims(iss=person, role=role, iat=int(now), exp=int(now) + 30, **what)
    token = sign(secret(key or KEY_OF[person]), given).encode()
    return to.accept(token, given.command.replace(".", "-"), now, 12.5, lambda _: standing)


def refusal(to: CommandGate, *who: Any, **what: Any) -> str:
    with pytest.raises(RejectedError) as refused:
        give(to, *who, **what)
    assert refused.value.refusal is not None
    return refused.value.refusal.key


def test_commands_of_one_person() -> None:
    passed = give(gate(), "a-riera", "croupier", command="bets.open", fields={})
    assert (passed.first.name, passed.second) == ("A. Riera", None)
    assert passed.first.token.count(".") == 2


def test_each_check_refuses() -> None:
    assert refusal(gate(), "m-lasa", "table_head", key="riera") == "signer_other"
    assert refusal(gate(), "a-riera", "inspector") == "role_not_held"
    assert refusal(gate(), "a-riera", "croupier", fields={"reason": "ball_out"}) == (
        "role_not_allowed"
    )
    assert refusal(gate(), "m-lasa", "inspector", command="shoe.start", fields={"shoe": "1"}) == (
        "unknown_command"
    )


def test_two_persons_correct_a_result() -> None:
    at = gate()
    assert refusal(at, "m-lasa", "table_head", **CORRECT) == "second_person_wanted"
    assert refusal(at, "m-lasa", "inspector", key="lasa-tablet", **CORRECT) == "second_person_same"
    assert refusal(at, "a-riera", "croupier", **CORRECT) == "role_not_allowed"
    passed = give(at, "t-vidal", "director", now=NOW + SECOND_PERSON_SECONDS - 1, **CORRECT)
    assert passed.command == ResultCorrect(
        at=12.5, by="M. Lasa", role="table_head", round=5, number=12
    )
    assert passed.second is not None
    assert (passed.first.person, passed.second.person) == ("m-lasa", "t-vidal")
    assert passed.first.token != passed.second.token
    again = refusal(at, "t-vidal", "director", now=NOW + SECOND_PERSON_SECONDS, **CORRECT)
    assert again == "second_person_wanted"


def test_a_first_person_revoked_meanwhile_does_not_count() -> None:
    at = gate()
    assert refusal(at, "m-lasa", "table_head", **CORRECT) == "second_person_wanted"
    at.people = checked_people(HEAD, [replace(LASA, revoked="2027-01-15T08:00:00Z"), *PERSONS[1:]])
    assert refusal(at, "t-vidal", "director", **CORRECT) == "second_person_wanted"
    assert refusal(at, "m-lasa", "table_head", **CORRECT) == "person_revoked"


def test_an_unconfirmed_command_is_dropped_and_reported() -> None:
    at = gate()
    assert refusal(at, "m-lasa", "table_head", **CORRECT) == "second_person_wanted"
    assert at.expired(NOW + SECOND_PERSON_SECONDS - 1) == ()
    assert [each.first.person for each in at.expired(NOW + SECOND_PERSON_SECONDS)] == ["m-lasa"]
    assert at.expired(NOW + SECOND_PERSON_SECONDS) == ()


def test_a_void_takes_two_once_there_is_a_result() -> None:
    at = gate()
    assert give(at, "m-lasa", "table_head", standing=CommandSubject()).second is None
    assert refusal(at, "m-lasa", "table_head") == "second_person_wanted"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            replace(LASA, keys=(replace(LASA.keys[0], revoked="2027-01-15T08:00:00Z"),)),
            "key_revoked",
        ),
        (replace(LASA, keys=LASA.keys[1:]), "key_unknown"),
        (replace(LASA, roles=("inspector",)), "role_not_held"),
        (replace(LASA, tables=("bacara-1",)), "person_elsewhere"),
    ],
)
def test_a_first_person_who_lost_the_right_does_not_count(changed: Person, message: str) -> None:
    at = gate()
    assert refusal(at, "m-lasa", "table_head", **CORRECT) == "second_person_wanted"
    at.people = checked_people(HEAD, [changed, *PERSONS[1:]])
    assert refusal(at, "t-vidal", "director", **CORRECT) == message
    assert refusal(at, "t-vidal", "director", **CORRECT) == "second_person_wanted"


def test_a_recall_and_a_command_to_a_device_take_one() -> None:
    at = gate()
    fields = {"boot": "b", "from": 1}
    passed = give(at, "carrousel-1", "reader", command="recall", fields=fields)
    assert passed.command == Recall(boot="b", first=1)
    fields = {"device": "wheel", "command": "stop"}
    passed = give(at, "t-vidal", "director", command="device.command", fields=fields)
    assert isinstance(passed.command, DeviceOrder)


def test_a_site_that_restricts_roles() -> None:
    at = gate()
    at.rights = narrow(RIGHTS, {"round.void": ("inspector",)})
    assert refusal(at, "m-lasa", "table_head", standing=CommandSubject()) == "role_not_allowed"
    assert give(at, "m-lasa", "inspector", standing=CommandSubject()).first.role == "inspector"


def test_no_result_is_corrected_by_fewer_than_two_permitted_persons() -> None:
    """Anybody sends corrections of two rounds with any key and role; every one that passes has two
    persons who are enrolled, in force, and permitted.
    """
    chance, at, met = random.Random(15), gate(), Counter[str]()
    times = cases(2_500, 10_000)
    for number in range(times):
        now = NOW + number * 5
        person = chance.choice([*KEY_OF, "m-lasa"])
        role = chance.choice(("croupier", "table_head", "inspector", "director", "reader"))
        key = chance.choice((None, None, None, "lasa-tablet", "vidal", "stranger"))
        fields = {"round": chance.choice((5, 6)), "number": 12}
        try:
            passed = give(at, person, role, now, key, command="result.correct", fields=fields)
        except RejectedError as refused:
            met[refused.refusal.key] += 1
            continue
        met["passed"] += 1
        assert passed.second is not None
        assert {passed.first.person, passed.second.person} == {"m-lasa", "t-vidal"}
        assert {passed.first.role, passed.second.role} <= {"table_head", "inspector", "director"}
    assert met["passed"] > times // 500
    assert met["second_person_same"] > times // 500
    assert met["second_person_wanted"] > times // 500
