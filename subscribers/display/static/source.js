// A stream of the server's events, for a page or for the worker that pages share. It reconnects
// after SILENCE_MS without any event, since the browser does not report a connection whose other
// end vanished.

export const SILENCE_MS = 6000;
// an overloaded server needs time to answer an attempt
const MAX_RETRY_MS = 60_000;
const CHECK_INTERVAL_MS = 500;
const RETRY_MS = 1000;

/**
 * `address()` is called for each connection. `onEvent(kind, data)` is called for each event of
 * these `kinds` and for each beat, `onLost(true)` when the server is silent, `onLost(false)` once
 * it has sent everything that changed meanwhile, and `onRefused()` when it answers without a
 * stream; the stream retries then. `lostAtFirst`: the server counts as silent until its first beat.
 */
export function source(address, kinds, { onEvent, onLost, onRefused }, lostAtFirst = false) {
  let lost = lostAtFirst;
  let lastSign = performance.now();
  let next = lastSign + SILENCE_MS;
  let retryDelay = SILENCE_MS;
  /** @type {EventSource | null} */
  let current = null;
  open();

  function open() {
    current?.close();
    const stream = new EventSource(address());
    current = stream;
    for (const kind of [...kinds, "beat"]) {
      stream.addEventListener(kind, ({ data }) => {
        if (stream !== current) return;
        lastSign = performance.now();
        onEvent(kind, data && JSON.parse(data));
        if (kind === "beat") onBeat();
      });
    }
    stream.addEventListener("error", () => {
      if (stream.readyState !== EventSource.CLOSED || stream !== current) return;
      onRefused();
      setTimeout(() => stream === current && open(), RETRY_MS);
    });
  }

  /** A beat follows all pending events. */
  function onBeat() {
    retryDelay = SILENCE_MS;
    if (lost) onLost(false);
    lost = false;
  }

  const looking = setInterval(() => {
    const now = performance.now();
    if (now - lastSign < SILENCE_MS) return;
    if (!lost) {
      next = now;
      onLost(true);
    }
    lost = true;
    if (now < next) return;
    next = now + retryDelay;
    retryDelay = Math.min(retryDelay * 2, MAX_RETRY_MS);
    open();
  }, CHECK_INTERVAL_MS);

  return {
    /** Reconnect: the server then sends everything. */
    again: open,
    close() {
      clearInterval(looking);
      current?.close();
      current = null;
    },
    isLost: () => lost,
  };
}
