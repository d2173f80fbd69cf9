"""The meter of a jackpot in one line: grey, with the reason, as soon as it is not current."""

from __future__ import annotations

from rich.text import Text

from common.contract.messages.messages import first_of, text, word
from subscribers.feed.meter import Meter, out_of_play_text, silence, silence_text, title
from subscribers.money import money
from subscribers.terminal.current import since


def line(meter: Meter, no_broker: str | None, now: str, language: str | None) -> Text:
    """Return the line of a jackpot. ``no_broker``: since when the broker is disconnected, or None.
    ``language``: default: the first language of the jackpot's title.
    """
    state = meter.state
    chosen = language or first_of(() if state is None else state.title)
    silent = silence(meter, no_broker, now)
    line_text = Text(f" {title(meter, chosen)}  ", no_wrap=True, overflow="ellipsis")
    if state is not None:
        amount = f" {money(state.value, state.currency, chosen)} "
        line_text.append(amount, style="bright_black" if silent else "bold black on #e0c060")
    if silent is not None:
        beginning = since("", silent.since or "", chosen)
        line_text.append(f"  {silence_text(silent, chosen)}{beginning}", style="bold red")
        return line_text
    assert state is not None
    if not state.in_play:
        why = ": ".join(
            filter(None, (text("jackpot.not_in_play", chosen), out_of_play_text(state.why, chosen)))
        )
        return line_text.append(f"  {why}", style="bold yellow")
    award = state.won or next(iter(state.awards), None)
    if award is None:
        return line_text.append(f"  {text('jackpot.in_play', chosen)}", style="bold green")
    status = word("jackpot", f"award.{award.status}", chosen)
    parts = [
        text("jackpot.won", chosen) if award is state.won else status,
        None if award.value is None else money(award.value, state.currency, chosen),
        text("jackpot.table", chosen, table=award.table),
        word("hand", award.hand, chosen),
        status if award is state.won else None,
    ]
    return line_text.append(f"  {' · '.join(filter(None, parts))}", style="bold yellow")
