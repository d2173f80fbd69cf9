// An on-screen number pad for an input that also accepts a keyboard.

import { h } from "../../static/drawing.js";
import { words } from "./page.js";

/**
 * The keys below an input; `extra` keys beside the digits. `to()`: the input that they fill, where
 * that changes.
 */
export function pad(own, extra = [], to = () => own) {
  const type = (text) => () => {
    const input = to();
    if ("kept" in input.dataset) input.value = ""; // typed again instead
    delete input.dataset.kept;
    if (input.maxLength < 0 || input.value.length < input.maxLength) input.value += text;
    input.dispatchEvent(new CustomEvent("input", { bubbles: true, detail: "pad" }));
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
          const input = to();
          input.value = "";
          input.dispatchEvent(new Event("input", { bubbles: true }));
        },
      },
      words("pit.clear"),
    ),
  );
}
