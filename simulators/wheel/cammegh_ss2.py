"""A simulated Cammegh Slingshot 2: status lines, bare numbers, replies and faults.

Based on the public facts of the protocol and the timings of recorded wheels; assumptions are noted.
The model consists of scenes (generators that yield seconds to wait and return the next scene); a
command or a fault replaces the current scene.

Known limits: no ``*I`` event lines, no calibration, no jet tuning, no bonus numbers, no state 7.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Sequence
from heapq import heappop, heappush
from math import inf

from common import cammegh_ss2_frames as frames
from common.randomness import Random
from simulators.device import Timed
from simulators.wheel.cammegh_ss2_commands import answer
from simulators.wheel.rotor import Rotor

REVERSE, USER_START, SPEED_CHANGE, NO_BARE_NUMBER, AUTO_STATUS, DELAY_IN_1, DELAY_IN_2 = (
    1,
    2,
    4,
    16,
    128,
    1024,
    2048,
)
"""Mode bits that the model implements."""
ARCADE = 1157
"""Factory mode: the wheel starts and plays by itself. 1159 waits for the host in state 2."""

NOT_DETECTED, WITH_ROTOR, SENSOR, FAILED_LAUNCH = 1, 2, 4, 8
"""Warning bits."""

STATUS_SECONDS = 0.496, 0.496, 0.496, 0.512
"""Times between two status lines of a recorded wheel."""
REPLY_SECONDS = 0.02
"""Time from a command to its reply."""
MUTE_SECONDS = 4.0
"""Silence after power-on."""
NO_BALL_STOP_SECONDS = 75.0
"""Time without a ball in state 4 after which the wheel stops itself."""
ATTENDED_AFTER_SECONDS = 10.0
"""Time after which the simulated croupier has fixed a stopped wheel and presses the key."""
MAX_SPEED_CHANGE_RPM = 5.0
"""Maximum change of the rotor's speed that the motor follows, whatever the parameter ``m`` is."""
NO_RETRY = 8
"""Bit of the parameter ``g``: do not retry a failed launch."""

Scene = Generator[float, None, "Callable[[], Scene]"]


def pocket_text(pocket: int) -> str:
    """Format a pocket as two characters, right-justified: ``00`` is double zero, ``38`` triple and
    ``39`` quadruple zero.
    """
    return "00" if pocket == 37 else f"{pocket:2d}"


class SlingshotSS2:
    """One wheel. ``pockets``: 37 to 40; ``games_per_hour``: its pace, unless a user starts each
    game; ``attended``: a croupier restarts it after it has stopped itself; ``numbers``: the first
    winning pockets; later ones are random; ``status_pace``: how many times longer than on a
    recorded wheel it is from one status line to the next.
    """

    baud = 9600

    def __init__(
        self,
        seed: int = 0,
        pockets: int = 37,
        mode: int = ARCADE,
        games_per_hour: int = 60,
        attended: bool = True,
        numbers: Sequence[int] = (),
        status_pace: float = 1.0,
    ) -> None:
        if not 37 <= pockets <= 40:
            raise ValueError(f"a wheel has 37 to 40 pockets, not {pockets}")
        self.mode = mode
        self.attended = attended
        self.status_pace = status_pace
        self.silenced = False
        self.parameters = {
            "g": "0",
            "h": str(games_per_hour),
            "i": "10",
            "m": "1.5",
            "n": "2920",
            "s": "14.0 17.5",
            "z": str(pockets),
        }
        self.wins: list[int] = []
        self.misfires = 0
        self.random = Random(seed)
        self._script = deque(numbers)
        self._armed: defaultdict[str, deque[float]] = defaultdict(deque)
        self._sent: list[Timed] = []
        self._replies: list[tuple[float, int, str]] = []
        self._answered = 0
        self.rounds = 0
        """Number of games whose state 5 has ended."""
        self.awaits_start = False
        """True if the wheel is in state 2 and waits for the host or the croupier's key."""
        self._received = bytearray()
        self.asked_at = -inf
        self._power_on(0.0, 0.0)

    # the device contract

    @property
    def deadline(self) -> float:
        """When the next scene, status line or reply is due."""
        return min(self._wake, self._push, self._replies[0][0] if self._replies else inf)

    def advance(self, now: float) -> list[Timed]:
        """Advance the time to ``now``; return all lines with their ends: scene first, then status,
        then replies.
        """
        self._run_until(now)
        sent, self._sent = self._sent, []
        return sent

    def _run_until(self, now: float) -> None:
        while (due := self.deadline) <= now:
            self.time = due
            if self._wake <= due:
                self._next_scene()
            elif self._push <= due:
                self._push += self.random.choice(STATUS_SECONDS) * self.status_pace
                if self.mode & AUTO_STATUS and not self.silenced:
                    self.send(self.status())
            else:
                self.send(heappop(self._replies)[2])
        self.time = max(self.time, now)

    def receive(self, data: bytes, now: float) -> None:
        """Handle commands from ``*`` to CR or LF. Bytes before the ``*`` are skipped, and so are
        more than 256 bytes without an end.
        """
        self._run_until(now)
        for byte in data:
            if byte not in b"\r\n":
                self._received.append(byte)
                del self._received[:-256]
                continue
            command = bytes(self._received)
            self._received.clear()
            start = command.find(b"*")
            if start >= 0 and now >= self._mute_until:
                for delay, line in answer(self, command[start + 1 :].decode("latin-1")):
                    self.reply(line, delay)

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault: ``sensor``, ``parameter``, ``log_cleared`` and ``power_cycle`` at once,
        all others at the next opportunity in a game.
        """
        self._run_until(now)
        if name == "power_cycle":
            self._power_on(now, value)
        elif name == "sensor":
            self.play(lambda: self._sensor_fault(value))
        elif name == "parameter":
            self.parameters["m"] = str(value)
        elif name == "log_cleared":
            self.wins.clear()
        else:
            self._armed[name].append(value)

    # used by the commands

    def status(self) -> str:
        """Return the status line without its end. The speed fluctuates by a tenth of an rpm, as on
        real wheels.
        """
        rpm = self.rotor.rpm(self.time)
        speed = round(rpm * 10) + (self.random.choice((-1, 0, 0, 1)) if rpm > 1 else 0)
        number = frames.NUMBERS.get(self.number.encode())
        direction = int(self.rotor.anticlockwise)
        status = frames.Status(self.state, self.spin, number, self.warnings, speed, direction)
        return frames.write_status(status).decode()

    def reply(self, line: str, delay: float = 0.0) -> None:
        """Reply after ``delay`` seconds plus the wheel's own delay; replies keep their order."""
        self._answered += 1
        heappush(self._replies, (self.time + delay + REPLY_SECONDS, self._answered, line))

    def send(self, line: str) -> None:
        """Send a line now, unless the wheel is still silent after power-on."""
        if self.time >= self._mute_until:
            self._sent.append((self.time, line.encode("latin-1") + b"\r\n"))

    def play(self, scene: Callable[[], Scene]) -> None:
        """Abandon the current scene and continue with ``scene``."""
        self._scene = scene()
        self._wake = self.time

    # the scenes

    def _next_scene(self) -> None:
        try:
            self._wake = self.time + next(self._scene)
        except StopIteration as end:
            self._scene = end.value()

    def _power_on(self, now: float, off: float) -> None:
        """Return power after ``off`` seconds; everything volatile is reset, including the spin
        number.
        """
        self.time = now
        self.state, self.spin, self.number, self.warnings = 6, 1, "", 0
        self.rotor = Rotor()
        self._mute_until = now + off + MUTE_SECONDS
        self._push = self._mute_until
        self._replies.clear()
        self._received.clear()
        self.awaits_start = False
        self._began = now
        self.play(lambda: self._idle(off + MUTE_SECONDS + 2.0))

    def _idle(self, attended_after: float) -> Scene:
        """State 6. After power-up a wheel without user start continues by itself; later only if it
        is attended.
        """
        self.state = 6
        self.warnings &= SENSOR
        self.awaits_start = False
        yield attended_after if self.attended and not self.mode & USER_START else inf
        return self.starting

    def starting(self) -> Scene:
        """State 1 after a start: the rotor speeds up and makes its turns."""
        self.state = 1
        self.warnings = 0
        self.awaits_start = False
        self.rotor.drive(self._speed(), self.time)
        yield self.random.uniform(8.0, 10.5)
        return self._place_bets

    def stopping(self) -> Scene:
        """The rotor slows down, then state 6. The state does not change before it has stopped."""
        yield self.rotor.drive(0.0, self.time) + 0.5
        return lambda: self._idle(ATTENDED_AFTER_SECONDS)

    def _place_bets(self) -> Scene:
        self.state = 2
        if self.mode & USER_START:
            self.awaits_start = True
            yield inf
        if self.mode & DELAY_IN_2:
            yield self._delay()
        self._began = self.time
        return self.launching

    def launching(self) -> Scene:
        """Still state 2: the rotor reverses and the ball is blown into the rim; repeated if that
        fails.
        """
        self.awaits_start = False
        yield self.random.uniform(1.0, 2.0)
        if self.mode & REVERSE and _take(self._armed["rotor_not_reversed"]) is None:
            yield from self._reverse_rotor()
        while _take(self._armed["failed_launch"]) is not None:
            yield 4.0
            self.warnings |= FAILED_LAUNCH
            self.misfires += 1
            if int(self.parameters["g"]) & NO_RETRY:
                return self.stopping
            yield self.random.uniform(2.5, 3.5)
            yield from self._reverse_rotor()  # recorded wheels reverse again for the second attempt
        yield self.random.uniform(1.0, 2.5)
        self.warnings &= ~FAILED_LAUNCH
        return self._ball_in_rim

    def _reverse_rotor(self) -> Generator[float, None, None]:
        yield self.rotor.drive(0.0, self.time) + self.random.uniform(0.5, 1.0)
        self.rotor.anticlockwise = not self.rotor.anticlockwise
        yield self.rotor.drive(self._speed(), self.time)

    def _ball_in_rim(self) -> Scene:
        self.state = 3
        if _take(self._armed["ball_with_rotor"]) is not None:
            self.warnings |= WITH_ROTOR
        yield self.random.uniform(2.5, 4.5)
        # without a restart command the wheel plays on, and the table must void the spin
        self.warnings &= ~WITH_ROTOR
        return self._no_more_bets

    def _no_more_bets(self) -> Scene:
        self.state = 4
        if self.mode & SPEED_CHANGE:
            change = min(float(self.parameters["m"]), MAX_SPEED_CHANGE_RPM)
            self.rotor.drive(
                self.rotor.rpm(self.time) + self.random.uniform(-change, change), self.time
            )
        turning = self.random.uniform(25.0, 28.0)
        yield turning * 0.4
        removed = _take(self._armed["ball_removed"])
        if removed is not None:
            self.warnings |= NOT_DETECTED
            yield min(removed, NO_BALL_STOP_SECONDS)
            if removed >= NO_BALL_STOP_SECONDS:
                return self.stopping
            self.warnings &= ~NOT_DETECTED
        yield turning * 0.6
        return self._winning_number

    def _winning_number(self) -> Scene:
        """State 5. The bare number is sent immediately; the status follows with the next push, 15
        to 500 ms later.
        """
        pockets = int(self.parameters["z"])
        pocket = self._script.popleft() if self._script else self.random.randrange(pockets)
        self.state, self.number = 5, pocket_text(pocket)
        self.wins.append(pocket)
        if not self.mode & NO_BARE_NUMBER:
            wrong = _take(self._armed["wrong_number"]) is not None
            self.send(pocket_text((pocket + 1) % pockets) if wrong else self.number)
        if self.mode & USER_START:
            yield self.random.uniform(4.0, 7.0)
        elif self.mode & (DELAY_IN_1 | DELAY_IN_2):
            yield 2 * 60 / self.rotor.rpm(self.time)
        else:
            yield self._delay()
        self.spin = self.spin % 256 + 1
        self.rounds += 1
        # Recorded wheels with bit 1024 and user start go from 5 to 2; according to the guide, bit
        # 1024 goes through 1. Both are supported.
        return (
            self._between_games
            if self.mode & DELAY_IN_1 and not self.mode & USER_START
            else self._place_bets
        )

    def _between_games(self) -> Scene:
        self.state = 1
        yield self._delay()
        return self._place_bets

    def _sensor_fault(self, seconds: float) -> Scene:
        """Warning 4, silent change to state 6; the cause ends after ``seconds``."""
        self.warnings |= SENSOR
        yield 2.0
        yield self.rotor.drive(0.0, self.time)
        self.state = 6
        self.warnings = SENSOR
        self.awaits_start = False
        yield seconds
        self.warnings = 0
        return lambda: self._idle(ATTENDED_AFTER_SECONDS)

    def _speed(self) -> float:
        low, high = (float(bound) for bound in self.parameters["s"].split())
        return self.random.uniform(low, high)

    def _delay(self) -> float:
        """Rest of a game's share of the hour, in seconds."""
        return max(0.5, 3600 / int(self.parameters["h"]) - (self.time - self._began))


def _take(armed: deque[float]) -> float | None:
    """Return the next fault of a kind, if one is armed."""
    return armed.popleft() if armed else None
