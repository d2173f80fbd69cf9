// A round in detail: its events in order, with article and evidence.

import { h } from "../../static/drawing.js";
import { SIGNS, words } from "./asking.js";
import { cards } from "./cards.js";
import { clip } from "./clip.js";
import { moment } from "./times.js";

/** The elements of a round's detail. `answer`: the server's response. */
export function round(place, answer) {
  const [first] = answer.items;
  return [
    h(
      "div",
      { class: "head" },
      h("h2", {}, named(place)),
      first?.simulated && h("span", { class: "simulated" }, words("page.simulated")),
    ),
    first
      ? h("p", { class: "soft" }, h("time", { datetime: first.time }, moment(first.time, true)))
      : h("p", {}, words("page.nothing")),
    answer.on_duty.length > 0 &&
      h("p", { class: "at-table" }, `${words("page.at_table")}: ${answer.on_duty.join(", ")}`),
    ...answer.missing.map((each) => h("p", { class: "told" }, each)),
    clip(place, Boolean(first)),
    h(
      "ol",
      { class: "events" },
      answer.items.map((item) => event(item, answer.laws)),
    ),
    cards(place),
  ].filter(Boolean);
}

export function named(place) {
  return `${words("page.round", { round: place.round })} · ${place.table} · ${words("page.session", { session: place.session })}`;
}

/** A record, with everything that belongs to it. */
export function event(item, laws) {
  const law = laws[item.law];
  const beside = [
    item.detail && h("p", {}, item.detail),
    item.article &&
      h(
        "p",
        {},
        words("page.decree"),
        ": ",
        h("cite", { lang: law?.language }, item.article),
        item.law && h("span", { class: "soft" }, ` ${item.law}`),
      ),
    law && h("blockquote", { lang: law.language }, law.words),
    item.by && h("p", {}, `${words("page.said_by")}: ${item.by}`),
    item.signed &&
      h(
        "p",
        {},
        `${words("page.signed_by")}: ${item.signed.map((each) => `${each.name} (${each.id}, ${each.role})`).join("; ")}`,
      ),
    item.frames && [
      h("p", { class: "soft" }, words("page.evidence")),
      h(
        "ol",
        { class: "frames" },
        item.frames.map((frame) =>
          h(
            "li",
            {},
            h("code", {}, frame.frame),
            ` ${frame.device ?? ""} ${frame.at.toFixed(3)} s`,
          ),
        ),
      ),
    ],
    item.readings &&
      h("p", { class: "soft" }, words("page.readings", { numbers: item.readings.join(", ") })),
  ].filter(Boolean);
  return h(
    "li",
    { "data-type": item.type },
    h(
      "div",
      { class: SIGNS[item.mark] ? "what notable" : "what" },
      h("time", { class: "soft", datetime: item.time, title: item.time }, moment(item.time)),
      SIGNS[item.mark] &&
        h(
          "span",
          { class: `sign ${item.mark}`, title: words(`mark.${item.mark}`), "aria-hidden": "true" },
          SIGNS[item.mark],
        ),
      h("span", {}, item.title),
    ),
    beside.length > 0 && h("div", { class: "beside" }, beside),
  );
}
