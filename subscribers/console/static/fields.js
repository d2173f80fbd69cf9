// Touch widgets for a command's fields, by kind. A widget is `{element, value(currency)}`; the
// value is undefined for a field that is left out. `currency` is that of the command's amounts.

import { h } from "../../static/drawing.js";
import { pad } from "./pad.js";
import { digits, page, words } from "./page.js";
import { buttons, felt, latestRounds, people } from "./pickers.js";

const RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K"];
const SUITS = [
  ["s", "♠"],
  ["h", "♥"],
  ["d", "♦"],
  ["c", "♣"],
];
const ROULETTE = "roulette";
const PAI_GOW = "pai-gow"; // the game with a joker and three dice

/** The widget of a field at a table; `preset` is its initial value. */
export function widget(field, place, offer, preset) {
  const choices = offer?.choices?.[field.name];
  if (choices?.length && ["text", "hand", "choice"].includes(field.kind)) {
    return buttons(
      choices.map((each) => [each.value, each.text]),
      preset,
      field.required,
    );
  }
  const created = (KINDS[field.kind] ?? text)(field, place, offer, preset);
  const inputs = created.element.matches("input")
    ? [created.element]
    : created.element.querySelectorAll("input");
  for (const each of inputs) each.setAttribute("aria-label", field.text);
  return created;
}

function choice(field, _place, _offer, preset) {
  return buttons(
    field.choices.map((each) => [each.value, each.text]),
    preset,
    field.required,
  );
}

function flag(field, _place, _offer, preset) {
  const picker = buttons(
    [
      [true, words("pit.yes")],
      [false, words("pit.no")],
    ],
    preset ?? field.default,
    true,
  );
  return {
    element: picker.element,
    value: () => (picker.value() === (field.default ?? undefined) ? undefined : picker.value()),
  };
}

function number(input, extra) {
  return h("div", { class: "number" }, input, pad(input, extra));
}

function integer(field, _place, _offer, preset) {
  const input = h("input", {
    inputmode: "none", // it has its own pad
    autocomplete: "off",
    maxlength: 10,
    value: preset ?? "",
  });
  return {
    element: number(input),
    value: () => (input.value === "" ? undefined : Number(input.value)),
  };
}

function amount(field, place, _offer, preset) {
  const start =
    preset === undefined || preset === null
      ? ""
      : (preset / 10 ** digits(place.currency)).toFixed(digits(place.currency));
  const input = h("input", {
    inputmode: "none",
    "data-amount": true,
    autocomplete: "off",
    maxlength: 14,
    value: start,
  });
  const unit = h("span", { class: "soft" }, place.currency ?? "");
  return {
    element: h("div", {}, unit, number(input, field.least < 0 ? ["-", "."] : ["."])),
    value: (currency) => (input.value === "" ? undefined : minorUnits(input.value, currency)),
  };
}

/**
 * The minor units of `5`, `5.00` or `5,00`; NaN for anything else, such as `1.000`, which may mean
 * a thousand.
 */
function minorUnits(typed, currency) {
  const found = /^(-?[0-9]+)(?:[.,]([0-9]+))?$/.exec(typed.trim());
  if (!found || (found[2] && found[2].length !== digits(currency))) return NaN;
  return Number(found[1] + (found[2] ?? "0".repeat(digits(currency))));
}

function pocket(_field, place, _offer, preset) {
  if (place.view === ROULETTE) return felt(preset);
  const input = h("input", {
    inputmode: "none",
    autocomplete: "off",
    maxlength: 12,
    value: preset ?? "",
  });
  const value = () => {
    if (input.value === "") return undefined;
    return /^(0|[1-9]\d*)$/.test(input.value) ? Number(input.value) : input.value;
  };
  return { element: number(input), value };
}

function round(field, place, offer, preset) {
  const results = place.tile?.results ?? [];
  if (offer?.command === "result.correct" && results.length) {
    return latestRounds(results, preset, integer(field, place, offer, preset));
  }
  const known = [...new Set([preset, ...place.unresolved, place.round].filter((each) => each))];
  if (!field.required && known.length <= 1) {
    return buttons(
      known.map((each) => [each, String(each)]),
      preset,
      false,
    );
  }
  return integer(field, place, null, preset ?? place.round ?? undefined);
}

function text(field, _place, _offer, preset) {
  const input = h("input", {
    autocomplete: "off",
    maxlength: field.most ?? 64,
    value: preset ?? "",
  });
  return { element: input, value: () => (input.value === "" ? undefined : input.value) };
}

/** A person at the table, or for `staff.on` anyone who works there. */
function person(field, place, offer, preset) {
  const here = place.on_duty.map((each) => each.person);
  const leaves = offer?.command === "staff.off";
  const names = [...new Set(leaves ? here : [...page.people, ...here])];
  return people(names, preset, text(field, place, offer, preset));
}

function texts(field, _place, _offer, preset) {
  const input = h("input", {
    autocomplete: "off",
    maxlength: 1000,
    value: (preset ?? []).join(" "),
  });
  return {
    element: input,
    value: () =>
      input.value.split(/[\s,]+/).filter(Boolean).length
        ? input.value.split(/[\s,]+/).filter(Boolean)
        : field.required
          ? []
          : undefined,
  };
}

function hand(field, place, _offer, preset) {
  const options = place.whos.map((each) => [each.id, each.text]);
  if (!options.length) return text(field, place, null, preset);
  return buttons(options, preset, field.required);
}

function integers(field, place, _offer, preset) {
  if (field.name === "dice" || field.name === "values") {
    return dice(place.view === PAI_GOW ? 3 : 2, preset);
  }
  const limit = field.name === "boxes" ? 10 : null;
  if (!limit) {
    const plain = texts(field, place, null, preset);
    return { element: plain.element, value: () => plain.value()?.map(Number) };
  }
  const chosen = new Set(preset ?? place.taken);
  const element = h("div", { class: "choices", role: "group" });
  const draw = () =>
    element.replaceChildren(
      ...Array.from({ length: limit }, (_, index) => index + 1).map((each) =>
        h(
          "button",
          {
            type: "button",
            "data-value": String(each),
            "aria-pressed": String(chosen.has(each)),
            click: () => {
              if (!chosen.delete(each)) chosen.add(each);
              draw();
            },
          },
          String(each),
        ),
      ),
    );
  draw();
  return { element, value: () => [...chosen].sort((a, b) => a - b) };
}

function dice(count, preset) {
  const rows = Array.from({ length: count }, (_, index) =>
    buttons(
      [1, 2, 3, 4, 5, 6].map((each) => [each, String(each)]),
      preset?.[index],
      true,
    ),
  );
  return {
    element: h(
      "div",
      { class: "dice" },
      rows.map((each) => each.element),
    ),
    value: () => {
      const values = rows.map((each) => each.value());
      return values.every((each) => each === undefined) ? undefined : values;
    },
  };
}

function card(_field, place, _offer, preset) {
  return cardPicker(place, 1, preset ? [preset] : [], ([first]) => first);
}

function cards(field, place, _offer, preset) {
  return cardPicker(place, 1000, preset ?? [], (picked) =>
    picked.length || field.required ? picked : undefined,
  );
}

function cardPicker(place, limit, preset, result) {
  const joker = place.view === PAI_GOW;
  let picked = [...preset];
  /** @type {string | null} */
  let rank = null;
  const element = h("div", { class: "cards" });
  const name = (each) =>
    h(
      "span",
      { class: /[hd]$/.test(each) ? "card red" : "card" },
      each === "X"
        ? words("symbol.joker")
        : (each[0] === "T" ? "10" : each[0]) +
            (SUITS.find(([suit]) => suit === each[1])?.[1] ?? ""),
    );
  const add = (each) => {
    picked = limit === 1 ? [each] : [...picked, each];
    rank = null;
    draw();
  };
  const draw = () =>
    element.replaceChildren(
      h(
        "div",
        { class: "given", "aria-live": "polite" },
        picked.map(name),
        h(
          "button",
          {
            type: "button",
            class: "soft",
            click: () => {
              picked = [];
              rank = null;
              draw();
            },
          },
          words("pit.clear"),
        ),
      ),
      h(
        "div",
        { class: "choices" },
        RANKS.map((each) =>
          h(
            "button",
            {
              type: "button",
              "data-rank": each,
              "aria-pressed": String(each === rank),
              click: () => {
                rank = each;
                draw();
              },
            },
            each === "T" ? "10" : each,
          ),
        ),
      ),
      h(
        "div",
        { class: "choices" },
        SUITS.map(([suit, sign]) =>
          h(
            "button",
            {
              type: "button",
              "data-suit": suit,
              class: suit === "h" || suit === "d" ? "red" : null,
              disabled: rank === null,
              click: () => add(rank + suit),
            },
            sign,
          ),
        ),
        joker &&
          h(
            "button",
            { type: "button", "data-suit": "X", click: () => add("X") },
            words("symbol.joker"),
          ),
      ),
    );
  draw();
  return { element, value: () => result(picked) };
}

function byHand(make) {
  return (field, place, offer) => {
    const rows = place.parts.map((each) => [each, make(field, place, offer)]);
    return {
      element: h(
        "div",
        { class: "by-hand" },
        rows.map(([each, row]) => h("details", {}, h("summary", {}, each.text), row.element)),
      ),
      value: () => {
        const byHandId = Object.fromEntries(
          rows
            .map(([each, row]) => [each.id, row.value()])
            .filter(([, value]) => value !== undefined && value.length !== 0),
        );
        return Object.keys(byHandId).length ? byHandId : undefined;
      },
    };
  };
}

const KINDS = {
  choice,
  flag,
  integer,
  integers,
  amount,
  number: pocket,
  round,
  text,
  name: person,
  texts,
  hand,
  card,
  cards,
  cards_by_hand: byHand((field, place) => cards({ ...field, required: false }, place)),
  choice_by_hand: byHand((field, place, offer) =>
    choice({ ...field, required: false }, place, offer),
  ),
};
