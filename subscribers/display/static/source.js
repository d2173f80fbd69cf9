// A stream of the server's events. Without a sign of life for SILENCE it is made again, and again
// until the server is heard: of a connection whose other end is gone without a word, the browser
// says nothing. It runs in a page or in the worker that pages share.

export const SILENCE = 6000;
// between two attempts: a server that has too much to do would never come to answer one of them
const LONGEST = 60_000;
const LOOK = 500;
const AGAIN = 1000;

/**
 * `address()`: where the stream is, asked each time it is made. `onEvent(kind, data)` for each
 * event of these `kinds` and each beat. `onLost(true)` when the server is not heard; false when it
 * is again, and all that changed meanwhile was told. `onRefused()`: the server answers, but with no
 * stream; it is asked again. `lostAtFirst`: whether it counts as not heard at first.
 */
export function source(address, kinds, { onEvent, onLost, onRefused }, lostAtFirst = false) {
  let lost = lostAtFirst;
  let heard = performance.now();
  let next = heard + SILENCE;
  let patience = SILENCE;
  /** @type {EventSource | null} */
  let made = null;
  open();

  function open() {
    made?.close();
    const stream = new EventSource(address());
    made = stream;
    for (const kind of [...kinds, "beat"]) {
      stream.addEventListener(kind, ({ data }) => {
        if (stream !== made) return;
        heard = performance.now();
        onEvent(kind, data && JSON.parse(data));
        if (kind === "beat") onBeat();
      });
    }
    stream.addEventListener("error", () => {
      if (stream.readyState !== EventSource.CLOSED || stream !== made) return;
      onRefused();
      setTimeout(() => stream === made && open(), AGAIN);
    });
  }

  /** The server sends it after what it has to tell. */
  function onBeat() {
    patience = SILENCE;
    if (lost) onLost(false);
    lost = false;
  }

  const looking = setInterval(() => {
    const now = performance.now();
    if (now - heard < SILENCE) return;
    if (!lost) {
      next = now;
      onLost(true);
    }
    lost = true;
    if (now < next) return;
    next = now + patience;
    patience = Math.min(patience * 2, LONGEST);
    open();
  }, LOOK);

  return {
    /** Make it again, so that everything is told anew. */
    again: open,
    close() {
      clearInterval(looking);
      made?.close();
      made = null;
    },
    isLost: () => lost,
  };
}
