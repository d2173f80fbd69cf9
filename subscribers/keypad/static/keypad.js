// The keypad of a table, for touch and keyboard. A key without a reply is shown as lost until the
// next key; nothing is resent automatically.

import { byId } from "../../static/base.js";
import { touch } from "../../static/beats.js";
import { connectAlone } from "../../static/connection.js";
import { cached, h, put } from "../../static/drawing.js";
import { request, TOO_LATE } from "../../static/request.js";

const page = JSON.parse(byId("page").textContent);
const main = byId("main");
const LAYOUT = [
  ["lock", "divide", "times", "minus"],
  ["7", "8", "9", "plus"],
  ["4", "5", "6", "clear"],
  ["1", "2", "3", "enter"],
  ["0", "point"],
];
const SIGNS = {
  divide: "÷",
  times: "×",
  minus: "−",
  plus: "+",
  clear: "⌫",
  enter: "⏎",
  point: ".",
};
const KEYBOARD = {
  "/": "divide",
  "*": "times",
  "-": "minus",
  "+": "plus",
  Backspace: "clear",
  Enter: "enter",
  ".": "point",
  ",": "point",
  NumLock: "lock",
};
const TONES = { done: [880, 0.12], refused: [220, 0.35], unknown: [330, 0.6] };
const DEADLINE_MS = 5000;

/** @type {any} */
let shown = null; // the picture that the server sent last
/** @type {{id: string, key: string} | null} */
let pendingKey = null; // the key that the server has not confirmed yet
let lostText = null; // the message about a key that did not arrive
let disconnected = false; // the server is silent
let lastFeedbackCount = null;
/** @type {AudioContext | null} */
let audio = null;

const words = (key) => page.words[key] ?? key;

function beep(name) {
  const tone = TONES[name];
  if (!tone || !audio) return;
  const oscillator = audio.createOscillator();
  oscillator.frequency.value = tone[0];
  oscillator.connect(audio.destination);
  oscillator.start();
  oscillator.stop(audio.currentTime + tone[1]);
}

/** The status of the response; 0 if there was none. */
async function post(path, body) {
  const { status } = await request(`/keypad/${page.table}/${path}`, {
    body,
    token: page.token,
    touch: touch(),
    deadline: DEADLINE_MS,
  });
  return status;
}

async function press(key) {
  audio ??= new AudioContext();
  if (!shown || disconnected) return beep("unknown");
  if (shown.locked) {
    if (key !== "lock") return;
    const status = await post("unlock", {});
    lostText =
      status === 200 ? null : words(status === TOO_LATE ? "keypad.late" : "keypad.not_arrived");
    return draw();
  }
  if (pendingKey) return beep("refused");
  lostText = null;
  pendingKey = { id: [...crypto.getRandomValues(new Uint32Array(4))].join("-"), key };
  draw();
  const status = await post("press", { id: pendingKey.id, key });
  if (status === 401) return location.reload();
  if (status === 200) pendingKey = null;
  else if (status === TOO_LATE) missed("keypad.late");
  else if (status !== 0) missed();
  else if (!disconnected) setTimeout(() => pendingKey && !disconnected && missed(), DEADLINE_MS);
  draw();
}

/** Report that the key did not arrive: the person may press it again. */
function missed(why = "keypad.not_arrived") {
  if (shown?.last !== pendingKey?.id) lostText = words(why);
  pendingKey = null;
  beep("unknown");
  draw();
}

const keys = h("div");

function draw() {
  if (!shown) {
    return put(
      main,
      disconnected ? [output({ state: "unknown", text: words("trouble.no_server") })] : [],
    );
  }
  const text = disconnected ? words("trouble.no_server") : (lostText ?? shown.feedback);
  const state = disconnected || lostText || shown.sound === "unknown" ? "unknown" : shown.sound;
  keys.className = shown.locked ? "keys locked" : "keys";
  put(
    keys,
    LAYOUT.flat().map((key) => cached(key, appearance(key), (parts) => button(key, parts))),
  );
  put(main, [
    cached(
      "header",
      { phase: shown.phase, current: shown.current && !disconnected, usb: shown.usb },
      header,
    ),
    cached("feedback", { state, text }, output),
    cached("typed", shown.typed, (typed) =>
      h("p", { class: "typed", "aria-live": "polite" }, typed || " "),
    ),
    keys,
  ]);
}

function header({ phase, current, usb }) {
  return h(
    "header",
    {},
    h("h1", {}, page.table),
    h("p", { class: current ? "phase" : "phase before" }, phase),
    h("p", { class: "person" }, page.name),
    usb && h("p", { class: "usb" }, usb),
  );
}

function output({ state, text }) {
  return h("output", { class: `told ${state}`, role: "status", "data-sound": state }, text || " ");
}

const isDigit = (key) => /^[0-9]$/.test(key);

/** The parts of a key that can change. */
function appearance(key) {
  const own = {
    lock: words(shown.locked ? "keypad.unlock" : "keypad.lock"),
    clear: words("keypad.clear"),
  };
  const meaning = (key === "lock" ? null : shown.keys[key]) ?? own[key] ?? null;
  return {
    meaning,
    disabled: disconnected || (shown.locked ? key !== "lock" : !isDigit(key) && !meaning),
    busy: pendingKey?.key === key,
  };
}

function button(key, { meaning, disabled, busy }) {
  return h(
    "button",
    {
      type: "button",
      class: `${isDigit(key) ? "digit" : "order"} key-${key}`,
      "data-key": key,
      disabled,
      "aria-busy": busy ? "true" : null,
      click: () => press(key),
    },
    h(
      "span",
      { class: "sign", "aria-hidden": meaning ? "true" : null },
      isDigit(key) ? key : (SIGNS[key] ?? ""),
    ),
    meaning && h("span", { class: "meaning" }, meaning),
  );
}

document.addEventListener("keydown", (event) => {
  const key = isDigit(event.key) ? event.key : KEYBOARD[event.key];
  if (!key || event.repeat || event.ctrlKey || event.altKey || event.metaKey) return;
  // a button that has the focus would be pressed by Enter too
  event.preventDefault();
  press(key);
});

function onPicture(picture) {
  shown = picture;
  if (pendingKey && shown.last === pendingKey.id) pendingKey = null;
  if (lastFeedbackCount !== null && shown.feedback_count !== lastFeedbackCount) beep(shown.sound);
  lastFeedbackCount = shown.feedback_count;
  draw();
}

function onLink(since) {
  disconnected = since !== null;
  if (disconnected) beep("unknown");
  else if (pendingKey) missed();
  draw();
}

connectAlone(() => `/keypad/${page.table}/stream`, { picture: onPicture }, onLink, loadAgain);
