"""An amount of euros in words, as a receipt states it, in the five languages. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from common.money import EURO

MAX_EUROS = 999_999_999
"""Larger amounts are not written in words."""
CENTS = 100


class _Currency(msgspec.Struct, frozen=True, kw_only=True):
    """The words of euros and cents in one language."""

    euro: tuple[str, str]
    """For one, and for any other number, as templates."""
    cent: tuple[str, str]
    joined: str
    """Both together."""
    of_millions: str
    """Euros after a whole number of millions."""


_CURRENCIES: Mapping[str, _Currency] = {
    "en": _Currency(
        euro=("{} euro", "{} euros"),
        cent=("{} cent", "{} cents"),
        joined="{} and {}",
        of_millions="{} euros",
    ),
    "es": _Currency(
        euro=("{} euro", "{} euros"),
        cent=("{} céntimo", "{} céntimos"),
        joined="{} con {}",
        of_millions="{} de euros",
    ),
    "ca": _Currency(
        euro=("{} euro", "{} euros"),
        cent=("{} cèntim", "{} cèntims"),
        joined="{} amb {}",
        of_millions="{} d’euros",
    ),
    "eu": _Currency(
        euro=("euro {}", "{} euro"),
        cent=("zentimo {}", "{} zentimo"),
        joined="{} eta {}",
        of_millions="{} euro",
    ),
    "gl": _Currency(
        euro=("{} euro", "{} euros"),
        cent=("{} céntimo", "{} céntimos"),
        joined="{} con {}",
        of_millions="{} de euros",
    ),
}


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_UNITS: Mapping[str, Sequence[str]] = {
    "en": _words(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen"
    ),
    "es": _words(
        "cero un dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince "
        "dieciséis diecisiete dieciocho diecinueve veinte veintiún veintidós veintitrés "
        "veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve"
    ),
    "ca": _words(
        "zero un dos tres quatre cinc sis set vuit nou deu onze dotze tretze catorze quinze setze "
        "disset divuit dinou vint vint-i-un vint-i-dos vint-i-tres vint-i-quatre vint-i-cinc "
        "vint-i-sis vint-i-set vint-i-vuit vint-i-nou"
    ),
    "eu": _words(
        "zero bat bi hiru lau bost sei zazpi zortzi bederatzi hamar hamaika hamabi hamahiru "
        "hamalau hamabost hamasei hamazazpi hemezortzi hemeretzi"
    ),
    "gl": _words(
        "cero un dous tres catro cinco seis sete oito nove dez once doce trece catorce quince "
        "dezaseis dezasete dezaoito dezanove"
    ),
}
"""The numbers that are one word, from 0."""
_TENS: Mapping[str, Sequence[str]] = {
    "en": _words("twenty thirty forty fifty sixty seventy eighty ninety"),
    "es": _words("veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa"),
    "ca": _words("vint trenta quaranta cinquanta seixanta setanta vuitanta noranta"),
    "eu": _words("hogei berrogei hirurogei laurogei"),
    "gl": _words("vinte trinta corenta cincuenta sesenta setenta oitenta noventa"),
}
"""20, 30 and so on; in Basque the multiples of 20."""
_HUNDREDS: Mapping[str, Sequence[str]] = {
    "es": _words(
        "ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos "
        "ochocientos novecientos"
    ),
    "ca": _words(
        "cent dos-cents tres-cents quatre-cents cinc-cents sis-cents set-cents vuit-cents nou-cents"
    ),
    "eu": _words(
        "ehun berrehun hirurehun laurehun bostehun seiehun zazpiehun zortziehun bederatziehun"
    ),
    "gl": _words(
        "cento douscentos trescentos catrocentos cincocentos seiscentos setecentos oitocentos "
        "novecentos"
    ),
}
"""100, 200 and so on."""
_HUNDRED_ALONE: Mapping[str, str] = {"es": "cien", "gl": "cen"}
_TEN_JOINTS: Mapping[str, str] = {"en": "-", "es": " y ", "ca": "-", "eu": "ta ", "gl": " e "}
"""Between tens and units."""
_THOUSAND: Mapping[str, str] = {"en": "thousand", "eu": "mila"}
_MILLIONS: Mapping[str, tuple[str, str]] = {
    "en": ("{} million", "{} million"),
    "es": ("{} millón", "{} millones"),
    "ca": ("{} milió", "{} milions"),
    "eu": ("milioi {}", "{} milioi"),
    "gl": ("{} millón", "{} millóns"),
}


def amount_in_words(amount: int, currency: str, language: str) -> str | None:
    """Return an amount in minor units in words; None for another currency than the euro, for a
    negative amount, and above :data:`MAX_EUROS`.
    """
    euros, cents = divmod(amount, CENTS)
    if currency != EURO or not 0 <= euros <= MAX_EUROS:
        return None
    names = _CURRENCIES[language]
    whole = _counted(euros, names.euro, language)
    if euros and euros % 1_000_000 == 0:
        whole = names.of_millions.format(number_in_words(euros, language))
    if not cents:
        return whole
    part = _counted(cents, names.cent, language)
    return names.joined.format(whole, part) if euros else part


def _counted(number: int, names: tuple[str, str], language: str) -> str:
    return names[number != 1].format(number_in_words(number, language))


def number_in_words(number: int, language: str) -> str:
    """Return a number from 0 to :data:`MAX_EUROS` in words, as before a masculine noun."""
    if number < 100:
        return _below_hundred(number, language)
    if number < 1000:
        return _below_thousand(number, language)
    if number < 1_000_000:
        return _with_thousands(number, language)
    millions, rest = divmod(number, 1_000_000)
    text = _counted(millions, _MILLIONS[language], language)
    return text if not rest else f"{text} {number_in_words(rest, language)}"


def _below_hundred(number: int, language: str) -> str:
    units = _UNITS[language]
    if number < len(units):
        return units[number]
    step, first = (20, 1) if language == "eu" else (10, 2)
    tens, rest = divmod(number, step)
    text = _TENS[language][tens - first]
    return text if not rest else text + _TEN_JOINTS[language] + units[rest]


def _below_thousand(number: int, language: str) -> str:
    hundreds, rest = divmod(number, 100)
    if language == "en":
        text = f"{_UNITS['en'][hundreds]} hundred"
        return text if not rest else f"{text} and {_below_hundred(rest, language)}"
    if number == 100 and language in _HUNDRED_ALONE:
        return _HUNDRED_ALONE[language]
    text = _HUNDREDS[language][hundreds - 1]
    if not rest:
        return text
    joint = " eta " if language == "eu" else " "
    return text + joint + _below_hundred(rest, language)


def _with_thousands(number: int, language: str) -> str:
    thousands, rest = divmod(number, 1000)
    name = _THOUSAND.get(language, "mil")
    one = thousands == 1 and language != "en"
    text = name if one else f"{number_in_words(thousands, language)} {name}"
    if not rest:
        return text
    return text + _rest_joint(rest, language) + number_in_words(rest, language)


def _rest_joint(rest: int, language: str) -> str:
    """Return what stands between thousands and a rest of one part."""
    joints: Mapping[str, tuple[str, Callable[[int], bool]]] = {
        "en": (" and ", lambda rest: rest < 100),
        "eu": (" eta ", lambda rest: rest < 100 or rest % 100 == 0),
    }
    joint, is_used = joints.get(language, (" ", lambda _: True))
    return joint if is_used(rest) else " "
