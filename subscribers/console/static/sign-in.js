// Where a person signs in.

import { h } from "/static/drawing.js";
import { pad } from "./pad.js";
import { page, post, words } from "./page.js";

const who = h("input", { id: "who", autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: 128, required: true });
const pin = h("input", { id: "pin", type: "password", inputmode: "numeric", autocomplete: "off", maxlength: 12, required: true });
const told = h("p", { class: "told", role: "alert" });
const go = h("button", { class: "main", type: "submit" }, words("pit.sign_in"));
const form = h(
  "form",
  { class: "sign-in", submit: enter },
  h("h1", {}, "Novamás · ", page.site),
  h("label", { for: "who" }, words("pit.who")),
  who,
  h("label", { for: "pin" }, words("pit.pin")),
  pin,
  pad(pin),
  told,
  go,
  h("nav", { class: "languages", "aria-label": words("pit.language") }, Object.entries(page.languages).map(([id, name]) =>
    h("a", { href: `${page.after}?lang=${id}`, lang: id, "aria-current": id === page.language ? "true" : null }, name))),
);

async function enter(event) {
  event.preventDefault();
  go.disabled = true;
  told.textContent = "";
  const { status, body } = await post("/sign-in", { who: who.value, pin: pin.value, language: page.language }, "sign-in");
  if (body?.ok) return location.replace(page.after);
  go.disabled = false;
  pin.value = "";
  told.textContent = body?.text ?? (status ? words("denied.unreadable") : words("trouble.no_server"));
}

document.getElementById("main").replaceChildren(form);
who.focus();
