// The dialog of a command: its text, the fields left to fill in, and the button that sends it. The
// touch gets one number when the dialog opens; however often it is retried, it is executed once.

import { touch as latestTouch } from "../../static/beats.js";
import { h } from "../../static/drawing.js";
import { pause, TOO_LATE } from "../../static/request.js";
import { onBadge } from "./badge.js";
import { change, corrected } from "./change.js";
import { widget } from "./fields.js";
import { pad } from "./pad.js";
import { digits, page, post, words } from "./page.js";
import { begun, settled } from "./touches.js";

const RETRY_MS = 700;
const PIN_KEPT_MS = 60_000; // after a refusal that is not about the PIN
const PATIENCE_MS = 5000; // then the dialog closes without a reply
// the server rejects commands whose touch is older
const COMMAND_EXPIRES_MS = page.late * 1000;
const dialog = h("dialog", { "aria-labelledby": "asked" });
document.body.append(dialog);
dialog.addEventListener("cancel", () => onBack());
let item = null;
/** @type {string | null} */
let sending = null; // the number of the touch whose reply is pending
let onBack = () => {};
let onSent = () => {};
let onRead = (_badge) => {};
onBadge((badge) => asking() && onRead(badge));

export const asking = () => dialog.hasAttribute("open");

/** The server has sent this touch to the table. */
export function sent(number) {
  if (number === sending) onSent();
}

/** Close the dialog if its item is gone, because another person has decided it. */
export function closeIfGone(isThere) {
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

/** Open the dialog and send its command. `answer`: the command and its preset fields. */
export function ask(place, answer, about) {
  const form = page.forms[answer.command];
  const offer = place.offers.find((each) => each.command === answer.command);
  const preset = { ...offer?.fields, ...answer.fields };
  const openFields = answer.open
    ? form.fields.filter(
        (field) => !offer?.leaves_out?.includes(field.name) && !answer.fixed?.includes(field.name),
      )
    : [];
  const rows = openFields.map((field) => ({
    field,
    widget: widget(field, place, offer, preset[field.name] ?? start(field, place)),
  }));
  const pin = h("input", {
    id: "pin-again",
    type: "password",
    inputmode: "none",
    autocomplete: "off",
    maxlength: 12,
  });
  const correction = h("div", {});
  const message = h("p", { class: "told", role: "alert" });
  const send = h("button", { type: "submit", class: "main", "data-do": "send" }, words("pit.send"));
  let touchNumber = number();
  let keepPin = () => {};
  item = about;
  sending = null;
  onBack = onSent = () => {};

  dialog.className = form.grave && rows.length ? "wide" : "";
  dialog.replaceChildren(
    h(
      "form",
      {
        submit: (event) => {
          event.preventDefault();
          go();
        },
        input: () => showCorrection(),
      },
      h("h2", { id: "asked" }, answer.text),
      h(
        "p",
        { class: "soft" },
        `${place.name} · ${place.title}`,
        !answer.open && preset.round ? ` · ${words("display.round", { round: preset.round })}` : "",
      ),
      answer.about && h("p", {}, answer.about),
      correction,
      h(
        "div",
        { class: "parts" },
        rows.length > 0 &&
          h(
            "div",
            {},
            rows.map(({ field, widget: each }) =>
              fieldRow(field, each, folded(field, openFields, preset)),
            ),
          ),
        form.grave &&
          h(
            "fieldset",
            { class: "again" },
            h("legend", {}, words(page.badge_signs ? "pit.badge_or_pin" : "pit.pin_again")),
            h("label", { class: "hidden", for: "pin-again" }, words("pit.pin")),
            pin,
            pad(pin),
          ),
      ),
      answer.two && h("p", { class: "soft second" }, words("pit.two_persons")),
      answer.may_take_two && h("p", { class: "soft second" }, words("pit.may_take_two")),
      message,
      h("div", { class: "answers" }, send, close()),
    ),
  );
  showCorrection();
  onRead = (badge) => {
    if (!form.grave) return;
    if (page.badge_signs) go(badge);
    else showMessage(words("pit.badge_needs_pin"));
  };
  show();
  // focus a field only where there is a real keyboard: a tablet's would cover the page
  const first =
    matchMedia("(pointer: fine)").matches &&
    dialog.querySelector("fieldset input, fieldset button");
  (first || (form.grave || rows.length ? dialog : send)).focus();

  /** What the fields would correct, as far as they are filled in. */
  function showCorrection() {
    const shown = answer.correction ?? corrected(answer.command, rows, place);
    correction.replaceChildren(...(shown ? [change(shown)] : []));
  }

  /** Send the command. `badge`: the one that was read, instead of the PIN. */
  async function go(badge = null) {
    if (sending !== null || send.disabled) return;
    const fields = answer.open ? { ...preset } : preset;
    const currency =
      rows.find(({ field }) => field.name === "currency")?.widget.value() ?? place.currency;
    for (const { field, widget: each } of rows) {
      const value = each.value(currency);
      if (Number.isNaN(value) && field.kind === "amount") {
        return showMessage(
          `${field.text}: ${words("pit.amount", { example: (5).toFixed(digits(currency)), currency })}`,
        );
      }
      if (value === undefined) delete fields[field.name];
      else fields[field.name] = value;
      if (field.required && value === undefined) {
        return showMessage(`${field.text}: ${words("pit.needed")}`);
      }
    }
    const touch = latestTouch();
    const record = {
      number: touchNumber,
      table: place.table,
      text: answer.text,
      boot: place.boot,
      seq: place.seq,
    };
    const withdrawn = new AbortController();
    sending = touchNumber;
    send.disabled = true;
    showMessage(words("pit.sending"), "sent");
    begun(record);
    onSent = () => showMessage(words("pit.sent"), "sent");
    onBack = () => leave(record, withdrawn);
    const body = {
      number: touchNumber,
      table: place.table,
      command: answer.command,
      fields,
      pin: form.grave && badge === null ? pin.value : null,
      badge,
    };
    const typed = pin.value;
    pin.value = "";
    keepPin = () => {
      pin.value = typed;
      pin.dataset.kept = "";
      setTimeout(() => "kept" in pin.dataset && forgetPin(), PIN_KEPT_MS);
    };
    answered(
      record,
      await answerTo(
        body,
        touch,
        withdrawn.signal,
        () => sending === record.number && leave(record, withdrawn),
      ),
    );
  }

  function forgetPin() {
    pin.value = "";
    delete pin.dataset.kept;
  }

  /**
   * Close the dialog without a reply. The known outcome of the touch is then shown beside the
   * tables.
   */
  function leave(record, withdrawn) {
    withdrawn.abort();
    begun({ ...record, lost: true });
    sending = null;
    onBack = onSent = () => {};
    hide();
    window.dispatchEvent(new Event("novamas-touched"));
  }

  function answered(record, { status, body, again }) {
    // if the session is over, the outcome is unknown, unless the touch was never tried
    if (status === 401 && !again) settled(record.number);
    if (status === 401) return location.reload();
    const here = sending === record.number; // else the person closed the dialog
    if (here) {
      sending = null;
      send.disabled = false;
      onBack = onSent = () => {};
    }
    const done = status === 200 && !body.denied;
    const pending = done && ["sending", "sent", "unknown"].includes(body.how);
    const why = status === TOO_LATE ? words("pit.late") : (body?.text ?? words("pit.refused"));
    if (!pending && here) settled(record.number);
    else if (!pending) settled(record.number, done ? became(body) : why);
    if (here && done) outcome(body);
    else if (here) refused(status, body, why);
    window.dispatchEvent(new Event("novamas-touched"));
  }

  function refused(status, body, why) {
    if (status === TOO_LATE) touchNumber = number(); // the next attempt is a new touch
    if (!body?.denied) keepPin();
    showMessage(why);
    if (body?.denied === "locked" || body?.denied === "not_enrolled") {
      setTimeout(() => location.reload(), 4000);
    }
  }

  function outcome(body) {
    if (["followed", "unknown", "waiting"].includes(body.how)) return hide();
    showMessage(became(body));
    keepPin();
    touchNumber = number(); // the next attempt is a new touch
    item = null; // keep the reply readable, though its item may be gone
    if (body.wait) countdown(body.wait);
  }

  function countdown(wait) {
    let seconds = wait;
    send.disabled = true;
    const tick = () => {
      if (seconds <= 0) {
        send.disabled = false;
        send.textContent = words("pit.send");
        return showMessage("");
      }
      send.textContent = `${words("pit.send")} · ${seconds} s`;
      showMessage(words("pit.wait", { seconds }));
      seconds -= 1;
      setTimeout(tick, 1000);
    };
    tick();
  }

  function showMessage(text, kind = "") {
    message.textContent = text;
    message.className = `told ${kind}`;
  }
}

/** The outcome of a touch, in words. */
export const became = ({ how, why }) => [words(`pit.${how}`), why].filter(Boolean).join(": ");

const SHORT = ["choice", "hand", "amount", "round", "number", "card", "cards"];

/** True for a field that starts folded: most forms need few of their fields. */
const folded = (field, fields, preset) =>
  !field.required &&
  !SHORT.includes(field.kind) &&
  !(field.name in preset) &&
  fields.some((each) => each.required);

function fieldRow(field, each, away) {
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

/** The initial value of a field. */
function start(field, place) {
  if (field.name === "minimum") return place.minimum ?? undefined;
  if (field.name === "currency") return place.currency ?? undefined;
  if (field.kind === "name") return page.name;
  return undefined;
}

/**
 * Return the server's reply, retrying the same touch until it comes; a touch is never executed
 * twice. `onLost()` is called if it takes too long. Once the person has closed the dialog, retry
 * only after the touch has expired, so that the command is not executed late.
 */
async function answerTo(body, touch, withdrawn, onLost) {
  for (let again = false; ; again = true) {
    if (withdrawn.aborted) await pause(Math.max(0, COMMAND_EXPIRES_MS + RETRY_MS - age(touch)));
    const answer = await post("/pit/command", body, {
      touch,
      signal: withdrawn.aborted ? undefined : withdrawn,
    });
    if (answer.status !== 0 && answer.status < 500) return { ...answer, again };
    await pause(RETRY_MS);
    if (age(touch) > PATIENCE_MS) onLost();
  }
}

const age = (touch) => performance.now() - touch.at;

// Browsers of 2021 have no modal dialogs: there, block the rest of the page by CSS.
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
