// Pictures as data, and the elements that follow them. A page describes its whole picture for every
// message, with `h` and `s`, and `draw` changes only what differs from the picture before: an
// element that is described again survives, with its animations, its focus and its place.
//
// An element is recognised among its siblings by its name, its first class and its `data-key`;
// several of one kind without a key are matched in order. A child of a list that shifts needs a
// `data-key`, such as the number of its round, since a key moves with what it names.

const SVG = "http://www.w3.org/2000/svg";

/** What an element or a text was drawn from. @type {WeakMap<Node, any>} */
const drawn = new WeakMap();

/**
 * Describe an HTML element: `h("p", {class: "soft"}, "text", child)`. Null and false children are
 * left out, arrays are children one by one, and an element that exists already stands for itself.
 * Text is always set as text: nothing received is parsed as markup.
 */
export function h(name, attributes = {}, ...children) {
  return { svg: false, name, attributes, children: present(children) };
}

/** Describe an SVG element. */
export function s(name, attributes = {}, ...children) {
  return { svg: true, name, attributes, children: present(children) };
}

/** Give `parent` these described children. What it has already is changed, not replaced. */
export function draw(parent, ...children) {
  const unused = new Map();
  for (const node of parent.childNodes) {
    const kind = identity(drawn.get(node));
    if (!unused.has(kind)) unused.set(kind, []);
    unused.get(kind).push(node);
  }
  put(
    parent,
    present(children).map((child) => {
      if (child instanceof Node) return child;
      const node = unused.get(identity(child))?.shift();
      return node ? update(node, child) : create(child);
    }),
  );
}

/** Make the element of a description. */
export function create(described) {
  if (described instanceof Node) return described;
  if (!isElement(described)) {
    const text = document.createTextNode(described);
    drawn.set(text, described);
    return text;
  }
  const { svg, name, attributes, children } = described;
  const element = svg ? document.createElementNS(SVG, name) : document.createElement(name);
  drawn.set(element, described);
  setAttributes(element, {}, attributes);
  element.append(...children.map(create));
  return element;
}

/**
 * Give `parent` these nodes, in this order. Those that are already there are not removed and
 * re-inserted, and the focused element keeps the focus.
 */
export function put(parent, nodes) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const wanted = new Set(nodes);
  for (const node of [...parent.childNodes]) if (!wanted.has(node)) node.remove();
  nodes.forEach((node, index) => {
    const current = parent.childNodes[index] ?? null;
    if (current !== node) parent.insertBefore(node, current);
  });
  if (focused && focused !== document.activeElement && parent.contains(focused)) focused.focus();
}

function present(children) {
  return children
    .flat(Infinity)
    .filter((child) => child !== null && child !== undefined && child !== false);
}

function isElement(described) {
  return typeof described === "object";
}

/** Nodes of one identity can become each other; undefined for a node that `draw` did not make. */
function identity(described) {
  if (described === undefined) return undefined;
  if (!isElement(described)) return "text";
  const { name, attributes } = described;
  return `${name}.${(attributes.class || "").split(" ", 1)[0]} ${attributes["data-key"] ?? ""}`;
}

function update(node, described) {
  const before = drawn.get(node);
  drawn.set(node, described);
  if (!isElement(described)) {
    if (String(before) !== String(described)) node.data = described;
    return node;
  }
  setAttributes(node, before.attributes, described.attributes);
  draw(node, described.children);
  return node;
}

function setAttributes(element, before, attributes) {
  for (const name of Object.keys(before)) {
    if (!isSet(attributes[name])) setAttribute(element, name, before[name], null);
  }
  for (const [name, value] of Object.entries(attributes)) {
    if (isSet(value) && before[name] !== value) setAttribute(element, name, before[name], value);
  }
}

function isSet(value) {
  return value !== null && value !== undefined && value !== false;
}

function setAttribute(element, name, before, value) {
  if (name === "style") {
    for (const key of Object.keys(before ?? {})) {
      if (!(key in (value ?? {}))) element.style.removeProperty(key);
    }
    for (const [key, part] of Object.entries(value ?? {})) {
      if (before?.[key] !== part) element.style.setProperty(key, part);
    }
  } else if (typeof (value ?? before) === "function") {
    if (before) element.removeEventListener(name, before);
    if (value) element.addEventListener(name, value);
  } else if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : value);
}
