// Fields whose usual values are picked: the numbers of a wheel, the latest rounds, people. A widget
// is `{element, value()}`, as in fields.js.

import { h } from "../../static/drawing.js";
import { page, words } from "./page.js";

/**
 * A group of buttons; at most one is chosen. `options`: `[value, label, lane]`; the lane, a colour,
 * may be left out.
 */
export function buttons(options, preset, required, kind = "choices") {
  let chosen = preset;
  const element = h("div", { class: kind, role: "group" });
  const draw = () =>
    element.replaceChildren(
      ...options.map(([value, label, lane]) =>
        h(
          "button",
          {
            type: "button",
            "data-value": String(value),
            "data-lane": lane,
            "aria-pressed": String(value === chosen),
            click: () => {
              chosen = value === chosen && !required ? undefined : value;
              draw();
              element.dispatchEvent(new Event("input", { bubbles: true }));
            },
          },
          label,
        ),
      ),
    );
  draw();
  return {
    element,
    value: () => chosen,
    clear() {
      chosen = undefined;
      draw();
    },
  };
}

/** The numbers of roulette, as on the cloth. */
export function felt(preset) {
  const numbers = Object.entries(page.colours).map(([number, lane]) => [
    Number(number),
    number,
    lane,
  ]);
  return buttons(numbers, preset, false, "felt");
}

/** The latest rounds that have a result; another one is typed. */
export function latestRounds(results, preset, typed) {
  const options = results.map(({ round, text, lane }) => [
    round,
    [`${round} · `, h("strong", {}, text)],
    lane,
  ]);
  const known = options.some(([round]) => round === preset) ? preset : undefined;
  return withMore(options, known ?? (preset === undefined ? results[0]?.round : undefined), typed, {
    open: preset !== undefined && known === undefined,
  });
}

/** People as buttons; another name is typed. */
export function people(names, preset, typed) {
  const own = names.includes(preset) ? preset : undefined;
  return withMore(
    names.map((name) => [name, name]),
    own,
    typed,
    { open: preset !== undefined && own === undefined },
  );
}

/** Buttons, and one that opens the field in which any other value is typed. */
function withMore(options, preset, typed, { open }) {
  const picked = buttons(options, preset, true);
  const more = h(
    "button",
    { type: "button", class: "soft", "data-more": true, click: () => show() },
    words("pit.more"),
  );
  const element = h("div", { class: "picked" }, picked.element);
  let isTyped = false;
  picked.element.addEventListener("input", () => hide());
  const show = () => {
    isTyped = true;
    picked.clear();
    more.remove();
    element.append(typed.element);
  };
  const hide = () => {
    isTyped = false;
    typed.element.remove();
    element.append(more);
  };
  if (open || !options.length) show();
  else hide();
  return { element, value: (currency) => (isTyped ? typed.value(currency) : picked.value()) };
}
