// The sign-in page.

import { byId } from "../../static/base.js";
import { h } from "../../static/drawing.js";
import { fetchBeat, TOO_LATE } from "../../static/request.js";
import { onBadge } from "./badge.js";
import { pad } from "./pad.js";
import { page, post, words } from "./page.js";

const BEAT_INTERVAL_MS = 5000;
const DEADLINE_MS = 15_000; // the server delays its reply after wrong PINs

const who = h("input", {
  id: "who",
  inputmode: "none", // a badge number has the pad; a name has the key for letters
  autocomplete: "off",
  autocapitalize: "none",
  spellcheck: "false",
  maxlength: 128,
  required: true,
});
const pin = h("input", {
  id: "pin",
  type: "password",
  inputmode: "none",
  autocomplete: "off",
  maxlength: 12,
  required: true,
});
const letters = h(
  "button",
  {
    type: "button",
    class: "soft",
    click: () => {
      who.inputMode = "text";
      aim(who);
      who.focus();
    },
  },
  words("pit.letters"),
);
let target = who; // which field the pad fills

/** Let the pad fill this field. */
function aim(field) {
  target = field;
  for (const each of [who, pin]) each.classList.toggle("aimed", each === field);
}

for (const field of [who, pin]) field.addEventListener("pointerdown", () => aim(field));
who.addEventListener("input", (event) => {
  if (/** @type {CustomEvent} */ (event).detail !== "pad") aim(pin); // typed: the PIN follows
});
onBadge((badge) => {
  who.value = badge;
  pin.value = "";
  aim(pin);
  pin.focus();
});

const message = h("p", { class: "told", role: "alert" });
const go = h("button", { class: "main", type: "submit" }, words("pit.sign_in"));
const form = h(
  "form",
  { class: "sign-in", submit: enter },
  h("h1", {}, "Novamás · ", page.site),
  h("label", { for: "who" }, words("pit.who")),
  h("div", { class: "who" }, who, letters),
  h("label", { for: "pin" }, words("pit.pin")),
  pin,
  pad(pin, [], () => target),
  message,
  go,
  h(
    "nav",
    { class: "languages", "aria-label": words("pit.language") },
    Object.entries(page.languages).map(([id, name]) =>
      h(
        "a",
        {
          href: `${page.after}?lang=${id}`,
          lang: id,
          "aria-current": id === page.language ? "true" : null,
        },
        name,
      ),
    ),
  ),
);

async function enter(event) {
  event.preventDefault();
  go.disabled = true;
  message.textContent = "";
  const { status, body } = await post(
    "/sign-in",
    { who: who.value, pin: pin.value, language: page.language },
    { token: "sign-in", deadline: DEADLINE_MS },
  );
  if (body?.ok) return location.replace(page.after);
  go.disabled = false;
  pin.value = "";
  if (status === TOO_LATE) await fetchBeat();
  message.textContent =
    body?.text ??
    words(status === TOO_LATE ? "pit.late" : status ? "denied.unreadable" : "pit.no_answer");
}

byId("main").replaceChildren(form);
fetchBeat();
setInterval(fetchBeat, BEAT_INTERVAL_MS); // this page has no stream
aim(who);
who.focus();
