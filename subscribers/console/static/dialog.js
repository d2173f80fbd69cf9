// The second touch: what the command says, whatever is left to fill in, and the button that sends
// it. A touch has one number, made when this opens. However often it is asked for, it is sent once.

import { touch as latestTouch } from "../../static/beats.js";
import { h } from "../../static/drawing.js";
import { pause, TOO_LATE } from "../../static/request.js";
import { widget } from "./fields.js";
import { pad } from "./pad.js";
import { digits, page, post, words } from "./page.js";
import { begun, settled } from "./touches.js";

const AGAIN = 700;
const UNANSWERED = 5000; // after which the person goes on without an answer
// after which the server gives no command any more whose touch that is
const LATE = page.late * 1000;
const dialog = h("dialog", { "aria-labelledby": "asked" });
document.body.append(dialog);
dialog.addEventListener("cancel", () => onBack());
let item = null;
/** @type {string | null} */
let sending = null; // the number of the touch that is under way
let onBack = () => {};
let onSent = () => {};

export const asking = () => dialog.hasAttribute("open");

/** A touch is known to the server: it has gone to the table. */
export function sent(number) {
  if (number === sending) onSent();
}

/** Close the question if what it is about is gone: somebody has decided it meanwhile. */
export function gone(isThere) {
  if (!asking() || sending !== null || item === null || isThere(item)) return;
  item = null;
  dialog.replaceChildren(
    h("h2", { id: "asked" }, words("pit.gone")),
    h("div", { class: "answers" }, close()),
  );
}

function close() {
  return h(
    "button",
    {
      type: "button",
      class: "soft",
      "data-do": "back",
      click: () => {
        onBack();
        hide();
      },
    },
    words("pit.back"),
  );
}

const number = () =>
  `${page.tag}-${[...crypto.getRandomValues(new Uint8Array(12))].map((each) => each.toString(16).padStart(2, "0")).join("")}`;

/** Ask the person, and send it. `answer`: the command, and what it says already. */
export function ask(place, answer, about) {
  const form = page.forms[answer.command];
  const offer = place.offers.find((each) => each.command === answer.command);
  const preset = { ...offer?.fields, ...answer.fields };
  const open = answer.open
    ? form.fields.filter(
        (field) => !offer?.leaves_out?.includes(field.name) && !answer.fixed?.includes(field.name),
      )
    : [];
  const rows = open.map((field) => ({
    field,
    widget: widget(field, place, offer, preset[field.name] ?? start(field, place)),
  }));
  const pin = h("input", {
    id: "pin-again",
    type: "password",
    inputmode: "numeric",
    autocomplete: "off",
    maxlength: 12,
  });
  const told = h("p", { class: "told", role: "alert" });
  const send = h("button", { type: "submit", class: "main", "data-do": "send" }, words("pit.send"));
  let mine = number();
  item = about;
  sending = null;
  onBack = onSent = () => {};

  dialog.replaceChildren(
    h(
      "form",
      {
        submit: (event) => {
          event.preventDefault();
          go();
        },
      },
      h("h2", { id: "asked" }, answer.text),
      h(
        "p",
        { class: "soft" },
        `${place.name} · ${place.title}`,
        !answer.open && preset.round ? ` · ${words("display.round", { round: preset.round })}` : "",
      ),
      answer.about && h("p", {}, answer.about),
      rows.map(({ field, widget: each }) => row(field, each, folded(field, open, preset))),
      answer.two && h("p", { class: "soft second" }, words("pit.two_persons")),
      answer.may_take_two && h("p", { class: "soft second" }, words("pit.may_take_two")),
      form.grave &&
        h(
          "fieldset",
          { class: "again" },
          h("legend", {}, words("pit.pin_again")),
          h("label", { class: "hidden", for: "pin-again" }, words("pit.pin")),
          pin,
          pad(pin),
        ),
      told,
      h("div", { class: "answers" }, send, close()),
    ),
  );
  show();
  // where there is a keyboard it can be used at once; a tablet's own would cover the page
  const first =
    matchMedia("(pointer: fine)").matches &&
    dialog.querySelector("fieldset input, fieldset button");
  (first || (form.grave || rows.length ? dialog : send)).focus();

  async function go() {
    if (sending !== null) return;
    const fields = answer.open ? { ...preset } : preset;
    const currency =
      rows.find(({ field }) => field.name === "currency")?.widget.value() ?? place.currency;
    for (const { field, widget: each } of rows) {
      const value = each.value(currency);
      if (Number.isNaN(value) && field.kind === "amount") {
        return tell(
          `${field.text}: ${words("pit.amount", { example: (5).toFixed(digits(currency)), currency })}`,
        );
      }
      if (value === undefined) delete fields[field.name];
      else fields[field.name] = value;
      if (field.required && value === undefined) {
        return tell(`${field.text}: ${words("pit.needed")}`);
      }
    }
    const touch = latestTouch();
    const given = {
      number: mine,
      table: place.table,
      text: answer.text,
      boot: place.boot,
      seq: place.seq,
    };
    const withdrawn = new AbortController();
    sending = mine;
    send.disabled = true;
    tell(words("pit.sending"), "sent");
    begun(given);
    onSent = () => tell(words("pit.sent"), "sent");
    onBack = () => leave(given, withdrawn);
    const body = {
      number: mine,
      table: place.table,
      command: answer.command,
      fields,
      pin: form.grave ? pin.value : null,
    };
    pin.value = "";
    answered(
      given,
      await answerTo(
        body,
        touch,
        withdrawn.signal,
        () => sending === given.number && leave(given, withdrawn),
      ),
    );
  }

  /**
   * The person goes on without an answer, and is told what is known of the touch, beside the
   * tables.
   */
  function leave(given, withdrawn) {
    withdrawn.abort();
    begun({ ...given, lost: true });
    sending = null;
    onBack = onSent = () => {};
    hide();
    window.dispatchEvent(new Event("novamas-touched"));
  }

  function answered(given, { status, body, again }) {
    // of a session that is over nobody knows what became of it, unless it was never tried
    if (status === 401 && !again) settled(given.number);
    if (status === 401) return location.reload();
    const here = sending === given.number; // else the person has gone on
    if (here) {
      sending = null;
      send.disabled = false;
      onBack = onSent = () => {};
    }
    const done = status === 200 && !body.denied;
    const pending = done && ["sending", "sent", "unknown"].includes(body.how);
    const why = status === TOO_LATE ? words("pit.late") : (body?.text ?? words("pit.refused"));
    if (!pending && here) settled(given.number);
    else if (!pending) settled(given.number, done ? became(body) : why);
    if (here && done) outcome(body);
    else if (here) refused(status, body, why);
    window.dispatchEvent(new Event("novamas-touched"));
  }

  function refused(status, body, why) {
    if (status === TOO_LATE) mine = number(); // the next touch is another one
    tell(why);
    if (body?.denied === "locked" || body?.denied === "not_enrolled") {
      setTimeout(() => location.reload(), 4000);
    }
  }

  function outcome(body) {
    if (["followed", "unknown", "waiting"].includes(body.how)) return hide();
    tell(became(body));
    mine = number(); // the next touch is another one
    item = null; // the answer stays to be read, though what it was about may be gone
    if (body.wait) countdown(body.wait);
  }

  function countdown(wait) {
    let seconds = wait;
    send.disabled = true;
    const tick = () => {
      if (seconds <= 0) {
        send.disabled = false;
        return tell("");
      }
      tell(words("pit.wait", { seconds }));
      seconds -= 1;
      setTimeout(tick, 1000);
    };
    tick();
  }

  function tell(text, kind = "") {
    told.textContent = text;
    told.className = `told ${kind}`;
  }
}

/** What became of a touch, in words. */
export const became = ({ how, why }) => [words(`pit.${how}`), why].filter(Boolean).join(": ");

const SHORT = ["choice", "hand", "amount", "round", "number", "card", "cards"];

/** Whether a field is put away until it is wanted: a form has few that matter most of the time. */
const folded = (field, fields, preset) =>
  !field.required &&
  !SHORT.includes(field.kind) &&
  !(field.name in preset) &&
  fields.some((each) => each.required);

function row(field, each, away) {
  if (away) {
    return h("details", { "data-field": field.name }, h("summary", {}, field.text), each.element);
  }
  return h(
    "fieldset",
    { "data-field": field.name },
    h(
      "legend",
      {},
      field.text,
      field.required && h("span", { class: "soft" }, ` · ${words("pit.needed")}`),
    ),
    each.element,
  );
}

/** What a field says where the person has not said anything. */
function start(field, place) {
  if (field.name === "minimum") return place.minimum ?? undefined;
  if (field.name === "currency") return place.currency ?? undefined;
  if (field.kind === "name") return page.name;
  return undefined;
}

/**
 * The answer of the server; asked again for the same touch until it comes, which sends nothing
 * twice. `onLost()`: it has not come for too long. Once the person has gone on it is asked only
 * when the server gives the command no more, so that it is not given then.
 */
async function answerTo(body, touch, withdrawn, onLost) {
  for (let again = false; ; again = true) {
    if (withdrawn.aborted) await pause(Math.max(0, LATE + AGAIN - age(touch)));
    const answer = await post("/pit/command", body, {
      touch,
      signal: withdrawn.aborted ? undefined : withdrawn,
    });
    if (answer.status !== 0 && answer.status < 500) return { ...answer, again };
    await pause(AGAIN);
    if (age(touch) > UNANSWERED) onLost();
  }
}

const age = (touch) => performance.now() - touch.at;

// Browsers of 2021 have no modal dialogs: there nothing else of the page can be touched meanwhile.
function show() {
  if (asking()) return;
  if (dialog.showModal) return dialog.showModal();
  dialog.setAttribute("open", "");
  document.body.classList.add("asking");
}

function hide() {
  if (dialog.close) return dialog.close();
  dialog.removeAttribute("open");
  document.body.classList.remove("asking");
}
