// A page's stream of the server's events: shared with the other pages of the browser where they can
// share one, else its own, which it lets go of while nobody can see the page.

import { at } from "./base.js";
import { onBeat, serverTimeText } from "./beats.js";
import { SILENCE, source } from "./source.js";

const HERE = 2000;
const WORKER = new URL("./worker.js", import.meta.url);

/**
 * A stream that pages share. `path` and `query`: its address, but for the `names` of what this page
 * wants to hear of: `table=r1`. `events`: for each kind of event, what is done with its data.
 * `onLost({since})` when the server is not heard, with the server's time since when, null where no
 * beat has told it; `onLost(null)` when it is again, and all that changed meanwhile was told.
 * `onRefused()`: the server answers, but with no stream.
 */
export function connect(
  { path, names = /** @type {string[]} */ ([]), query = "" },
  events,
  onLost,
  onRefused = () => {},
) {
  const address = () => `${at(path)}?${[query, ...names].filter(Boolean).join("&")}`;
  const told = listener(events, onLost, onRefused);
  if (typeof SharedWorker === "undefined") return own(address, Object.keys(events), told);
  /** @type {MessagePort | null} */
  let port = null;
  let heard = 0;
  let answers = false; // whether the worker has said anything since this page joined
  let over = false;
  const watching = setInterval(watch, HERE);
  addEventListener("pagehide", leave);
  addEventListener("pageshow", ({ persisted }) => persisted && !over && join());
  join();

  function join() {
    heard = performance.now();
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
      heard = performance.now();
      answers = true;
      if (kind) told.onEvent(kind, data);
      if (lost !== undefined) told.onLost(lost);
      if (refused) told.onRefused();
    });
    mine.start();
    mine.postMessage({ join: { path: at(path), names, query, kinds: Object.keys(events) } });
  }

  function watch() {
    port?.postMessage({ here: true });
    if (performance.now() - heard < SILENCE) return;
    told.onLost(true);
    // a worker that answered before has forgotten this page, which was asleep for long
    if (answers) join();
    else alone();
  }

  /** There is no worker, or it says nothing: this page has a stream of its own. */
  function alone() {
    if (over) return;
    over = true;
    clearInterval(watching);
    leave();
    port = null;
    own(address, Object.keys(events), told);
  }

  function leave() {
    port?.postMessage({ leave: true });
  }
}

/** A stream of this page alone. `address()`: where it is, asked each time it is made. */
export function connectAlone(address, events, onLost, onRefused = () => {}) {
  own(() => at(address()), Object.keys(events), listener(events, onLost, onRefused));
}

/** What a page does with what it hears. It counts as lost since the last message. */
function listener(events, onLost, onRefused) {
  let heard = performance.now();
  let isLost = false;
  return {
    onEvent(kind, data) {
      heard = performance.now();
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
    onLost(lost ? { since: serverTimeText(heard) } : null);
  }
}

/**
 * Hear a stream for as long as somebody can see the page: hidden ones would take the connections of
 * those that are seen.
 */
function own(address, kinds, told) {
  /** @type {ReturnType<typeof source> | null} */
  let made = null;
  const look = () => {
    if (document.hidden && made) {
      made.close();
      made = null;
      told.onLost(true);
    } else if (!document.hidden && !made) made = source(address, kinds, told, told.isLost());
  };
  document.addEventListener("visibilitychange", look);
  look();
}
