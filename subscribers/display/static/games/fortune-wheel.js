// The wheel of fortune: the symbol under its tongue, those before it, how often each came.

import { h } from "../tree.js";
import { bars, disc, face, frequencies, nothing, ring, row, spin } from "../numbers.js";
import { words } from "../page.js";

const COMPACT_COUNT = 12;
const STARS = { joker: "★", joker_red: "★", joker_black: "☆" };

export function draw(body, picture, compact) {
  const last = body.last;
  const text = (symbol) => body.symbols[symbol] ?? symbol;
  if (compact) {
    return [
      last ? face(text(last.number), null, null) : nothing(),
      row(body.spins.slice(0, COMPACT_COUNT), text),
    ];
  }
  const places = body.ring.map((symbol) => ({ text: STARS[symbol] ?? text(symbol), colour: null }));
  return [
    h(
      "section",
      { class: "wheel" },
      ring(
        places,
        last && body.cell ? body.cell - 1 : -1,
        last ? text(last.number) : words("display.no_result"),
        last && disc(text(last.number), null, null),
      ),
      last
        ? h(
            "p",
            { class: "chances" },
            last.corrected && h("span", { class: "tag" }, `* ${words("display.corrected")}`),
            last.round !== null &&
              last.round !== picture.round &&
              h("span", { class: "soft" }, words("display.symbol_of_round", { round: last.round })),
          )
        : nothing(),
    ),
    h(
      "section",
      { class: "lanes plain" },
      h("h2", {}, words("display.last", { count: body.spins.length })),
      h(
        "ol",
        {},
        body.spins.map((each) =>
          h(
            "li",
            { class: "lane lane-all", "data-key": each.round },
            h("span", { class: "soft" }, each.round),
            spin(each, text),
          ),
        ),
      ),
    ),
    bars(words("display.in_session", { count: body.counted }), body.session),
    frequencies(body.windows, body.unheard),
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
