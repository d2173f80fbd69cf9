// Boule: the last number, those before it, how often each number and chance came.

import {
  bars,
  blank,
  dial,
  disc,
  frequencies,
  history,
  marks,
  noNumber,
  roundOf,
  row,
  wheel,
} from "../numbers.js";
import { inBoth, words } from "../page.js";

const COLOURS = ["red", "plain", "black"];

export function draw(body, picture, compact) {
  const closed = picture.phase.id === "closed";
  const last = closed ? null : body.last;
  const colour = last && words(`colour.${last.colour}`);
  const places = body.places.map((place) => ({ text: place.share.text, colour: place.colour }));
  const top = last ? places.findIndex((place) => place.text === last.number) : -1;
  if (compact) {
    const seen = last
      ? { number: last.number, colour: last.colour, below: colour }
      : { below: noNumber(closed) };
    return [dial({ places, top, ...seen }), row(body.spins)];
  }
  const colours = Object.fromEntries(body.places.map((place) => [place.share.id, place.colour]));
  return [
    wheel({
      places,
      top,
      label: last ? `${last.number} ${colour}` : words("display.no_result"),
      middle: last
        ? disc(last.number, last.colour, inBoth(`colour.${last.colour}`, picture), roundOf(last))
        : blank(words(closed ? "display.shut" : "display.no_result")),
    }),
    history(body.spins),
    bars(
      words("display.in_session", { count: body.counted }),
      body.places.map((place) => place.share),
      (share) => colours[share.id],
    ),
    frequencies(body.windows, last ? body.chances : []),
  ];
}

export function describe(body) {
  return body.last && `${body.last.number} ${body.chances.join(", ")}`;
}

export function legend() {
  return marks(COLOURS);
}
