// One question at a time, as the server asks it.

const POLL_MS = 500;
const content = element("content");
let live;

/** @param {string} id */
function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

/** Make an element with attributes and children; a child that is text is shown as it is. */
function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** Ask the server for the next state, and show it. */
async function send(path, body) {
  const options = body && {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  try {
    const answer = await fetch(path, options || {});
    if (!answer.ok) throw new Error(String(answer.status));
    show(await answer.json());
  } catch {
    live?.close();
    element("gone").hidden = false;
  }
}

function show(state) {
  live?.close();
  element("error").textContent = state.error ?? "";
  const shown = { question, plan, working, done }[state.kind](state);
  if (state.kind !== "working" || !content.querySelector("[data-working]")) {
    content.replaceChildren(...shown);
    content.querySelector("h2, legend, input")?.scrollIntoView({ block: "nearest" });
  } else {
    content.replaceChildren(...shown);
  }
  const first = content.querySelector("input:checked, input, h2");
  if (first instanceof HTMLElement && state.kind !== "working") first.focus();
  if (state.kind === "working") setTimeout(() => send("state"), POLL_MS);
  if (state.type === "live") watch();
}

/** The number that the device shows, as it changes. */
function watch() {
  live = new EventSource("live");
  live.addEventListener("message", (event) => {
    element("live").textContent = event.data;
  });
}

function question(state) {
  const form = make("form", { autocomplete: "off", novalidate: true });
  const fields = state.choices.length ? choices(state) : inputs(state);
  form.append(...fields, buttons(state));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = new FormData(form);
    const typed = String(given.get("text") ?? "");
    const again = given.get("again");
    if (again !== null && again !== typed) {
      element("error").textContent = state.words.differ;
      return;
    }
    send("answer", { id: state.id, text: typed || String(given.get("choice") ?? "") });
  });
  return [form];
}

function choices(state) {
  const rows = state.choices.map(({ value, label }) =>
    make(
      "label",
      { class: "choice" },
      make("input", {
        type: "radio",
        name: "choice",
        value,
        checked: value === state.default || (state.type === "live" && value === "yes"),
      }),
      make("span", {}, label),
    ),
  );
  const children = [make("legend", { tabindex: "-1" }, state.text)];
  if (state.type === "live") children.push(make("output", { id: "live" }));
  if (state.type === "device") {
    if (state.choices.length === 1) children.push(make("p", {}, state.words.none_found));
    rows.push(make("label", {}, state.words.other, make("input", { name: "text", type: "text" })));
  }
  return [make("fieldset", {}, ...children, ...rows)];
}

function inputs(state) {
  const secret = state.type.includes("secret");
  const type = secret ? "password" : "text";
  const field = (name, label, value) =>
    make("label", {}, label, make("input", { name, type, value, autocomplete: "off" }));
  const first = field("text", state.text, secret ? "" : state.default);
  if (state.type !== "new_secret") return [first];
  return [first, field("again", state.words.again, "")];
}

function buttons(state) {
  const { next, back, rescan } = state.words;
  const row = make("div", {}, make("button", { class: "main" }, next));
  const add = (label, path) =>
    row.append(make("button", { type: "button", onclick: () => send(path, {}) }, label));
  if (state.back) add(back, "back");
  if (state.type === "device") add(rescan, "listen");
  return row;
}

function plan(state) {
  const files = state.files.map(({ path, text }) =>
    make("details", {}, make("summary", {}, path), make("pre", { tabindex: "0" }, text || "…")),
  );
  const row = make("div");
  if (state.possible) {
    row.append(
      make(
        "button",
        { class: "main", type: "button", onclick: () => send("write", {}) },
        state.words.next,
      ),
    );
  }
  row.append(make("button", { type: "button", onclick: () => send("back", {}) }, state.words.back));
  const steps = state.steps.map((step) => make("pre", { tabindex: "0" }, step));
  return [make("h2", { tabindex: "-1" }, state.text), ...files, ...steps, row];
}

function working(state) {
  const lines = (state.lines ?? []).map((line) => make("li", {}, line));
  return [
    make("h2", { "data-working": true, role: "status" }, state.text),
    make("ul", {}, ...lines),
  ];
}

function done(state) {
  const links = state.addresses.map((address) =>
    make("p", {}, make("a", { href: address, rel: "noreferrer" }, address)),
  );
  const lines = state.lines.map((line) => make("li", {}, line));
  const kind = state.failure ? "failure" : "";
  return [
    make("h2", { tabindex: "-1", class: kind }, state.text),
    ...links,
    make("ul", {}, ...lines),
  ];
}

send("state");
