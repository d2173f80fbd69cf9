// Black jack, poker and pai gow against the bank: the bank, the common cards, the boxes.

import { h } from "../tree.js";
import { finish, hand, latest, maxCards, notes } from "./cards.js";

/** Places of a hand to which no card has come yet. */
const SLOTS = { blackjack: 2, "house-poker": 5, trijoker: 3, "texas-house": 2, "pai-gow": 7 };

export function draw(body, picture) {
  const slots = SLOTS[picture.view];
  return h(
    "div",
    { class: "game boxes" },
    h(
      "div",
      { class: "bank" },
      body.bank && hand(body.bank, { slots, room: maxCards(body.boxes) }),
      body.common.map((each) => hand(each, { extra: "common" })),
      h(
        "div",
        { class: "beside" },
        finish(body.finish),
        notes(body.notes),
        body.shoe.length > 0 && h("p", { class: "shoe soft" }, body.shoe.join(" · ")),
      ),
    ),
    h(
      "div",
      { class: body.boxes.length > 4 ? "own many" : "own" },
      body.boxes.map((each) => hand(each, { slots, room: maxCards(body.boxes) })),
    ),
    body.boxes.length === 0 && latest(body.finish),
  );
}
