// Circle poker: seats round an oval, the common cards in its middle.

import { h } from "../tree.js";
import { finish, hand, latest, maxCards, notes } from "./cards.js";

export function draw(body) {
  const count = Math.max(1, body.seats.length);
  return h(
    "div",
    { class: "game circle" },
    h(
      "div",
      { class: "oval" },
      h(
        "div",
        { class: "felt" },
        body.boards.map((each) => hand(each, { slots: 5, extra: "common" })),
        finish(body.finish),
        body.pots.length > 0 && pots(body.pots),
        notes(body.notes),
      ),
      h(
        "div",
        { class: count > 6 ? "seats many" : "seats" },
        body.seats.map((each, index) => seat(each, index, count, body)),
      ),
    ),
    !body.finish.ended && body.boards.length === 0 && latest(body.finish),
  );
}

function seat(view, index, count, body) {
  const room = maxCards(body.seats.map((each) => each.hand));
  // the first seat is at the left of the bottom, the others follow clockwise as on the table
  const angle = Math.PI * (0.5 + (2 * (index + 0.5)) / count);
  const place = { "--x": outward(Math.cos(angle)), "--y": outward(Math.sin(angle)) };
  return h(
    "div",
    { class: view.out ? "seat out" : "seat", style: place },
    view.button &&
      h(
        "span",
        { class: "button", title: body.button, "aria-label": body.button, role: "img" },
        "D",
      ),
    hand(view.hand, { room }),
    view.status && h("p", { class: "status" }, view.status),
  );
}

/** Towards the corners, so that the middle stays free. */
function outward(part) {
  return (Math.sign(part) * Math.sqrt(Math.abs(part))).toFixed(4);
}

function pots(view) {
  return h(
    "dl",
    { class: "pots" },
    view.map((each) => h("div", {}, h("dt", {}, each.name), h("dd", {}, each.winners.join(" · ")))),
  );
}
