// How the meter of a jackpot moves: digits that changed roll in, and a hit takes the screen.

import { animate, ghost, interrupt, isStill } from "./motion.js";
import { soundHit } from "./sound.js";

const ROLL_MS = 500;
const ROLL_INTERVAL_MS = 40;
const HIT_MS = 4000;

/** Draw the meters within `root`, with `redraw`, and move what has changed. */
export function rolling(root, redraw) {
  const digits = new Set(root.querySelectorAll(".digit"));
  const hits = new Set(root.querySelectorAll(".won"));
  redraw();
  // what is not current, or was withdrawn, does not fill the screen
  if (root.querySelector(".before") || [...hits].some((hit) => !hit.isConnected)) {
    interrupt(root);
  }
  const isHit =
    document.body.classList.contains("page-jackpot") &&
    digits.size > 0 &&
    [...root.querySelectorAll(".won")].some((hit) => !hits.has(hit));
  if (isHit) soundHit();
  if (isStill() || digits.size === 0) return;
  const added = [...root.querySelectorAll(".digit")].filter((digit) => !digits.has(digit));
  added.forEach((digit, index) =>
    animate(digit, [{ transform: "translateY(115%)", opacity: 0.3 }, {}], {
      delay: ROLL_INTERVAL_MS * (added.length - 1 - index),
      duration: ROLL_MS,
      easing: "cubic-bezier(0.2, 0.8, 0.3, 1.1)",
      fill: "backwards",
    }),
  );
  if (isHit) takeScreen(root.querySelector(".won"));
}

/** Fill the screen with what a hit's element shows. */
function takeScreen(element) {
  const hit = element.cloneNode(true);
  hit.className = "hit";
  const easing = "cubic-bezier(0.2, 1.2, 0.3, 1)";
  ghost(
    hit,
    new DOMRect(0, 0, innerWidth, innerHeight),
    [
      { transform: "scale(0.2)", opacity: 0, easing },
      { transform: "none", opacity: 1, offset: 0.12 },
      { transform: "none", opacity: 1, offset: 0.9, easing: "ease-in" },
      { transform: "scale(0.9)", opacity: 0 },
    ],
    { duration: HIT_MS },
  );
}
