// A result before and after a correction, large, each in its colour.

import { h } from "../../static/drawing.js";
import { page, words } from "./page.js";

/** The element of a correction. `after` is null while it is not filled in. */
export function change({ before, after }) {
  return h(
    "p",
    { class: "change" },
    h("span", { class: "hidden" }, words("pit.before")),
    shown(before),
    h("span", { class: "arrow", "aria-hidden": "true" }, "→"),
    h("span", { class: "hidden" }, words("pit.after")),
    shown(after),
  );
}

const shown = (result) =>
  h("span", { class: "result", "data-lane": result?.lane ?? "none" }, result?.text ?? "?");

/** What a correction would replace, and by what; null where the round is not shown. */
export function corrected(command, rows, place) {
  if (command !== "result.correct") return null;
  const value = (name) => rows.find(({ field }) => field.name === name)?.widget.value();
  const before = place.tile?.results.find((each) => each.round === value("round"));
  if (!before) return null;
  const [number, winner] = [value("number"), value("winner")];
  if (number !== undefined) {
    return { before, after: { text: String(number), lane: colourOf(number, place) } };
  }
  return { before, after: winner === undefined ? null : { text: label(rows, winner) } };
}

const colourOf = (number, place) =>
  place.view === "roulette" ? (page.colours[number] ?? "none") : "none";

/** The label of the chosen winner. */
const label = (rows, value) =>
  rows
    .find(({ field }) => field.name === "winner")
    ?.widget.element.querySelector(`[data-value="${CSS.escape(value)}"]`)?.textContent ?? value;
