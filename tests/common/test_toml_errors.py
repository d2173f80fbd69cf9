"""TOML that is broken in each way: line, column and what to write, and no sentence of a library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from common.places import loads
from common.toml_errors import OTHER, describe_toml_error
from controller.configuration.file import load
from controller.configuration.settings import ConfigurationError
from devices.profiles.profile import ProfileError, parse_profile

BROKEN = {
    "a = ": (1, 5, "put a string in quotes"),
    "a = x": (1, 5, "put a string in quotes"),
    "a = 1\nb": (2, 2, "write = between them"),
    "a b = 1": (1, 3, "write = between them"),
    "= 1": (1, 1, "write key = value"),
    "?": (1, 1, "write key = value"),
    "[a": (1, 3, "write ] behind it"),
    "[[a]": (1, 4, "write ]] behind it"),
    "[]": (1, 2, "no key is here"),
    "[a]\n[a]": (2, 3, "write [[ ]] for one more"),
    "[a] x": (1, 5, "begin a new line"),
    "a = 1\na = 2\nb = 3": (2, 6, "remove one of them"),
    "a = 1\n[a.b]": (2, 5, "remove one of them"),
    "a = {b = 1, b = 2}": (1, 18, "remove one of them"),
    "[a.b]\n[a]\nb.c = 1\n": (3, 8, "write all of it in one place"),
    "a = {b = 1}\na.c = 1\n\n": (2, 8, "write all of it in one place"),
    'a = "x': (1, 7, "a quote is not closed"),
    'a = "x\nb = 1': (1, 7, "a quote is not closed"),
    "a = 'x": (1, 7, "a quote is not closed"),
    'a = """x\n\n': (1, 9, "a quote is not closed"),
    "a = '''x": (1, 9, "a quote is not closed"),
    'a = "\x01"': (1, 6, "control character"),
    "# \x01": (1, 3, "control character"),
    'a = "\\q"': (1, 8, "a single backslash"),
    'a = "\\u12"': (1, 8, "no character has this code"),
    'a = "\\ud800"': (1, 12, "no character has this code"),
    "a = [1": (1, 7, "write ] at its end"),
    "a = [1 2]": (1, 8, "write ] at its end"),
    "a = {b = 1": (1, 11, "write } at its end"),
    "a = 1 2": (1, 7, "begin a new line"),
    "a = 2026-13-45": (1, 9, "begin a new line"),
    "a = 2026-02-30": (1, 5, "this date does not exist"),
    "b = 1\na = " + "1" * 5000 + "\nc = 2": (2, 1, "too many digits"),
    "b = 1\n\na = " + "[" * 3000: (3, 1, "nested too deep"),
    "b = 1\na = " + "[" * 40 + "]" * 40 + "\nc = 2": (2, 1, "nested too deep"),
}
LIBRARY_WORDS = re.compile(
    r"Invalid|Cannot|Expected|Unclosed|Unterminated|Illegal|Unescaped|Duplicate|Found|namespace|"
    r"recursion|Exceeds|conversion|document|Errno|codec"
)


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:16])
def test_a_broken_text_is_described(text: str, tmp_path: Path) -> None:
    line, column, words = BROKEN[text]
    with pytest.raises((ValueError, RecursionError)) as caught:
        loads(text)
    assert isinstance(caught.value, Exception)
    found = describe_toml_error(text, caught.value)
    assert (found.line, found.column) == (line, column)
    assert words in found.what
    assert not LIBRARY_WORDS.search(found.what)
    file = tmp_path / "novamas.toml"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as refused:
        load(file)
    [mistake, *_] = refused.value.mistakes
    assert (mistake.place, mistake.what) == (found.place, found.what)
    with pytest.raises(ProfileError) as profile:
        parse_profile(text)
    assert str(profile.value) == f"profile:{line}: column {column}: {found.what}"


@given(st.text(alphabet="ab=[]{}\"'.,#\\u \n1-:T_", max_size=30))
def test_no_sentence_of_the_library_is_shown(text: str) -> None:
    raised: Exception | None = None
    try:
        loads(text)
    except (ValueError, RecursionError) as error:
        raised = error
    if raised is not None:
        found = describe_toml_error(text, raised)
        assert found.what != OTHER, (text, raised)
        assert not LIBRARY_WORDS.search(found.what)
        assert 1 <= found.line <= text.count("\n") + 1
