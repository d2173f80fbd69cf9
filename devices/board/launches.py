"""What the boards of wheels and dice share: they count their launches, and each launch has one
outcome.
"""

from __future__ import annotations

from devices.board.codec import BoardCodec, Options


class LaunchBoard(BoardCodec):
    """The board's count of launches or throws is the ``spin``; it starts at 0 when the board is
    powered on. If a new spin happens to have the same count as the last one before a restart,
    ``spin`` is None, so that the two are not confused.
    """

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self.spin: int | None = None
        self.launch_seen = False
        """Whether its launch was heard."""
        self.outcome_pending = False
        """Whether its outcome is still to be reported."""
        self.candidate = False
        """Whether the outcome is a candidate only, because its launch was not heard."""
        self.interrupted = False
        """Whether the board was restarted in the middle of it."""
        self._ended: int | None = None  # the last spin before the board was restarted
        self._launches: int | None = None
        self._counted: int | None = None  # the count with which the last spin began
        # Something moves and the count is that of another spin, but so far too briefly for a
        # launch.
        self._starting = False
        self._gap = True

    def on_restart(self) -> None:
        """The board was restarted: nothing is known of the ball, wheel or dice."""
        self.interrupted = self.outcome_pending and self.launch_seen
        self._ended = self._ended if self.spin is None else self.spin
        self._launches, self._starting = None, False
        self.on_gap()

    def on_gap(self) -> None:
        """A launch may have been missed."""
        self._gap = True

    def follow_count(self, launches: int, moving: bool) -> None:
        """Adopt the board's count. After a launch that was not heard, the present position may be
        its outcome, unless the board has counted no launch since its restart. A board that was
        restarted in the middle of a spin has lost its count.
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
        """Begin a new spin; nothing of it is reported yet."""
        self.spin, self._counted = None if spin == self._ended else spin, spin
        self.interrupted, self.launch_seen, self.outcome_pending, self.candidate, self._starting = (
            False,
            False,
            True,
            False,
            False,
        )
