"""The dealt round: one model for every dealt game.

A **card** (:class:`~controller.games.dealt.cards.TableCard`) lies at the place that it was dealt
to: a hand, a row, a board. A card is known or unknown, face up or not, may have left its hand, and
has the number of its reading as evidence. The cards of a round are stored in the order in which
they came; the *index* of a card counts those of its place from 1. No other class of a game on this
model holds a card. A **held** card is still a reading: it was drawn and has no place.

A **round** (:class:`~controller.games.dealt.state.DealtRound`) opens its bets, closes them, is
dealt, and has one **outcome** (:class:`~controller.games.dealt.state.DealtEntry`): a result, void,
or unresolved until a person settles it. A result is corrected, never erased.

The state of a table is its **phase** (:mod:`controller.games.dealt.phases`): one enumeration, and
one table with the treatment of a card that comes in each. Which commands a phase refuses, its
guards say (:mod:`controller.games.dealt.guards`). What
**stops** the table (:class:`~controller.games.dealt.state.Stop`) is derived from the state, or by
the turn if the course decides whether a held card stops it; it is never stored, and names the
commands that settle it. The phase is ``decision`` if and only if something stops the table, and
``asks`` has the stop's commands, so that the two always agree. Requests of a phase without a stop
(a hand must be shown, a deck be checked) are in the table of phases.

A card **arrives** (:mod:`controller.games.dealt.arrivals`). It is refused if the table is closed;
stored for a person and never acted upon if it is late; held if another card waits before it;
diverted if it belongs to no round (burned, behind the cut card, after a silence); it stops the
table if the game objects to it; or it is placed where the next one belongs. A **gap** means that a
silence, a restart or a burst of late readings may have hidden cards. A person **decides** about the
first held card: it is accepted, read, given to a hand, removed, or kept for the next round.

A game is its **course**, its settings and its marks. The course
(:class:`~controller.games.dealt.turn.Course`) is a table of functions that answer few questions:
where does the next card belong (``belongs``), why may this one not simply go there
(``objection``), is it dealt face up (``faces_up``), what follows from the cards on the table
(``advance``), which stage is it (``stage``). The order of a deal is data where the decree gives an
order (places, one per card), and a function where cards decide it (third cards, rows, splits).
"""
