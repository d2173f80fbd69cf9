// How the meter of a jackpot moves: digits that changed roll in, and a hit takes the screen.

import { animate, isStill } from "./motion.js";

const ROLL_MS = 350;
const HIT_MS = 4000;

/** Draw the meters within `root`, with `redraw`, and move what has changed. */
export function rolling(root, redraw) {
  const digits = new Set(root.querySelectorAll(".digit"));
  const hits = new Set(root.querySelectorAll(".won"));
  redraw();
  if (isStill() || digits.size === 0) return;
  for (const digit of root.querySelectorAll(".digit")) {
    if (digits.has(digit)) continue;
    animate(digit, [{ transform: "translateY(0.5em)", opacity: 0.3 }, {}], {
      duration: ROLL_MS,
      easing: "ease-out",
    });
  }
  if (!document.body.classList.contains("page-jackpot")) return;
  for (const hit of root.querySelectorAll(".won")) if (!hits.has(hit)) takeScreen(hit);
}

/** Fill the screen with an element, then let it return to its place. */
function takeScreen(element) {
  const place = element.getBoundingClientRect();
  const x = innerWidth / 2 - place.left - place.width / 2;
  const y = innerHeight / 2 - place.top - place.height / 2;
  const large = Math.min((0.96 * innerWidth) / place.width, (0.9 * innerHeight) / place.height);
  const middle = `translate(${x}px, ${y}px)`;
  const boxShadow = "0 0 0 200vmax #000c";
  animate(
    element,
    [
      { transform: `${middle} scale(0.3)`, boxShadow, easing: "cubic-bezier(0.2, 1.2, 0.3, 1)" },
      { transform: `${middle} scale(${large})`, boxShadow, offset: 0.12 },
      { transform: `${middle} scale(${large})`, boxShadow, offset: 0.88, easing: "ease-in-out" },
      { transform: "none", boxShadow: "0 0 0 0 #0000" },
    ],
    { duration: HIT_MS },
  );
}
