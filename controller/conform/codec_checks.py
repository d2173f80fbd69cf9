"""What holds for every codec, tried on recordings of its device: one function for each requirement.
Each yields what is wrong, nothing if the codec meets it.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from types import FunctionType, MethodType, ModuleType

from common.contract.notation import write
from common.randomness import Random
from common.readings import (
    AnyReading,
    DamagedBytes,
    LinkLost,
    LinkOpen,
    LinkStale,
    LinkUnintelligible,
    LinkUp,
    MaybeLate,
    escape,
)
from controller.conform.codecs import (
    DEVICE,
    NEVER_SECONDS,
    Result,
    Timed,
    TriedCodec,
    contents,
    first_difference,
    invented,
    junk,
    places,
    play,
    split_difference,
    with_chunk,
)
from controller.conform.report import TrialFinding
from controller.conform.requirements import to_try
from devices.codec import OPENING_SECONDS, Codec, KeptBytesAware, RequestingCodec
from devices.watch import Watch

STALE_AFTER_SECONDS = 5.0
SETTLED_SECONDS = 6.0
"""Seconds after opening by which every driver is live again."""
ROUND_TRIP_SECONDS = 0.19
"""Seconds in which a device server delivers to a device that a hand paces."""
DELIVERY_SECONDS = 0.75
"""Seconds in which it delivers a backlog whose end the codec recognises by the pace."""
MAX_BUFFER_BYTES = 1 << 17
"""Memory that a codec may hold of bytes without an end."""
ENDLESS_BYTES, PIECE_BYTES = 1 << 19, 1 << 12
"""Bytes without an end, and how many of them arrive at once."""
MAX_LOST_FRAMES = 3
MAX_PROBLEMS = 5
"""Problems of one requirement that are listed for each recording."""
PLACES = 12
"""Places in each recording at which something is changed."""
UNCHANGED_SHARE = 0.9
"""Share of the places at which reopening the link may change nothing."""
MAX_DEADLINES = 1000
"""Calls at the deadline, with no byte, after which it must have passed the end."""

Problems = Iterator[str]
Check = Callable[[TriedCodec, Random], Problems]


def _split(subject: TriedCodec, random: Random) -> Problems:
    chunks = subject.chunks
    stream = b"".join(data for _, data in chunks)
    for _ in range(PLACES):
        begin = random.randrange(len(stream))
        part = stream[begin : begin + random.randrange(1, 3000)]
        if random.random() < 0.5:
            at = random.randrange(len(part) + 1)
            part = part[:at] + junk(random) + part[at + random.randrange(50) :]
        cuts = [random.randrange(len(part) + 1) for _ in range(random.randrange(9))]
        if difference := split_difference(subject.make, part, cuts):
            yield difference


def _golden(subject: TriedCodec, random: Random) -> Problems:  # noqa: ARG001
    if subject.golden is None:
        return
    watch = Watch(subject.make(), DEVICE, STALE_AFTER_SECONDS)
    chunks = [chunk for chunk in subject.recording if not chunk.sent]
    watch.opened(subject.recording.chunks[0].at)
    found = [write(each) for chunk in chunks for each in watch.feed(chunk.data, chunk.at)]
    if found != list(subject.golden):
        texts, golden = (
            [line.decode(errors="replace") for line in lines] for lines in (found, subject.golden)
        )
        yield first_difference(texts, golden)


def _garbage(subject: TriedCodec, random: Random) -> Problems:
    codec = subject.make()
    for number in range(300):
        data = junk(random)
        try:
            codec.feed(data, float(number))
            codec.feed(b"", number + 0.5)
            if number % 50 == 49:
                codec.reconnected(number + 0.5)
        except Exception as error:
            yield f"{type(error).__name__} at {escape(data[:40])}: {error}"
            return


def _bounded(subject: TriedCodec, random: Random) -> Problems:  # noqa: ARG001
    for byte in dict.fromkeys([subject.chunks[0][1][:1], b"A", b"5", b" ", b"\x00", b"\xff"]):
        codec = subject.make()
        before = _size(codec)
        for number in range(ENDLESS_BYTES // PIECE_BYTES):
            codec.feed(byte * PIECE_BYTES, float(number))
        if (held := _size(codec) - before) > MAX_BUFFER_BYTES:
            yield f"{held} bytes are held after {ENDLESS_BYTES} bytes {escape(byte)}"


def _size(codec: Codec) -> int:
    return sum(map(sys.getsizeof, referred(codec)))


def referred(codec: Codec) -> Iterator[object]:
    """Yield everything that a codec refers to, and itself; no code."""
    seen: set[int] = set()
    left: list[object] = [codec]
    while left:
        each = left.pop()
        if id(each) in seen or isinstance(each, type | ModuleType | FunctionType | MethodType):
            continue
        seen.add(id(each))
        yield each
        left += gc.get_referents(each)


def _junk_invents(subject: TriedCodec, random: Random) -> Problems:
    chunks = subject.chunks
    known = contents(play(subject.make(), chunks))
    for _ in range(PLACES):
        mixed = list(chunks)
        for _ in range(random.randrange(1, 5)):
            at = random.randrange(len(mixed))
            mixed.insert(at, (mixed[at][0], junk(random)))
        if problem := invented(play(subject.make(), mixed), known):
            yield f"{problem}"


def _recovers(subject: TriedCodec, random: Random) -> Problems:
    if not subject.serial:
        return
    chunks = subject.chunks
    codec = subject.make()
    play(codec, chunks)
    whole = codec.counters.frames
    for _ in range(PLACES):
        at = random.randrange(len(chunks))
        codec, noise = subject.make(), junk(random)
        play(codec, [*chunks[:at], (chunks[at][0], noise), *chunks[at:]])
        if codec.counters.frames < whole - MAX_LOST_FRAMES:
            yield (
                f"{whole - codec.counters.frames} of {whole} frames are lost after "
                f"{len(noise)} bytes of junk"
            )


def _truncated(subject: TriedCodec, random: Random) -> Problems:
    chunks = subject.chunks
    known = contents(play(subject.make(), chunks))
    for number, at in places(chunks, random, PLACES):
        cut = with_chunk(chunks, number, chunks[number][1][:at])
        for reopened in (number + 1, len(cut)):
            if problem := invented(play(subject.make(), cut, reopened=reopened), known):
                yield f"{problem}: {escape(chunks[number][1][:at])}"
        # a frame without its end must not count, not even at the end of the link
        end = [*chunks[:number], (chunks[number][0], chunks[number][1][:at])]
        codec, again = subject.make(), subject.make()
        play(codec, end)
        play(again, [*end, (chunks[number][0], b"")], reopened=len(end))
        if again.counters.frames > codec.counters.frames:
            yield f"{escape(chunks[number][1][:at])} counts as a frame when it is cut"


def _damaged(subject: TriedCodec, random: Random) -> Problems:
    if not subject.serial:
        return
    chunks = subject.chunks
    codec = subject.make()
    known = contents(play(codec, chunks))
    frames = codec.counters.frames
    for number, at in places(chunks, random, 4 * PLACES):
        data = chunks[number][1]
        wrong = data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]
        codec = subject.make()
        found = play(codec, with_chunk(chunks, number, DamagedBytes(wrong, (at,))))
        if codec.counters.frames >= frames and _needs(subject, number, at, frames):
            yield f"byte {at} of {escape(data)} was damaged, and the frame counts"
        elif problem := invented(found, known):
            yield f"{problem}: byte {at} of {escape(data)} was damaged"


def _needs(subject: TriedCodec, number: int, at: int, frames: int) -> bool:
    """Return whether a frame is lost without the byte ``at`` of a chunk."""
    data = subject.chunks[number][1]
    codec = subject.make()
    play(codec, with_chunk(subject.chunks, number, data[:at] + data[at + 1 :]))
    return codec.counters.frames < frames


def _is_paced(codec: Codec) -> bool:
    """True if the codec recognises by the device's pace when a backlog is over."""
    return isinstance(codec, KeptBytesAware) and codec.opening is None


def _live(readings: Iterable[AnyReading]) -> list[AnyReading]:
    return [each for each in readings if isinstance(each, MaybeLate) and not each.late]


def _late(subject: TriedCodec, random: Random) -> Problems:
    chunks = subject.chunks
    for _ in range(PLACES):
        begin = random.randrange(len(chunks))
        backlog = b"".join(data for _, data in chunks[begin:])[:8000]
        cut = random.randrange(len(backlog) + 1)
        codec = subject.make()
        watch = Watch(codec, DEVICE, STALE_AFTER_SECONDS)
        watch.opened(1000.0, kept=True)
        lasts = DELIVERY_SECONDS if _is_paced(codec) else ROUND_TRIP_SECONDS
        readings = watch.feed(backlog[:cut], 1000.0)
        readings += watch.feed(backlog[cut:], 1000.0 + lasts)
        if live := _live(readings):
            yield f"delivered at opening, and live: {live[0]}"
        watch = Watch(subject.make(), DEVICE, STALE_AFTER_SECONDS)
        watch.opened(1000.0, kept=True)
        at = 1000.0
        for before, data in chunks[:begin]:
            at = 1000.0 + before - chunks[0][0]
            watch.feed(data, at)
        if live := _live(watch.receive(backlog, at + 6.0, kept=True)):
            yield f"lay unread, and live: {live[0]}"


def _at_pace(subject: TriedCodec, chunks: Sequence[Timed], *, kept: bool) -> list[Result]:
    """Return the results after the first moments of a link that is opened at the first chunk, or,
    for a device without a pace of its own, a second before.
    """
    codec = subject.make()
    watch = Watch(codec, DEVICE, STALE_AFTER_SECONDS)
    first = chunks[0][0]
    watch.opened(first - (0.0 if _is_paced(codec) else OPENING_SECONDS), kept=kept)
    readings = [each for at, data in chunks for each in watch.feed(data, at)]
    return [
        each for each in readings if isinstance(each, Result) and each.at > first + SETTLED_SECONDS
    ]


def _stays_live(subject: TriedCodec, random: Random) -> Problems:
    chunks = subject.chunks
    results = [each for each in play(subject.make(), chunks) if isinstance(each, Result)]
    if results and not _live(results):
        yield f"none of {len(results)} results is live"
    for begin in [0, *random.sample(range(len(chunks)), min(PLACES, len(chunks)))]:
        part = chunks[begin:]
        fresh, kept = (_live(_at_pace(subject, part, kept=each)) for each in (False, True))
        if kept not in (fresh, fresh[1:]):  # a round that had begun before is not live
            yield f"{len(kept)} results are live, not {len(fresh)}"


def _silence(subject: TriedCodec, random: Random) -> Problems:
    chunks = subject.chunks
    part = chunks[: max(1, random.randrange(len(chunks) + 1))]
    for noise in (b"", b"\x80" * 16):
        codec = subject.make()
        watch = Watch(codec, DEVICE, STALE_AFTER_SECONDS)
        watch.opened(part[0][0])
        for at, data in part:
            watch.feed(data, at)
        end = part[-1][0]
        readings: list[AnyReading] = []
        for second in range(1, 61):
            readings += watch.feed(noise, end + second)
        noticed = {type(each) for each in readings} & {LinkStale, LinkUnintelligible}
        if not noticed and (noise or codec.steady):
            yield f"60 s of {'noise' if noise else 'silence'} were not noticed"


def _reset(subject: TriedCodec, random: Random) -> Problems:
    """Reopen the link between two bytes: nearly everywhere that is in a frame, which must fail."""
    chunks = subject.chunks
    expected = _decoded(subject, chunks)
    same = 0
    inside = [place for place in places(chunks, random, 2 * PLACES) if place[1] > 0]
    for number, at in inside:
        data = chunks[number][1]
        halves = with_chunk(chunks, number, data[:at], data[at:])
        same += _decoded(subject, halves, reopened=number + 1) == expected
    if same > UNCHANGED_SHARE * len(inside):
        yield f"at {same} of {len(inside)} places, reopening the link changes nothing"


def _decoded(
    subject: TriedCodec, chunks: Sequence[Timed], *, reopened: int | None = None
) -> tuple[int, list[AnyReading]]:
    """Return the number of frames, and all readings but those of the link's state."""
    codec = subject.make()
    readings = play(codec, chunks, reopened=reopened)
    states = (LinkLost, LinkOpen, LinkUp)
    return codec.counters.frames, [each for each in readings if not isinstance(each, states)]


def _once(subject: TriedCodec, random: Random) -> Problems:
    chunks = subject.chunks
    known = contents(play(subject.make(), chunks))
    for reopened in random.sample(range(len(chunks)), min(4 * PLACES, len(chunks))):
        if problem := invented(play(subject.make(), chunks, reopened=reopened), known):
            yield f"after the link was reopened, {problem} again"


def _pure(subject: TriedCodec, random: Random) -> Problems:
    chunks = subject.chunks
    alone = play(subject.make(), chunks)
    watches = [Watch(subject.make(), DEVICE, NEVER_SECONDS) for _ in range(2)]
    found: list[list[AnyReading]] = [[], []]
    for watch in watches:
        watch.opened(chunks[0][0])
    for at, data in chunks:
        for which in random.sample((0, 1), 2):
            found[which] += watches[which].feed(data, at)
    for readings in found:
        if readings != alone:
            yield f"beside another device, {first_difference(readings, alone)}"
            break


def _evidence(subject: TriedCodec, random: Random) -> Problems:  # noqa: ARG001
    chunks = subject.chunks
    codec, times = subject.make(), list[float]()
    watch = Watch(codec, DEVICE, NEVER_SECONDS)
    watch.opened(chunks[0][0])
    for at, data in chunks:
        times.append(at)
        for reading in watch.feed(data, at):
            if not isinstance(reading, Result):
                continue
            if reading.device != DEVICE or not reading.frame:
                yield f"without its device or frame: {reading}"
            elif not times[0] <= reading.at <= at:
                yield f"{reading.at} is not when it was fed, {at}"


def _deadline(subject: TriedCodec, random: Random) -> Problems:  # noqa: ARG001
    chunks = subject.chunks
    codec = subject.make()
    for (at, data), (later, _) in pairwise([*chunks, (chunks[-1][0] + 60.0, b"")]):
        codec.feed(data, at)
        for _ in range(MAX_DEADLINES):
            due = codec.deadline
            if due is None or due > later:
                break
            if problem := invented(codec.feed(b"", max(due, at)), contents(())):
                yield f"at the deadline, {problem}"
            if codec.deadline is not None and codec.deadline <= due and not _asks(codec, due):
                yield f"the deadline stays at {due}"
                break


def _asks(codec: Codec, now: float) -> bool:
    """Take the request that may be due, which moves the deadline; False if the codec has none."""
    if not isinstance(codec, RequestingCodec):
        return False
    codec.ask(now)
    return True


def _commands(subject: TriedCodec, random: Random) -> Problems:  # noqa: ARG001
    try:
        subject.make().encode("no-such-command", "")
    except ValueError:
        return
    yield "the command no-such-command was encoded"


_CHECKS: Mapping[str, Check] = {
    "DRV-SPLIT": _split,
    "DRV-GOLDEN": _golden,
    "DRV-GARBAGE": _garbage,
    "DRV-BOUNDED": _bounded,
    "DRV-JUNK": _junk_invents,
    "DRV-RECOVER": _recovers,
    "DRV-TRUNCATED": _truncated,
    "DRV-DAMAGED": _damaged,
    "DRV-LATE": _late,
    "DRV-LIVE": _stays_live,
    "DRV-SILENCE": _silence,
    "DRV-RESET": _reset,
    "DRV-ONCE": _once,
    "DRV-PURE": _pure,
    "DRV-EVIDENCE": _evidence,
    "DRV-DEADLINE": _deadline,
    "DRV-COMMANDS": _commands,
}


def try_codec(
    subjects: Sequence[TriedCodec], seed: int, only: Collection[str] = ()
) -> list[TrialFinding]:
    """Try each requirement, or ``only`` some, on each recording."""
    findings: list[TrialFinding] = []
    raised: list[str] = []
    for requirement in to_try("driver"):
        if only and requirement not in only:
            continue
        problems: list[str] = []
        broken = 0
        for subject in subjects:
            random = Random(f"{seed} {requirement} {subject.name}")
            try:
                found = [*islice(_CHECKS[requirement](subject, random), MAX_PROBLEMS)]
            except Exception as error:
                broken += 1
                raised.append(f"{subject.name}: in the trial of {requirement}: {error}")
            else:
                problems += [f"{subject.name}: {problem}" for problem in found]
        if broken and not problems:
            findings.append(TrialFinding.not_tried(requirement, "the codec raised an exception"))
        elif requirement == "DRV-GOLDEN" and all(each.golden is None for each in subjects):
            findings.append(
                TrialFinding.not_tried(requirement, "no recording has a file with its readings")
            )
        else:
            findings.append(TrialFinding.of(requirement, problems))
    return [
        TrialFinding.of(each.id, [*each.problems, *raised]) if each.id == "DRV-GARBAGE" else each
        for each in findings
    ]
