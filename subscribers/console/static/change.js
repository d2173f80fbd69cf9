// A result before and after a correction, large, each in its colour.

import { h } from "../../static/drawing.js";
import { words } from "./page.js";

/** The element of a correction. `after` is null while it is not given yet. */
export function change({ before, after }) {
  return h(
    "p",
    { class: "change" },
    h("span", { class: "hidden" }, words("pit.before")),
    number(before),
    h("span", { class: "arrow", "aria-hidden": "true" }, "→"),
    h("span", { class: "hidden" }, words("pit.after")),
    number(after),
  );
}

const number = (result) =>
  h("span", { class: "result", "data-lane": result?.lane ?? "none" }, result?.text ?? "?");
