// The server's clock, taken from the beats of its streams. Touches are dated by the beat before
// them, since the clock of this machine may be wrong, or stop while it sleeps.

const MAX_BEATS = 8; // enough for a touch that waited in the browser
const beats = [];
let lastTouched = 0; // when this page was touched last, on its clock that only goes forward

/** Store a beat: its text, and the server's time in milliseconds since 1970. */
export function onBeat([text, time]) {
  beats.push({ text, time, at: performance.now() });
  if (beats.length > MAX_BEATS) beats.shift();
}

/**
 * The server's time, as milliseconds since 1970, at a moment of `performance.now()`; null where it
 * is not known.
 */
export function serverTime(at = performance.now()) {
  const newest = beats[beats.length - 1];
  return newest ? newest.time + at - newest.at : null;
}

/** `serverTime` as the wire writes times: ISO 8601, UTC. */
export function serverTimeText(at) {
  const time = serverTime(at);
  return time === null ? null : new Date(time).toISOString();
}

for (const kind of ["click", "keydown", "change"]) {
  addEventListener(
    kind,
    ({ timeStamp }) => {
      lastTouched = Math.min(timeStamp, performance.now());
    },
    true,
  );
}

/**
 * A touch of this page, its latest if no other moment of `performance.now()` is given. `headerOf`
 * gives its age for the request's header: the last beat before it, and the milliseconds since that
 * beat. The header is the same for every retry; it is empty until the first beat.
 */
export const touch = (at = lastTouched) => ({ at, header: "" });

export function headerOf(moment) {
  const before = beats.filter((beat) => beat.at <= moment.at).pop() ?? beats[0];
  if (!moment.header && before) {
    moment.header = `${before.text} ${Math.round(moment.at - before.at)}`;
  }
  return moment.header;
}
