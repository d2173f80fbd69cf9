// Boule: the last number, those before it in three lanes, how often each number and chance came.

import { h } from "../tree.js";
import { bars, disc, face, frequencies, lanes, marks, nothing, ring, row } from "../numbers.js";
import { words } from "../page.js";

const LANES = ["red", "plain", "black"];
const COMPACT_COUNT = 12;

export function draw(body, picture, compact) {
  const last = body.last;
  const colour = last && words(`colour.${last.colour}`);
  if (compact) {
    return [
      last ? face(last.number, last.colour, colour) : nothing(),
      row(body.spins.slice(0, COMPACT_COUNT)),
    ];
  }
  const places = body.places.map((place) => ({ text: place.share.text, colour: place.colour }));
  const colours = Object.fromEntries(body.places.map((place) => [place.share.id, place.colour]));
  const top = last ? places.findIndex((place) => place.text === last.number) : -1;
  return [
    h(
      "section",
      { class: "wheel" },
      ring(
        places,
        top,
        last ? `${last.number} ${colour}` : words("display.no_result"),
        last && disc(last.number, last.colour, colour),
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
    ),
    lanes(body.spins, LANES),
    bars(
      words("display.in_session", { count: body.counted }),
      body.places.map((place) => place.share),
      (share) => colours[share.id],
    ),
    frequencies(body.windows, body.unheard),
  ];
}

export function describe(body) {
  return body.last && `${body.last.number} ${body.chances.join(", ")}`;
}

export function legend() {
  return marks(LANES);
}
