// Cards and hands, for every card game. A card face down is a back: the data has no more of it.

import { h, s } from "../tree.js";

const FAN = 7;
const SUITS = {
  h: "M12 21.5C5 15.4 2 11.8 2 7.9A5.1 5.1 0 0 1 12 6.3 5.1 5.1 0 0 1 22 7.9C22 11.8 19 15.4 12 21.5Z",
  d: "M12 1.5 20.5 12 12 22.5 3.5 12Z",
  s: "M12 2C17 7.5 22 11 22 15.2A4.6 4.6 0 0 1 13.4 17.5C13.7 19.5 14.3 20.8 15.5 22H8.5C9.7 20.8 10.3 19.5 10.6 17.5A4.6 4.6 0 0 1 2 15.2C2 11 7 7.5 12 2Z",
  c: "M12 2A4.8 4.8 0 0 1 16.2 9.1 4.8 4.8 0 1 1 13.4 17.1C13.7 19.1 14.3 20.6 15.5 22H8.5C9.7 20.6 10.3 19.1 10.6 17.1A4.8 4.8 0 1 1 7.8 9.1 4.8 4.8 0 0 1 12 2Z",
};
const LATTICE = Array.from(
  { length: 12 },
  (_, i) => `M${i * 12 - 60} 84 L${i * 12 + 24} 0 M${i * 12 - 60} 0 L${i * 12 + 24} 84`,
).join("");

/**
 * One card: rank and suit in its corner, the suit again as large as there is room. `key`: its place in the hand,
 * where it keeps its element when it is turned.
 */
export function card(view, key = 0, extra = "") {
  const paper = s("rect", { class: "paper", x: 1, y: 1, width: 58, height: 82, rx: 6 });
  const about = {
    "data-key": `card ${key}`,
    viewBox: "0 0 60 84",
    role: "img",
    "aria-label": view.label,
  };
  if (view.rank === null) {
    const clip = { class: "back", x: 5, y: 5, width: 50, height: 74, rx: 3 };
    return s(
      "svg",
      { ...about, class: `card down ${extra}` },
      paper,
      s(
        "svg",
        { x: 5, y: 5, width: 50, height: 74, viewBox: "5 5 50 74" },
        s("rect", clip),
        s("path", { class: "lattice", d: LATTICE }),
      ),
    );
  }
  const wide = view.rank.length > 1 ? { textLength: 34, lengthAdjust: "spacingAndGlyphs" } : {};
  return s(
    "svg",
    { ...about, class: `card suit-${view.suit ?? "joker"} ${extra}` },
    paper,
    s(
      "text",
      { class: "rank", x: view.suit ? 20 : 30, y: view.suit ? 38 : 58, ...wide },
      view.rank,
    ),
    view.suit && [
      s("path", {
        class: "pip small",
        transform: "translate(8 43) scale(0.78)",
        d: SUITS[view.suit],
      }),
      s("path", { class: "pip", transform: "translate(25 45) scale(1.3)", d: SUITS[view.suit] }),
    ],
  );
}

/** What a closed table of cards shows: a fan of backs. */
export function fan() {
  const backs = Array.from({ length: FAN }, (_, index) =>
    h(
      "div",
      {
        class: "leaf",
        "data-key": index,
        style: { "--turn": `${(index - (FAN - 1) / 2) * 14}deg` },
      },
      card({ rank: null, label: "" }),
    ),
  );
  return h("div", { class: "game fan", "aria-hidden": "true" }, backs);
}

/**
 * A hand: its name, cards, combination, last decision and outcome. `turned`: the index of the card
 * that lies sideways; `slots`: places to show, `room`: cards to leave room for.
 */
export function hand(
  view,
  {
    level = "h2",
    turned = /** @type {number | null} */ (null),
    slots = 0,
    room = 0,
    won = false,
    extra = "",
  } = {},
) {
  const low = new Set(view.low.map((each) => each.label));
  const next = view.badge?.id === "next";
  const places = Math.max(slots, view.cards.length + (next ? 1 : 0));
  const state = [
    won && "outcome-win",
    view.outcome && `outcome-${view.outcome.id}`,
    view.badge && `is-${view.badge.id}`,
  ]
    .filter(Boolean)
    .join(" ");
  return h(
    "section",
    {
      class: `hand ${state} ${extra}`,
      "data-key": view.id,
      "data-hand": view.id,
      "aria-label": view.name,
    },
    h(
      "header",
      {},
      h(level, {}, view.name),
      view.badge && !next && h("span", { class: `badge badge-${view.badge.id}` }, view.badge.text),
      view.points !== null && h("span", { class: "points" }, view.points),
    ),
    h(
      "div",
      { class: "cards", style: { "--count": Math.max(places, room, 1) } },
      view.cards.map((each, index) =>
        card(
          each,
          index,
          `${turned === index ? "sideways" : ""} ${each.rank !== null && low.has(each.label) ? "low" : ""}`,
        ),
      ),
      Array.from({ length: places - view.cards.length }, (_, index) =>
        slot(view.cards.length + index, next && index === 0 ? view.badge.text : null),
      ),
    ),
    h(
      "p",
      { class: "told" },
      view.outcome && h("strong", { class: "outcome" }, view.outcome.text),
      view.makes.map((each) => h("span", { class: "makes" }, each)),
      !view.outcome && view.said && h("span", { class: "said" }, view.said),
      view.bets.map((each) => h("small", { class: "bet" }, each)),
    ),
  );
}

/** The place of a card that has not come; `label`: that it is the next one to come. */
function slot(place, label) {
  const about = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return s(
    "svg",
    {
      "data-key": `slot ${place}`,
      class: label ? "card slot due" : "card slot",
      viewBox: "0 0 60 84",
      ...about,
    },
    s("rect", { x: 1, y: 1, width: 58, height: 82, rx: 6 }),
  );
}

/** The largest number of cards of these hands, so that all are drawn in one size. */
export function maxCards(hands) {
  return Math.max(
    0,
    ...hands.map((each) => each.cards.length + (each.badge?.id === "next" ? 1 : 0)),
  );
}

/** How the last round ended, or, while one is played, what the result before it was. */
export function finish(view) {
  return h(
    "div",
    { class: "finish" },
    view.ended &&
      h(
        "p",
        { class: `ended ended-${view.ended.kind} won-${view.ended.winner ?? "none"}` },
        h("span", { class: "of" }, view.ended.label),
        h("strong", {}, view.ended.text),
        view.ended.marks.map((each) => h("span", { class: "mark" }, each)),
        view.ended.corrected && h("span", { class: "corrected" }, view.ended.corrected),
      ),
    view.before &&
      h(
        "p",
        { class: "before-this" },
        `${view.before_label} · ${view.before.label} · ${[view.before.text, ...view.before.marks, view.before.corrected].filter(Boolean).join(" · ")}`,
      ),
    view.open.map((each) => h("p", { class: "still-open" }, each)),
  );
}

/** Short lines beside the cards. */
export function notes(lines) {
  return (
    lines.length > 0 &&
    h(
      "ul",
      { class: "notes" },
      lines.map((line) => h("li", {}, line)),
    )
  );
}

/** The latest rounds, newest first. */
export function latest(view) {
  return (
    view.latest.length > 0 &&
    h(
      "ol",
      { class: "latest" },
      view.latest.map((each) =>
        h(
          "li",
          {
            class: `round ended-${each.kind} won-${each.winner ?? "none"}`,
            "data-key": each.round,
            value: each.round,
          },
          h("b", {}, each.round),
          h("span", {}, each.text),
        ),
      ),
    )
  );
}
