// The touches of this page that have no answer yet, kept through a reload: a command whose answer
// was lost is told until the person has read it, whatever happens to the page or the server.

const KEY = "novamas-touches";
const READ = "novamas-read";

const stored = (key) => JSON.parse(sessionStorage.getItem(key) ?? "[]");

/** The touches without an answer. */
export const remember = () => stored(KEY);

/** Keep a touch until `settled`, or until the person has read what became of it. */
export function begun(touch) {
  sessionStorage.setItem(
    KEY,
    JSON.stringify([...stored(KEY).filter((each) => each.number !== touch.number), touch]),
  );
}

/**
 * It has an answer. Whoever went on without it is told `why`, what became of it, until that has
 * been read.
 */
export function settled(number, why) {
  const left = stored(KEY).find((each) => each.number === number && each.lost && !each.why);
  if (left && why) begun({ ...left, why });
  else drop((each) => each.number === number && !each.why);
}

function drop(which) {
  if (stored(KEY).some(which)) {
    sessionStorage.setItem(KEY, JSON.stringify(stored(KEY).filter((each) => !which(each))));
  }
}

/** The person has read what became of it. */
export function forget(number) {
  drop((each) => each.number === number);
  sessionStorage.setItem(READ, JSON.stringify([...stored(READ), number].slice(-200)));
}

export const forgotten = (number) => stored(READ).includes(number);
