// The server's own clock, as the beats of its streams tell it, and from which beat on a touch is
// counted. The clock of this machine may be wrong, or stand still while it sleeps: nothing is
// decided by it.

const KEPT = 8; // a touch that waited in the browser is older than the latest of them
const beats = [];
let last = 0; // when this page was touched last, on its clock that only goes forward

/** A beat came: its text, and the server's time in milliseconds since 1970. */
export function onBeat([text, time]) {
  beats.push({ text, time, at: performance.now() });
  if (beats.length > KEPT) beats.shift();
}

/**
 * The server's time, as milliseconds since 1970, at a moment of `performance.now()`; null where it
 * is not known.
 */
export function serverTime(at = performance.now()) {
  const newest = beats[beats.length - 1];
  return newest ? newest.time + at - newest.at : null;
}

/** The same as the wire writes times. */
export function serverTimeText(at) {
  const time = serverTime(at);
  return time === null ? null : new Date(time).toISOString();
}

for (const kind of ["click", "keydown", "change"]) {
  addEventListener(
    kind,
    ({ timeStamp }) => {
      last = Math.min(timeStamp, performance.now());
    },
    true,
  );
}

/**
 * A touch of this page, its latest if no other moment of `performance.now()` is given. `headerOf`
 * says what its requests tell of its age: the newest beat that was there before it, and how many
 * milliseconds after that it came. That stays the same however often a request is made for it;
 * empty as long as no beat has come.
 */
export const touch = (at = last) => ({ at, header: "" });

export function headerOf(of) {
  const before = beats.filter((each) => each.at <= of.at).pop() ?? beats[0];
  if (!of.header && before) of.header = `${before.text} ${Math.round(of.at - before.at)}`;
  return of.header;
}
