// Streams shared by the pages of one browser. A browser opens at most six connections to a server,
// for all tabs and windows together, so a seventh page would never load. Each page names what it
// shows and receives only that. When a page joins, its stream reconnects, so that it receives the
// whole current state.

import { source } from "./source.js";

const PRESENCE_INTERVAL_MS = 2000; // between two keep-alive messages to the pages
// a page that is silent for longer has crashed; a hidden page sends something once a minute
const PAGE_GONE_MS = 150_000;
const JOIN_WINDOW_MS = 50; // pages that join within this time join together
/** @type {Map<string, Stream>} */
const streams = new Map();

// pages notice the silence and open their own streams
if (typeof EventSource === "undefined") close();

class Stream {
  constructor(path, query, kinds) {
    this.path = path;
    this.query = query;
    this.kinds = kinds;
    this.pages = new Map(); // port -> {names, heard, joined}
    /** @type {ReturnType<typeof source> | null} */
    this.made = null;
    /** @type {number | undefined} */
    this.joining = undefined;
  }

  join(port, names) {
    this.pages.set(port, { names: new Set(names), heard: performance.now(), joined: false });
    if (this.made?.isLost()) port.postMessage({ lost: true });
    clearTimeout(this.joining);
    this.joining = setTimeout(() => this.make(), JOIN_WINDOW_MS);
  }

  make() {
    for (const page of this.pages.values()) page.joined = true;
    if (this.made) this.made.again();
    else {
      this.made = source(() => this.address(), this.kinds, {
        onEvent: (kind, data) =>
          this.tell(
            { kind, data },
            kind === "beat" ? null : [`table=${data.table}`, `jackpot=${data.jackpot}`],
          ),
        onLost: (lost) => this.tell({ lost }),
        onRefused: () => this.tell({ refused: true }),
      });
    }
  }

  address() {
    const names = new Set([...this.pages.values()].flatMap((each) => [...each.names]));
    return `${this.path}?${[this.query, ...names].filter(Boolean).join("&")}`;
  }

  /**
   * Tell the pages that want to hear of one of these; null: all. A page that names nothing hears
   * all.
   */
  tell(message, /** @type {string[] | null} */ of = null) {
    for (const [port, { names, joined }] of this.pages) {
      if (joined && (of === null || names.size === 0 || of.some((each) => names.has(each)))) {
        port.postMessage(message);
      }
    }
  }

  leave(port) {
    this.pages.delete(port);
    if (this.pages.size > 0) return;
    clearTimeout(this.joining);
    this.made?.close();
    streams.delete(`${this.path}?${this.query}`);
  }
}

addEventListener("connect", (event) => {
  const [port] = /** @type {MessageEvent} */ (event).ports;
  /** @type {Stream | undefined} */
  let stream;
  port.addEventListener("message", ({ data: { join, here, leave } }) => {
    if (join) {
      const key = `${join.path}?${join.query}`;
      stream = streams.get(key) ?? new Stream(join.path, join.query, join.kinds);
      streams.set(key, stream);
      stream.join(port, join.names);
      port.postMessage({ here: true });
    }
    if (here && stream?.pages.has(port)) stream.pages.get(port).heard = performance.now();
    if (leave) stream?.leave(port);
  });
  port.start();
});

setInterval(() => {
  const now = performance.now();
  for (const stream of [...streams.values()]) {
    for (const [port, { heard }] of [...stream.pages]) {
      if (now - heard > PAGE_GONE_MS) stream.leave(port);
      else port.postMessage({ here: true });
    }
  }
}, PRESENCE_INTERVAL_MS);
