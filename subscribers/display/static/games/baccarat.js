// Punto y banca, chemin de fer, two cloths: the hands, who won, the roads of the shoe.

import { h, s } from "../tree.js";
import { finish, hand, latest, maxCards, notes } from "./cards.js";

const ROWS = 6;

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
          h(
            "div",
            { class: "sheet" },
            body.roads.map((each) => road(each, body.letters)),
          ),
        )
      : latest(body.finish),
  );
}

/** How often each side won, in one bar, and naturals and pairs below it. */
function counts(body) {
  const wins = body.counts.filter((each) => each.letter);
  const marks = body.counts.filter((each) => !each.letter);
  return h(
    "figure",
    { class: "counts" },
    h("figcaption", {}, body.sample),
    h(
      "ul",
      { class: "split" },
      wins.map((each) =>
        h(
          "li",
          {
            class: `share count-${each.id}${each.number ? "" : " never"}`,
            "data-key": each.id,
            style: { "--part": String(Math.max(each.number, 0.01)) },
          },
          h("b", {}, each.number),
          h("span", {}, each.text),
        ),
      ),
    ),
    h(
      "ul",
      { class: "tallies" },
      marks.map((each) =>
        h("li", { "data-key": each.id }, `${each.text} `, h("b", {}, each.number)),
      ),
    ),
  );
}

/**
 * One road at the scale of all roads. Where it is wider than its place, its first columns are out
 * of sight, and its newest coup, which a dragon tail may have overtaken, is not.
 */
function road({ id, title, cells }, letters) {
  const columns = Math.max(0, ...cells.map((cell) => cell.column)) + 1;
  const newest = cells.length > 0 ? cells[cells.length - 1].column : 0;
  const description = cells
    .map((cell) => letters[cell.coup?.winner ?? cell.winner] ?? "")
    .join(" ");
  return h(
    "figure",
    { class: `road road-${id}`, "data-key": id },
    h("figcaption", {}, title),
    h(
      "div",
      { class: "track" },
      s(
        "svg",
        {
          viewBox: `0 0 ${columns * 10} ${ROWS * 10}`,
          role: "img",
          "aria-label": `${title} ${description}`.trim(),
          style: { "--columns": String(columns), "--newest": String(newest) },
        },
        cells.map((cell) => CELLS[id](cell, cell.column, letters)),
      ),
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
        { class: cell.coup.natural ? "letter natural" : "letter", y: 0.4 },
        letters[cell.coup.winner],
      ),
      pairs(cell.coup.pairs),
      cell.coup.corrected && s("circle", { class: "corrected", cx: 3.4, cy: -3.4, r: 1.4 }),
    ),
  big_road: (cell, x) =>
    at(
      cell,
      x,
      cell.winner && s("circle", { class: `${cell.winner} ring`, r: 3.7 }),
      cell.ties > 0 && s("path", { class: "tie slash", d: "M-3.6 3.6L3.6-3.6" }),
      cell.ties > 1 && s("text", { class: "tie times", y: 0.4 }, cell.ties),
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
