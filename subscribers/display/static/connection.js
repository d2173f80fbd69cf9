// A page's stream of the server's events: shared with the browser's other pages where SharedWorker
// exists, else its own, which is closed while the page is hidden.

import { at } from "./base.js";
import { onBeat, serverTimeText } from "./beats.js";
import { SILENCE_MS, source } from "./source.js";

const PRESENCE_INTERVAL_MS = 2000;
const WORKER = new URL("./worker.js", import.meta.url);

/**
 * Subscribe to the stream at `path` and `query`. `names` limits it to what this page shows, such as
 * `table=r1`. `events` maps each kind of event to its handler. `onLost({since})` is called when the
 * server is silent; `since` is the server's time, null before the first beat. `onLost(null)`
 * follows once the server has sent everything that changed meanwhile. `onRefused()` is called when
 * it answers without a stream.
 */
export function connect(
  { path, names = /** @type {string[]} */ ([]), query = "" },
  events,
  onLost,
  onRefused = () => {},
) {
  const address = () => `${at(path)}?${[query, ...names].filter(Boolean).join("&")}`;
  const listeners = listener(events, onLost, onRefused);
  if (typeof SharedWorker === "undefined") return own(address, Object.keys(events), listeners);
  /** @type {MessagePort | null} */
  let port = null;
  let lastMessage = 0;
  let answers = false; // the worker has sent something since this page joined
  let over = false;
  const watching = setInterval(watch, PRESENCE_INTERVAL_MS);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", ({ persisted }) => persisted && !over && join());
  join();

  function join() {
    lastMessage = performance.now();
    answers = false;
    try {
      const worker = new SharedWorker(WORKER, { type: "module", name: "novamas" });
      worker.addEventListener("error", alone);
      port = worker.port;
    } catch {
      return alone();
    }
    const mine = port;
    mine.addEventListener("message", ({ data: { kind, data, lost, refused } }) => {
      if (mine !== port) return;
      lastMessage = performance.now();
      answers = true;
      if (kind) listeners.onEvent(kind, data);
      if (lost !== undefined) listeners.onLost(lost);
      if (refused) listeners.onRefused();
    });
    mine.start();
    mine.postMessage({ join: { path: at(path), names, query, kinds: Object.keys(events) } });
  }

  function watch() {
    port?.postMessage({ here: true });
    if (performance.now() - lastMessage < SILENCE_MS) return;
    listeners.onLost(true);
    // a worker that answered before has forgotten this page, which was asleep for long
    if (answers) join();
    else alone();
  }

  /** There is no worker, or it is silent: open a stream for this page alone. */
  function alone() {
    if (over) return;
    over = true;
    clearInterval(watching);
    leave();
    port = null;
    own(address, Object.keys(events), listeners);
  }

  function leave() {
    port?.postMessage({ leave: true });
  }
}

/** Open a stream for this page alone. `address()` is called for each connection. */
export function connectAlone(address, events, onLost, onRefused = () => {}) {
  own(() => at(address()), Object.keys(events), listener(events, onLost, onRefused));
}

/** The handlers of a page. The server counts as silent since the last message. */
function listener(events, onLost, onRefused) {
  let lastMessage = performance.now();
  let isLost = false;
  return {
    onEvent(kind, data) {
      lastMessage = performance.now();
      if (kind !== "beat") return events[kind](data);
      onBeat(data);
      lose(false);
    },
    onLost: lose,
    onRefused,
    isLost: () => isLost,
  };

  function lose(lost) {
    if (lost === isLost) return;
    isLost = lost;
    onLost(lost ? { since: serverTimeText(lastMessage) } : null);
  }
}

/**
 * Keep a stream open while the page is visible: hidden pages would use up the browser's
 * connections.
 */
function own(address, kinds, listeners) {
  /** @type {ReturnType<typeof source> | null} */
  let made = null;
  const onVisibility = () => {
    if (document.hidden && made) {
      made.close();
      made = null;
      listeners.onLost(true);
    } else if (!document.hidden && !made) {
      made = source(address, kinds, listeners, listeners.isLost());
    }
  };
  document.addEventListener("visibilitychange", onVisibility);
  onVisibility();
}
