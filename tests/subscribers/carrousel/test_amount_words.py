"""Amounts in words, in five languages."""

from __future__ import annotations

import pytest

from common.contract.messages.messages import LANGUAGES
from subscribers.carrousel.amount_words import MAX_EUROS, amount_in_words, number_in_words

AMOUNTS = {
    "en": {
        100: "one euro",
        101: "one euro and one cent",
        50_450: "five hundred and four euros and fifty cents",
        123_456: "one thousand two hundred and thirty-four euros and fifty-six cents",
        100_400: "one thousand and four euros",
        100_000_000: "one million euros",
    },
    "es": {
        100: "un euro",
        1: "un céntimo",
        2_100: "veintiún euros",
        10_000: "cien euros",
        10_100: "ciento un euros",
        50_450: "quinientos cuatro euros con cincuenta céntimos",
        123_456: "mil doscientos treinta y cuatro euros con cincuenta y seis céntimos",
        2_100_000: "veintiún mil euros",
        100_000_000: "un millón de euros",
        250_000_100: "dos millones quinientos mil un euros",
    },
    "ca": {
        100: "un euro",
        2_200: "vint-i-dos euros",
        50_450: "cinc-cents quatre euros amb cinquanta cèntims",
        123_456: "mil dos-cents trenta-quatre euros amb cinquanta-sis cèntims",
        200_000_000: "dos milions d’euros",
    },
    "eu": {
        100: "euro bat",
        2_100: "hogeita bat euro",
        3_500: "hogeita hamabost euro",
        50_450: "bostehun eta lau euro eta berrogeita hamar zentimo",
        100_400: "mila eta lau euro",
        110_000: "mila eta ehun euro",
        123_456: "mila berrehun eta hogeita hamalau euro eta berrogeita hamasei zentimo",
        100_000_000: "milioi bat euro",
    },
    "gl": {
        100: "un euro",
        2_100: "vinte e un euros",
        10_000: "cen euros",
        50_450: "cincocentos catro euros con cincuenta céntimos",
        123_456: "mil douscentos trinta e catro euros con cincuenta e seis céntimos",
        300_000_000: "tres millóns de euros",
    },
}


@pytest.mark.parametrize("language", sorted(AMOUNTS))
def test_amounts_are_written_as_people_of_the_language_write_them(language: str) -> None:
    written = {amount: amount_in_words(amount, "EUR", language) for amount in AMOUNTS[language]}
    assert written == AMOUNTS[language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_two_numbers_are_the_same_words(language: str) -> None:
    numbers = [*range(3000), *range(3000, MAX_EUROS, 777_777)]
    assert len({number_in_words(number, language) for number in numbers}) == len(numbers)


def test_what_is_not_written_in_words() -> None:
    assert amount_in_words(100, "JPY", "es") is None
    assert amount_in_words(-1, "EUR", "es") is None
    assert amount_in_words((MAX_EUROS + 1) * 100, "EUR", "es") is None
