// What turns about the middle of a ring, and comes to rest as it is drawn.

import { animate, isStill } from "./motion.js";

const RPM = 20; // at a playback rate of 1

/** A part that turns. `find()` returns its element, or null. */
export class Turning {
  constructor(find) {
    this.find = find;
    this.sign = 1;
    this.start = 0; // degrees
    /** @type {Animation | null} */
    this.animation = null;
  }

  get turns() {
    return this.animation !== null;
  }

  /** Degrees, as drawn while nothing turns. */
  get drawn() {
    const element = this.find();
    const transform = element?.getAttribute("transform") ?? element?.style.transform ?? "";
    return Number(/rotate\((-?[\d.]+)/.exec(transform)?.[1] ?? 0);
  }

  /** Degrees, now. */
  get angle() {
    const done = this.animation?.effect?.getComputedTiming().progress ?? 0;
    return this.start + this.sign * 360 * done;
  }

  turn(rpm, sign) {
    const element = this.find();
    if (!element) return;
    const animation = this.animation;
    const target = /** @type {KeyframeEffect | null} */ (animation?.effect ?? null)?.target;
    if (!animation || target !== element || sign !== this.sign) {
      this.start = animation ? this.angle : this.drawn;
      animation?.cancel();
      this.sign = sign;
      this.animation = element.animate(
        [
          { transform: `rotate(${this.start}deg)`, opacity: 1 },
          { transform: `rotate(${this.start + sign * 360}deg)`, opacity: 1 },
        ],
        { duration: 60_000 / RPM, iterations: Infinity },
      );
    }
    // each change costs the browser a new layer of its compositor
    if (this.animation && this.animation.playbackRate !== rpm / RPM) {
      this.animation.updatePlaybackRate(rpm / RPM);
    }
  }

  /** Come to rest as drawn within `ms`, always forward, and stay there for `shown` more. */
  rest(ms, shown = 0) {
    if (!this.animation) return;
    const { angle, sign, drawn } = this;
    const element = this.find();
    this.stop();
    if (!element || isStill()) return;
    const ahead = ((((drawn - angle) * sign) % 360) + 360) % 360;
    const end = angle + sign * (ahead < 90 ? ahead + 360 : ahead);
    const easing = "cubic-bezier(0.1, 0.6, 0.3, 1)";
    const last = { transform: `rotate(${end}deg)`, opacity: 1 };
    animate(
      element,
      [
        { transform: `rotate(${angle}deg)`, opacity: 1, easing },
        { ...last, offset: ms / (ms + shown) },
        last,
      ],
      { duration: ms + shown },
    );
  }

  stop() {
    this.animation?.cancel();
    this.animation = null;
  }
}
