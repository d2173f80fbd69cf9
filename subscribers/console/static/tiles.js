// The tiles of the tables: each is one button, whose parts are updated in place.

import { h } from "../../static/drawing.js";
import { money, words } from "./page.js";
import { run } from "./running.js";

const PREVIOUS_RESULTS = 5;
const URGENT = ["second", "fault"];

const made = new Map(); // table -> its button and the button's parts

/**
 * The tile of a table, always up to date. The element stays the same, so that it never disappears
 * under a finger. `choose(table)` is called when it is touched.
 */
export function tile(place, chosen, choose) {
  if (!made.has(place.table)) made.set(place.table, parts(place.table, choose));
  const part = made.get(place.table);
  const { trouble, items, tile: shown } = place;
  part.button.className = [
    "tile",
    trouble && "before",
    items.length && "waits",
    items.some((item) => URGENT.includes(item.what)) && "urgent",
  ]
    .filter(Boolean)
    .join(" ");
  part.button.setAttribute("aria-pressed", String(place.table === chosen));
  setText(part.name, place.name);
  setText(part.title, place.title);
  setText(part.meter, place.meter ?? "");
  const [last, ...before] = shown?.results ?? [];
  setResult(part.last, last);
  part.previous.forEach((each, index) => setResult(each, before[index]));
  part.results.hidden = !last;
  setText(
    part.state,
    `${trouble ? trouble.text : place.phase.text}${place.round ? ` · ${words("display.round", { round: place.round })}` : ""}`,
  );
  run(part.running, trouble ? trouble.since : shown?.since);
  setText(part.facts, facts(place));
  setText(part.minimum, minimum(place));
  setText(part.count, items.length ? String(items.length) : "");
  part.waiting.hidden = !items.length;
  run(part.since, items.map((item) => item.since).sort()[0]);
  return part.button;
}

function parts(table, choose) {
  const part = {
    name: h("strong"),
    title: h("span"),
    meter: h("span", { class: "meter" }),
    last: h("span", { class: "last" }),
    previous: Array.from({ length: PREVIOUS_RESULTS }, () => h("span")),
    state: h("span", { class: "soft" }),
    running: h("span", { class: "running" }),
    facts: h("span", { class: "facts" }),
    minimum: h("span", { class: "facts" }),
    count: h("span", { class: "count" }),
    since: h("span", { class: "running" }),
  };
  const previous = h("span", { class: "previous" }, part.previous);
  const results = h("span", { class: "results" }, part.last, previous);
  const waiting = h("span", { class: "waiting" }, `${words("pit.waits_since")} `, part.since);
  const button = h(
    "button",
    { type: "button", "data-table": table, click: () => choose(table) },
    part.name,
    part.title,
    part.meter,
    results,
    h("span", { class: "phase" }, part.state, part.running),
    part.facts,
    part.minimum,
    waiting,
    part.count,
  );
  return { ...part, button, results, waiting };
}

/** Who deals, and the pace. */
function facts({ tile: shown }) {
  return [shown?.croupiers, shown?.pace && words("pit.pace", { pace: shown.pace })]
    .filter(Boolean)
    .join(" · ");
}

/** The minimum, and an announced one. */
export function minimum({ minimum: least, currency, tile: shown }) {
  const texts = [least && `${words("display.minimum")} ${money(least, currency)}`];
  if (shown?.next_minimum) {
    texts.push(words("display.next_minimum", { amount: money(shown.next_minimum, currency) }));
  }
  if (shown?.rounds_until_minimum) {
    texts.push(words("display.rounds_until_minimum", { count: shown.rounds_until_minimum }));
  }
  return texts.filter(Boolean).join(" · ");
}

/** A result in its colour; an empty element where there is none. */
function setResult(element, result) {
  setText(element, result?.text ?? "");
  element.dataset.lane = result?.lane ?? "";
  element.dataset.long = String((result?.text.length ?? 0) > 3);
}

function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
  element.hidden = !text;
}
