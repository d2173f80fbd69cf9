// Cards and hands, for every card game. A card face down is a back: the data has no more of it.

import { h, s } from "../drawing.js";

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

/** One card: rank above, suit below, both as large as the card allows. */
export function card(told, extra = "") {
  const paper = s("rect", { class: "paper", x: 1, y: 1, width: 58, height: 82, rx: 6 });
  if (told.rank === null) {
    const clip = { class: "back", x: 5, y: 5, width: 50, height: 74, rx: 3 };
    return s(
      "svg",
      { class: `card down ${extra}`, viewBox: "0 0 60 84", role: "img", "aria-label": told.label },
      paper,
      s(
        "svg",
        { x: 5, y: 5, width: 50, height: 74, viewBox: "5 5 50 74" },
        s("rect", clip),
        s("path", { class: "lattice", d: LATTICE }),
      ),
    );
  }
  const wide = told.rank.length > 1 ? { textLength: 46, lengthAdjust: "spacingAndGlyphs" } : {};
  return s(
    "svg",
    {
      class: `card suit-${told.suit ?? "joker"} ${extra}`,
      viewBox: "0 0 60 84",
      role: "img",
      "aria-label": told.label,
    },
    paper,
    s("text", { class: "rank", x: 30, y: told.suit ? 37 : 58, ...wide }, told.rank),
    told.suit &&
      s("path", {
        class: "pip",
        transform: "translate(14.4 49.5) scale(1.3)",
        d: SUITS[told.suit],
      }),
  );
}

/**
 * A hand: its name, cards, what they make, what it said and what became of it. `turned`: the index
 * of the card that lies sideways; `slots`: places to show, `room`: cards to leave room for.
 */
export function hand(
  told,
  {
    level = "h2",
    turned = /** @type {number | null} */ (null),
    slots = 0,
    room = 0,
    won = false,
    extra = "",
  } = {},
) {
  const low = new Set(told.low.map((each) => each.label));
  const next = told.badge?.id === "next";
  const places = Math.max(slots, told.cards.length + (next ? 1 : 0));
  const state = [
    won && "outcome-win",
    told.outcome && `outcome-${told.outcome.id}`,
    told.badge && `is-${told.badge.id}`,
  ]
    .filter(Boolean)
    .join(" ");
  return h(
    "section",
    { class: `hand ${state} ${extra}`, "data-hand": told.id, "aria-label": told.name },
    h(
      "header",
      {},
      h(level, {}, told.name),
      told.badge && !next && h("span", { class: `badge badge-${told.badge.id}` }, told.badge.text),
      told.points !== null && h("span", { class: "points" }, told.points),
    ),
    h(
      "div",
      { class: "cards", style: { "--count": Math.max(places, room, 1) } },
      told.cards.map((each, index) =>
        card(
          each,
          `${turned === index ? "sideways" : ""} ${each.rank !== null && low.has(each.label) ? "low" : ""}`,
        ),
      ),
      Array.from({ length: places - told.cards.length }, (_, index) =>
        slot(next && index === 0 ? told.badge.text : null),
      ),
    ),
    h(
      "p",
      { class: "told" },
      told.outcome && h("strong", { class: "outcome" }, told.outcome.text),
      told.makes.map((each) => h("span", { class: "makes" }, each)),
      !told.outcome && told.said && h("span", { class: "said" }, told.said),
      told.bets.map((each) => h("small", { class: "bet" }, each)),
    ),
  );
}

/** The place of a card that has not come; `label`: that it is the next one to come. */
function slot(label) {
  const about = label ? { role: "img", "aria-label": label } : { "aria-hidden": "true" };
  return s(
    "svg",
    { class: label ? "card slot due" : "card slot", viewBox: "0 0 60 84", ...about },
    s("rect", { x: 1, y: 1, width: 58, height: 82, rx: 6 }),
  );
}

/** The most cards of these hands, so that all are drawn in one size. */
export function most(hands) {
  return Math.max(
    0,
    ...hands.map((each) => each.cards.length + (each.badge?.id === "next" ? 1 : 0)),
  );
}

/** How the last round ended, or, while one is played, what the result before it was. */
export function finish(told) {
  return h(
    "div",
    { class: "finish" },
    told.ended &&
      h(
        "p",
        { class: `ended ended-${told.ended.kind} won-${told.ended.winner ?? "none"}` },
        h("span", { class: "of" }, told.ended.label),
        h("strong", {}, told.ended.text),
        told.ended.marks.map((each) => h("span", { class: "mark" }, each)),
        told.ended.corrected && h("span", { class: "corrected" }, told.ended.corrected),
      ),
    told.before &&
      h(
        "p",
        { class: "before-this" },
        `${told.before_label} · ${told.before.label} · ${[told.before.text, ...told.before.marks, told.before.corrected].filter(Boolean).join(" · ")}`,
      ),
    told.open.map((each) => h("p", { class: "still-open" }, each)),
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
export function latest(told) {
  return (
    told.latest.length > 0 &&
    h(
      "ol",
      { class: "latest" },
      told.latest.map((each) =>
        h(
          "li",
          { class: `ended-${each.kind} won-${each.winner ?? "none"}`, value: each.round },
          h("b", {}, each.round),
          h("span", {}, each.text),
        ),
      ),
    )
  );
}
