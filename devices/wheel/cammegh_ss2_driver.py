"""The registered driver of the Cammegh Slingshot 2, with two codecs: one reads, one asks too."""

from __future__ import annotations

import msgspec

from common.cammegh_ss2_frames import COMMANDS
from devices.codec import Driver
from devices.wheel.cammegh_ss2 import CammeghSS2, Options
from devices.wheel.cammegh_ss2_asking import AskingCammeghSS2
from devices.wheel.cammegh_ss2_parameters import PARAMETERS


def _make(device: str, options: msgspec.Struct) -> CammeghSS2:
    assert isinstance(options, Options)
    return (AskingCammeghSS2 if options.ask else CammeghSS2)(device, options)


DRIVER = Driver(
    name="cammegh-ss2",
    kind="wheel",
    title="Cammegh Slingshot 2 (SS2, SS2 TT)",
    evidence="documented",
    line="baud=9600",
    options=Options,
    games=("roulette-french", "roulette-american"),
    commands=tuple(COMMANDS),
    parameters=tuple(PARAMETERS),
    make=_make,
)
