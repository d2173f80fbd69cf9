"""Answers and commands of the Slingshot 2."""

from __future__ import annotations

import msgspec
import pytest

from common.cammegh_ss2_frames import SELF_TEST_FAULTS
from common.readings import (
    DeviceRefused,
    DeviceReport,
    LinkGarbage,
    WheelFault,
    WheelPhase,
    unescape,
)
from devices.drivers import driver
from devices.wheel.cammegh_ss2 import CammeghSS2, Options
from tests.devices.wheel.slingshot import PERIOD, WheelFeed, faults, status
from tests.support.for_each import for_each


class TestReplies:
    @for_each(
        ("line", "reports"),
        [
            (b"*u OK", {"accepted": "u"}),
            (b"*P OK", {"accepted": "P"}),
            (b"T OK", {"accepted": "T"}),
            (b"*Z OK", {"accepted": "Z"}),
            (b"*P NO", {"already": "P"}),
            (b"*K CAM", {"maker": "CAM"}),
            (b"*o 1159", {"mode": "1159"}),
            (
                b"*O 6 1 60 1158",
                {"state": "6", "enabled": "1", "games_per_hour": "60", "mode": "1158"},
            ),
            (b"*S 2.52", {"firmware": "2.52"}),
            (b"*V SS2 2.52 12/05/22", {"version": "SS2 2.52 12/05/22"}),
            (b"*v 1.4 2.0", {"components": "1.4 2.0"}),
            (b"*A 12", {"pockets_since_datum": "12"}),
            (b"*d g 12:30:59 - 23/09/25", {"clock": "12:30:59 - 23/09/25"}),
            (b"*T s 14.0 17.50000", {"parameter": "s 14.0 17.50000"}),
            (b"*Y;3;125", {"bonus": "3;125"}),
            (b"*Y;6;000;29", {"bonus": "6;000", "bonus_licence_days": "29"}),
            (b"*Y;1;999;00", {"bonus": "1;999", "bonus_licence_days": "00"}),
            (b"*I 4", {"ball_events": "4"}),
            (b"*bs 2", {"ball_sensor": "2"}),
            (b"bs 2", {"ball_sensor": "2"}),
            (b"bn 17", {"ball_pocket": "17"}),
            (b"bn  7", {"ball_pocket": " 7"}),
            (b"*w 31.2 75%", {"chi_square": "31.2 75%"}),
            (b"*s t 4", {"log_pages": "4"}),
            (b"*C OK 12", {"calibration": "OK 12"}),
            (b"*C FAIL", {"calibration": "FAIL"}),
            (b"*F 0", {"self_test": "passed"}),
        ],
    )
    def test_what_it_reports_about_itself(self, line: bytes, reports: dict[str, str]) -> None:
        wheel = WheelFeed()
        readings = wheel.line(line)
        assert {r.report: r.value for r in readings if isinstance(r, DeviceReport)} == reports
        assert {r.frame for r in readings} == {line.decode()}
        assert wheel.codec.counters.frames == 1

    @for_each(
        ("line", "command", "reason"),
        [
            (b"*o BUSY", "o", "busy"),
            (b"*F BUSY", "F", "busy"),
            (b"*S BUSY", "S", "busy"),
            (b"*u NO", "u", "no"),
            (b"*  NO", " ", "no"),
            (b"*) NO", ")", "no"),
            (b"*\xff NO", r"\xff", "no"),
        ],
    )
    def test_refusals(self, line: bytes, command: str, reason: str) -> None:
        wheel = WheelFeed()
        (refused,) = wheel.line(line)
        assert isinstance(refused, DeviceRefused)
        assert (refused.command, refused.reason) == (command, reason)

    @for_each(("code", "meaning"), SELF_TEST_FAULTS.items())
    def test_every_code_of_the_self_test(self, code: int, meaning: str) -> None:
        wheel = WheelFeed()
        (fault,) = wheel.line(b"*F %d" % code)
        assert isinstance(fault, WheelFault)
        assert (fault.fault, fault.active, fault.detail) == ("self_test", True, f"{code} {meaning}")

    def test_codes_are_reported_once_and_end_together(self) -> None:
        wheel = WheelFeed()
        for code in (5, 11, 5, 77):
            wheel.line(b"*F %d" % code)
        assert [r.detail for r in wheel.readings if isinstance(r, WheelFault)] == [
            "5 motor",
            "11 sensor 1 stuck",
            "77",
        ]
        assert faults(wheel.line(b"*F 0")) == [("self_test", False)]
        assert faults(wheel.line(b"*F 5")) == [("self_test", True)]

    @for_each("line", [b"*W 1 2 3", b"*Y;7;000", b"*Y;1;256", b"*", b"*hello", b"*A x", b"*T"])
    def test_other_lines_are_counted(self, line: bytes) -> None:
        wheel = WheelFeed()
        assert wheel.line(line) == []
        assert (
            wheel.codec.counters.unknown,
            wheel.codec.counters.frames,
            wheel.codec.counters.damaged,
        ) == (1, 0, 0)

    @for_each("line", [b"*X", b"*X;2;094;33;0;163", b"*W \x00", b"*W \xe9", b"hello", b"OK"])
    def test_damage_is_shown(self, line: bytes) -> None:
        wheel = WheelFeed()
        (garbage,) = wheel.line(line)
        assert isinstance(garbage, LinkGarbage)
        assert garbage.frame is not None
        assert (garbage.bytes, unescape(garbage.frame)) == (len(line), line)
        assert (
            wheel.codec.counters.unknown,
            wheel.codec.counters.frames,
            wheel.codec.counters.damaged,
        ) == (0, 0, 1)


class TestTowardsTheWheel:
    def test_the_registered_driver(self) -> None:
        found = driver("cammegh-ss2")
        assert (found.kind, found.evidence, found.options) == ("wheel", "documented", Options)
        assert isinstance(found.make("wheel", Options()), CammeghSS2)

    def test_the_commands_and_no_others(self) -> None:
        codec = CammeghSS2("wheel", Options())
        assert {command: codec.encode(command) for command in driver("cammegh-ss2").commands} == {
            "start": b"*u 1\r\n",
            "start_anticlockwise": b"*u 3\r\n",
            "restart": b"*R\r\n",
            "power_on": b"*P 1\r\n",
            "power_off": b"*P 0\r\n",
        }

    @for_each("command", ["erase", "calibrate", "self_test", "", "*s e", "start "])
    def test_an_unknown_command(self, command: str) -> None:
        with pytest.raises(ValueError, match="there are: start, start_anticlockwise"):
            CammeghSS2("wheel", Options()).encode(command)

    def test_no_command_has_an_argument(self) -> None:
        with pytest.raises(ValueError, match="start takes no argument, got '1'"):
            CammeghSS2("wheel", Options()).encode("start", "1")

    def test_requests_are_harmless(self) -> None:
        once = ((0.0, b"*O\r\n"), (0.0, b"*V\r\n"), (0.0, b"*S\r\n"), (0.0, b"*v\r\n"))
        assert CammeghSS2("wheel", Options()).polls() == once
        assert CammeghSS2("wheel", Options(poll=1.0)).polls() == (*once, (1.0, b"*X\r\n"))

    def test_a_polled_wheel_keeps_the_pace_of_the_polls(self) -> None:
        wheel = WheelFeed(Options(poll=2.0, heard_twice=False))
        wheel.send(2)
        assert wheel.send(2, after=2.1) == []
        assert wheel.send(3, after=2.1) == [
            WheelPhase(
                at=wheel.now,
                device="wheel",
                frame=status(3).decode(),
                phase="ball_in_rim",
                spin=1,
                rpm=16.6,
                direction="clockwise",
            )
        ]

    def test_it_needs_no_waking(self) -> None:
        wheel = WheelFeed()
        wheel.send(4, warnings=1, after=PERIOD)
        assert wheel.codec.deadline is None

    @pytest.mark.parametrize(
        "options", [{"pockets": 36}, {"period": 0}, {"poll": -1}, {"poll": 0.05}, {"pocket": 37}]
    )
    def test_options_that_cannot_be(self, options: dict[str, float]) -> None:
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(options, Options)
