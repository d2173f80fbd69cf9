// Craps: the puck, the point, the dice of the last throw and of those before it, the shooter.

import { h, s } from "../tree.js";
import { bars } from "../numbers.js";
import { words } from "../page.js";

const PIPS = {
  1: [[0, 0]],
  2: [
    [-1, -1],
    [1, 1],
  ],
  3: [
    [-1, -1],
    [0, 0],
    [1, 1],
  ],
  4: [
    [-1, -1],
    [1, -1],
    [-1, 1],
    [1, 1],
  ],
  5: [
    [-1, -1],
    [1, -1],
    [0, 0],
    [-1, 1],
    [1, 1],
  ],
  6: [
    [-1, -1],
    [1, -1],
    [-1, 0],
    [1, 0],
    [-1, 1],
    [1, 1],
  ],
};
const COMPACT_COUNT = 10;

export function draw(body, _, compact) {
  const last = body.last;
  const shown = [
    h(
      "section",
      { class: "throw" },
      puck(body),
      last
        ? h(
            "div",
            { class: "thrown" },
            h(
              "div",
              { class: "dice" },
              last.dice.map((value) => die(value)),
            ),
            h(
              "p",
              { class: "total" },
              h("b", {}, last.total),
              last.said && h("span", {}, last.said),
              last.corrected && h("span", { class: "tag" }, `* ${words("display.corrected")}`),
            ),
          )
        : h("p", { class: "nothing" }, words("display.no_result")),
      body.shooter && h("p", { class: "soft" }, words("display.throws", { who: body.shooter })),
    ),
    throws(compact ? body.throws.slice(0, COMPACT_COUNT) : body.throws, compact),
  ];
  if (!compact && body.counted > 0) shown.push(totals(body));
  return shown;
}

/** ON with the point, or OFF. */
function puck(body) {
  const pointText = body.on
    ? words("display.point", { point: body.point })
    : words("display.come_out");
  return h(
    "div",
    { class: body.on ? "puck on" : "puck" },
    h("span", {}, words(body.on ? "display.puck_on" : "display.puck_off")),
    h("b", {}, pointText),
  );
}

function die(value) {
  return s(
    "svg",
    { class: "die", viewBox: "-20 -20 40 40", role: "img", "aria-label": value },
    s("rect", { x: -18, y: -18, width: 36, height: 36, rx: 7 }),
    (PIPS[value] ?? []).map(([x, y]) => s("circle", { cx: x * 9.5, cy: y * 9.5, r: 3.6 })),
  );
}

function throws(list, compact) {
  return h(
    "section",
    { class: "throws" },
    !compact && h("h2", {}, words("display.last", { count: list.length })),
    h(
      "ol",
      {},
      list.map((each) =>
        h(
          "li",
          { class: each.ends ? "ends" : "", "data-key": each.round },
          !compact && h("span", { class: "soft" }, each.round),
          each.kind === "result"
            ? [
                h("span", { class: "small-dice" }, each.dice.map(die)),
                h("b", {}, each.total, each.corrected && "*"),
                !compact && h("span", { class: "soft" }, each.said),
              ]
            : h("span", { class: `chip ${each.kind}` }, words(`display.${each.kind}`)),
        ),
      ),
    ),
  );
}

function totals(body) {
  const size =
    body.counted < body.size
      ? words("display.of_size_counted", { size: body.size, count: body.counted })
      : words("display.of_size", { size: body.size });
  return bars(size, body.totals);
}

export function describe(body) {
  return body.last && `${body.last.dice.join(" + ")} = ${body.last.total} ${body.last.said}`;
}

export function legend() {
  return [
    [h("span", { class: "puck-sample" }), words("display.puck_on")],
    ["*", words("display.corrected")],
  ];
}
