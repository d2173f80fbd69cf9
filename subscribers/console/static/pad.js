// An on-screen number pad for an input that also accepts a keyboard.

import { h } from "../../static/drawing.js";
import { words } from "./page.js";

/** The keys below an input; `extra` keys beside the digits. */
export function pad(input, extra = []) {
  const type = (text) => () => {
    if (input.maxLength < 0 || input.value.length < input.maxLength) input.value += text;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const keys = ["1", "2", "3", "4", "5", "6", "7", "8", "9", ...extra, "0"];
  return h(
    "div",
    { class: "pad" },
    keys.map((key) => h("button", { type: "button", "data-key": key, click: type(key) }, key)),
    h(
      "button",
      {
        type: "button",
        class: "soft",
        "data-key": "clear",
        click: () => {
          input.value = "";
          input.dispatchEvent(new Event("input", { bubbles: true }));
        },
      },
      words("pit.clear"),
    ),
  );
}
