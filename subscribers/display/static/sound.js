// The sound of a display, with `?sound=1`: a tone when bets are closed, and at a hit. A browser
// allows it once its page was touched, or for a kiosk by a setting.

import { play } from "./tones.js";

const CLOSED = { tones: [523, 392], seconds: 0.35 };
const HIT = { tones: [523, 659, 784, 1047], seconds: 0.22 };

const wanted = new URLSearchParams(location.search).get("sound") === "1";
/** @type {AudioContext | null} */
let audio = null;

if (wanted) {
  audio = new AudioContext();
  for (const kind of ["pointerdown", "keydown"]) {
    document.addEventListener(kind, () => audio?.resume());
  }
}

/** Sound for *no va más*. */
export const soundClosed = () => sound(CLOSED);
/** Sound for a hit of a jackpot. */
export const soundHit = () => sound(HIT);

function sound({ tones, seconds }) {
  if (audio?.state === "running") play(audio, tones, seconds);
}
