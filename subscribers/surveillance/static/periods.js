// From when to when: two fields for times, and chips for the periods that are asked for most.

import { h } from "../../static/drawing.js";
import { words } from "./asking.js";
import { clockText, dateText, writtenTime } from "./times.js";

/** Periods that end now, in milliseconds. */
export const LAST = { "10min": 600_000, "1h": 3_600_000 };
const CHIPS = [
  ["10min", "last_10min"],
  ["1h", "last_1h"],
  ["shift", "shift"],
  ["session", "session_now"],
  ["day", "day"],
];

/** A field for a time. `edited()` follows what a person writes. */
export function timeField(now, edited) {
  const form = words("page.time_form");
  const input = h("input", {
    type: "text",
    class: "moment",
    maxlength: 30,
    autocomplete: "off",
    spellcheck: "false",
    placeholder: form,
    title: form,
    input: () => {
      const wrong = input.value.trim() !== "" && writtenTime(input.value, now()) === null;
      input.setCustomValidity(wrong ? words("page.time_wrong", { form }) : "");
      edited();
    },
    change: () => put(time()),
  });
  const time = () => writtenTime(input.value, now());
  const put = (moment) => {
    if (moment === null && input.value.trim() && !input.validity.valid) return;
    input.value = moment === null ? "" : `${dateText(moment)} ${clockText(moment)}`;
    input.setCustomValidity("");
  };
  return { input, time, put };
}

/** The chips; `choose(id)` follows a touch. `press(id)` shows which one is chosen. */
export function chips(choose) {
  const buttons = CHIPS.map(([id, text]) =>
    h(
      "button",
      {
        type: "button",
        class: "chip",
        "data-period": id,
        "aria-pressed": "false",
        click: () => choose(id),
      },
      words(`page.${text}`),
    ),
  );
  return {
    element: h(
      "span",
      { class: "chips", role: "group", "aria-label": words("page.period") },
      buttons,
    ),
    press(id) {
      for (const button of buttons) {
        button.setAttribute("aria-pressed", String(button.dataset.period === id));
      }
    },
  };
}
