"""What the boards of wheels and dice have in common: they count their own launches, and each has
one outcome.
"""

from __future__ import annotations

from devices.board.codec import Board, Options


class LaunchBoard(Board):
    """The board's count of launches, or throws, is the ``spin``; it begins at 0 when the board is
    started. A spin that has, by chance, the same count as the last one before that has none: it
    must not be taken for that one.
    """

    def __init__(self, device: str, options: Options) -> None:
        super().__init__(device, options)
        self.spin: int | None = None
        self.begun = False
        """Whether its launch was heard."""
        self.waiting = False
        """Whether its outcome is not told yet."""
        self.candidate = False
        """Whether the outcome is a candidate: nobody heard the launch that led to it."""
        self.cut = False
        """Whether the board was started anew in the middle of it."""
        self._ended: int | None = None  # the last spin before the board was started anew
        self._launches: int | None = None
        self._counted: int | None = None  # the count with which the last spin began
        # something moves, by its count another spin, and it was too short so far to be a launch
        self._starting = False
        self._gap = True

    def forget(self) -> None:
        """Nothing is known of what lies or stands there."""
        self.cut = self.waiting and self.begun
        self._ended = self._ended if self.spin is None else self.spin
        self._launches, self._starting = None, False
        self.missed()

    def missed(self) -> None:
        """A launch may have gone unheard."""
        self._gap = True

    def follow(self, launches: int, moving: bool) -> None:
        """Take up the board's count. After a launch that nobody heard, what lies or stands there is
        its outcome, perhaps: unless the board itself has seen none since it was started. A board
        that was started in the middle of a spin has lost its count.
        """
        if self._gap and (launches != self._launches or self._starting):
            first, cut = self._launches is None, self.cut
            self.begin(launches)
            if first and cut:
                self.spin, self.cut, self.begun, self.candidate = None, True, True, True
            elif first and not moving:
                self.waiting = launches > 0
        if not self.begun and not moving:
            self.candidate = True
        self._gap = False
        self._launches = launches
        self._starting = moving and launches != self._counted

    def begin(self, spin: int) -> None:
        """Another spin, of which nothing is told yet."""
        self.spin, self._counted = None if spin == self._ended else spin, spin
        self.cut, self.begun, self.waiting, self.candidate, self._starting = (
            False,
            False,
            True,
            False,
            False,
        )
