// The wheel of fortune: the symbol under its tongue, those before it, how often each came.

import {
  bars,
  blank,
  dial,
  disc,
  frequencies,
  history,
  noNumber,
  roundOf,
  row,
  wheel,
} from "../numbers.js";
import { words } from "../page.js";

const STARS = { joker: "★", joker_red: "★", joker_black: "☆" };

export function draw(body, picture, compact) {
  const closed = picture.phase.id === "closed";
  const last = closed ? null : body.last;
  const text = (symbol) => body.symbols[symbol] ?? symbol;
  const short = (symbol) => STARS[symbol] ?? text(symbol);
  const top = last && body.cell ? body.cell - 1 : -1;
  if (compact) {
    const places = body.ring.map(() => ({ colour: null }));
    const seen = last ? { number: text(last.number) } : { below: noNumber(closed) };
    return [dial({ places, top, ...seen }), row(body.spins, short)];
  }
  return [
    wheel({
      places: body.ring.map((symbol) => ({ text: short(symbol), colour: null })),
      top,
      label: last ? text(last.number) : words("display.no_result"),
      middle: last
        ? disc(
            short(last.number),
            null,
            STARS[last.number] ? [{ text: text(last.number) }] : [],
            roundOf(last),
          )
        : blank(words(closed ? "display.shut" : "display.no_result")),
    }),
    history(body.spins, short),
    bars(
      words("display.in_session", { count: body.counted }),
      body.session.map((each) => ({ ...each, text: short(each.id) })),
    ),
    frequencies(body.windows),
  ];
}

export function describe(body) {
  return body.last && (body.symbols[body.last.number] ?? body.last.number);
}

export function legend() {
  const jokers = Object.entries(STARS).filter(
    ([, star], index, all) => all.findIndex(([, each]) => each === star) === index,
  );
  return [
    ...jokers.map(([name, star]) => [star, words(`symbol.${name}`)]),
    ["*", words("display.corrected")],
  ];
}
