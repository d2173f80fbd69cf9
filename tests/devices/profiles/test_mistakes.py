"""Every mistake in a profile is reported, with its line and key, before a device is connected."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devices.profiles.codec import ProfileCodec
from devices.profiles.profile import ProfileError, parse_profile
from devices.recording import read_recording
from tests.support.devices.described import FOLDER, HEAD, mistakes
from tests.support.for_each import for_each

GOOD = """\
separator = ";"
[framing]
longest = 64
[maps.phases]
1 = "idle"
2 = "bets_open"
[[message]]
name = "status"
[message.fields]
state = { at = 0, encoding = "decimal", min = 1, max = 2 }
phase = { of = "state", map = "phases" }
spin = { at = 1, encoding = "decimal" }
[[message.say]]
reading = "wheel.phase"
with = { phase = "{phase}", spin = "{spin}" }
changed = ["phase"]
"""


RESULT = """\
[framing]
longest = 64
[[message]]
name = "number"
match = "(?P<number>[0-9]{1,2})"
fields = { number = { encoding = "decimal", max = 36 } }
[[message.say]]
reading = "wheel.number"
with = { number = "{number}" }
"""
CHECKED = '[checksum]\nkind = "xor"\nat = -2\n'


def test_a_result_without_a_check_states_whether_it_has_to_come_twice() -> None:
    (told,) = mistakes(RESULT)
    assert "without [checksum]; add `twice = true` if the device repeats it" in told
    assert mistakes(RESULT + "twice = true\n") == mistakes(RESULT + "twice = false\n") == []
    assert mistakes(CHECKED + RESULT) == []


def test_a_sound_profile_has_none() -> None:
    assert mistakes(GOOD) == []


NO_CHECK = 'separator = ";"'
CHECK = NO_CHECK + "\n[checksum]\n"
NAME, LAST = 'name = "status"', 'changed = ["phase"]'


@for_each(
    ("before", "after", "told"),
    [
        ("longest = 64", "longst = 64", "3: framing.longst: unknown key; did you mean `longest`?"),
        ("longest = 64", "longest = 9999", "3: framing.longest: expected a whole number from 2 to 4096, got 9999"),
        ("longest = 64", 'form = "pipes"', "3: framing.form: expected one of line, marks, length, fixed, json, got 'pipes'"),
        ("longest = 64", 'start = "x"', "3: framing.start: does not apply to form line"),
        ("longest = 64", 'form = "marks"\nstart = "x"', "2: framing: missing key `end`, required by form marks"),
        ("longest = 64", 'form = "fixed"\nlength = 300', "4: framing.length: is more than `longest`, which is 256"),
        ("longest = 64", 'form = "fixed"\nlength = 3', "3: framing.form: nothing marks where a frame begins; add `start` or"),
        ("longest = 64", 'ends = ""', "3: framing.ends: is empty; give the characters that end a line"),
        ("longest = 64", 'find = "(a*)*"', "3: framing.find: can match in too many ways"),
        ("longest = 64", 'find = "a"\nresync = "*"', "4: framing.resync: does not apply together with `find`"),
        ("longest = 64", 'before = "a"', "3: framing.before: applies only with `find` and `gap`"),
        ("longest = 64", 'resync = "**"', "3: framing.resync: must be one byte"),
        ("longest = 64", 'resync = "\u20ac"', "3: framing.resync: expected a string of characters from"),
        ("longest = 64", "body = [-1, 0]", "3: framing.body: expected [bytes to skip"),
        (NO_CHECK, CHECK + 'kind = "crc17"\nat = -2', "3: checksum.kind: no checksum 'crc17'; there are xor, sum"),
        (NO_CHECK, CHECK + 'kind = "crc"\nat = -2', "3: checksum.kind: add the section [checksum.crc]"),
        (NO_CHECK, CHECK + 'kind = "xor"', "2: checksum: add `at` or `field` (not both)"),
        (NO_CHECK, CHECK + 'kind = "xor"\nat = -1', "4: checksum.at: the checksum has 2 bytes, so it must begin at -2"),
        (NO_CHECK, CHECK + 'kind = "xor"\nat = -2\nset = 256', "5: checksum.set: has more bits than a checksum of 2"),
        (NO_CHECK, CHECK + 'kind = "xor"\nat = -2\nkeep = 99999999999999999999', "5: checksum.keep: has more bits than a checksum"),
        *[
            (
                NO_CHECK,
                CHECK + 'kind = "crc"\nat = -4\n[checksum.crc]\nwidth = 16\npolynomial = 1\n'.replace(f"{key} = 1\n", "")
                + f"{key} = 0x10000",
                f"checksum.crc.{key}: has more bits than the CRC, which has 16",
            )
            for key in ("polynomial", "initial", "final_xor")
        ],
        (NO_CHECK, CHECK + 'kind = "xor"\nfield = 1', "2: checksum: `field` and `separator` must be given together"),
        ('map = "phases"', 'map = "phase"', "11: message[0].fields.phase.map: no map 'phase'; did you mean `phases`?"),
        ("max = 2", "max = 4", "11: message[0].fields.phase.map: has no entry for 3, 4; add entries, `oth"),
        ('of = "state"', 'of = "stat"', "11: message[0].fields.phase: refers to stat, which is not a field defined before it"),
        ('of = "state"', 'of = "state", at = 3', "11: message[0].fields.phase: use only one of `at`, `of` and `value`"),
        ("state =", "State =", "10: message[0].fields.State: is not a field name"),
        ("spin =", "late =", "12: message[0].fields.late: is not a field name"),
        ("spin = {", 'spin = { is = "ab", width = 1,', "12: message[0].fields.spin.is: has 2 characters, but the field has 1"),
        ('at = 1, encoding = "decimal"', 'at = 1, encoding = "hex", signed = true', "12: message[0].fields.spin.signed: applies only to these encodings: decimal, big, little; remove it"),
        ('of = "state", map', 'of = "state", double_zero = "7", map', "11: message[0].fields.phase.double_zero: applies only to a number without `map`"),
        (NAME, NAME + '\npieces = 1', "13: message[0].fields.spin.at: is beyond the last piece, which is 0"),
        (NAME, NAME + '\nmatch = "("', "9: message[0].match: is not a valid regular expression"),
        (NAME, NAME + '\nin = "what"', "9: message[0].in: no field 'what'; there are: nothing"),
        (NAME, NAME + '\nbeat = true', "9: message[0].beat: add pace.period"),
        (NAME, NAME + '\nwhen = { sta = 1 }', "9: message[0].when.sta: no field 'sta'"),
        ("wheel.phase", "wheel.phases", "14: message[0].say[0].reading: no reading 'wheel.phases'; did you mean `wheel.phase`?"),
        ("wheel.phase", "wheel.number", "14: message[0].say[0].reading: wheel.number needs `number` in `with`"),
        ('"{phase}"', '"{state}"', "15: message[0].say[0].with.phase: may be 1, which phase does not accept: expected text, got a whole number"),
        ('"{phase}"', '"idel"', "15: message[0].say[0].with.phase: may be 'idel', which phase does not accept: unknown value 'idel'"),
        ('2 = "bets_open"', '2 = "open"', "15: message[0].say[0].with.phase: may be 'open', which phase does not accept"),
        ('"{phase}"', '"{phase:>3}"', "write a field as {name}, without anything else"),
        ('"{phase}"', '"{phase"', "15: message[0].say[0].with.phase: "),
        ('"{spin}"', '"spin {spin}"', "15: message[0].say[0].with.spin: may be 'spin 0', which spin does not accept"),
        ('spin = "{spin}"', 'late = true', "15: message[0].say[0].with.late: is filled in by Novamás"),
        ('spin = "{spin}"', 'number = 3', "15: message[0].say[0].with.number: wheel.phase has no such field; there are: phase, "),
        ('["phase"]', '["phas"]', "16: message[0].say[0].changed: no field 'phas'"),
        (LAST, 'stands = "x"', "16: message[0].say[0].stands: applies only to a reading with `active`"),
        (LAST, 'unless = { spn = "" }', "16: message[0].say[0].unless.spn: no field 'spn'"),
        ('reading = "wheel.phase"\n', "", "13: message[0].say[0]: does nothing; add `reading`, `ends` or `forgets`"),
        (LAST, '[[message]]\nname = "status"', "17: message[1].name: another message is also named status"),
        (LAST, '[sequence]\nfield = "phase"\nlast = 9', "17: sequence.field: phase is not a whole number"),
        (LAST, '[sequence]\nfield = "n"\nlast = 9', "17: sequence.field: no field 'n'"),
        (LAST, '[sequence]\nfield = "spin"\nfirst = 9\nlast = 9', "19: sequence.last: must be more than `first`"),
        (LAST, "[pace]\nperiod = 0.5\ndraw = 0.2", "16: pace: use `draw` for a device paced by a person"),
        (LAST, "[pace]\nperiod = 0.5", "17: pace.period: needs a message with `beat = true`"),
        (LAST, "[pace]\ndraws = ['wheel.fault']", "17: pace.draws: wheel.fault cannot be late"),
        (LAST, "live = true", "13: message[0].say[0]: depends on lateness; add pace.period"),
        (LAST, 'changed = ["late"]', "13: message[0].say[0]: depends on lateness; add pace.period"),
        (LAST, "when = { late = true }", "16: message[0].say[0].when.late: no field 'late'"),
        (LAST, '[pace]\ndraws = ["coin"]', "17: pace.draws: no reading 'coin'"),
        (LAST, '[command.Go]\nsend = "x"', "16: command.Go: is not a command name"),
        (LAST, '[command.go]\nsend = "{checksum}"', "17: command.go.send: {checksum} needs the section [checksum]"),
        (LAST, '[command.go]\nsend = "x"\nmax = 9', "16: command.go: has bounds for an argument, but no {argument}"),
        (LAST, '[command.go]\nsend = "{argument}"\nmin = 9\nmax = 1', "18: command.go.min: is more than `max`"),
        (LAST, '[[poll]]\nsend = ""', "17: poll[0].send: is empty"),
        ("[[message]]", "[[message", "7: column 10: "),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_with_its_place(before: str, after: str, told: str) -> None:
    found = mistakes(GOOD.replace(before, after, 1))
    assert any(told in mistake for mistake in found), found


def test_all_mistakes_are_reported_at_once() -> None:
    found = mistakes(
        GOOD.replace('"{phase}"', '"{phas}"')
        .replace('"{spin}"', '"{spn}"')
        .replace('["phase"]', '["x"]')
    )
    assert [re.split(": no field", mistake)[0] for mistake in found] == [
        "15: message[0].say[0].with.phase",
        "15: message[0].say[0].with.spin",
        "16: message[0].say[0].changed",
    ]


@for_each(
    "text", ["", "x = 1", "[[message]]\n", "message = 3", "[framing]\nform = 3", "message = [3]"]
)
def test_a_wrong_shape_is_reported(text: str) -> None:
    assert mistakes(text)


@pytest.mark.parametrize("reading", ["card.drawn", "shuffler.packet"])
def test_what_may_be_a_card_is_never_shown(reading: str) -> None:
    needed = {"card.drawn": 'card = "{nothing}"', "shuffler.packet": "size = 2"}[reading]
    text = (
        GOOD.replace("longest = 64", "shown = true")
        + f'[[message.say]]\nreading = "{reading}"\nwith = {{ {needed} }}\n'
    )
    assert mistakes(text) == [
        "3: framing.shown: must be false: dropped bytes may be a card that is face down"
    ]


def test_an_invalid_card_is_reported_for_every_way_to_state_it() -> None:
    text = (
        GOOD[: GOOD.index("[[message.say]]")].replace('"idle"', '"A"').replace('"bets_open"', '"1"')
    )
    found = mistakes(
        text + '[[message.say]]\nreading = "card.drawn"\nwith = { card = "{phase}h" }\n'
    )
    assert found == [
        "15: message[0].say[0].with.card: may be '1h', which is not a card; write rank, then suit, as in 7h or Td"
    ]


@pytest.mark.parametrize(
    ("profile", "recording"), [("acme-rota", "acme-rota-spins"), ("bee-tek", "bee-tek-faults")]
)
@given(st.data())
def test_a_damaged_profile_is_reported_or_accepted_and_then_never_breaks(
    profile: str, recording: str, data: st.DataObject
) -> None:
    """One value in another's place, or a piece cut out."""
    whole = (FOLDER / f"{profile}.toml").read_text()
    values = re.findall(r"= (\S.*)", whole)
    at = data.draw(st.integers(0, len(whole)))
    cut = data.draw(st.integers(at, len(whole)).filter(lambda end: end < at + 80) | st.just(at))
    text = whole[:at] + data.draw(st.text('[]{}=.,"\n\\#1ae\u2028\0', max_size=4)) + whole[cut:]
    if data.draw(st.booleans()):
        text = whole.replace(
            data.draw(st.sampled_from(values)), data.draw(st.sampled_from(values)), 1
        )
    try:
        codec = ProfileCodec("device", parse_profile(text))
    except ProfileError as mistaken:
        assert all(mistake.what for mistake in mistaken.mistakes)  # noqa: PT017
        return
    for chunk in read_recording(FOLDER.parent / "recordings" / f"{recording}.txt"):
        codec.feed(chunk.data, chunk.at)
    for command in codec._profile.command:
        with suppress(ValueError):
            codec.encode(command, "100")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_profiles_of_the_tests_are_sound(path: Path) -> None:
    parse_profile(path.read_text())


def test_a_map_for_very_many_numbers_is_reported_at_once() -> None:
    [told] = mistakes(GOOD.replace("min = 1, max = 2", "min = 0, max = 9_000_000_000_000_000_000"))
    assert "message[0].fields.phase.map: has no entry for 0, 3, 4, 5, 6 ...; add entries" in told


def test_a_profile_has_an_end() -> None:
    with pytest.raises(ProfileError, match="a profile may have at most 65536 bytes"):
        parse_profile(HEAD + GOOD + "#" * 65536)


DEEP = "a." * 1000 + "a = 1\n"


@pytest.mark.parametrize(
    "text", ["", "[site]\nid.", '[[message]]\nname = "a"\n[message.fields]\n', "[maps]\n", "[["]
)
def test_what_has_no_end_within_is_refused(text: str) -> None:
    with pytest.raises(ProfileError):
        parse_profile(text + DEEP)
    with pytest.raises(ProfileError):
        parse_profile(text + "x = " + "[" * 9999)


def test_lines_count_from_one() -> None:
    with pytest.raises(ProfileError) as caught:
        parse_profile("colour = 1\n" + HEAD + GOOD)
    [mistake] = caught.value.mistakes
    assert mistake.describe("acme.toml").startswith(
        "acme.toml:1: colour: unknown key; there are: name, kind, title, source, message"
    )
