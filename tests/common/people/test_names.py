"""Names that look the same, and names that do not."""

from __future__ import annotations

import string
import unicodedata
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from common.contract.commands import RoundVoid, Signature
from common.contract.refusals import RejectedError
from common.people import names
from common.people.names import appearances
from common.people.register import (
    PeopleError,
    Person,
    checked_people,
    to_base64url,
    write_people,
)
from common.people.seen import SeenCommands
from common.people.signed_command import verify
from controller.journal.setup import Boot, PeopleSetup, TableSetup
from controller.people.enrolment import add_person, renumber, revoke, rotate_key
from controller.proof.signatures import Signatures
from tests.support.for_each import for_each
from tests.support.people.staff import (
    AUDIENCE,
    HEAD,
    LASA,
    NOW,
    PERSONS,
    REVOKED,
    SIGNER,
    SITE,
    SITE_KEY,
    TABLE,
    people,
    public,
    signed,
)

TABLE_OF = {
    letter: latin
    for latin, letters in (
        line.split("\t")
        for line in Path(names.__file__).with_name("lookalikes.tsv").read_text().splitlines()[1:]
    )
    for letter in letters
}
_SURNAMES = """
Agirre Aguirre Alberdi Álvarez Arana Aranburu Arrizabalaga Artola Azkue Barrenetxea
Bengoetxea Blanco Calvo Campos Castro Cortés Díaz Domínguez Echeverría Egaña Elizondo
Etxeberria Fernández Ferrer Ferrero Font Fuster Garay García Gil Gili Giner Goikoetxea
Gómez Goñi González Guerra Gutiérrez Hernández Herrero Ibáñez Ibarra Iglesias Illarramendi
Iturbe Izagirre Jiménez Lasa Laso León Llach Lluch López Lorenzo Luis Marín Mariño Martí
Martín Martínez Mas Medina Méndez Mendizabal Mora Morales Moreno Muñoz Muñiz Navarro Núñez
Nunes Olano Ortega Ortiz Otero Peña Pena Pérez Peres Pons Prat Puig Ramírez Ramos Rey
Riera Ribera Roca Rodríguez Romero Rubio Ruiz Saiz Sáez Sala Salas Sanchis Sánchez Sanz
Serra Serrano Soler Soto Suárez Torres Uriarte Urrutia Valls Vázquez Vega Vidal Vila Villa
Vives Xirau Zabala Zubiri Zubiria Zuloaga L·lull Vallmitjana
"""
_GIVEN = """
Aitor Ander Ane Arantxa Begoña Edurne Eli Ella Iker Ibai Íñigo Inigo Itziar José Jose Lia
Ila
"""
SURNAMES, GIVEN = _SURNAMES.split(), _GIVEN.split()


@for_each(
    ("one", "other"),
    [
        ("M. Lasa", "m. lasa"),
        ("M. Lasa", "M.  Lasa"),
        ("M. Lasa", "M.\u00a0Lasa "),
        ("M. Lasa", "M. La\u200bsa"),
        ("M. Lasa", "\u041c. Lasa"),
        ("M. Lasa", "\uff2d. \uff2casa"),
        ("Josu Núñez", "JOSU NU\u0301N\u0303EZ"),
        ("Iker", "lker"),
        ("Berta", "\u0412\u0415RTA"),
        ("Carmen", "Carrnen"),
        ("Straße", "STRASSE"),
        ("J. O'Neil", "J. O\u2019Neil"),
        ("Gil-Robles", "Gil\u2011Robles"),
        ("Otero", "0tero"),
    ],
)
def test_these_look_the_same(one: str, other: str) -> None:
    assert appearances(one) & appearances(other)


def test_no_two_names_that_people_have_look_the_same() -> None:
    initials = [f"{letter}. {surname}" for letter in string.ascii_uppercase for surname in SURNAMES]
    whole = [f"{given} {surname}" for given in GIVEN for surname in SURNAMES]
    known: dict[str, str] = {}
    for name in (*initials, *whole, "Ana Núñez", "Ana Nunez", "Ana Peña", "Ana Pena"):
        for look in appearances(name):
            assert known.setdefault(look, name) == name


@given(
    st.sampled_from([f"{given} {surname}" for given in GIVEN for surname in SURNAMES]),
    st.randoms(use_true_random=False),
)
def test_a_name_written_otherwise_looks_the_same(name: str, chance: Random) -> None:
    """Letters of other scripts, in another form, with spaces, in capitals."""
    of = {latin: [each for each in TABLE_OF if TABLE_OF[each] == latin] for latin in name}
    written = "".join(
        chance.choice([each, each, *of[each]]) + chance.choice(["", "", "", "\u200d", " "])
        for each in name
    )
    written = unicodedata.normalize(chance.choice(["NFC", "NFD", "NFKC"]), written)
    assert appearances(name) & appearances(written)
    upper = chance.choice([str.upper, str.lower, str.title])(name)
    assert appearances(name) & appearances(upper)


TWIN = Person(
    id="m-lasa-2", name="\u041c. Lasa", roles=("inspector",), tables=("*",), keys=(public("twin"),)
)
FORMER = replace(TWIN, id="j-gone-2", name="J.  Gone")


@pytest.mark.parametrize(("person", "other"), [(TWIN, LASA), (FORMER, REVOKED)])
def test_no_person_is_enrolled_under_a_name_that_looks_like_another(
    person: Person, other: Person
) -> None:
    with pytest.raises(PeopleError) as refused:
        add_person(people(), person, NOW)
    assert f"{person.name!a} of {person.id} looks the same as {other.name!a}" in str(refused.value)
    with pytest.raises(PeopleError, match="looks the same"):
        renumber(checked_people(HEAD, [*PERSONS, person]), NOW)


def test_a_right_can_be_revoked_though_two_names_look_the_same() -> None:
    both = checked_people(HEAD, [*PERSONS, TWIN])
    assert both.alike == {"m-lasa": "m-lasa-2", "m-lasa-2": "m-lasa"}
    after = revoke(both, "t-vidal", None, NOW)
    assert after.head.number == HEAD.number + 1
    assert rotate_key(after, "a-riera", public("new"), NOW, NOW).head.number == HEAD.number + 2
    assert revoke(both, "m-lasa-2", None, NOW).alike == {}
    ready = add_person(both, replace(LASA, id="x", name="X. Xirau", keys=(public("x"),)), NOW)
    assert len(ready.persons) == len(both.persons) + 1, "others can be enrolled"


def test_persons_whose_names_look_the_same_may_not_act() -> None:
    both = checked_people(HEAD, [*PERSONS, TWIN])
    given = signed()
    with pytest.raises(RejectedError) as refused:
        verify(given, NOW, AUDIENCE, TABLE, both, SeenCommands())
    assert refused.value.refusal.key == "person_alike"
    assert verify(given, NOW, AUDIENCE, TABLE, people(), SeenCommands()).person == LASA
    former = checked_people(HEAD, [*PERSONS, FORMER])
    assert former.alike == {}, "a revoked person is not taken for an active one"


def test_their_commands_under_an_older_release_stay_proved() -> None:
    """Its daemon followed them, and the journal has the people file that was in force."""
    both = checked_people(HEAD, [*PERSONS, TWIN])
    setup = PeopleSetup(file=write_people(both, SITE_KEY).decode(), key=to_base64url(SIGNER))
    proof = Signatures()
    run = Boot(software="", python="", site=SITE, node="n", key=None, tables=(), people=setup)
    assert proof.boot(run) is None
    by = Signature(id=LASA.id, name=LASA.name, role="table_head", token=signed().decode())
    void = RoundVoid(at=1.0, by=LASA.name, role="table_head", reason="ball_out", signed=(by,))
    table = TableSetup(id=TABLE, game="roulette-french", decree="ARA02")
    assert proof.problem(void, table, NOW, None) is None


def test_three_names_that_look_the_same_are_all_reported() -> None:
    third = replace(TWIN, id="m-lasa-3", name="m. lasa", keys=())
    assert set(checked_people(HEAD, [*PERSONS, TWIN, third]).alike) == {
        "m-lasa",
        "m-lasa-2",
        "m-lasa-3",
    }


@pytest.mark.parametrize("sign", ["\u202e", "\u2066", "\u200f", "\u061c"])
def test_a_name_shows_its_letters_in_their_order(sign: str) -> None:
    person = replace(TWIN, name=f"{sign}asaL .M")
    with pytest.raises(PeopleError, match="shows letters in another order"):
        add_person(people(), person, NOW)
    with pytest.raises(PeopleError, match="shows letters in another order"):
        renumber(checked_people(HEAD, [*PERSONS, person]), NOW)


def test_the_table_lists_each_letter_once_and_no_plain_one() -> None:
    assert len(TABLE_OF) > 300
    assert not {*string.ascii_letters, *"áéíóúüñçàèòïÁÉÍÓÚÜÑÇ·"} & TABLE_OF.keys()
    assert all(latin.isascii() and latin.isalpha() for latin in TABLE_OF.values())
