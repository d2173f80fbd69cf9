// A stream of the server's events. Without a sign of life for SILENCE it is made anew, and again until the server is heard: of a
// connection whose other end is gone without a word, the browser says nothing.

const SILENCE = 6000;
const LONGEST = 60_000; // between two attempts: a server that has too much to do would never come to answer one of them
const LOOK = 500;
const AGAIN = 1000;

/**
 * `address()`: where the stream is, asked each time it is made. `events`: for each kind of event, what is done with its data.
 * `onLost(since)` when the server is not heard; null when it is again, and all that changed meanwhile was told. `onRefused()`: the
 * server answers, but with no stream; it is asked again.
 */
export function connect(address, events, onLost, onRefused = () => {}) {
  let heard = Date.now();
  let next = heard + SILENCE;
  let patience = SILENCE;
  let lost = false;
  let source = open();

  function open() {
    const made = new EventSource(address());
    for (const [kind, take] of Object.entries({ ...events, beat }))
      made.addEventListener(kind, ({ data }) => {
        heard = Date.now();
        take(data && JSON.parse(data));
      });
    made.addEventListener("error", () => {
      if (made.readyState !== EventSource.CLOSED || made !== source) return;
      onRefused();
      setTimeout(() => made === source && (source = open()), AGAIN);
    });
    return made;
  }

  /** The server sends it after what it has to tell. */
  function beat() {
    patience = SILENCE;
    if (lost) onLost(null);
    lost = false;
  }

  setInterval(() => {
    const now = Date.now();
    if (now - heard < SILENCE) return;
    if (!lost) {
      next = now;
      onLost(new Date(heard).toISOString());
    }
    lost = true;
    if (now < next) return;
    next = now + patience;
    patience = Math.min(patience * 2, LONGEST);
    source.close();
    source = open();
  }, LOOK);
}
