// The keypad of a table, for fingers and for the keys of a keyboard. A key that got no answer says
// so until the person has seen it; nothing is sent again by itself.

import { byId } from "../../static/base.js";
import { touch } from "../../static/beats.js";
import { connectAlone } from "../../static/connection.js";
import { h, kept, put } from "../../static/drawing.js";
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
const PATIENCE = 5000;

/** @type {any} */
let told = null; // what the server said last
/** @type {{id: string, key: string} | null} */
let mine = null; // {id, key} of the key that has not been seen at the server yet
let lost = null; // the words for it, once it is known that it did not arrive
let deaf = false; // the server is not heard
let heard = null;
/** @type {AudioContext | null} */
let sound = null;

const words = (key) => page.words[key] ?? key;

function beep(name) {
  const tone = TONES[name];
  if (!tone || !sound) return;
  const oscillator = sound.createOscillator();
  oscillator.frequency.value = tone[0];
  oscillator.connect(sound.destination);
  oscillator.start();
  oscillator.stop(sound.currentTime + tone[1]);
}

/** The status of the answer; 0: none came. */
async function post(path, body) {
  const { status } = await request(`/keypad/${page.table}/${path}`, {
    body,
    token: page.token,
    touch: touch(),
    deadline: PATIENCE,
  });
  return status;
}

async function press(key) {
  sound ??= new AudioContext();
  if (!told || deaf) return beep("unknown");
  if (told.locked) {
    if (key !== "lock") return;
    const status = await post("unlock", {});
    lost =
      status === 200 ? null : words(status === TOO_LATE ? "keypad.late" : "keypad.not_arrived");
    return draw();
  }
  if (mine) return beep("refused");
  lost = null;
  mine = { id: [...crypto.getRandomValues(new Uint32Array(4))].join("-"), key };
  draw();
  const status = await post("press", { id: mine.id, key });
  if (status === 401) return location.reload();
  if (status === 200) mine = null;
  else if (status === TOO_LATE) missed("keypad.late");
  else if (status !== 0) missed();
  else if (!deaf) setTimeout(() => mine && !deaf && missed(), PATIENCE);
  draw();
}

/** The key did not arrive: the person presses it again, if it is still wanted. */
function missed(why = "keypad.not_arrived") {
  if (told?.last !== mine?.id) lost = words(why);
  mine = null;
  beep("unknown");
  draw();
}

const keys = h("div");

function draw() {
  if (!told) {
    return put(main, deaf ? [output({ state: "unknown", said: words("trouble.no_server") })] : []);
  }
  const said = deaf ? words("trouble.no_server") : (lost ?? told.told);
  const state = deaf || lost || told.sound === "unknown" ? "unknown" : told.sound;
  keys.className = told.locked ? "keys locked" : "keys";
  put(
    keys,
    LAYOUT.flat().map((key) => kept(key, looks(key), (look) => button(key, look))),
  );
  put(main, [
    kept("header", { phase: told.phase, current: told.current && !deaf, usb: told.usb }, header),
    kept("told", { state, said }, output),
    kept("typed", told.typed, (typed) =>
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

function output({ state, said }) {
  return h("output", { class: `told ${state}`, role: "status", "data-sound": state }, said || " ");
}

const isDigit = (key) => /^[0-9]$/.test(key);

/** What of a key can change. */
function looks(key) {
  const own = {
    lock: words(told.locked ? "keypad.unlock" : "keypad.lock"),
    clear: words("keypad.clear"),
  };
  const meaning = (key === "lock" ? null : told.keys[key]) ?? own[key] ?? null;
  return {
    meaning,
    disabled: deaf || (told.locked ? key !== "lock" : !isDigit(key) && !meaning),
    busy: mine?.key === key,
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

function take(picture) {
  told = picture;
  if (mine && told.last === mine.id) mine = null;
  if (heard !== null && told.heard !== heard) beep(told.sound);
  heard = told.heard;
  draw();
}

function lose(since) {
  deaf = since !== null;
  if (deaf) beep("unknown");
  else if (mine) missed();
  draw();
}

connectAlone(() => `/keypad/${page.table}/stream`, { picture: take }, lose, loadAgain);
