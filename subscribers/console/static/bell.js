// A tone when new work waits. A browser allows sound only once its page was touched.

import { h } from "../../static/drawing.js";
import { play } from "../../static/tones.js";
import { words } from "./page.js";

const MUTED_KEY = "novamas-muted";
const URGENT_HERTZ = [880, 660, 880];
const WORK_HERTZ = [660, 880];
const URGENT = ["second", "fault"];
const SILENT = ["warning"];

/** @type {AudioContext | null} */
let audio = null;
/** @type {Set<string> | null} */
let known = null; // the items that were there at the last look; null before the first
let muted = localStorage.getItem(MUTED_KEY) !== null;

for (const kind of ["pointerdown", "keydown"]) {
  document.addEventListener(kind, () => {
    audio ??= new AudioContext();
    if (audio.state === "suspended") audio.resume();
  });
}

/** Ring if work has come since the last call. The first call rings for nothing. */
export function ringFor(items) {
  const added = items.filter((item) => known && !known.has(item.id) && !SILENT.includes(item.what));
  known = new Set(items.map((item) => item.id));
  if (added.length && !muted) {
    ring(added.some((item) => URGENT.includes(item.what)) ? URGENT_HERTZ : WORK_HERTZ);
  }
}

function ring(tones) {
  if (audio) play(audio, tones);
}

/** The button that mutes the bell, for this browser. Unmuting rings once, to be heard. */
export function bellButton() {
  const button = h("button", { type: "button", class: "bell", click: toggle });
  const draw = () => {
    button.textContent = words(muted ? "pit.bell_off" : "pit.bell_on");
    button.setAttribute("aria-pressed", String(!muted));
  };
  draw();
  return button;

  function toggle() {
    muted = !muted;
    if (muted) localStorage.setItem(MUTED_KEY, "");
    else localStorage.removeItem(MUTED_KEY);
    if (!muted) ring(WORK_HERTZ);
    draw();
  }
}
