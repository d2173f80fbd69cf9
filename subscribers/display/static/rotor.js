// The ring of a wheel as its rotor turns, and its ball, from the messages about what moves. At rest
// the place of the last number is at the top, as the picture draws it.

import { isStill } from "./motion.js";
import { Turning } from "./turning.js";

const SILENCE_MS = 2000; // a message comes each second: the next one is a second overdue
const BRAKE_MS = 600;
const COAST_MS = 1200;
const BALL_REST_MS = 3400;
const BALL_RPM = 75; // at its launch, and in steps fewer, since no wheel reports it
const MIN_BALL_RPM = 25;
const BALL_SLOWS_RPM = 10;
const BALL_SLOWS_SECONDS = 4;
const MAX_RPM = 300;
const PLAYED = ["bets_open", "ball_in_rim", "no_more_bets", "launched", "settling"];
const BALL_RUNS = ["ball_in_rim", "no_more_bets", "launched", "settling"];
const DIRECTIONS = { clockwise: 1, anticlockwise: -1 };

/** The rotor and the ball of the wheel that `root` shows, if it shows one. */
export class Rotor {
  constructor(root) {
    this.root = root;
    this.ring = new Turning(() => root.querySelector("[data-part=rotor]"));
    this.ball = new Turning(() => root.querySelector("[data-part=ball]"));
    this.current = false;
    this.held = false; // a result is shown, and the wheel has not begun the next game
    /** @type {number | undefined} */
    this.silence = undefined;
  }

  /** The picture is current or not: where it is not, nothing moves. */
  setCurrent(current) {
    if (this.current && !current) this.stop();
    this.current = current;
  }

  /** Follow a message about what moves; one that is not credible is ignored. */
  onMotion(motion) {
    if (!isCredible(motion)) return;
    clearTimeout(this.silence);
    if (isStill() || !this.current) return this.stop();
    this.mark("silent", false);
    const { phase, rpm, launched } = motion;
    if (["bets_open", "ball_in_rim", "launched"].includes(phase)) this.held = false;
    const sign = DIRECTIONS[motion.direction] ?? 1;
    if (this.held || !rpm) this.ring.rest(COAST_MS);
    else if (PLAYED.includes(phase) || this.ring.turns) this.ring.turn(rpm, sign);
    if (launched !== null && BALL_RUNS.includes(phase) && !this.held) {
      const slower = BALL_SLOWS_RPM * Math.floor(launched / BALL_SLOWS_SECONDS);
      this.ball.turn(Math.max(MIN_BALL_RPM, BALL_RPM - slower), -sign);
    } else this.ball.stop();
    this.mark("moving", this.ring.turns);
    if (rpm || this.ball.turns) {
      this.silence = setTimeout(() => this.onSilence(), SILENCE_MS);
    }
  }

  /** A number was drawn: the ring brakes with its place under the pointer, and the ball with it. */
  onResult() {
    this.held = true;
    this.mark("moving", false);
    this.ring.rest(BRAKE_MS);
    this.ball.rest(BRAKE_MS, BALL_REST_MS);
  }

  onSilence() {
    if (this.ring.turns) this.mark("silent", true);
    this.mark("moving", false);
    this.ring.rest(COAST_MS);
    this.ball.stop();
  }

  stop() {
    clearTimeout(this.silence);
    this.ring.stop();
    this.ball.stop();
    this.mark("moving", false);
    this.mark("silent", false);
  }

  mark(name, on) {
    this.root.querySelector(".ring")?.toggleAttribute(`data-${name}`, on);
  }
}

function isCredible(motion) {
  const { phase, rpm, direction, launched } = motion ?? {};
  const isRpm = rpm === null || (Number.isFinite(rpm) && rpm >= 0 && rpm <= MAX_RPM);
  const isAge = launched === null || (Number.isFinite(launched) && launched >= 0);
  return (
    typeof phase === "string" &&
    isRpm &&
    isAge &&
    (direction === null || Object.keys(DIRECTIONS).includes(direction))
  );
}
