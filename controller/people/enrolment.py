"""Changes to the people file. Each function returns the next version of the file, with the next
number.

No person is ever removed: revoked people stay in the file, so that old signatures can be
attributed. Names are unique: a person whose name looks like that of another one is not added, and a
file with two such names is not signed. A right can be revoked in any file.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.times import format_utc, parse_utc
from common.people.names import has_direction_marks
from common.people.register import (
    Key,
    People,
    PeopleError,
    Person,
    alike,
    checked_people,
    describe_alike,
)


def add_person(people: People, person: Person, now: float) -> People:
    """Add a person. Raises :class:`PeopleError` if the name looks like that of another person, also
    of a revoked one.
    """
    return _with_distinct_names(_next(people, (*people.persons, person), now), person)


def revoke(people: People, person_id: str, kid: str | None, now: float) -> People:
    """Revoke a person, or only the key ``kid`` of that person."""
    person = find_person(people, person_id)
    if kid is None:
        revoked_person = replace(person, revoked=format_utc(now))
    else:
        _key(person, kid)
        keys = tuple(
            replace(key, revoked=format_utc(now)) if key.id == kid else key for key in person.keys
        )
        revoked_person = replace(person, keys=keys)
    return _next(people, _with(people, revoked_person), now)


def rotate_key(people: People, person_id: str, key: Key, until: float, now: float) -> People:
    """Add a new key of a person; their other keys remain valid until ``until``."""
    person = find_person(people, person_id)
    other_keys = tuple(
        other
        if other.revoked is not None or (other.until is not None and parse_utc(other.until) < until)
        else replace(other, until=format_utc(until))
        for other in person.keys
    )
    return _next(people, _with(people, replace(person, keys=(*other_keys, key))), now)


def renumber(people: People, now: float) -> People:
    """Raise the number and change nothing else. Raises :class:`PeopleError` if two names look the
    same.
    """
    return _with_distinct_names(_next(people, people.persons, now))


def find_person(people: People, person_id: str) -> Person:
    """Return the person with this id. Raises :class:`PeopleError`."""
    person = next((candidate for candidate in people.persons if candidate.id == person_id), None)
    if person is None:
        raise PeopleError(f"nobody has the id {person_id}; novamas people list shows who there is")
    return person


def _with_distinct_names(people: People, person: Person | None = None) -> People:
    """Reject names that look the same (any two, or that of ``person`` and another one), and names
    with characters that change the displayed order.
    """
    for named in people.persons if person is None else (person,):
        if has_direction_marks(named.name):
            raise PeopleError(
                f"name: {named.name!a} of {named.id} has a character that shows letters in another "
                "order; remove it"
            )
    for first, second in alike(people.persons, revoked=True):
        if person is None or person.id == second[1].id:
            raise PeopleError(describe_alike(first, second))
    return people


def _key(person: Person, kid: str) -> Key:
    key = next((each for each in person.keys if each.id == kid), None)
    if key is None:
        raise PeopleError(
            f"{person.id} has no key {kid}; there are: {', '.join(key.id for key in person.keys)}"
        )
    return key


def _with(people: People, changed: Person) -> tuple[Person, ...]:
    return tuple(changed if person.id == changed.id else person for person in people.persons)


def _next(people: People, persons: tuple[Person, ...], now: float) -> People:
    return checked_people(
        replace(people.head, number=people.head.number + 1, time=format_utc(now)), persons
    )
