// The second touch: what the command says, whatever is left to fill in, and the button that sends it.
// A touch has one number, made when this opens. However often it is asked for, it is sent once.

import { h } from "/static/drawing.js";
import { widget } from "./fields.js";
import { pad } from "./pad.js";
import { page, post, words } from "./page.js";
import { begun, settled } from "./touches.js";

const TRIES = 4;
const dialog = h("dialog", { "aria-labelledby": "asked" });
document.body.append(dialog);
let item = null;
let sending = false;

export const asking = () => dialog.open;

/** Close the question if what it is about is gone: somebody has decided it meanwhile. */
export function gone(isThere) {
  if (!dialog.open || sending || item === null || isThere(item)) return;
  item = null;
  dialog.replaceChildren(h("h2", { id: "asked" }, words("pit.gone")), h("div", { class: "answers" }, close()));
}

function close() {
  return h("button", { type: "button", class: "soft", "data-do": "back", click: () => dialog.close() }, words("pit.back"));
}

const number = () => `${page.tag}-${[...crypto.getRandomValues(new Uint8Array(12))].map((each) => each.toString(16).padStart(2, "0")).join("")}`;

/** Ask the person, and send it. `answer`: the command, and what it says already. */
export function ask(place, answer, about) {
  const form = page.forms[answer.command];
  const offer = place.offers.find((each) => each.command === answer.command);
  const preset = { ...offer?.fields, ...answer.fields };
  const open = answer.open ? form.fields.filter((field) => !offer?.leaves_out?.includes(field.name) && !answer.fixed?.includes(field.name)) : [];
  const rows = open.map((field) => ({ field, widget: widget(field, place, offer, preset[field.name] ?? start(field, place)) }));
  const pin = h("input", { id: "pin-again", type: "password", inputmode: "numeric", autocomplete: "off", maxlength: 12 });
  const told = h("p", { class: "told", role: "alert" });
  const send = h("button", { type: "submit", class: "main", "data-do": "send" }, words("pit.send"));
  let mine = number();
  item = about;
  sending = false;

  dialog.replaceChildren(h(
    "form",
    { submit: (event) => {
      event.preventDefault();
      go();
    } },
    h("h2", { id: "asked" }, answer.text),
    h("p", { class: "soft" }, `${place.name} · ${place.title}`, !answer.open && preset.round ? ` · ${words("display.round", { round: preset.round })}` : ""),
    answer.about && h("p", {}, answer.about),
    rows.map(({ field, widget: each }) => row(field, each, folded(field, open, preset))),
    answer.two && h("p", { class: "soft second" }, words("pit.two_persons")),
    answer.may_take_two && h("p", { class: "soft second" }, words("pit.may_take_two")),
    form.grave && h("fieldset", { class: "again" }, h("legend", {}, words("pit.pin_again")), h("label", { class: "hidden", for: "pin-again" }, words("pit.pin")), pin, pad(pin)),
    told,
    h("div", { class: "answers" }, send, close()),
  ));
  if (!dialog.open) dialog.showModal();
  // where there is a keyboard it can be used at once; a tablet's own would cover the page
  const first = matchMedia("(pointer: fine)").matches && dialog.querySelector("fieldset input, fieldset button");
  (first || (form.grave || rows.length ? dialog : send)).focus();

  async function go() {
    if (sending) return;
    const fields = answer.open ? { ...preset } : preset;
    for (const { field, widget: each } of rows) {
      const value = each.value();
      if (value === undefined) delete fields[field.name];
      else fields[field.name] = value;
      if (field.required && value === undefined) return say(`${field.text}: ${words("pit.needed")}`);
    }
    sending = send.disabled = true;
    say(words("pit.sent"), "sent");
    const touch = { number: mine, table: place.table, text: answer.text, boot: place.boot, seq: place.seq, at: Date.now() };
    begun(touch);
    const { status, body, lost } = await given({ number: mine, table: place.table, command: answer.command, fields, pin: form.grave ? pin.value : null });
    sending = send.disabled = false;
    pin.value = "";
    if (lost || status === 0) {
      begun({ ...touch, lost: true });
      dialog.close();
    } else if (body?.denied) {
      settled(mine);
      say(body.text);
      if (body.denied === "locked" || body.denied === "not_enrolled") setTimeout(() => location.reload(), 4000);
    } else if (status !== 200) {
      settled(mine);
      if (status === 401) location.reload();
      say(words("pit.refused"));
    } else {
      if (body.how !== "sent" && body.how !== "unknown") settled(mine);
      outcome(body);
    }
    window.dispatchEvent(new Event("novamas-touched"));
  }

  function outcome(body) {
    if (body.how === "followed" || body.how === "unknown" || body.how === "waiting") return dialog.close();
    say([words(`pit.${body.how}`), body.why].filter(Boolean).join(": "));
    mine = number(); // the next touch is another one
    item = null; // the answer stays to be read, though what it was about may be gone
    if (body.wait) countdown(body.wait);
  }

  function countdown(seconds) {
    send.disabled = true;
    const tick = () => {
      if (seconds <= 0) {
        send.disabled = false;
        return say("");
      }
      say(words("pit.wait", { seconds }));
      seconds -= 1;
      setTimeout(tick, 1000);
    };
    tick();
  }

  function say(text, kind = "") {
    told.textContent = text;
    told.className = `told ${kind}`;
  }
}

const SHORT = ["choice", "hand", "amount", "round", "number", "card", "cards"];

/** Whether a field is put away until it is wanted: a form has few that matter most of the time. */
const folded = (field, fields, preset) => !field.required && !SHORT.includes(field.kind) && !(field.name in preset) && fields.some((each) => each.required);

function row(field, each, away) {
  if (away) return h("details", { "data-field": field.name }, h("summary", {}, field.text), each.element);
  return h("fieldset", { "data-field": field.name }, h("legend", {}, field.text, field.required && h("span", { class: "soft" }, ` · ${words("pit.needed")}`)), each.element);
}

/** What a field says where the person has not said anything. */
function start(field, place) {
  if (field.name === "minimum") return place.minimum ?? undefined;
  if (field.name === "currency") return place.currency ?? undefined;
  if (field.kind === "name") return page.name;
  return undefined;
}

/** The answer of the server; asked again for the same touch if none comes, which sends nothing twice. */
async function given(body) {
  let lost = false;
  for (let count = 0; count < TRIES; count += 1) {
    const answer = await post("/pit/command", body, page.token);
    if (answer.status !== 0) return { ...answer, lost: lost && answer.status !== 200 };
    lost = true;
    await new Promise((done) => setTimeout(done, 700));
  }
  return { status: 0, body: null, lost };
}
