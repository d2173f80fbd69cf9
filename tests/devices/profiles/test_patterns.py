"""Regular expressions that cannot run away, and those that could."""

from __future__ import annotations

import pytest

from devices.profiles.patterns import compiled
from tests.support.for_each import for_each


@for_each(
    "pattern",
    [
        "",
        "abc",
        r"\*X;([1-7]);((?:[01][0-9]{2}|2[0-4][0-9]|25[0-6]))",
        r"(?P<a>.*)x(?P<b>.*)",
        r"[]x]*[^]]+",
        r"[\]x]*",
        r"(?:a|b){1,8}",
        r"a{,3}b{2}c{2,}",
        "{x}",
        r"\(a\)\|\\",
        "(?:)",
        "a|",
    ],
)
def test_accepted(pattern: str) -> None:
    compiled(pattern, 256)


@for_each(
    ("pattern", "told"),
    [
        ("(", "is not a valid regular expression"),
        ("[", "is not a valid regular expression"),
        ("(?P<1>a)", "is not a valid regular expression"),
        ("(?P<a>x)(?P<a>y)", "is not a valid regular expression"),
        ("\u20ac", "not an expression for bytes"),
        ("(a*)*", "too many ways"),
        ("(a|a)*b", "too many ways"),
        ("(?:a?){256}", "too many ways"),
        (".*.*.*", "too many ways"),
        (r"(a)\1", "a back-reference is not allowed"),
        ("(?P<a>a)(?P=a)", "only"),
        ("(?=a)", "only"),
        ("(?!a)", "only"),
        ("(?<=a)b", "only"),
        ("(?i)a", "only"),
        ("(?>a)", "only"),
    ],
)
def test_refused(pattern: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        compiled(pattern, 256)


@pytest.mark.parametrize("pattern", [".*.*x", "(?:a?){12}x", "(?:a|.*.*)", "(.*)(.*)"])
def test_what_is_searched_for_is_tried_at_every_byte(pattern: str) -> None:
    compiled(pattern, 256)
    with pytest.raises(ValueError, match="too many ways"):
        compiled(pattern, 256, searched=True)


@pytest.mark.parametrize(
    "pattern",
    [".*x.*", "[a-z]{1,60}<[a-z]{1,60}>[> ]*", r"\$NB,[ -~]*\*[0-9A-F]{4}", "a|b|.*", "(?:a|b).*"],
)
def test_where_what_is_searched_for_ends_nothing_is_tried_again(pattern: str) -> None:
    compiled(pattern, 256, searched=True)


def test_a_short_line_leaves_room_for_more() -> None:
    compiled(".*.*.*", 64)
