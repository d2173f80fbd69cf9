"""Every reading of a profile can occur: there is a frame that gives it, or the check names the
reading without one.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devices.profiles.codec import ProfileCodec
from devices.profiles.language import Profile
from devices.profiles.profile import ProfileError, doubts, parse_profile
from devices.profiles.templates import READING_TYPES
from devices.profiles.witness import unreached, witnesses
from tests.conftest import cases
from tests.support.devices.described import FOLDER, HEAD, mistakes, profile
from tests.support.for_each import for_each

SHIPPED = Path(__file__).parents[3] / "devices" / "profiles"
PROFILES = sorted([*FOLDER.glob("*.toml"), *SHIPPED.glob("*.toml")])


def judge(described: Profile) -> None:
    """Each reading is produced by its witness frames."""
    found = witnesses(described)
    says = {("say", n): say for n, say in enumerate(described.say)} | {
        ("message", m, "say", n): say
        for m, message in enumerate(described.message)
        for n, say in enumerate(message.say)
    }
    for at, say in says.items():
        codec = ProfileCodec("device", described)
        given_by = [type(reading) for time, data in found[at] for reading in codec.feed(data, time)]
        if say.reading:
            assert READING_TYPES[say.reading] in given_by
    for m in range(len(described.message)):
        assert ("message", m) in found


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_all_that_our_profiles_describe_can_come(path: Path) -> None:
    assert doubts(path.read_text()) == ()
    judge(parse_profile(path.read_text()))


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
@settings(max_examples=cases(15, 300), deadline=None)
@given(data=st.data())
def test_a_changed_profile_that_is_accepted_can_report_all_that_it_describes(
    path: Path, data: st.DataObject
) -> None:
    """One value in another's place."""
    whole = path.read_text()
    values = re.findall(r"= (\S[^,}\n]*)", whole)
    old, new = data.draw(st.sampled_from(values)), data.draw(st.sampled_from(values))
    try:
        described = parse_profile(whole.replace(f"= {old}", f"= {new}", 1))
    except ProfileError:
        return
    if not unreached(described):
        judge(described)


WHEEL = """\
[framing]
form = "fixed"
start = "$"
length = 10
[[message]]
name = "number"
[message.fields]
head = { at = 0, width = 2, is = "$N" }
pocket = { at = 2, width = 2, encoding = "decimal", max = 36 }
mode = { at = 4, width = 1, encoding = "decimal" }
code = { at = 5, width = 3 }
word = { of = "code", map = { "7H " = "x", "10H" = "y" }, optional = true }
[[message.say]]
reading = "wheel.number"
with = { number = "{pocket}" }
twice = false
[[message.say]]
reading = "device.report"
with = { report = "word", value = "{word}" }
when = { mode = 3 }
unless = { word = "" }
"""
MODE = 'mode = { at = 4, width = 1, encoding = "decimal" }'


def test_a_sound_profile_has_no_doubts() -> None:
    assert mistakes(WHEEL) == []
    assert doubts(HEAD + WHEEL) == ()
    judge(profile(WHEEL))


@for_each(
    ("before", "after", "told"),
    [
        ("at = 2, width = 2", "at = 14, width = 2", "9: message[0].fields.pocket.at: ends beyond the"),
        ("at = 2, width = 2", "at = 9, width = 2", "9: message[0].fields.pocket.at: ends beyond the"),
        ("at = 2, width = 2", "at = -11, width = 2", "9: message[0].fields.pocket.at: ends beyond"),
        ("length = 10", "length = 7", "11: message[0].fields.code.at: ends beyond the message, which has 7"),
        ("when = { mode = 3 }", 'when = { mode = "x" }', "20: message[0].say[1].when.mode: mode is never 'x'"),
        ("when = { mode = 3 }", 'when = { mode = "3" }', "20: message[0].say[1].when.mode: mode is never '3'"),
        ("when = { mode = 3 }", "when = { mode = 10 }", "20: message[0].say[1].when.mode: mode is never 10"),
        ("when = { mode = 3 }", "when = { mode = -1 }", "mode is never -1"),
        ("when = { mode = 3 }", 'when = { pocket = "00" }', "pocket is never '00'"),
        ("when = { mode = 3 }", "when = { mode = 3.5 }", "mode is never 3.5"),
        ("when = { mode = 3 }", "when = { mode = true }", "mode is never True"),
        ("when = { mode = 3 }", "when = { mode = [3, 12] }", "20: message[0].say[1].when.mode: mode is never 12"),
        ("when = { mode = 3 }", 'when = { mode = "" }', "mode always has a value"),
        ('unless = { word = "" }', 'unless = { word = ["", "z"] }', "word is never 'z'; it may be 'x', 'y'"),
        ('unless = { word = "" }', 'unless = { word = "", code = "10H " }', "code is never '10H '"),
        ('"7H "', '"7H"', '12: message[0].fields.word.map.7H: \'7H\' is never received'),
        ('"10H"', '"10H "', "is never received; a key is the value as the field has it, with its blanks"),
        ('map = { "7H " = "x", "10H" = "y" }', 'map = { 7H = "x" }, otherwise = "{pocket}"', "message[0].fields.word.otherwise: '{pocket}' is not filled in"),
        ('"10H" = "y"', '"10H" = "{mode}"', "message[0].fields.word.map.10H: '{mode}' is not filled in"),
        (MODE, MODE + '\nextra = { value = "{mode}" }', "message[0].fields.extra.value: '{mode}' is not filled in"),
        ('encoding = "decimal", max = 36', 'encoding = "decimal", min = 100', "message[0].fields.pocket: can never fit"),
        (', encoding = "decimal", max = 36', "", "message[0].say[0].with.number: may be '?', which is not a pocket"),
        (', encoding = "decimal", max = 36', ', map = { "00" = "00", "37" = "0x" }', "may be '0x', which is not a pocket"),
        (MODE, MODE.replace(" }", ", bits = [0, 2] }") + "\nlit = { of = 'mode', map = { 4 = 'on' }, optional = true }", "map.4: '4' is never received"),
        (MODE, MODE + "\nlit = { of = 'mode', map = { 03 = 'on' } , optional = true}", "map.03: '03' is never received"),
        ('name = "number"', 'name = "number"\nlength = 9', "7: message[0].length: can never match: there are always 10 bytes"),
        ('name = "number"', 'name = "number"\nstarts = "$N123456789"', "7: message[0].starts: is longer than the message"),
        ("[[message]]", "[checksum]\nkind = 'xor'\nat = 9\n[[message]]", "checksum.at: lies beyond the frame, which has 10 bytes"),
        ("[[message]]", "[checksum]\nkind = 'xor'\nat = -2\nfrom = 8\n[[message]]", "checksum.from: leaves no byte to check"),
        ("[[message]]", "[fields]\nmore = { at = 12 }\n[[message]]", "6: fields.more.at: ends beyond the frame, which has 10 bytes"),
        ("[[message]]", '[maps.m]\n"5" = "a"\n[[message]]', None),
        ("[[message]]", '[maps.m]\n"5 " = "a"\n"5" = "b"\n[fields]\nf = { at = 9, width = 1, map = "m" }\n[[message]]', "6: maps.m.5 : '5 ' is never received"),
    ],
)  # fmt: skip
def test_what_can_never_be_is_reported_with_its_place(
    before: str, after: str, told: str | None
) -> None:
    found = mistakes(WHEEL.replace(before, after, 1))
    assert (found == []) if told is None else any(told in mistake for mistake in found), found


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("[[message]]", '[[message]]\nname = "all"\n[[message]]', (7, "'all' matches the frames that were tried")),
        ('"$N"', '"#N"', (5, "no frame was found that matches this message")),
        ("unless = { word", 'unless = { mode = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9], word', (17, "that gives this reading")),
        ('head = { at = 0, width = 2, is = "$N" }', 'head = { at = 0, width = 3, is = "$N9" }', (5, "no frame was found that matches this message")),
    ],
)  # fmt: skip
def test_what_no_frame_gives_is_doubted_with_its_place(
    before: str, after: str, told: tuple[int, str]
) -> None:
    found = doubts(HEAD + WHEEL.replace(before, after, 1))
    lines = len(HEAD.splitlines())
    assert [(doubt.line - lines, told[1] in doubt.what) for doubt in found] == [(told[0], True)]


FRAMINGS = {
    "line": "[framing]\nlongest = 80\n",
    "marks": '[framing]\nform = "marks"\nlongest = 80\nstart = "<"\nend = ">"\nbody = [1, -1]\n',
    "escaped": '[framing]\nform = "marks"\nlongest = 80\nstart = "\\u0002"\nend = "\\u0003"\n'
    'escape = "\\u0010"\nescape_xor = 32\nbody = [1, -1]\n',
    "length": '[framing]\nform = "length"\nlongest = 80\nstart = "\\u00aa"\nat = 1\nadds = 2\nbody = [2, 0]\n',
    "fixed": '[framing]\nform = "fixed"\nlongest = 80\nstart = "\\u00aa"\nlength = 40\nbody = [1, 0]\n',
}
CHECKS = {
    "none": "",
    "xor": '[checksum]\nkind = "xor"\nat = {at}\nfrom = 1\n',
    "crc16-modbus": '[checksum]\nkind = "crc16-modbus"\nat = {at}\n',
}
FIELDS = (
    'value = {{ {at}, width = 2, encoding = "decimal", min = 3, max = 36 }}',
    'value = {{ {at}, width = 2, encoding = "decimal", double_zero = "37", max = 36 }}',
    'value = {{ {at}, width = 2, encoding = "decimal", signed = true, max = -1 }}',
    'value = {{ {at}, width = 2, encoding = "little", signed = true, min = -300, max = -1 }}',
    'value = {{ {at}, width = 1, encoding = "bcd", min = 10, max = 36 }}',
    'value = {{ {at}, width = 2, encoding = "hex", bits = [2, 3], min = 5 }}',
    'value = {{ {at}, width = 2, encoding = "big", times = 3, plus = 1, max = 5000 }}',
    'value = {{ {at}, width = 2, encoding = "little", bits = [4, 9], decimals = 1 }}',
    'value = {{ {at}, width = 2, map = {{ "A1" = "one", "B2" = "two" }} }}',
    'value = {{ {at}, width = 2, strip = true, blank = "" }}',
    'raw = {{ {at}, width = 2, encoding = "hex" }}\nvalue = {{ of = "raw", bits = [3, 1], map = {{ 0 = "off", 1 = "on" }} }}',
    'raw = {{ {at}, width = 2 }}\nvalue = {{ of = "raw", map = {{ "07" = "seven" }}, optional = true }}',
)
SAYS = (
    "",
    "when = {{ value = {one} }}\n",
    'changed = ["value"]\n',
    "twice = true\n",
    'unless = {{ value = "" }}\n',
)
ONE = (
    "17",
    '"00"',
    "-7",
    "-299",
    "17",
    "6",
    "[4, 7, 10]",
    "1.5",
    '"two"',
    '"ab"',
    '"on"',
    '"seven"',
)
"""For each field a value that it can have."""


@st.composite
def described(draw: st.DrawFn) -> str:
    """A profile of a few messages, each with its own letter, all of which can occur."""
    framing = draw(st.sampled_from(sorted(FRAMINGS)))
    separated = framing in ("line", "marks") and draw(st.booleans())
    check = draw(st.sampled_from(sorted(CHECKS)))
    width = {"none": 0, "xor": 2, "crc16-modbus": 4}[check]
    behind = 1 if framing in ("marks", "escaped") else 0
    parts = [HEAD]
    if separated:
        parts.append('separator = ","\n')
    parts.append(FRAMINGS[framing])
    if width:
        parts.append(CHECKS[check].format(at=-width - behind))
    if framing == "line" and draw(st.booleans()) and not separated:
        parts[-2 if width else -1] += 'resync = "*"\n'
    for n in range(draw(st.integers(1, 4))):
        which = draw(st.integers(0, len(FIELDS) - 1))
        binary = any(encoding in FIELDS[which] for encoding in ("big", "little", "bcd"))
        if binary and framing in ("line", "marks"):
            which = 0
        after = draw(st.integers(1, 6))
        field = FIELDS[which].format(at=f"at = {1 if separated else after}")
        absent = "optional" in field or "blank" in field
        say = draw(st.sampled_from(SAYS[: 5 if absent else 4])).format(one=ONE[which])
        letter = f'letter = {{ at = 0, is = "{chr(65 + n)}"{"" if separated else ", width = 1"} }}'
        parts.append(
            f'[[message]]\nname = "{n}"\n[message.fields]\n{letter}\n{field}\n'
            '[[message.say]]\nreading = "device.report"\n'
            f'with = {{ report = "r{n}", value = "v {{value}}" }}\n{say}'
        )
    return "".join(parts)


@settings(max_examples=cases(60, 600), deadline=None)
@given(described())
def test_a_profile_of_which_all_can_come_is_not_doubted(text: str) -> None:
    made = parse_profile(text)
    assert doubts(text) == ()
    judge(made)
