// A round in detail: its events in order, with article and evidence.

import { at } from "../../static/base.js";
import { h } from "../../static/drawing.js";
import { page, SIGNS, words } from "./asking.js";
import { cards } from "./cards.js";
import { moment } from "./times.js";

/** The elements of a round's detail. `answer`: the server's response. */
export function round(place, answer) {
  const command = `novamas surveillance clip --table ${place.table} --session ${place.session} --round ${place.round} ${place.table}-${place.session}-${place.round}.mp4`;
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
    h(
      "ol",
      { class: "events" },
      answer.items.map((item) => event(item, answer.laws)),
    ),
    h(
      "section",
      { class: "part", "aria-label": words("page.clip") },
      h("h3", {}, words("page.clip")),
      page.clips &&
        first &&
        h(
          "p",
          {},
          h(
            "a",
            {
              class: "clip",
              href: at(`/surveillance/clip?${new URLSearchParams(place)}`),
              target: "_blank",
            },
            words("page.clip_get"),
          ),
        ),
      h("p", { class: "soft" }, words("page.clip_how")),
      h("code", {}, command),
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
