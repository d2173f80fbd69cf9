// Trente et quarante: the two rows.

import { h } from "../tree.js";
import { finish, hand, latest, notes } from "./cards.js";

export function draw(body) {
  return h(
    "div",
    { class: "game trente" },
    h(
      "div",
      { class: "rows" },
      body.rows.map((each) =>
        hand(each, {
          slots: 4,
          won: body.finish.ended?.winner === each.id,
          extra: `row-${each.id}`,
        }),
      ),
    ),
    h(
      "div",
      { class: "beside" },
      finish(body.finish),
      notes(body.notes),
      h("p", { class: "shoe soft" }, body.shoe.join(" · ")),
      latest(body.finish),
    ),
  );
}
