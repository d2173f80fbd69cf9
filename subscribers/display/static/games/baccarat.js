// Punto y banca, chemin de fer, two cloths: the hands, who won, the roads of the shoe.

import { h, s } from "../tree.js";
import { finish, hand, latest, maxCards, notes } from "./cards.js";

const ROWS = 6;
const WIDE_COLUMNS = {
  bead_plate: 14,
  big_road: 36,
  big_eye_boy: 28,
  small_road: 28,
  cockroach_road: 28,
};
const NARROW_COLUMNS = {
  bead_plate: 14,
  big_road: 22,
  big_eye_boy: 28,
  small_road: 28,
  cockroach_road: 28,
};

export function draw(body) {
  // a card that lies sideways needs more room
  const room = maxCards(body.hands) > 2 ? 3.4 : 2;
  return h(
    "div",
    { class: `game baccarat ${body.roads.length ? "" : "cloths"}` },
    h(
      "div",
      { class: "hands" },
      body.hands.map((each) =>
        hand(each, { turned: 2, slots: 2, room, extra: `side-${each.id.replace(":", "-")}` }),
      ),
    ),
    h(
      "div",
      { class: "beside" },
      finish(body.finish),
      notes(body.notes),
      body.counts.length > 0 && counts(body),
      h("p", { class: "shoe soft" }, body.shoe.join(" · ")),
    ),
    body.roads.length
      ? h(
          "div",
          { class: "roads" },
          body.roads.map((each) => road(each, body.letters)),
        )
      : latest(body.finish),
  );
}

function counts(body) {
  return h(
    "figure",
    { class: "counts" },
    h("figcaption", {}, body.sample),
    h(
      "dl",
      {},
      body.counts.map((each) =>
        h(
          "div",
          { class: `count-${each.id}` },
          h(
            "dt",
            {},
            each.letter && h("b", { "aria-hidden": "true" }, each.letter),
            " ",
            each.text,
          ),
          h(
            "dd",
            {},
            h("b", {}, each.number),
            each.percent !== null && h("small", {}, ` ${each.percent} %`),
          ),
        ),
      ),
    ),
  );
}

/**
 * One road: as many of its latest columns as there is room for, but always the newest coup, which a
 * dragon tail may have overtaken.
 */
function road(roadData, letters) {
  const wide = (innerWidth < 700 ? NARROW_COLUMNS : WIDE_COLUMNS)[roadData.id];
  const last = Math.max(-1, ...roadData.cells.map((cell) => cell.column));
  const newest = roadData.cells.length > 0 ? roadData.cells[roadData.cells.length - 1].column : 0;
  const first = Math.max(0, Math.min(last + 1 - wide, newest - 1));
  const drawn = roadData.cells
    .filter((cell) => cell.column >= first && cell.column < first + wide)
    .map((cell) => CELLS[roadData.id](cell, cell.column - first, letters));
  const grid = `${Array.from({ length: wide + 1 }, (_, i) => `M${i * 10} 0V${ROWS * 10}`).join("")}${Array.from({ length: ROWS + 1 }, (_, i) => `M0 ${i * 10}H${wide * 10}`).join("")}`;
  const description = roadData.cells
    .map((cell) => letters[cell.coup?.winner ?? cell.winner] ?? "")
    .join(" ");
  return h(
    "figure",
    { class: `road road-${roadData.id}`, "data-key": roadData.id },
    h("figcaption", {}, roadData.title),
    s(
      "svg",
      {
        viewBox: `-0.5 -0.5 ${wide * 10 + 1} ${ROWS * 10 + 1}`,
        role: "img",
        "aria-label": `${roadData.title} ${description}`.trim(),
      },
      s("path", { class: "grid", d: grid }),
      drawn,
    ),
  );
}

function at(cell, x, ...children) {
  return s("g", { transform: `translate(${x * 10 + 5} ${cell.row * 10 + 5})` }, ...children);
}

function pairs(found) {
  return [
    found.includes("banker") && s("circle", { class: "banker dot", cx: -3.4, cy: -3.4, r: 1.2 }),
    found.includes("player") && s("circle", { class: "player dot", cx: 3.4, cy: 3.4, r: 1.2 }),
  ];
}

const CELLS = {
  bead_plate: (cell, x, letters) =>
    at(
      cell,
      x,
      s("circle", { class: `${cell.coup.winner} full`, r: 4.3 }),
      s(
        "text",
        { class: cell.coup.natural ? "letter natural" : "letter", y: 2.1 },
        letters[cell.coup.winner],
      ),
      pairs(cell.coup.pairs),
      cell.coup.corrected && s("circle", { class: "corrected", cx: 3.4, cy: -3.4, r: 1.4 }),
    ),
  big_road: (cell, x, letters) =>
    at(
      cell,
      x,
      cell.winner && s("circle", { class: `${cell.winner} ring`, r: 3.7 }),
      cell.winner && s("text", { class: `${cell.winner} inner`, y: 1.5 }, letters[cell.winner]),
      cell.ties > 0 && s("path", { class: "tie slash", d: "M-3.6 3.6L3.6-3.6" }),
      cell.ties > 1 && s("text", { class: "tie times", y: 1.8 }, cell.ties),
      pairs(cell.pairs),
    ),
  // red has a core, blue has none: told apart without colour
  big_eye_boy: (cell, x) =>
    at(
      cell,
      x,
      s("circle", { class: `${cell.mark} ring`, r: 3.3 }),
      cell.mark === "red" && s("circle", { class: "red full", r: 1.4 }),
    ),
  small_road: (cell, x) =>
    at(
      cell,
      x,
      s("circle", { class: `${cell.mark} full`, r: 3.6 }),
      cell.mark === "blue" && s("circle", { class: "hole", r: 1.5 }),
    ),
  cockroach_road: (cell, x) =>
    at(
      cell,
      x,
      s("path", {
        class: `${cell.mark} slash`,
        d: cell.mark === "red" ? "M-3.2 3.2L3.2-3.2" : "M-3.2-3.2L3.2 3.2",
      }),
    ),
};
