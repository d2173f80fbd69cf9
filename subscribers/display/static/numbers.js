// Shared by games with numbers: a number in its colour, the latest in lanes, frequencies. A colour
// is never shown by colour alone: each has its mark, its lane and its word.

import { h, s } from "./tree.js";
import { percent, words } from "./page.js";

const MARKS = { red: "◆", black: "●", green: "■", plain: "○" };

/** The mark of a colour. */
export function mark(colour) {
  return h("span", { class: `mark ink-${colour}`, "aria-hidden": "true" }, MARKS[colour]);
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

/** The latest rounds, newest on top, each number in the lane of its colour. */
export function lanes(spins, order) {
  return h(
    "section",
    { class: "lanes" },
    h("h2", {}, words("display.last", { count: spins.length })),
    h(
      "ol",
      {},
      spins.map((each) =>
        h(
          "li",
          {
            class: `lane lane-${each.kind === "result" ? order.indexOf(each.colour) + 1 : "all"}`,
            "data-key": each.round,
          },
          h("span", { class: "soft" }, each.round),
          spin(each),
        ),
      ),
    ),
  );
}

/** The latest rounds in one line, for a small picture. */
export function row(spins, text) {
  return h(
    "ol",
    { class: "row" },
    spins.map((each) => h("li", { "data-key": each.round }, spin(each, text))),
  );
}

/** The size of a window, and the number of its results if they are fewer. */
function sample(window) {
  if (window.counted >= window.size) return words("display.of_size", { size: window.size });
  return words("display.of_size_counted", { size: window.size, count: window.counted });
}

/** The frequency of each chance in the latest results. */
export function frequencies(windows, unheard) {
  if (windows.length === 0 || windows[0].counted === 0) return null;
  return h(
    "section",
    { class: "frequencies" },
    h(
      "table",
      {},
      h("caption", {}, words("display.chances")),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          windows.map((window) => h("th", { scope: "col" }, sample(window))),
        ),
      ),
      Object.entries(windows[0].groups).map(([group, shares]) =>
        h(
          "tbody",
          {},
          shares.map((share, index) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, share.id in MARKS && mark(share.id), share.text),
              windows.map((window) => {
                const own = window.groups[group][index];
                return h("td", { style: { "--part": `${own.percent}%` } }, percent(own.percent));
              }),
            ),
          ),
        ),
      ),
    ),
    unheard > 0 && h("p", { class: "soft" }, words("display.rounds_unheard", { count: unheard })),
  );
}

/** The most and the least frequent numbers. `colours`: number -> colour. */
export function extremes(found, colours) {
  return h(
    "section",
    { class: "extremes" },
    found
      .filter((each) => each.counted > 0)
      .map((each) =>
        h(
          "div",
          {},
          h("h2", {}, sample(each)),
          [
            ["hot", "display.most_frequent"],
            ["cold", "display.least_frequent"],
          ].map(([kind, title]) =>
            h(
              "p",
              {},
              h("span", { class: "soft" }, words(title)),
              each[kind].map((often) =>
                chip(
                  often.what,
                  colours[often.what],
                  h("span", { class: "times" }, `×${often.count}`),
                ),
              ),
            ),
          ),
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
 * A ring of places with one at the top, under the pointer, and `middle` inside. `places`:
 * `{text, colour}` clockwise; `top`: the index of the place at the top, or -1.
 */
export function ring(places, top, label, middle) {
  const step = 360 / places.length;
  const outer = 98;
  const inner = 79;
  return s(
    "svg",
    { class: "ring", viewBox: "-104 -108 208 212", role: "img", "aria-label": label },
    s(
      "g",
      { "data-part": "rotor", transform: `rotate(${-Math.max(top, 0) * step})` },
      places.map((place, index) => {
        const away = Math.abs(
          ((index - top + places.length * 1.5) % places.length) - places.length / 2,
        );
        const near = top >= 0 && away <= 2;
        return s(
          "g",
          {
            "data-key": index,
            transform: `rotate(${index * step})`,
            class: near ? "sector near" : "sector far",
          },
          s("path", {
            d: sector(inner, outer, step),
            class: `place fill-${place.colour ?? "bare"}`,
          }),
          s(
            "text",
            {
              y: -(inner + outer) / 2,
              "font-size": Math.min(10, 400 / places.length),
              class: `on-${place.colour ?? "bare"}`,
            },
            place.text,
          ),
        );
      }),
    ),
    top >= 0 && s("path", { class: "pointer", d: "M-6-107 6-107 0-97Z" }),
    middle,
  );
}

function sector(inner, outer, step) {
  const half = (step / 2) * (Math.PI / 180);
  const at = (radius, angle) =>
    `${(radius * Math.sin(angle)).toFixed(3)} ${(-radius * Math.cos(angle)).toFixed(3)}`;
  return `M${at(inner, -half)}L${at(outer, -half)}A${outer} ${outer} 0 0 1 ${at(outer, half)}L${at(inner, half)}A${inner} ${inner} 0 0 0 ${at(inner, -half)}Z`;
}

/** The number in the middle of a ring, with a word below it. */
export function disc(text, colour, below) {
  const size = text.length <= 2 ? 78 : Math.min(78, 190 / text.length);
  return [
    s("circle", { r: 73, class: `disc fill-${colour ?? "bare"}`, "data-part": "disc" }),
    s(
      "text",
      { class: `number on-${colour ?? "bare"}`, y: below ? -6 : 2, "font-size": size },
      text,
    ),
    below && s("text", { class: `word on-${colour ?? "bare"}`, y: 46, "font-size": 13 }, below),
  ];
}

/** The large number of a compact picture. */
export function face(text, colour, below) {
  return h(
    "p",
    { class: `face ${colour ? `colour-${colour}` : "bare"}` },
    h("span", { class: text.length > 3 ? "number long" : "number" }, text),
    below &&
      h(
        "span",
        { class: "said" },
        colour && h("span", { "aria-hidden": "true" }, MARKS[colour], " "),
        below,
      ),
  );
}

/** The note that there is no result yet. */
export function nothing() {
  return h("p", { class: "nothing" }, words("display.no_result"));
}
