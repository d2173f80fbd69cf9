// Elements from data. Text is always set as text: nothing received is parsed as markup.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An HTML element: `h("p", {class: "soft"}, "text", child)`. Null and false children are left out.
 */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function s(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "style") {
      for (const [key, part] of Object.entries(value)) element.style.setProperty(key, part);
    } else if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children
      .flat(Infinity)
      .filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
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

/**
 * Give `parent` these children, in this order. Children that are already there are not removed and
 * re-inserted, and the focused element keeps the focus.
 */
export function put(parent, children) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  for (const child of [...parent.children]) if (!children.includes(child)) child.remove();
  children.forEach((child, index) => {
    const current = parent.children[index] ?? null;
    if (current !== child) parent.insertBefore(child, current);
  });
  if (focused && focused !== document.activeElement && parent.contains(focused)) focused.focus();
}
