// Elements made at once, for pages that keep and change them themselves. Displays describe theirs
// instead: see tree.js.

import { create, h as describe } from "./tree.js";

export { put } from "./tree.js";

/**
 * An HTML element: `h("p", {class: "soft"}, "text", child)`. Null and false children are left out;
 * a child is a text, an element or the description of one.
 *
 * @returns {any}
 */
export function h(name, attributes = {}, ...children) {
  return create(describe(name, attributes, ...children));
}

const made = new Map();

/**
 * The element for `key`, rebuilt only when `data` has changed: replacing an element under a finger
 * would lose the touch.
 */
export function cached(key, data, make) {
  const text = JSON.stringify(data);
  if (made.get(key)?.text !== text) made.set(key, { text, element: make(data) });
  return made.get(key).element;
}
