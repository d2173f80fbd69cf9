// Roulette: the last number on its wheel between its neighbours, those before it in three lanes,
// how often each chance and number came.

import { h } from "../tree.js";
import { disc, extremes, face, frequencies, lanes, marks, nothing, ring, row } from "../numbers.js";
import { words } from "../page.js";

const LANES = ["red", "green", "black"];
const COMPACT_COUNT = 12;

export function draw(body, picture, compact) {
  const last = body.last;
  if (compact) {
    return [
      last ? face(last.number, last.colour, colourOf(last)) : nothing(),
      row(body.spins.slice(0, COMPACT_COUNT)),
    ];
  }
  const colours = Object.fromEntries(body.ring.map((place) => [place.number, place.colour]));
  return [
    wheel(body, picture),
    lanes(body.spins, LANES),
    extremes(body.extremes, colours),
    frequencies(body.windows, body.unheard),
  ];
}

function wheel(body, picture) {
  const last = body.last;
  const top = last ? body.ring.findIndex((place) => place.number === last.number) : -1;
  const places = body.ring.map((place) => ({ text: place.number, colour: place.colour }));
  const beside =
    top < 0
      ? []
      : [-2, -1, 1, 2].map(
          (step) => body.ring[(top + step + body.ring.length) % body.ring.length].number,
        );
  const near = words("display.neighbours", { numbers: beside.join(" · ") });
  return h(
    "section",
    { class: "wheel" },
    ring(
      places,
      top,
      last ? `${last.number} ${colourOf(last)}, ${near}` : words("display.no_result"),
      last && disc(last.number, last.colour, colourOf(last)),
    ),
    last
      ? h(
          "p",
          { class: "chances" },
          body.chances.length > 1 && h("b", {}, body.chances.slice(1).join(" · ")),
          last.corrected && h("span", { class: "tag" }, `* ${words("display.corrected")}`),
          last.round !== null &&
            last.round !== picture.round &&
            h("span", { class: "soft" }, words("display.number_of_round", { round: last.round })),
        )
      : nothing(),
  );
}

function colourOf(spin) {
  return words(`colour.${spin.colour}`);
}

export function describe(body) {
  return body.last && `${body.last.number} ${body.chances.join(", ")}`;
}

export function legend() {
  return marks(LANES);
}
