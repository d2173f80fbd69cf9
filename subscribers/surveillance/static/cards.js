// Sealed cards of a round: requested with the PIN, shown for two minutes, never stored.

import { h } from "../../static/drawing.js";
import { page, post, words } from "./asking.js";
import { moment } from "./times.js";

const SHOWN_MS = 120_000;
const SUITS = { c: "♣", d: "♦", h: "♥", s: "♠" };
/** @type {number | undefined} */
let hiding;

/** The part of a round's detail that shows its sealed cards. */
export function cards(place) {
  const section = h(
    "section",
    { class: "part cards", "aria-label": words("page.cards") },
    h("h3", {}, words("page.cards")),
  );
  if (!page.cards) {
    section.append(
      h(
        "p",
        { class: "soft" },
        words(page.roles.includes("surveillance") ? "page.cards_key" : "page.cards_role"),
      ),
    );
    return section;
  }
  const message = h("p", { class: "told", role: "alert" });
  const why = h("input", {
    type: "text",
    name: "why",
    maxlength: 500,
    required: true,
    autocomplete: "off",
  });
  const pin = h("input", {
    type: "password",
    name: "pin",
    inputmode: "numeric",
    maxlength: 12,
    required: true,
    autocomplete: "off",
  });
  const go = h("button", { type: "submit", class: "main" }, words("page.cards_show"));
  const hole = h("div", { "aria-live": "polite" });
  section.append(
    h(
      "form",
      { submit: ask },
      h("label", {}, words("page.why"), why),
      h("label", {}, words("page.pin_again"), pin),
      go,
    ),
    message,
    hole,
  );
  return section;

  async function ask(event) {
    event.preventDefault();
    go.disabled = true;
    message.textContent = "";
    const { body, text } = await post("/surveillance/cards", {
      ...place,
      why: why.value,
      pin: pin.value,
    });
    pin.value = "";
    go.disabled = false;
    hole.replaceChildren();
    if (!body?.ok) {
      message.textContent = body?.text ?? text;
      return;
    }
    const drawn = [
      body.cards.length
        ? h("ul", { class: "hole" }, body.cards.map(shown))
        : h("p", {}, words("page.cards_none")),
      body.cards.some((each) => each.signed === "daemon") &&
        h(
          "p",
          { class: "soft" },
          `${words("page.made_by")} ${body.cards.find((each) => each.signed === "daemon").by}`,
        ),
      h(
        "p",
        { class: "soft" },
        words("page.cards_recorded", { name: page.name, time: moment(body.recorded, true) }),
      ),
      h(
        "button",
        { type: "button", click: () => hole.replaceChildren() },
        words("page.cards_hide"),
      ),
    ];
    hole.replaceChildren(...drawn.filter(Boolean));
    clearTimeout(hiding);
    hiding = setTimeout(() => hole.replaceChildren(), SHOWN_MS);
  }
}

function shown(each) {
  return h(
    "li",
    {},
    each.card &&
      h(
        "span",
        {
          class: /[dh]$/.test(each.card) ? "card red" : "card",
          role: "img",
          "aria-label": each.label,
        },
        name(each.card),
      ),
    each.place && h("strong", {}, `${each.place} · ${words("page.card")} ${each.index}`),
    each.body && h("code", {}, each.body),
    each.time && h("span", { class: "soft" }, moment(each.time)),
    each.reading && h("span", { class: "soft" }, `${words("page.reading")} ${each.reading}`),
    each.signed !== "daemon" && h("span", { class: "unproved" }, each.by),
  );
}

function name(card) {
  return card === "X" ? "★" : card.slice(0, -1).replace("T", "10") + (SUITS[card.slice(-1)] ?? "?");
}
