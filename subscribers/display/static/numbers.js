// Shared by games with numbers: a number in its colour, the latest in lanes, frequencies. A colour
// is never shown by colour alone: each has its mark, its lane and its word.

import { h, s } from "./tree.js";
import { percent, words } from "./page.js";

const LEAST_HEAT = 4; // results that a full bar outside the ring stands for, at least
const FEWEST_TILES = 20; // of the latest rounds: before there are so many, places are empty
const ROW_COUNT = 12; // of the latest rounds in a small picture
const MARKS = { red: "◆", black: "●", green: "■", plain: "○" };

/** The mark of a colour. `ink`: a class for its own colour; empty for that of the text. */
export function mark(colour, ink = `ink-${colour}`) {
  return h("span", { class: `mark ${ink}`, "aria-hidden": "true" }, MARKS[colour]);
}

/** The pairs of a legend that explain the marks of these colours. */
export function marks(colours) {
  return [
    ...colours.map((colour) => [mark(colour), words(`colour.${colour}`)]),
    ["*", words("display.corrected")],
    ["?", words("display.unresolved")],
  ];
}

/** A small number in its colour. */
export function chip(number, colour, ...more) {
  return h(
    "span",
    { class: `chip ${colour ? `colour-${colour}` : "bare"}` },
    colour && h("span", { class: "mark", "aria-hidden": "true" }, MARKS[colour]),
    h("b", {}, number),
    colour && h("span", { class: "unseen" }, ` ${words(`colour.${colour}`)}`),
    more,
  );
}

/** One of the latest rounds. */
export function spin(each, text = (number) => number) {
  if (each.kind !== "result") {
    return h("span", { class: `chip ${each.kind}` }, words(`display.${each.kind}`));
  }
  const star =
    each.corrected &&
    h(
      "span",
      { class: "star" },
      h("span", { "aria-hidden": "true" }, "*"),
      h("span", { class: "unseen" }, ` ${words("display.corrected")}`),
    );
  return chip(text(each.number), each.colour, star);
}

/** The latest rounds as tiles, newest first; those without room are not seen. */
export function history(spins, text = (number) => number) {
  return h(
    "section",
    { class: "lanes" },
    h("h2", { class: "unseen" }, words("display.latest")),
    h(
      "ol",
      {},
      spins.map((each) => h("li", { class: "lane", "data-key": each.round }, spin(each, text))),
      Array.from({ length: Math.max(0, FEWEST_TILES - spins.length) }, (_, index) =>
        h("li", { class: "lane slot", "aria-hidden": "true", "data-key": `slot ${index}` }),
      ),
    ),
  );
}

/** The latest rounds of a small picture, newest first. */
export function row(spins, text = (number) => number) {
  const shown = spins.slice(0, ROW_COUNT);
  return h(
    "ol",
    { class: "row" },
    shown.map((each) => h("li", { "data-key": each.round }, spin(each, text))),
    Array.from({ length: ROW_COUNT - shown.length }, (_, index) =>
      h("li", { class: "slot", "aria-hidden": "true", "data-key": `slot ${index}` }),
    ),
  );
}

/** The size of a sample, and the number of its results if they are fewer. */
export function sample({ size, counted }) {
  if (counted >= size) return words("display.of_size", { size });
  return words("display.of_size_counted", { size, count: counted });
}

/**
 * How often each chance came: a bar for each group of chances, of the second window, which is long
 * enough and recent. `won`: the texts of the chances that the last number wins; `beside`: what is
 * drawn beside the heading, `more`: more bars.
 */
export function frequencies(
  windows,
  won = /** @type {string[]} */ ([]),
  beside = /** @type {any} */ (null),
  more = /** @type {any} */ (null),
) {
  const window = windows[1] ?? windows[0];
  if (!window?.counted) return h("section", { class: "frequencies" });
  return h(
    "section",
    { class: "frequencies" },
    h(
      "header",
      {},
      h("h2", {}, words("display.chances"), h("span", { class: "soft" }, ` % ${sample(window)}`)),
      beside,
    ),
    Object.entries(window.groups).map(([group, shares]) => split(group, shares, won)),
    more,
  );
}

/** Shares of a whole in one bar, each with its figure inside. */
export function split(group, shares, won = /** @type {string[]} */ ([])) {
  return h(
    "ul",
    { class: "split", "data-key": group },
    shares.map((share) =>
      h(
        "li",
        {
          class: `share share-${share.id.replaceAll(" ", "-")}${share.count ? "" : " never"}${won.includes(share.text) ? " last" : ""}`,
          "data-key": share.id,
          style: { "--part": String(Math.max(share.count, 0.01)) },
        },
        h("b", {}, Math.round(share.percent)),
        h("span", {}, share.id in MARKS && mark(share.id, ""), share.text),
      ),
    ),
  );
}

/** Frequencies as bars. `colour(share)` is the share's colour or null. */
export function bars(title, shares, colour = (_share) => null) {
  const maximum = Math.max(1, ...shares.map((share) => share.count));
  return h(
    "section",
    { class: "bars" },
    h("h2", {}, title),
    h(
      "ol",
      {},
      shares.map((share) =>
        h(
          "li",
          {},
          colour(share) ? chip(share.text, colour(share)) : h("b", {}, share.text),
          h("span", { class: "bar", style: { "--part": `${(100 * share.count) / maximum}%` } }),
          h(
            "span",
            { class: "count" },
            share.count,
            h("span", { class: "soft" }, ` ${percent(share.percent)}`),
          ),
        ),
      ),
    ),
  );
}

/**
 * A wheel with the place of the last number at the top, under the pointer, and that number in the
 * middle. It has one size and place in every phase.
 *
 * @param {object} wheel
 * @param {{text: string, colour: string | null}[]} wheel.places clockwise
 * @param {number} wheel.top the index of the place at the top, or -1
 * @param {string} wheel.label
 * @param {any} wheel.middle what is drawn in the middle: `disc` or `blank`
 * @param {any} [wheel.heat] how often each place came, drawn outside the ring
 */
export function wheel({ places, top, label, middle, heat = null }) {
  const step = 360 / places.length;
  const outer = heat ? 89 : 102;
  const inner = heat ? 67 : 79;
  const most = Math.max(LEAST_HEAT, ...(heat?.counts ?? []));
  const pointer = `M-6-${inner - 8} 6-${inner - 8} 0-${inner + 4}Z`;
  return h(
    "section",
    { class: "wheel" },
    s(
      "svg",
      { class: "ring", viewBox: "-104 -104 208 208", role: "img", "aria-label": label },
      heat && s("circle", { class: "heat-base", r: outer + 1 }),
      s(
        "g",
        { "data-part": "rotor", transform: `rotate(${-Math.max(top, 0) * step})` },
        places.map((place, index) => {
          const away = Math.abs(
            ((index - top + places.length * 1.5) % places.length) - places.length / 2,
          );
          const near = top >= 0 && away <= 2;
          const long = heat ? (13 * heat.counts[index]) / most : 0;
          return s(
            "g",
            {
              "data-key": index,
              transform: `rotate(${index * step})`,
              class: near ? "sector near" : "sector",
            },
            heat &&
              s("path", {
                class: `heat ${heatOf(place.text, heat)}`,
                d: sector(outer + 1.5, outer + 1.5 + long, step * 0.82),
              }),
            s("path", {
              d: sector(inner, outer, step),
              class: `place fill-${place.colour ?? "bare"}`,
            }),
            s(
              "text",
              {
                y: -(inner + outer) / 2 - 1,
                "font-size": Math.min(heat ? 9.3 : 18, 400 / places.length),
                class: `${places.length > 40 ? "pocket narrow" : "pocket"} on-${place.colour ?? "bare"}`,
              },
              place.text,
            ),
          );
        }),
      ),
      middle,
      s("circle", { "data-part": "ball", r: 3.4, cy: -inner - 1 }),
      top >= 0 && s("path", { class: "pointer", d: pointer }),
    ),
  );
}

function heatOf(number, heat) {
  if (heat.hot.includes(number)) return "hot";
  return heat.cold.includes(number) ? "cold" : "warm";
}

function sector(inner, outer, step) {
  const half = (step / 2) * (Math.PI / 180);
  const at = (radius, angle) =>
    `${(radius * Math.sin(angle)).toFixed(3)} ${(-radius * Math.cos(angle)).toFixed(3)}`;
  return `M${at(inner, -half)}L${at(outer, -half)}A${outer} ${outer} 0 0 1 ${at(outer, half)}L${at(inner, half)}A${inner} ${inner} 0 0 0 ${at(inner, -half)}Z`;
}

const LONG_NOTE = 14; // letters
const DISC_RADIUS = 62;
const GLYPH_WIDTH = 0.6; // of a letter, as a part of the font size

/**
 * The number in the middle of a wheel: `above` it which round it is of, `below` its words by
 * language, at most two. Each has its place, whether the others are there or not.
 */
export function disc(text, colour, below = /** @type {any[]} */ ([]), above = "") {
  const ink = `on-${colour ?? "bare"}`;
  const line = (name, y, most, width, content, lang = null) =>
    content &&
    s(
      "text",
      {
        class: `${name} ${ink}`,
        y,
        lang,
        "font-size": Math.min(most, width / (GLYPH_WIDTH * content.length)),
      },
      content,
    );
  return [
    s("circle", { r: DISC_RADIUS, class: `disc fill-${colour ?? "bare"}`, "data-part": "disc" }),
    line("of-round", -42, 9.5, 76, above),
    line("number", -8, 70, 104, text),
    line("word", 28.5, 19.5, 100, below[0]?.text),
    line("second-word", 46.5, 12.5, 72, below[1]?.text, below[1]?.language),
  ];
}

/** The middle of a wheel without a number: a text, in two lines where it is long. */
export function blank(text) {
  const space = text.length > LONG_NOTE ? text.lastIndexOf(" ", text.length / 2 + 3) : -1;
  const lines = space > 0 ? [text.slice(0, space), text.slice(space + 1)] : [text];
  const size = Math.min(16, 190 / Math.max(...lines.map((line) => line.length)));
  return [
    s("circle", { r: DISC_RADIUS, class: "disc fill-bare", "data-part": "disc" }),
    lines.map((line, index) =>
      s(
        "text",
        {
          class: size < 12 ? "blank long on-bare" : "blank on-bare",
          y: (index - (lines.length - 1) / 2) * size * 1.3,
          "font-size": size,
        },
        line,
      ),
    ),
  ];
}

/**
 * The wheel of a small picture, with `top` under the pointer: a single element turns, whose ground
 * has the colours of the places. In its middle a number and a line below it, or a note.
 */
export function dial(
  /** @type {any} */ { places, top, number = null, colour = null, below = null },
) {
  const step = 360 / places.length;
  const parts = places.map((place, index) => {
    const ground = place.colour ?? (index % 2 ? "line" : "band");
    return `var(--${ground}) ${(index * step).toFixed(3)}deg ${((index + 1) * step).toFixed(3)}deg`;
  });
  const background = `conic-gradient(from ${-step / 2}deg, ${parts.join(", ")})`;
  const transform = `rotate(${-Math.max(top, 0) * step}deg)`;
  return h(
    "section",
    { class: "dial" },
    h(
      "div",
      { class: "ring" },
      h("div", { class: "rotor", "data-part": "rotor", style: { background, transform } }),
      h("span", { class: "needle" }),
      h(
        "p",
        { class: `face ${colour ? `colour-${colour}` : "bare"}`, "data-part": "disc" },
        number && h("span", { class: number.length > 3 ? "number long" : "number" }, number),
        below &&
          h(
            "span",
            { class: number ? "said" : "nothing" },
            colour && h("span", { "aria-hidden": "true" }, MARKS[colour], " "),
            below,
          ),
      ),
    ),
  );
}

/** What a small picture without a number says. */
export function noNumber(closed) {
  return words(closed ? "display.shut" : "display.no_result");
}

/** Which round a result is of, or that a person corrected it. */
export function roundOf(last) {
  if (last.corrected) return `* ${words("display.corrected")}`;
  return last.round === null ? "" : words("display.round", { round: last.round });
}
