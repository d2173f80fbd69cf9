"""The commands of each role: derived from the games and rulebooks, and checked against them."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest

from common.contract.commands import (
    COMMANDS,
    DealError,
    DeviceCommand,
    RoundVoid,
    SessionOpen,
    ShoeStart,
)
from common.contract.notation import read_input
from common.contract.orders import DeviceOrder, Recall
from common.contract.refusals import RejectedError
from common.people.roles import COMMANDING_ROLES, ENROLLABLE_ROLES, EnrolledRole
from controller.games.games import make_game
from controller.games.machine import Machine
from controller.people.authority import (
    DEVICE_COMMAND,
    LAUNCH_COMMAND,
    authorise,
    command_name,
    command_rights,
    narrow,
    narrow_at_table,
)
from tests.support.for_each import for_each
from tests.support.games.anything import anything
from tests.support.games.decrees import PAIRS

ARA02 = command_rights("roulette-french", "ARA02")
SHOE = ShoeStart(at=0, by="x", role="director", shoe="S-1")
OF_THE_TABLE = (
    "alert.acknowledge",
    "staff.on",
    "staff.off",
    "device.service",
    "witness.report",
)
"""Commands that no game accepts."""
VOID = RoundVoid(at=0, by="x", role="director", reason="ball_out")


def test_french_roulette_in_aragon() -> None:
    """Spelled out, not derived."""
    in_charge = ("table_head", "inspector", "director")
    void = ARA02["round.void"]
    assert void.roles == ("table_head", "inspector")
    assert void.law is not None
    assert void.law.startswith("Decreto 159/2002")
    assert ARA02["session.open"].roles == in_charge
    assert ARA02["result.correct"].roles == in_charge
    assert ARA02["bets.open"].roles == ("croupier", *in_charge)
    assert ARA02["device.command"].roles == (*in_charge, "technician")
    assert ARA02["device.command launch"].roles == ("croupier", *in_charge, "technician")
    assert ARA02["alert.acknowledge"].roles == ("croupier", *in_charge, "technician")
    assert ARA02["recall"].roles == ("croupier", *in_charge, "technician", "reader", "surveillance")
    assert {name for name, right in ARA02.items() if right.law} == {"limit.announce", "round.void"}
    assert command_rights("roulette-french", "EUS96")["round.void"].roles == (
        "table_head",
        "inspector",
        "croupier",
    )


@for_each(("game", "decree"), PAIRS)
def test_the_table_refuses_the_roles_that_the_game_refuses(game: str, decree: str) -> None:
    """The game refuses a role where the table does, and nowhere else. For a new table; the game may
    have other reasons.
    """
    found, made, chance = command_rights(game, decree), make_game(game, decree, {}), Random(15)
    assert isinstance(made, Machine)
    asked = 0
    for kind in COMMANDS:
        name = str(kind.__struct_config__.tag)
        if name not in found or name in OF_THE_TABLE:
            continue
        for role in COMMANDING_ROLES:
            given = read_input(
                msgspec.json.encode(
                    {
                        **msgspec.to_builtins(anything(kind, chance)),
                        "role": role,
                        # only those in charge correct an error
                        **({"valid": True} if kind is DealError else {}),
                    }
                )
            )
            try:
                made.step(made.begin(), given)
                key = None
            except RejectedError as error:
                key = error.refusal.key
            cell = made.deciders.get(f"{name} {getattr(given, 'reason', '')}")
            may = role in found[name].roles and (cell is None or role in cell.roles)
            assert (key == "role_not_allowed") == (not may), (name, role)
            asked += 1
    assert asked >= 25


def test_a_command_is_found_under_its_name() -> None:
    head: dict[str, Any] = {"by": "x", "role": "technician"}
    assert command_name(VOID) == "round.void"
    assert command_name(Recall(boot="b", first=1)) == "recall"
    assert command_name(DeviceOrder(command="fire", device="wheel", **head)) == LAUNCH_COMMAND
    assert (
        command_name(DeviceCommand(at=0, command="stop", device="wheel", **head)) == DEVICE_COMMAND
    )


def test_a_refusal_names_the_permitted_roles_and_the_law() -> None:
    with pytest.raises(RejectedError) as refused:
        authorise(ARA02, VOID, "croupier")
    assert str(refused.value).startswith(
        "role croupier is not allowed to do this; allowed: table_head, inspector: Decreto 159/2002"
    )
    with pytest.raises(RejectedError, match=r"this game has no command shoe-start"):
        authorise(ARA02, SHOE, "director")
    assert authorise(ARA02, VOID, "inspector").law


def test_a_site_restricts_roles() -> None:
    site: dict[str, tuple[EnrolledRole, ...]] = {
        "round.void": ("inspector",),
        "recall": ("inspector", "reader"),
    }
    found = narrow(ARA02, site)
    assert found["round.void"].roles == ("inspector",)
    assert found["round.void"].narrowed
    assert found["recall"].roles == ("inspector", "reader")
    with pytest.raises(RejectedError):
        authorise(found, VOID, "table_head")
    assert {name: right for name, right in found.items() if name not in site} == {
        name: right for name, right in ARA02.items() if name not in site
    }


@pytest.mark.parametrize(
    ("command", "roles", "message"),
    [
        ("round.void", ("inspector", "croupier"), "croupier may not have it; Decreto 159/2002"),
        ("session.open", ("technician",), "technician may not have it; the default leaves it"),
        ("round.void", (), "nobody could give it"),
        ("round.viod", ("inspector",), "round.void"),
    ],
)
def test_a_site_cannot_extend_roles(
    command: str, roles: tuple[EnrolledRole, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=r".*") as refused:
        narrow(ARA02, {command: roles})
    assert message in str(refused.value)


def test_a_site_restricts_all_its_tables_at_once() -> None:
    """A croupier may void a round at one of two tables; the site removes the right
    wherever it can.
    """
    site = {"round.void": ("inspector", "croupier"), "shoe.start": ("director",)}
    basque = command_rights("roulette-french", "EUS96")
    assert narrow_at_table(ARA02, site)["round.void"].roles == ("inspector",)
    assert narrow_at_table(basque, site)["round.void"].roles == ("inspector", "croupier")
    assert "shoe.start" not in narrow_at_table(ARA02, site)
    with pytest.raises(ValueError, match="nobody could give it"):
        narrow_at_table(ARA02, {"round.void": ("croupier",)})


def test_no_restriction_gives_a_role_more() -> None:
    for game, decree in PAIRS:
        of = command_rights(game, decree)
        for name, right in of.items():
            for role in ENROLLABLE_ROLES:
                if role in right.roles:
                    assert narrow(of, {name: (role,)})[name].roles == (role,)
                else:
                    with pytest.raises(ValueError, match="may not have it"):
                        narrow(of, {name: (role,)})


def test_an_opening_is_refused_to_a_technician() -> None:
    with pytest.raises(RejectedError, match=r"role technician is not allowed"):
        authorise(ARA02, SessionOpen(at=0, by="x", role="technician"), "technician")
