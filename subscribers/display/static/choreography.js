// How a table's picture moves from one state to the next. What happened is read from the pictures;
// what moves is found by what it is, so that a game decides alone where it is drawn.

import { animate, from, ghost, glide, interrupt, isStill, places } from "./motion.js";
import { Rotor } from "./rotor.js";
import { soundClosed } from "./sound.js";

const SHOWN_MS = 3000; // a number alone, before it joins the latest
const FLIGHT_MS = 600;
const DEAL_MS = 420;
const DEAL_INTERVAL_MS = 110;
const TURN_MS = 320;
const CORRECTION_MS = 1600;
const CALL_MS = 700;
const LARGE = "translateY(-4%) scale(1.1)"; // of a number, as far as its word leaves room
const SOFT = "cubic-bezier(0.2, 0.7, 0.2, 1)";

/** What happened between two pictures of a table: `{what, round}`. */
export function happened(before, after) {
  if (!before?.body || !after?.body || before.view !== after.view) return [];
  if (before.trouble || after.trouble || before.session !== after.session) return [];
  const found = [];
  if (after.closed && !before.closed) found.push({ what: "closed" });
  if (isOpen(after) && !isOpen(before)) found.push({ what: "open" });
  const [was, last] = [before.body.last, after.body.last];
  if (last && !last.corrected && isAnother(was, last)) {
    found.push({ what: "result", round: last.round });
  }
  for (const spin of after.body.spins ?? []) {
    const old = before.body.spins.find((each) => each.round === spin.round);
    if (old?.kind === "result" && spin.kind === "result" && old.number !== spin.number) {
      found.push({ what: "corrected", round: spin.round });
    }
  }
  const ended = after.body.finish?.ended;
  if (ended && ended.label !== before.body.finish?.ended?.label) found.push({ what: "ended" });
  return found;
}

function isTurned(card, faces) {
  return faces.get(card) && !card.classList.contains("down");
}

function isOpen(picture) {
  return ["bets_open", "antes"].includes(picture.phase.id);
}

/**
 * Whether a result is another one. Its round is null while the event is known and the state is not
 * yet.
 */
function isAnother(was, last) {
  if (last.round === null) return false;
  if (!was) return true;
  return was.round === null ? was.number !== last.number : was.round !== last.round;
}

/** The motion of one table's picture within `root`. */
export class Choreography {
  constructor(root) {
    this.root = root;
    this.rotor = new Rotor(root);
  }

  onMotion(motion) {
    this.rotor.onMotion(motion);
  }

  /** Draw the picture `after`, with `redraw`, and move what differs from the one before. */
  show(before, after, redraw) {
    const isCurrent = !after.trouble;
    const all = happened(before, after);
    if (all.some(({ what }) => what === "closed")) soundClosed();
    const found = isStill() ? [] : all;
    if (!isCurrent || found.some(({ what }) => what !== "closed")) interrupt(this.root);
    const cards = isStill() || !isCurrent ? new Map() : places(this.all(".card:not(.slot)"));
    const faces = new Map([...cards.keys()].map((card) => [card, card.classList.contains("down")]));
    const tiles = found.length ? places(this.all(".lane > .chip")) : new Map();
    const old = found
      .filter(({ what }) => what === "corrected")
      .map(({ round }) => this.tile(round)?.cloneNode(true));
    redraw();
    this.rotor.setCurrent(isCurrent);
    if (isStill() || !isCurrent || !before) return;
    this.cards(cards, faces);
    for (const { what, round } of found) {
      if (what === "result") this.result(round, tiles);
      if (what === "corrected") this.corrected(round, old.shift(), tiles);
      if (what === "closed" || what === "open") this.call();
      if (what === "ended") this.pop(".ended");
    }
  }

  /** A number: the ring brakes, the number fills the middle, and its tile flies to the others. */
  result(round, tiles) {
    this.rotor.onResult();
    const tile = this.tile(round);
    tiles.delete(tile);
    glide(tiles, { duration: FLIGHT_MS, easing: SOFT });
    const number = this.root.querySelector(".ring .number, .face .number");
    if (number) {
      animate(
        number,
        [
          { transform: "scale(0.7)", easing: SOFT },
          { transform: LARGE, offset: 0.2 },
          { transform: LARGE, offset: 0.85, easing: "ease-in" },
          { transform: "scale(1)" },
        ],
        { duration: SHOWN_MS + FLIGHT_MS / 2 },
      );
    }
    const middle = this.root.querySelector("[data-part=disc]");
    if (tile && middle) {
      const start = from(middle.getBoundingClientRect(), tile.getBoundingClientRect());
      animate(
        tile,
        [
          { transform: start, opacity: 0 },
          { transform: start, opacity: 0.9, offset: 0.05, easing: SOFT },
          { transform: "none", opacity: 1 },
        ],
        { delay: SHOWN_MS, duration: FLIGHT_MS, fill: "backwards" },
      );
    }
    this.all(".thrown .die").forEach((die, index) =>
      animate(
        die,
        [
          { transform: `translateY(-60%) rotate(${index % 2 ? -400 : 320}deg)` },
          { transform: "none" },
        ],
        { duration: FLIGHT_MS + 120 * index, easing: SOFT },
      ),
    );
  }

  /** The old number turns over, struck through. */
  corrected(round, old, tiles) {
    const tile = this.tile(round);
    if (!tile || !old) return;
    const was = tiles.get(tile) ?? tile.getBoundingClientRect();
    old.classList.add("struck");
    const flip = (degrees) => `perspective(40em) rotateX(${degrees}deg)`;
    const half = { offset: 0.7, easing: "ease-in" };
    ghost(
      old,
      was,
      [{ transform: flip(0) }, { transform: flip(0), ...half }, { transform: flip(90) }],
      { duration: CORRECTION_MS },
    );
    animate(tile, [{ transform: flip(-90), easing: "ease-out" }, { transform: flip(0) }], {
      delay: CORRECTION_MS,
      duration: TURN_MS,
      fill: "backwards",
    });
  }

  /** The call at the table floods its line. */
  call() {
    const strip = this.root.querySelector(".strip");
    if (!strip) return;
    const backgroundImage = "linear-gradient(#fff9, #fff3)";
    const backgroundRepeat = "no-repeat";
    const flood = { backgroundImage, backgroundRepeat };
    animate(
      strip,
      [
        { ...flood, backgroundSize: "0 100%", backgroundPosition: "0 0", easing: SOFT },
        { ...flood, backgroundSize: "100% 100%", backgroundPosition: "0 0", offset: 0.6 },
        { ...flood, backgroundSize: "100% 0", backgroundPosition: "0 100%" },
      ],
      { duration: CALL_MS },
    );
  }

  pop(selector) {
    const element = this.root.querySelector(selector);
    if (!element) return;
    animate(
      element,
      [{ transform: "scale(0.92)" }, { transform: "scale(1.03)" }, { transform: "none" }],
      { duration: CALL_MS, easing: SOFT },
    );
  }

  /**
   * Cards that came are dealt from the corner of the shoe, those that were turned turn, those that
   * left are gathered there. `before`: where each was, `faces`: whether it was face down.
   */
  cards(before, faces) {
    const now = this.all(".card:not(.slot)");
    const left = [...before].filter(([card, was]) => !card.isConnected && was.width > 0);
    const moved = now.filter((card) => !before.has(card) || isTurned(card, faces));
    if (!moved.length && !left.length) return;
    const table = this.root.getBoundingClientRect();
    const shoe = new DOMRect(table.right - 40, table.top, 40, 56);
    let dealt = 0;
    for (const card of moved) {
      if (!before.has(card)) {
        const start = `${from(shoe, card.getBoundingClientRect())} rotate(-40deg)`;
        animate(card, [{ transform: start }, {}], {
          delay: DEAL_INTERVAL_MS * dealt,
          duration: DEAL_MS,
          easing: SOFT,
          fill: "backwards",
        });
        dealt += 1;
      } else {
        animate(card, [{ scale: "0 1" }, { scale: "1 1" }], { duration: TURN_MS, easing: SOFT });
      }
    }
    for (const [card, was] of left) {
      ghost(card, was, [{ opacity: 1 }, { transform: from(shoe, was), opacity: 0 }], {
        duration: DEAL_MS,
        easing: "ease-in",
      });
    }
  }

  tile(round) {
    return this.root.querySelector(`.lane[data-key="${round}"] > .chip`);
  }

  all(selector) {
    return [...this.root.querySelectorAll(selector)];
  }
}
