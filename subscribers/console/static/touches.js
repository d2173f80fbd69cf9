// Touches without a reply, stored across reloads: a command whose reply was lost is shown until the
// person has read it, whatever happens to the page or the server.

const PENDING_KEY = "novamas-touches";
const READ_KEY = "novamas-read";

const stored = (key) => JSON.parse(sessionStorage.getItem(key) ?? "[]");

/** The stored touches. */
export const remember = () => stored(PENDING_KEY);

/** Store a touch until `settled`, or until the person has read its outcome. */
export function begun(touch) {
  sessionStorage.setItem(
    PENDING_KEY,
    JSON.stringify([...stored(PENDING_KEY).filter((each) => each.number !== touch.number), touch]),
  );
}

/**
 * Remove a touch that has a reply. If its dialog was closed before, keep it with its outcome `why`
 * until that has been read.
 */
export function settled(number, why) {
  const left = stored(PENDING_KEY).find((each) => each.number === number && each.lost && !each.why);
  if (left && why) begun({ ...left, why });
  else drop((each) => each.number === number && !each.why);
}

function drop(which) {
  if (stored(PENDING_KEY).some(which)) {
    sessionStorage.setItem(
      PENDING_KEY,
      JSON.stringify(stored(PENDING_KEY).filter((each) => !which(each))),
    );
  }
}

/** Remove a touch whose outcome the person has read. */
export function forget(number) {
  drop((each) => each.number === number);
  sessionStorage.setItem(READ_KEY, JSON.stringify([...stored(READ_KEY), number].slice(-200)));
}

export const forgotten = (number) => stored(READ_KEY).includes(number);
