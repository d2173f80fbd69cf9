// Roulette: the last number on its wheel between its neighbours, with the frequency of each pocket
// outside it; the numbers before it; how often each chance and sector came.

import {
  blank,
  dial,
  disc,
  frequencies,
  history,
  marks,
  noNumber,
  roundOf,
  row,
  split,
  wheel,
} from "../numbers.js";
import { inBoth, words } from "../page.js";
import { h } from "../tree.js";

const COLOURS = ["red", "green", "black"];

export function draw(body, picture, compact) {
  const closed = picture.phase.id === "closed";
  const last = closed ? null : body.last;
  const places = body.ring.map((place) => ({ text: place.number, colour: place.colour }));
  const top = last ? places.findIndex((place) => place.text === last.number) : -1;
  if (compact) {
    const seen = last
      ? { number: last.number, colour: last.colour, below: colourOf(last) }
      : { below: noNumber(closed) };
    return [dial({ places, top, ...seen }), row(body.spins)];
  }
  const heat = body.heat;
  return [
    wheel({
      places,
      top,
      label: last ? labelOf(body) : words("display.no_result"),
      middle: last
        ? disc(last.number, last.colour, inBoth(`colour.${last.colour}`, picture), roundOf(last))
        : blank(words(closed ? "display.shut" : "display.no_result")),
      heat,
    }),
    history(body.spins),
    frequencies(
      body.windows,
      last ? body.chances : [],
      !closed &&
        body.streaks.length > 0 &&
        h(
          "ul",
          { class: "streaks" },
          body.streaks.slice(0, 2).map((each) => h("li", { "data-key": each.id }, each.text)),
        ),
      body.sectors.length > 0 && split("sector", body.sectors),
    ),
  ];
}

function labelOf({ last, ring }) {
  const top = ring.findIndex((place) => place.number === last.number);
  const beside = [-2, -1, 1, 2].map(
    (step) => ring[(top + step + ring.length) % ring.length].number,
  );
  const near = words("display.neighbours", { numbers: beside.join(" · ") });
  return `${last.number} ${colourOf(last)}, ${near}`;
}

function colourOf(spin) {
  return words(`colour.${spin.colour}`);
}

export function describe(body) {
  return body.last && `${body.last.number} ${body.chances.join(", ")}`;
}

export function legend() {
  return marks(COLOURS);
}
