"""Base class of the codecs of boards that count launches or throws, each of which has one
outcome.
"""

from __future__ import annotations

from devices.board.codec import BoardCodec, Options


class LaunchBoard(BoardCodec):
    """The board's count of launches or throws is the ``spin``; it starts at 0 when the board is
    powered on. If a new spin happens to have the same count as the last one before a restart, or
    the next count, ``spin`` is None, so that it neither is confused with that one nor seems to
    follow it.
    """

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self.spin: int | None = None
        self.launch_seen = False
        """Whether the launch itself was reported."""
        self.outcome_pending = False
        """Whether the outcome is still to be reported."""
        self.candidate = False
        """Whether the outcome is only a candidate, because the launch was not reported."""
        self.interrupted = False
        """Whether the board was restarted during the spin."""
        self._ended: int | None = None  # the last spin before the board was restarted
        self._launches: int | None = None
        self._counted: int | None = None  # the board's count at the start of the last spin
        # something moves and the count has changed, but not yet for long enough to be a launch
        self._starting = False
        self._gap = True

    def on_restart(self) -> None:
        """Discard the state: nothing is known about the ball, wheel or dice after a restart."""
        self.interrupted = self.outcome_pending and self.launch_seen
        self._ended = self._ended if self.spin is None else self.spin
        self._launches, self._starting = None, False
        self.on_gap()

    def on_gap(self) -> None:
        """Note that a launch may have been missed."""
        self._gap = True

    def follow_count(self, launches: int, moving: bool) -> None:
        """Adopt the board's count. After a launch that was not reported, the current position may
        be its outcome, unless the board has counted no launch since its restart. A board that was
        restarted during a spin has lost its count.
        """
        if self._gap and (launches != self._launches or self._starting):
            first, cut = self._launches is None, self.interrupted
            self.begin(launches)
            if first and cut:
                self.spin, self.interrupted, self.launch_seen, self.candidate = (
                    None,
                    True,
                    True,
                    True,
                )
            elif first and not moving:
                self.outcome_pending = launches > 0
        if not self.launch_seen and not moving:
            self.candidate = True
        self._gap = False
        self._launches = launches
        self._starting = moving and launches != self._counted

    def begin(self, spin: int) -> None:
        """Begin a new spin; nothing has been reported for it yet."""
        before = self._ended
        self.spin = None if before is not None and spin - before in (0, 1) else spin
        self._counted = spin
        self.interrupted, self.launch_seen, self.outcome_pending, self.candidate, self._starting = (
            False,
            False,
            True,
            False,
            False,
        )
