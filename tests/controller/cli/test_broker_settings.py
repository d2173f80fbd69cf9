"""Settings of the broker for the programs beside the daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.cli import carrousel, surveillance
from controller.configuration.file import load

TEXT = """\
[site]
id = "madrid-1"
[broker]
url = "mqtt://127.0.0.1"
{0}
[[archive.site]]
id = "palma"
url = "mqtt://palma"
{1}
"""


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("other", [True, False])
def test_whether_wildcards_get_retained_messages(tmp_path: Path, own: bool, other: bool) -> None:
    """Each broker differs; no setting means yes."""
    lines = ("" if yes else "wildcards_retained = false" for yes in (own, other))
    file = tmp_path / "novamas.toml"
    file.write_text(TEXT.format(*lines))
    configuration = load(file)
    jackpots, recorder = (module.settings_of(configuration) for module in (carrousel, surveillance))
    assert jackpots["broker"]["wildcards_retained"] == own
    assert [each["broker"]["wildcards_retained"] for each in recorder["sites"]] == [own, other]
