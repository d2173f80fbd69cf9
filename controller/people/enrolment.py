"""Changes of the people file: each gives the next one, with the number after.

Nobody is ever removed: who was revoked stays in the file, so that it says whose a signature of last
year is. A name is of one person: nobody is added, and no line that was changed by hand is signed,
whose name looks like that of another person. A right can be revoked in any file.
"""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.times import moment, utc
from controller.people.names import reorders
from controller.people.register import (
    Key,
    People,
    PeopleError,
    Person,
    alike,
    enrolled,
    said_alike,
)


def added(people: People, person: Person, now: float) -> People:
    """With one more person. Raises :class:`PeopleError` if the name looks like that of another
    person, also of one who is revoked.
    """
    return _told_apart(_next(people, (*people.persons, person), now), person)


def revoked(people: People, person_id: str, kid: str | None, now: float) -> People:
    """Without the right of this person to act, or without one key of theirs."""
    person = find(people, person_id)
    if kid is None:
        changed = replace(person, revoked=utc(now))
    else:
        _key(person, kid)
        keys = tuple(
            replace(key, revoked=utc(now)) if key.id == kid else key for key in person.keys
        )
        changed = replace(person, keys=keys)
    return _next(people, _with(people, changed), now)


def rotated(people: People, person_id: str, key: Key, until: float, now: float) -> People:
    """With a new key of this person; the others are in force until then."""
    person = find(people, person_id)
    kept = tuple(
        each
        if each.revoked is not None or (each.until is not None and moment(each.until) < until)
        else replace(each, until=utc(until))
        for each in person.keys
    )
    return _next(people, _with(people, replace(person, keys=(*kept, key))), now)


def signed_again(people: People, now: float) -> People:
    """As it is. Raises :class:`PeopleError` if two names look the same."""
    return _told_apart(_next(people, people.persons, now))


def find(people: People, person_id: str) -> Person:
    """The person with this id. Raises :class:`PeopleError`."""
    person = next((each for each in people.persons if each.id == person_id), None)
    if person is None:
        raise PeopleError(f"nobody has the id {person_id}; novamas people list shows who there is")
    return person


def _told_apart(people: People, person: Person | None = None) -> People:
    """Refuse names that look the same, any two or one of them that of ``person``, and names that
    are shown otherwise than they are written.
    """
    for each in people.persons if person is None else (person,):
        if reorders(each.name):
            raise PeopleError(
                f"name: {each.name!a} of {each.id} has a character that shows letters in another "
                "order; remove it"
            )
    for first, second in alike(people.persons, revoked=True):
        if person is None or person.id == second[1].id:
            raise PeopleError(said_alike(first, second))
    return people


def _key(person: Person, kid: str) -> Key:
    key = next((each for each in person.keys if each.id == kid), None)
    if key is None:
        raise PeopleError(
            f"{person.id} has no key {kid}; there are: {', '.join(key.id for key in person.keys)}"
        )
    return key


def _with(people: People, changed: Person) -> tuple[Person, ...]:
    return tuple(changed if each.id == changed.id else each for each in people.persons)


def _next(people: People, persons: tuple[Person, ...], now: float) -> People:
    return enrolled(replace(people.head, number=people.head.number + 1, time=utc(now)), persons)
